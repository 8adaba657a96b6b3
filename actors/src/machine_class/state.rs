//! What is true of a machine class now.

use std::collections::BTreeSet;

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Event;
use crate::vocab::{ClassContent, ClassCopy, Life, Name, Uid};

/// A machine class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What it says; none before the first declaration.
    pub content: Option<Box<ClassContent>>,
    /// Counts what it has said, from 1. Goes on when it is declared again.
    pub revision: u32,
    /// The machines that use it.
    pub users: BTreeSet<Name>,
}

impl State {
    /// The class's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// What a machine takes that is made from it now.
    pub fn copy(&self, class: &Name) -> Option<ClassCopy> {
        let content = self.content.clone().filter(|_| self.life == Life::Alive)?;
        Some(ClassCopy { class: class.clone(), revision: self.revision, content })
    }

    /// One word for people: `in-use`, `unused`, `removing`.
    pub fn status(&self) -> &'static str {
        match (self.life, self.users.is_empty()) {
            (Life::Undeclared, _) => "undeclared",
            (Life::Removed, _) => "removed",
            (Life::Dying | Life::Dead, _) => "removing",
            (Life::Alive, true) => "unused",
            (Life::Alive, false) => "in-use",
        }
    }
}

pub(super) fn evolve(state: &mut State, at: Version, event: &Event) {
    match event {
        Event::Declared { content } => {
            let (content, revision) = (Some(content.clone()), state.revision.saturating_add(1));
            *state = State { life: Life::Alive, declared_at: at, content, revision, users: BTreeSet::new() };
        }
        Event::Revised { content } => {
            state.content = Some(content.clone());
            state.revision = state.revision.saturating_add(1);
        }
        Event::Used { machines } => state.users.extend(machines.iter().cloned()),
        Event::Released { machines } => {
            for machine in machines {
                state.users.remove(machine);
            }
        }
        Event::RemovalBegan => state.life = Life::Dying,
        Event::Removed => state.life = Life::Removed,
    }
}
