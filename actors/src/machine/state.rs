//! What is true of a machine now.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};

use super::Spec;
use crate::{
    ports::{Condition, MachineInstance},
    vocab::{EffectId, Effort, Life, Name, Outlook, Timestamp, Uid},
};

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<Spec>,
    pub instance: Instance,
    pub node: Node,
    /// The volumes that are attached here, or about to be.
    pub attachments: BTreeSet<Name>,
}

/// What the provider runs for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instance {
    #[default]
    None,
    Creating(Effort),
    Running {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        instance: MachineInstance,
        since: Timestamp,
    },
    /// Gone without our doing, and the policy says to leave it so.
    Lost {
        intent: Version,
        since: Timestamp,
    },
    /// What was made under `of` is being removed.
    Deleting {
        of: Version,
        effort: Effort,
    },
}

/// What its agent reports from inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    /// Nothing yet from this instance.
    #[default]
    Silent,
    Reporting {
        since: Timestamp,
        conditions: BTreeMap<String, Condition>,
    },
    /// Nothing for too long.
    Stale {
        last_seen: Timestamp,
        conditions: BTreeMap<String, Condition>,
    },
}

impl State {
    /// The machine's uid; meaningless before it was declared.
    pub fn uid(&self, stream: &StreamId) -> Uid {
        Uid::of(stream, self.declared_at)
    }

    /// The effect id of the instance that runs, if one does.
    pub fn running_effect(&self, stream: &StreamId) -> Option<EffectId> {
        match &self.instance {
            Instance::Running { intent, .. } => Some(EffectId::of(stream, *intent)),
            Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
        }
    }

    /// Whether it runs, reports, and every condition is as it should be.
    pub fn is_ready(&self) -> bool {
        let Node::Reporting { conditions, .. } = &self.node else {
            return false;
        };
        self.life == Life::Alive
            && matches!(self.instance, Instance::Running { .. })
            && conditions.values().all(|condition| condition.healthy)
    }

    /// The work in the outside world that is under way or waits.
    pub fn effort(&self) -> Option<&Effort> {
        match &self.instance {
            Instance::Creating(effort) | Instance::Deleting { effort, .. } => Some(effort),
            Instance::None | Instance::Running { .. } | Instance::Lost { .. } => None,
        }
    }

    /// One word for people: `running`, `creating`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.instance, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Instance::Creating(effort) | Instance::Deleting { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Instance::Creating(_), _) => "creating",
            (Instance::Deleting { .. }, _) => "deleting",
            (_, Life::Dying) => "dying",
            (Instance::Lost { .. }, _) => "lost",
            (Instance::Running { .. }, _) => match &self.node {
                Node::Silent => "starting",
                Node::Stale { .. } => "stale",
                Node::Reporting { .. } if self.is_ready() => "ready",
                Node::Reporting { .. } => "unhealthy",
            },
            (Instance::None, _) => "pending",
        }
    }
}
