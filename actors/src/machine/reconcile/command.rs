//! What may be asked of a machine, and what the world may report to it.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{Import, Seen};
use crate::{
    machine::{drain, rules::removal::RemovalReason},
    vocab::{Fault, FaultCode},
};

/// A command to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Take over a machine from a Gardener control plane, as its record says.
    Import(Box<Import>),
    /// It shall go, for this reason, and nothing shall hold it up if it is forced.
    Remove { reason: Option<RemovalReason>, force: bool },
    /// Look at it, having seen this.
    Reconcile { scope: Scope, seen: Box<Seen> },
    /// What the world reports to the pass that began with this version; to another it means nothing.
    Report { pass: Version, report: Report },
}

/// Which part of a pass. Production asks for the whole; the parts are for those who want to know what one of them would
/// do, whatever comes before it in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    Whole,
    Class,
    Creation,
    Health,
    Sync,
    Removal,
}

/// What the world reports. Each answers the one thing that the pass waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    TokenCreated(Answered),
    TokenDropped(Answered),
    /// What the provider has for this machine.
    Status(Result<Found, CallError>),
    Created {
        result: Result<Created, CallError>,
        /// What the provider calls the state it is in; handed back with the next call.
        last_known_state: String,
    },
    Deleted {
        result: Result<(), CallError>,
        last_known_state: String,
    },
    CleanedUp {
        provider_id: String,
        result: Result<(), CallError>,
    },
    NodeWritten(Answered),
    NodeMarked(Answered),
    NodeDeleted(Answered),
    /// What the drain of its node waits for.
    Drain(drain::Report),
    /// Something that the drain of its node waits for may be due.
    DrainDue,
}

/// How a write went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answered {
    Ok,
    /// What it was about is not there; as good as done.
    Gone,
    Failed,
}

/// What the provider has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub provider_id: String,
    pub node: String,
}

/// What the provider has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    pub provider_id: String,
    pub node: String,
    /// Whether a node of this name was there before.
    pub is_node_known: bool,
}

/// How a call to a provider failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct CallError {
    /// None if the provider gave no code that is known.
    pub code: Option<FaultCode>,
    /// For people; made harmless by [`CallError::new`]. Never holds a secret.
    pub text: String,
}

impl CallError {
    /// An error with its text made harmless.
    pub fn new(code: Option<FaultCode>, text: impl AsRef<str>) -> Self {
        Self { code, text: Fault::new(FaultCode::Unknown, text).text }
    }

    /// Whether the same call may succeed very soon.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.code,
            Some(FaultCode::Unknown | FaultCode::DeadlineExceeded | FaultCode::Aborted | FaultCode::Unavailable)
        )
    }
}
