//! What happened to a volume.

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};

use super::{AtCreation, Leftovers, Place, Spec, VolumeFacts};
use crate::{
    contract::{Stored, Touches},
    ports::ProvisionedVolume,
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Fact, Fault, InstanceId, Name, SkippedStorage, Timestamp, Zone},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    /// An intent to create it is open: its effect id follows from this event's version.
    CreateRequested {
        at: Timestamp,
    },
    Created {
        volume: ProvisionedVolume,
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
    /// An intent to destroy what the present intent made, or may have made.
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
    /// It is made where this machine is, once that has an instance.
    WantedOn {
        machine: Name,
    },
    /// As `CreateRequested`, at this place.
    CreateRequestedAt {
        place: Place,
        at: Timestamp,
    },
    /// What its provider says of it beside its id and size.
    Described {
        facts: VolumeFacts,
    },
    /// It was attached while it was made: its attachment takes that over.
    AttachedAtCreation {
        at_creation: AtCreation,
    },
    /// When it goes, its data stays.
    ReleaseWanted,
    FilesystemReserved {
        filesystem: Name,
    },
    FilesystemReleased {
        filesystem: Name,
        leaves: Leftovers,
    },
    /// Nothing was made under the present intent, and nothing will be.
    CreateDropped,
    /// It is made by taking over what the provider has under this name.
    ImportWanted {
        volume_id: InstanceId,
    },
    /// A forced removal did not wait for this.
    Skipped {
        what: SkippedStorage,
    },
    /// Its provider does not show it any more. Nothing is done about that.
    Lost {
        at: Timestamp,
    },
    /// Its provider shows it again.
    Found,
    /// It comes from this pool.
    TakenFrom {
        pool: FromPool,
    },
    /// It is there because this one needs it, and goes with it.
    OwnedBy {
        owner: StreamId,
    },
    /// It is made where its machine is, and can be attached only there.
    SitedIn {
        zone: Zone,
    },
    /// Undoing it takes longer than it may; it is tried on all the same.
    Overdue {
        at: Timestamp,
    },
    /// What was made at this version is still there although it was destroyed: an intent to destroy it is open again.
    Returned {
        provider: Name,
        of: Version,
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
        use Fact::{Dependents, Effect, Health, Life, Request, Spec, Zone as Place};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::Returned { .. } => &[Life, Effect, Request],
            Self::CreateRequested { .. } | Self::CreateRequestedAt { .. } | Self::DestroyRequested { .. } => {
                &[Effect, Request]
            }
            Self::WantedOn { .. }
            | Self::ImportWanted { .. }
            | Self::TakenFrom { .. }
            | Self::OwnedBy { .. }
            | Self::Claimed { .. }
            | Self::Kept => &[Spec],
            Self::Created { .. }
            | Self::CreateRetryScheduled { .. }
            | Self::CreateGivenUp { .. }
            | Self::CreateDropped
            | Self::Destroyed
            | Self::DestroyRetryScheduled { .. }
            | Self::DestroyGivenUp { .. }
            | Self::AttemptBegun
            | Self::Described { .. }
            | Self::AttachedAtCreation { .. }
            | Self::Lost { .. }
            | Self::Found => &[Effect],
            Self::AttachmentReserved { .. }
            | Self::AttachmentReleased { .. }
            | Self::FilesystemReserved { .. }
            | Self::FilesystemReleased { .. } => &[Dependents],
            Self::RemovalBegan
            | Self::Died
            | Self::Protected { .. }
            | Self::Removed
            | Self::ReleaseWanted
            | Self::DestroyWanted
            | Self::Skipped { .. } => &[Life],
            Self::SitedIn { .. } => &[Place],
            Self::Overdue { .. } => &[Health],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Created { .. } | Self::DestroyRequested { .. } | Self::Destroyed => Touches::Some(&[Fact::Request]),
            Self::CreateRequested { .. } | Self::CreateRequestedAt { .. } => Touches::Some(&[Fact::Effect]),
            Self::Overdue { .. } => Touches::Some(&[Fact::Request]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
