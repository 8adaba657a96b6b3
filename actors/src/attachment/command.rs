//! What may be asked of an attachment, and what the world may report to it.

use bailiwick_journal::Body;
use serde::{Deserialize, Serialize};

use super::Attached;
use crate::{
    contract::{self, Stored, StoredError},
    vocab::{EffectId, Fault, Timestamp},
};

/// A command to an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Command<A: Attached> {
    /// It shall exist, like this.
    Declare(A::Spec),
    /// It shall go.
    Remove,
    /// Try again what was given up, or waits.
    Retry,
    /// Everything that it needs is ready: attach it.
    Attach { target: Box<A::Target> },
    /// The instance that it is attached to is going or gone: let go of it, and wait for another.
    Detach { machine_effect: EffectId },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report<A>),
    /// It was attached while it was made (volumes only): take that over.
    TakeOver { target: Box<A::Target>, info: A::Info },
    /// It was attached in an earlier session: make sure that it still is.
    Reattach,
    /// It shall go; nobody waits until it is detached, and what may stay behind is recorded.
    RemoveForced,
    /// The instance that it was attached to by a client of Juju's is gone, and with it the attachment. A supervisor's order.
    NoteGone { machine_effect: EffectId },
}

/// A report to an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Report<A: Attached> {
    /// The provider has attached it, or found it attached.
    Attached {
        attempt: u32,
        info: A::Info,
    },
    AttachFailed {
        attempt: u32,
        fault: Fault,
    },
    /// The provider has detached it, or found it detached.
    Detached {
        attempt: u32,
    },
    DetachFailed {
        attempt: u32,
        fault: Fault,
    },
}

impl<A: Attached> Stored for Command<A> {
    const SCHEMA: u16 = A::SCHEMA;

    fn load(body: &Body) -> Result<Self, StoredError> {
        contract::load_lifted(body, A::FIRST_FORM.map(|first| first.commands))
    }
}
