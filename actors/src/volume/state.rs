//! What is true of a volume now.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Removal, Spec};
use crate::{
    ports::{AttachmentInfo, ProvisionedVolume},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{EffectId, Effort, InstanceId, Life, Name, Outlook, Timestamp, Uid, Zone},
};

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    pub storage: Storage,
    /// The machine that it is attached to, or about to be.
    pub attached_to: Option<Name>,
    /// The machine that it is made at; none if it is made anywhere, at once.
    pub wanted_on: Option<Name>,
    /// Where it is or was made, if that mattered.
    pub place: Option<Place>,
    /// What its provider said of it.
    pub facts: Option<VolumeFacts>,
    /// The attachment that was made together with it, until its attachment has taken that over.
    pub at_creation: Option<AtCreation>,
    /// The filesystem that lives on it.
    pub filesystem: Option<Name>,
    /// The intents of the filesystems that were on it and are gone with their data, each with the event that says so: what
    /// is left of them there is nobody's, and makes room for the next one.
    pub leftovers: BTreeMap<Cite, Version>,
    /// How it goes.
    pub removal: Removal,
    /// What its provider had under this name is taken over as it.
    pub import: Option<InstanceId>,
    /// Since when its provider has not shown it any more; none while it does.
    pub lost: Option<Timestamp>,
    /// The pool that it comes from, if it was declared from one.
    pub pool: Option<FromPool>,
    /// What it is there for, and goes with; none if it was declared for its own sake.
    pub owner: Option<StreamId>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// The zone that it is in, if it was made for a machine of which that was known.
    pub zone: Option<Zone>,
    /// The machine of a set that it was made for, until that goes.
    pub claim: Option<ClaimedBy>,
    /// The machine of a set that it was made for, and that went: it was kept.
    pub kept_of: Option<Name>,
}

/// What a filesystem that is gone leaves on its volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// The intents under which it was made there, or may have been, if it went with its data.
    pub of: BTreeSet<Cite>,
    /// Of those before it nothing is left: it was made over them.
    pub instead: bool,
}

/// The machine at which a volume is made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub machine: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
}

/// What a provider says of a volume beside its id and size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// What stays the same wherever it is attached: serial number or world wide name.
    pub hardware_id: Option<String>,
    /// Whether it outlives the instance that it is attached to.
    pub persistent: bool,
}

/// An attachment that was made together with a volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AtCreation {
    pub machine: Name,
    pub info: AttachmentInfo,
}

/// What the provider keeps for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    #[default]
    None,
    Creating(Effort),
    Provisioned {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        volume: ProvisionedVolume,
    },
    /// What was made under `of` is being destroyed.
    Destroying {
        of: Version,
        effort: Effort,
    },
}

impl State {
    /// The volume's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// The work that undoes what was made.
    pub fn undoing(&self) -> Option<&Effort> {
        self.effort().filter(|_| matches!(self.storage, Storage::Destroying { .. }))
    }

    /// The work in the outside world that is under way or waits.
    pub fn effort(&self) -> Option<&Effort> {
        match &self.storage {
            Storage::Creating(effort) | Storage::Destroying { effort, .. } => Some(effort),
            Storage::None | Storage::Provisioned { .. } => None,
        }
    }

    /// Whether it is there to be used.
    pub fn is_ready(&self) -> bool {
        self.life == Life::Alive && matches!(self.storage, Storage::Provisioned { .. }) && self.lost.is_none()
    }

    /// One word for people: `available`, `attached`, `creating`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.storage, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Storage::Creating(_), Life::Dying) => "dying",
            (Storage::Creating(effort) | Storage::Destroying { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Storage::Creating(_), _) => "creating",
            (Storage::Provisioned { .. }, Life::Alive) if self.lost.is_some() => "lost",
            (Storage::Destroying { effort, .. }, _) if effort.overdue.is_some() => "blocked",
            (Storage::Destroying { .. }, _) if self.removal == Removal::Release => "releasing",
            (Storage::Destroying { .. }, _) => "destroying",
            (_, Life::Dying) => "dying",
            (Storage::Provisioned { .. }, _) if self.attached_to.is_some() => "reserved",
            (Storage::Provisioned { .. }, _) => "available",
            (Storage::None, _) => "pending",
        }
    }
}
