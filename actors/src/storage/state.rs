//! What is true of a volume or a filesystem now.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Declaration, Provisioned, Removal};
use crate::{
    storage_rules::{ClaimedBy, FromPool},
    vocab::{Effort, Life, Name, Outlook, Uid},
};

/// A volume or a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<K: Provisioned> {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<K::Spec>,
    pub storage: Storage<K>,
    /// The machines that it is attached to, or about to be.
    pub attached_to: BTreeSet<Name>,
    /// How it goes.
    pub removal: Removal,
    /// The pool that it comes from, if it was declared from one.
    pub pool: Option<FromPool>,
    /// What it is there for, and goes with; none if it was declared for its own sake.
    pub owner: Option<StreamId>,
    /// It is not removed, nor is what is there of it, before that ends.
    pub protected: bool,
    /// The machine of a set that it was made for, until that goes.
    pub claim: Option<ClaimedBy>,
    /// The machine of a set that it was made for, and that went: it was kept.
    pub kept_of: Option<Name>,
    /// What is true of this kind only.
    pub own: K::Own,
}

/// What the provider keeps for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Storage<K: Provisioned> {
    /// Nothing: it waits for what it needs, or is not wanted any more.
    #[default]
    None,
    Creating {
        base: K::Base,
        effort: Effort,
    },
    Provisioned {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        made: K::Made,
    },
    /// What was made under `of` is being destroyed, or let go of.
    Destroying {
        of: Version,
        effort: Effort,
    },
}

impl<K: Provisioned> Default for State<K> {
    fn default() -> Self {
        Self {
            life: Life::default(),
            declared_at: Version::default(),
            spec: None,
            storage: Storage::None,
            attached_to: BTreeSet::new(),
            removal: Removal::default(),
            pool: None,
            owner: None,
            protected: false,
            claim: None,
            kept_of: None,
            own: K::Own::default(),
        }
    }
}

impl<K: Provisioned> State<K> {
    /// Its uid; meaningless before it was declared.
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
            Storage::Creating { effort, .. } | Storage::Destroying { effort, .. } => Some(effort),
            Storage::None | Storage::Provisioned { .. } => None,
        }
    }

    /// The intent under which it was made, or may have been, or is undone.
    pub fn intent(&self) -> Option<Version> {
        match &self.storage {
            Storage::Creating { effort, .. } => Some(effort.intent),
            Storage::Provisioned { intent, .. } => Some(*intent),
            Storage::Destroying { of, .. } => Some(*of),
            Storage::None => None,
        }
    }

    /// What is there of it.
    pub fn made(&self) -> Option<&K::Made> {
        match &self.storage {
            Storage::Provisioned { made, .. } => Some(made),
            Storage::None | Storage::Creating { .. } | Storage::Destroying { .. } => None,
        }
    }

    /// The fields in which a declaration differs from what is declared: none of them can change while it lives. What is
    /// declared for its own sake keeps an owner that it has, and what its pool says by now is the business of those that come
    /// after.
    pub fn differences(&self, declaration: &Declaration<K>) -> Vec<&'static str> {
        let owner = declaration.owner.as_ref();
        let is_of_another = owner.is_some() && owner != self.owner.as_ref();
        let name = |pool: &Option<FromPool>| pool.as_ref().map(|pool| pool.name.clone());
        let is_from_another = name(&self.pool) != name(&declaration.pool);
        let own = K::differences(self, declaration);
        is_of_another.then_some("owner").into_iter().chain(own).chain(is_from_another.then_some("spec.pool")).collect()
    }

    /// Whether it is there to be used.
    pub fn is_ready(&self) -> bool {
        self.life == Life::Alive && self.made().is_some() && K::lost_since(self).is_none()
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
            (Storage::Provisioned { .. }, Life::Alive) if K::lost_since(self).is_some() => "lost",
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
