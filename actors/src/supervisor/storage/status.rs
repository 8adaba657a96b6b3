//! What people are told of a volume or filesystem: one word, and the effort that is behind it.

use std::fmt;

use super::Elsewhere;
use crate::{
    filesystem_attachment,
    storage::{Provisioned, State, Storage},
    vocab::{Effort, Life, Name, Outlook},
    volume, volume_attachment,
};

/// How the storage is. It belongs to the volume or filesystem, never to an attachment: of several attachments the one that
/// is furthest from being as it shall be says how the storage is, whichever changed last.
///
/// Source: the words of Juju's storage provisioner, where the last one to change says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageStatus {
    Pending,
    Attaching,
    Attached,
    Detaching,
    Detached,
    Destroying,
    /// Its parameters make no sense, nothing more is tried, or it takes longer than it may: somebody has to look.
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

/// How one attachment of the storage is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked<'a> {
    pub status: StorageStatus,
    pub effort: Option<&'a Effort>,
    /// What keeps it from being attached at all.
    pub held: Option<Elsewhere>,
}

/// How the storage is, and what says so: what is tried, or what keeps it from being tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told<'a> {
    pub status: StorageStatus,
    pub effort: Option<&'a Effort>,
    pub held: Option<Elsewhere>,
}

impl<'a> Linked<'a> {
    /// An attachment of a volume; what was attached when the volume was made is attached.
    pub fn of_volume(
        volume: &volume::State,
        machine: &Name,
        of: &'a volume_attachment::State,
        elsewhere: Option<Elsewhere>,
    ) -> Self {
        use volume_attachment::Link;
        let is_made_there = volume.own.at_creation.as_ref().is_some_and(|made| made.machine == *machine);
        let (status, held) = match &of.link {
            Link::Waiting if is_made_there => (StorageStatus::Attached, None),
            Link::Waiting => (waiting(of.life), elsewhere),
            Link::Attaching { .. } => (StorageStatus::Attaching, None),
            Link::Attached { .. } => (StorageStatus::Attached, None),
            Link::Detaching { .. } => (StorageStatus::Detaching, None),
        };
        Self::with(status, of.effort(), held)
    }

    pub fn of_filesystem(of: &'a filesystem_attachment::State) -> Self {
        use filesystem_attachment::Link;
        let status = match &of.link {
            Link::Waiting => waiting(of.life),
            Link::Attaching { .. } => StorageStatus::Attaching,
            Link::Attached { .. } => StorageStatus::Attached,
            Link::Detaching { .. } => StorageStatus::Detaching,
        };
        Self::with(status, of.effort(), None)
    }

    fn with(status: StorageStatus, effort: Option<&'a Effort>, held: Option<Elsewhere>) -> Self {
        let status = if held.is_some() || effort.is_some_and(needs_a_look) { StorageStatus::Error } else { status };
        Self { status, effort, held }
    }

    /// How far it is from being as it shall be.
    fn rank(&self) -> u8 {
        match self.status {
            StorageStatus::Detached => 0,
            StorageStatus::Attached => 1,
            StorageStatus::Pending => 2,
            StorageStatus::Attaching => 3,
            StorageStatus::Detaching => 4,
            StorageStatus::Destroying => 5,
            StorageStatus::Error => 6,
        }
    }
}

/// An attachment that waits is on its way: to its machine, or away.
fn waiting(life: Life) -> StorageStatus {
    if life == Life::Alive { StorageStatus::Attaching } else { StorageStatus::Detached }
}

/// Nobody tries again by himself, or it takes longer than it may: somebody has to look.
fn needs_a_look(effort: &Effort) -> bool {
    matches!(&effort.outlook, Outlook::GivenUp { .. }) || effort.overdue.is_some()
}

/// How a volume or a filesystem with these attachments is. What is lost is nowhere, whatever was attached.
pub fn status_of<'a, K: Provisioned>(state: &'a State<K>, links: &[Linked<'a>]) -> Told<'a> {
    let own = match &state.storage {
        _ if K::lost_since(state).is_some() => Some(StorageStatus::Error),
        Storage::None | Storage::Creating { .. } => Some(StorageStatus::Pending),
        Storage::Provisioned { .. } => None,
        Storage::Destroying { .. } => Some(StorageStatus::Destroying),
    };
    told(own, state.life, state.effort(), links)
}

/// Before it is made and while it goes it says so itself; in between its attachments do.
fn told<'a>(own: Option<StorageStatus>, life: Life, effort: Option<&'a Effort>, links: &[Linked<'a>]) -> Told<'a> {
    let farthest = links.iter().max_by_key(|link| link.rank());
    match (own, farthest) {
        (Some(own), _) => {
            let status = if effort.is_some_and(needs_a_look) { StorageStatus::Error } else { own };
            Told { status, effort, held: None }
        }
        (None, Some(link)) => Told { status: link.status, effort: link.effort, held: link.held.clone() },
        (None, None) if life != Life::Alive => Told { status: StorageStatus::Destroying, effort, held: None },
        (None, None) => Told { status: StorageStatus::Detached, effort, held: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(status: StorageStatus) -> Linked<'static> {
        Linked::with(status, None, None)
    }

    #[test]
    fn of_several_attachments_the_one_farthest_from_well_says_how_it_is() {
        use StorageStatus::{Attached, Attaching, Detached, Detaching, Error};
        let is = |links: &[StorageStatus]| {
            let links: Vec<Linked<'_>> = links.iter().copied().map(link).collect();
            told(None, Life::Alive, None, &links).status
        };
        // Whichever changed last
        assert_eq!(is(&[Attached, Attaching]), Attaching);
        assert_eq!(is(&[Attaching, Attached]), Attaching);
        assert_eq!(is(&[Error, Attached, Detaching]), Error);
        assert_eq!(is(&[Attached, Detached]), Attached);
        assert_eq!(is(&[]), Detached);
    }

    #[test]
    fn before_it_is_made_no_attachment_says_how_it_is() {
        let told = told(Some(StorageStatus::Pending), Life::Alive, None, &[link(StorageStatus::Attaching)]);
        assert_eq!(told.status, StorageStatus::Pending);
    }
}
