//! What happened to an attachment.

use bailiwick_journal::Body;
use serde::{Deserialize, Serialize};

use super::Attached;
use crate::{
    contract::{self, Stored, StoredError, Touches},
    vocab::{Fact, Fault, SkippedStorage, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Event<A: Attached> {
    /// It exists from now on, under a new uid.
    Declared {
        spec: A::Spec,
    },
    /// An intent to attach is open: its effect id follows from this event's version.
    AttachRequested {
        target: A::Target,
        at: Timestamp,
    },
    Attached {
        info: A::Info,
    },
    AttachRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    AttachGivenUp {
        fault: Fault,
        /// A new series of attempts begins then by itself.
        again: Option<Timestamp>,
    },
    /// An intent to undo what the present intent did, or may have done.
    DetachRequested {
        at: Timestamp,
    },
    Detached,
    DetachRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    DetachGivenUp {
        fault: Fault,
    },
    /// The next attempt at whatever waits has begun.
    AttemptBegun,
    RemovalBegan,
    Removed,
    /// It was attached while it was made.
    TakenOver {
        target: A::Target,
        info: A::Info,
    },
    /// It is made sure, under the intent that it was attached under, that it still is.
    ReattachRequested {
        at: Timestamp,
    },
    /// Nothing was attached under the present intent, and nothing will be.
    AttachDropped,
    /// A forced removal did not wait for this.
    Skipped {
        what: SkippedStorage,
    },
    /// Undoing it takes longer than it may; it is tried on all the same.
    Overdue {
        at: Timestamp,
    },
    /// What it is attached to is known under another name now; the intent stays.
    Retargeted {
        target: A::Target,
    },
    /// The instance that a client of Juju's has attached it to is gone, and with it the attachment.
    WentWithInstance,
}

impl<A: Attached> Event<A> {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Effect, Health, Life, Request};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::AttachRequested { .. } | Self::DetachRequested { .. } | Self::TakenOver { .. } => &[Effect, Request],
            Self::Attached { .. }
            | Self::AttachRetryScheduled { .. }
            | Self::AttachGivenUp { .. }
            | Self::AttachDropped
            | Self::Detached
            | Self::DetachRetryScheduled { .. }
            | Self::DetachGivenUp { .. }
            | Self::AttemptBegun
            | Self::ReattachRequested { .. }
            | Self::Retargeted { .. }
            | Self::WentWithInstance => &[Effect],
            Self::Overdue { .. } => &[Health],
            Self::RemovalBegan | Self::Removed | Self::Skipped { .. } => &[Life],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Attached { .. }
            | Self::ReattachRequested { .. }
            | Self::DetachRequested { .. }
            | Self::Detached
            | Self::WentWithInstance => Touches::Some(&[Fact::Request]),
            Self::AttachRequested { .. } => Touches::Some(&[Fact::Effect]),
            Self::Overdue { .. } => Touches::Some(&[Fact::Request]),
            other => other.touches(),
        }
    }
}

impl<A: Attached> Stored for Event<A> {
    const SCHEMA: u16 = A::SCHEMA;

    fn load(body: &Body) -> Result<Self, StoredError> {
        contract::load_lifted(body, A::FIRST_FORM.map(|first| first.events))
    }
}
