//! What happened to an attachment.

use serde::{Deserialize, Serialize};

use super::{Spec, Target};
use crate::{
    contract::{Stored, Touches},
    ports::AttachmentInfo,
    vocab::{Fact, Fault, SkippedStorage, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    /// An intent to attach is open: its effect id follows from this event's version.
    AttachRequested {
        target: Target,
        at: Timestamp,
    },
    Attached {
        info: AttachmentInfo,
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
    /// It was attached while its volume was made.
    TakenOver {
        target: Target,
        info: AttachmentInfo,
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
}

impl Event {
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
            | Self::ReattachRequested { .. } => &[Effect],
            Self::Overdue { .. } => &[Health],
            Self::RemovalBegan | Self::Removed | Self::Skipped { .. } => &[Life],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Attached { .. } | Self::ReattachRequested { .. } | Self::DetachRequested { .. } | Self::Detached => {
                Touches::Some(&[Fact::Request])
            }
            Self::AttachRequested { .. } => Touches::Some(&[Fact::Effect]),
            Self::Overdue { .. } => Touches::Some(&[Fact::Request]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
