//! What is true of an attachment now.

use bailiwick_journal::{StreamId, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Attached;
use crate::vocab::{EXTERNAL, Effort, Life, Outlook, Uid};

/// Whether clients of Juju's attach what is there.
pub(super) fn is_external<A: Attached>(target: &A::Target) -> bool {
    A::provider(target).as_str() == EXTERNAL
}

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<A: Attached> {
    pub life: Life,
    /// The version of the event that declared it: its uid follows from it.
    pub declared_at: Version,
    /// What was declared last; none before the first declaration.
    pub spec: Option<A::Spec>,
    pub link: Link<A>,
}

/// How it is connected to its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Link<A: Attached> {
    /// Not, and nothing is under way.
    #[default]
    Waiting,
    Attaching {
        target: A::Target,
        effort: Effort,
        /// How it was attached before, if this only makes sure.
        earlier: Option<A::Info>,
    },
    Attached {
        /// The version of the event that opened the intent it was made under.
        intent: Version,
        target: A::Target,
        info: A::Info,
    },
    /// What was attached under `of` is being detached.
    Detaching { of: Version, target: A::Target, effort: Effort },
}

impl<A: Attached> Default for State<A> {
    fn default() -> Self {
        Self { life: Life::default(), declared_at: Version::default(), spec: None, link: Link::default() }
    }
}

impl<A: Attached> State<A> {
    /// The attachment's uid; meaningless before it was declared.
    pub fn uid(&self, journal: Uuid, stream: &StreamId) -> Uid {
        Uid::of(journal, stream, self.declared_at)
    }

    /// The work that undoes what was made.
    pub fn undoing(&self) -> Option<&Effort> {
        self.effort().filter(|_| matches!(self.link, Link::Detaching { .. }))
    }

    /// The work in the outside world that is under way or waits.
    pub fn effort(&self) -> Option<&Effort> {
        match &self.link {
            Link::Attaching { effort, .. } | Link::Detaching { effort, .. } => Some(effort),
            Link::Waiting | Link::Attached { .. } => None,
        }
    }

    /// What it is or was connected to.
    pub fn target(&self) -> Option<&A::Target> {
        match &self.link {
            Link::Attaching { target, .. } | Link::Attached { target, .. } | Link::Detaching { target, .. } => {
                Some(target)
            }
            Link::Waiting => None,
        }
    }

    /// Whether it came with the instance of its machine: it is attached as long as that is there, and nobody is asked.
    pub fn is_external(&self) -> bool {
        self.target().is_some_and(is_external::<A>)
    }

    /// What it is attached to and how it is reached, as far as anybody knows: it stays so while it is made sure of.
    pub fn attached(&self) -> Option<(&A::Target, &A::Info)> {
        match &self.link {
            Link::Attached { target, info, .. } | Link::Attaching { target, earlier: Some(info), .. } => {
                Some((target, info))
            }
            Link::Waiting | Link::Attaching { earlier: None, .. } | Link::Detaching { .. } => None,
        }
    }

    /// Whether something may be attached that has to be detached before it goes.
    pub fn may_be_attached(&self) -> bool {
        match &self.link {
            Link::Waiting => false,
            Link::Attaching { effort, earlier, .. } => earlier.is_some() || effort.may_have_left_something(),
            Link::Attached { .. } | Link::Detaching { .. } => true,
        }
    }

    /// Whether the workloads can use it.
    pub fn is_ready(&self) -> bool {
        self.life == Life::Alive && matches!(self.link, Link::Attached { .. })
    }

    /// One word for people: `attached`, `attaching`, `waiting`, `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.link, self.life) {
            (_, Life::Undeclared) => "undeclared",
            (_, Life::Removed) => "removed",
            (Link::Attaching { effort, .. } | Link::Detaching { effort, .. }, _)
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Link::Attaching { .. }, _) => "attaching",
            (Link::Detaching { effort, .. }, _) if effort.overdue.is_some() => "blocked",
            (Link::Detaching { .. }, _) => "detaching",
            (Link::Attached { .. }, _) => "attached",
            (Link::Waiting, _) => "waiting",
        }
    }
}
