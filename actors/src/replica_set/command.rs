//! What may be asked of a replica set, and what the world may report to it.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{Endpoints, Spec};
use crate::{
    contract::Stored,
    ports::replica_set::{Observation, Outcome, Step},
    vocab::{Fault, Timestamp},
};

/// A command to a replica set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall be looked after, like this.
    Declare(Spec),
    /// So many of its servers shall vote; 0 means enough to survive the loss of one.
    EnableHa { servers: i64 },
    /// It is not looked after any more. Its servers and their data stay as they are.
    Remove,
    /// What waits is not to wait longer.
    RetryNow,
    /// The supervisor's next step, planned on what was seen at this version.
    TakeStep { step: Step, seen: Version },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// Servers are to be found there. The supervisor's order.
    Publish(Endpoints),
    /// It is not to be removed, or may be again.
    Protect { on: bool },
}

/// A report to a replica set. `round` is the version of the event that began the phase it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// What there is.
    Seen {
        round: Version,
        observation: Observation,
    },
    /// A server answers, and there is no set yet.
    NotBegun {
        round: Version,
    },
    LookFailed {
        round: Version,
        fault: Fault,
    },
    /// What came of the step.
    Stepped {
        round: Version,
        outcome: Outcome,
    },
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
