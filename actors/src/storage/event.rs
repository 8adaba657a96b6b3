//! What happened to a volume or a filesystem.

use bailiwick_journal::{Body, StreamId};
use serde::{Deserialize, Serialize};

use super::Provisioned;
use crate::{
    contract::{self, Stored, StoredError, Touches},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Fact, Fault, Name, SkippedStorage, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Event<K: Provisioned> {
    /// It exists from now on, under a new uid.
    Declared {
        spec: K::Spec,
    },
    /// An intent to make it is open: its effect id follows from this event's version.
    CreateRequested {
        base: K::Base,
        at: Timestamp,
    },
    Created {
        made: K::Made,
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
    /// It is dying: it is attached nowhere anew.
    RemovalBegan,
    /// It is attached nowhere.
    Died,
    Removed,
    /// When it goes, its data stays.
    ReleaseWanted,
    /// Nothing was made under the present intent, and nothing will be.
    CreateDropped,
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
    /// What happens to this kind only.
    Own(K::OwnEvent),
}

impl<K: Provisioned> Event<K> {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Dependents, Effect, Health, Life, Request, Spec};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::Own(own) => return K::touches(own),
            Self::CreateRequested { .. } | Self::DestroyRequested { .. } => &[Effect, Request],
            Self::TakenFrom { .. } | Self::OwnedBy { .. } | Self::Claimed { .. } | Self::Kept => &[Spec],
            Self::Created { .. }
            | Self::CreateRetryScheduled { .. }
            | Self::CreateGivenUp { .. }
            | Self::CreateDropped
            | Self::Destroyed
            | Self::DestroyRetryScheduled { .. }
            | Self::DestroyGivenUp { .. }
            | Self::AttemptBegun => &[Effect],
            Self::AttachmentReserved { .. } | Self::AttachmentReleased { .. } => &[Dependents],
            Self::RemovalBegan
            | Self::Died
            | Self::Protected { .. }
            | Self::Removed
            | Self::ReleaseWanted
            | Self::DestroyWanted
            | Self::Skipped { .. } => &[Life],
            Self::Overdue { .. } => &[Health],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Created { .. } | Self::DestroyRequested { .. } | Self::Destroyed | Self::Overdue { .. } => {
                Touches::Some(&[Fact::Request])
            }
            Self::CreateRequested { .. } => Touches::Some(&[Fact::Effect]),
            other => other.touches(),
        }
    }
}

impl<K: Provisioned> Stored for Event<K> {
    const SCHEMA: u16 = 2;

    fn load(body: &Body) -> Result<Self, StoredError> {
        contract::load_lifted(body, Some(K::FIRST_FORM.events))
    }
}
