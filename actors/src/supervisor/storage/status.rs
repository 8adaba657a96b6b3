//! What people are told of a volume or filesystem: one word, and why it is not better.

use std::fmt;

use crate::{filesystem, filesystem_attachment, vocab::Fault, volume, volume_attachment};

/// How the storage is. It belongs to the volume or filesystem, never to an attachment: with several attachments the last
/// one to change says how it is.
///
/// Source: the statuses of Juju's storage provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageStatus {
    Pending,
    Attaching,
    Attached,
    Detaching,
    Detached,
    Destroying,
    /// Its parameters make no sense, or nothing more is tried: somebody has to look.
    Error,
}

impl fmt::Display for StorageStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Attaching => "attaching",
            Self::Attached => "attached",
            Self::Detaching => "detaching",
            Self::Detached => "detached",
            Self::Destroying => "destroying",
            Self::Error => "error",
        })
    }
}

/// A status, and the text that goes with it: empty, or what went wrong.
pub type Told = (StorageStatus, String);

fn fine(status: StorageStatus) -> Option<Told> {
    Some((status, String::new()))
}

fn failed(status: StorageStatus, fault: &Fault) -> Option<Told> {
    Some((status, fault.text.clone()))
}

/// What the events of one decision about a volume say of it, if anything.
pub fn of_volume(events: &[volume::Event]) -> Option<Told> {
    use volume::Event;
    events.iter().rev().find_map(|event| match event {
        Event::Created { .. } => fine(StorageStatus::Attaching),
        Event::AttachedAtCreation { .. } => fine(StorageStatus::Attached),
        Event::CreateRetryScheduled { fault, .. } => failed(StorageStatus::Pending, fault),
        Event::CreateGivenUp { fault } => failed(StorageStatus::Error, fault),
        Event::DestroyRetryScheduled { fault, .. } => failed(StorageStatus::Destroying, fault),
        Event::DestroyGivenUp { fault } => failed(StorageStatus::Error, fault),
        _ => None,
    })
}

/// What the events of one decision about a filesystem say of it, if anything.
pub fn of_filesystem(events: &[filesystem::Event]) -> Option<Told> {
    use filesystem::Event;
    events.iter().rev().find_map(|event| match event {
        Event::Created { .. } => fine(StorageStatus::Attaching),
        Event::CreateRetryScheduled { fault, .. } => failed(StorageStatus::Pending, fault),
        Event::CreateGivenUp { fault } => failed(StorageStatus::Error, fault),
        Event::DestroyRetryScheduled { fault, .. } => failed(StorageStatus::Destroying, fault),
        Event::DestroyGivenUp { fault } => failed(StorageStatus::Error, fault),
        _ => None,
    })
}

/// What the events of one decision about an attachment say of its volume, if anything.
pub fn of_volume_attachment(events: &[volume_attachment::Event]) -> Option<Told> {
    use volume_attachment::Event;
    events.iter().rev().find_map(|event| match event {
        Event::Attached { .. } => fine(StorageStatus::Attached),
        Event::AttachRetryScheduled { fault, .. } => failed(StorageStatus::Attaching, fault),
        Event::AttachGivenUp { fault } => failed(StorageStatus::Error, fault),
        Event::Detached => fine(StorageStatus::Detached),
        Event::DetachRetryScheduled { fault, .. } => failed(StorageStatus::Detaching, fault),
        Event::DetachGivenUp { fault } => failed(StorageStatus::Error, fault),
        _ => None,
    })
}

/// What the events of one decision about an attachment say of its filesystem, if anything.
pub fn of_filesystem_attachment(events: &[filesystem_attachment::Event]) -> Option<Told> {
    use filesystem_attachment::Event;
    events.iter().rev().find_map(|event| match event {
        Event::Attached { .. } => fine(StorageStatus::Attached),
        Event::AttachRetryScheduled { fault, .. } => failed(StorageStatus::Attaching, fault),
        Event::AttachGivenUp { fault } => failed(StorageStatus::Error, fault),
        Event::Detached => fine(StorageStatus::Detached),
        Event::DetachRetryScheduled { fault, .. } => failed(StorageStatus::Detaching, fault),
        Event::DetachGivenUp { fault } => failed(StorageStatus::Error, fault),
        _ => None,
    })
}
