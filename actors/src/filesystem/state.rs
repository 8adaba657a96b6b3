//! What is true of a filesystem now.

use std::collections::BTreeSet;

use bailiwick_journal::{Cite, StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Removal, Spec};
use crate::{
    ports::{Backing, ProvisionedFilesystem},
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Effort, Life, Name, Outlook, Uid},
};

/// The name of the one that makes and mounts filesystems on volumes, whoever makes the volumes.
pub const MANAGED: &str = "managed";

/// A filesystem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    pub storage: Storage,
    /// The machines that it is mounted on, or about to be.
    pub attached_to: BTreeSet<Name>,
    /// How it goes.
    pub removal: Removal,
    /// The pool that it comes from, if it was declared from one.
    pub pool: Option<FromPool>,
    /// What it is there for, and goes with; none if it was declared for its own sake.
    pub owner: Option<StreamId>,
    /// The machine of a set that it was made for, until that goes.
    pub claim: Option<ClaimedBy>,
    /// The machine of a set that it was made for, and that went: it was kept.
    pub kept_of: Option<Name>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// Under which intents those of this name were made on a volume, or may have been, that went with their data: what is
    /// left of them there is nobody's, and makes room for the next one.
    pub destroyed: BTreeSet<Version>,
    /// It was made: what was on its volume before, it was made over.
    pub was_made: bool,
}

/// What the provider keeps for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Nothing: it waits for what it needs, or is not wanted any more.
    #[default]
    None,
    Creating {
        backing: Option<Backing>,
        /// The intents of other filesystems that it is made over.
        over: BTreeSet<Cite>,
        effort: Effort,
    },
    Provisioned {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        filesystem: ProvisionedFilesystem,
    },
    /// What was made under `of` is being destroyed, or let go of.
    Destroying { of: Version, effort: Effort },
}

impl State {
    /// The filesystem's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// The volume that it lives on.
    pub fn backing(&self) -> Option<&Name> {
        self.spec.as_ref().and_then(|spec| spec.backing.as_ref())
    }

    /// Where the work on it is done: the machine that it is bound to, or else one that it is mounted on.
    pub fn machine(&self) -> Option<&Name> {
        self.spec.as_ref().and_then(|spec| spec.machine.as_ref()).or(self.attached_to.first())
    }

    /// Who makes and mounts it: its provider, or for one on a volume [`MANAGED`].
    pub fn source(&self) -> Option<Name> {
        let spec = self.spec.as_ref()?;
        match spec.backing {
            Some(_) => Some(MANAGED.parse().expect("a valid name")),
            None => Some(spec.provider.clone()),
        }
    }

    /// The work that undoes what was made.
    pub fn undoing(&self) -> Option<&Effort> {
        self.effort().filter(|_| matches!(self.storage, Storage::Destroying { .. }))
    }

    /// The work in the outside world that is under way or waits.
    pub fn effort(&self) -> Option<&Effort> {
        match &self.storage {
            Storage::Creating { effort, .. } | Storage::Destroying { effort, .. } => Some(effort),
            Storage::None | Storage::Provisioned { .. } => None,
        }
    }

    /// Whether somebody has to attach it first: one on a volume is made where it is mounted.
    pub fn awaits_mount(&self) -> bool {
        let is_made = matches!(self.storage, Storage::Provisioned { .. });
        self.life == Life::Alive && !is_made && self.backing().is_some() && self.machine().is_none()
    }

    /// Whether it is there to be used.
    pub fn is_ready(&self) -> bool {
        self.life == Life::Alive && matches!(self.storage, Storage::Provisioned { .. })
    }

    /// One word for people: `available`, `reserved`, `creating`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.storage, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Storage::Creating { .. }, Life::Dying) => "dying",
            (Storage::Creating { effort, .. } | Storage::Destroying { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Storage::Creating { .. }, _) => "creating",
            (Storage::Destroying { effort, .. }, _) if effort.overdue.is_some() => "blocked",
            (Storage::Destroying { .. }, _) if self.removal == Removal::Release => "releasing",
            (Storage::Destroying { .. }, _) => "destroying",
            (_, Life::Dying) => "dying",
            (Storage::Provisioned { .. }, _) if !self.attached_to.is_empty() => "reserved",
            (Storage::Provisioned { .. }, _) => "available",
            (Storage::None, _) => "pending",
        }
    }
}
