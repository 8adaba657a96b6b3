//! What is true of a volume now.

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};

use super::Spec;
use crate::{
    ports::ProvisionedVolume,
    vocab::{Effort, Life, Name, Outlook, Uid},
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
    pub fn uid(&self, stream: &StreamId) -> Uid {
        Uid::of(stream, self.declared_at)
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
        self.life == Life::Alive && matches!(self.storage, Storage::Provisioned { .. })
    }

    /// One word for people: `available`, `attached`, `creating`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.storage, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Storage::Creating(effort) | Storage::Destroying { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Storage::Creating(_), _) => "creating",
            (Storage::Destroying { .. }, _) => "destroying",
            (_, Life::Dying) => "dying",
            (Storage::Provisioned { .. }, _) if self.attached_to.is_some() => "reserved",
            (Storage::Provisioned { .. }, _) => "available",
            (Storage::None, _) => "pending",
        }
    }
}
