//! What happened to a filesystem.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId};
use serde::{Deserialize, Serialize};

use super::Spec;
use crate::{
    contract::{Stored, Touches},
    ports::{Backing, ProvisionedFilesystem},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Fact, Fault, Name, SkippedStorage, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    /// An intent to make it is open: its effect id follows from this event's version.
    CreateRequested {
        backing: Option<Backing>,
        /// The intents of other filesystems that are gone with their data: what is left of them on the volume may be written
        /// over.
        over: BTreeSet<Cite>,
        at: Timestamp,
    },
    /// The device beneath it is called otherwise now; the intent stays.
    BackingChanged {
        backing: Option<Backing>,
    },
    Created {
        filesystem: ProvisionedFilesystem,
    },
    CreateRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    CreateGivenUp {
        fault: Fault,
        /// A new series of attempts begins then by itself.
        again: Option<Timestamp>,
    },
    /// Nothing was made under the present intent, and nothing will be.
    CreateDropped,
    /// An intent to undo what the present intent made, or may have made.
    DestroyRequested {
        at: Timestamp,
    },
    Destroyed,
    DestroyRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    DestroyGivenUp {
        fault: Fault,
    },
    /// The next attempt at whatever waits has begun.
    AttemptBegun,
    AttachmentReserved {
        machine: Name,
    },
    AttachmentReleased {
        machine: Name,
    },
    /// When it goes, its data stays.
    ReleaseWanted,
    /// It is dying: it is mounted nowhere anew.
    RemovalBegan,
    /// It is mounted nowhere.
    Died,
    Removed,
    /// A forced removal did not wait for this.
    Skipped {
        what: SkippedStorage,
    },
    /// It comes from this pool.
    TakenFrom {
        pool: FromPool,
    },
    /// It is there because this one needs it, and goes with it.
    OwnedBy {
        owner: StreamId,
    },
    /// Undoing it takes longer than it may; it is tried on all the same.
    Overdue {
        at: Timestamp,
    },
    /// When it goes, its data goes as well, although it was to be released.
    DestroyWanted,
    /// It is there because a machine of a set asks for it.
    Claimed {
        by: ClaimedBy,
    },
    /// The machine that it was made for goes, and it stays for its own sake.
    Kept,
    /// It is not removed from now on, or may be again.
    Protected {
        on: bool,
    },
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Dependents, Effect, Health, Life, Request, Spec};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::TakenFrom { .. } | Self::OwnedBy { .. } | Self::Claimed { .. } | Self::Kept => &[Spec],
            Self::CreateRequested { .. } | Self::DestroyRequested { .. } => &[Effect, Request],
            Self::BackingChanged { .. }
            | Self::Created { .. }
            | Self::CreateRetryScheduled { .. }
            | Self::CreateGivenUp { .. }
            | Self::CreateDropped
            | Self::Destroyed
            | Self::DestroyRetryScheduled { .. }
            | Self::DestroyGivenUp { .. }
            | Self::AttemptBegun => &[Effect],
            Self::Overdue { .. } => &[Health],
            Self::AttachmentReserved { .. } | Self::AttachmentReleased { .. } => &[Dependents],
            Self::RemovalBegan
            | Self::Died
            | Self::Protected { .. }
            | Self::Removed
            | Self::ReleaseWanted
            | Self::DestroyWanted
            | Self::Skipped { .. } => &[Life],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Created { .. } | Self::DestroyRequested { .. } | Self::Destroyed => Touches::Some(&[Fact::Request]),
            Self::CreateRequested { .. } => Touches::Some(&[Fact::Effect]),
            Self::Overdue { .. } => Touches::Some(&[Fact::Request]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
