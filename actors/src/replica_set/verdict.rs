//! Why something was done to a replica set, left alone, or refused.

use serde::{Deserialize, Serialize};

use super::enable_ha::EnableHaError;
use crate::{
    contract::{Code, Stored, reasons},
    vocab::{Life, PROTECTED},
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared, and its state has not been read yet";
        SpecDiffers = "spec-differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        HaAsked = "ha-asked", "a different number of voters was requested";
        HaAlready = "ha-already", "that number of voters was already requested";
        StepPlanned = "step-planned", "the supervisor planned it from the last read";
        SeenNew = "seen-new", "the state differs from the last read";
        SeenAgain = "seen-again", "the state equals the last read";
        NothingNew = "nothing-new", "it is already known";
        NoSetYet = "no-set-yet", "a server answers, and the set is not initiated yet";
        LookWorthRetrying = "look-worth-retrying", "the state could not be read, and may be readable later";
        StepTaken = "step-taken", "the engine reported success";
        PrimaryGaveWay = "primary-gave-way", "the primary is stepping down, and the step continues under the next one";
        StepWorthRetrying = "step-worth-retrying", "the engine refused it";
        OutcomeUnknown = "outcome-unknown", "the outcome of the step is unknown";
        RetryDue = "retry-due", "the next read is due";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        OperatorRetries = "operator-retries", "an operator requested a retry";
        NothingToRetry = "nothing-to-retry", "nothing failed";
        StaleReport = "stale-report", "the report is out of date";
        RemovalAsked = "removal-asked", "its removal was requested";
        AlreadyGone = "already-gone", "there is nothing to remove";
        EndpointsDiffer = "endpoints-differ", "the addresses of its servers changed";
        EndpointsKnown = "endpoints-known", "the addresses of its servers did not change";
        AskedNumberStays = "asked-number-stays", "its declaration did not change; the number of voters requested since then stays";
        ProtectionAsked = "protection-asked", "a change of its protection was requested";
        ProtectionKnown = "protection-known", "its protection did not change";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such replica set")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("{field} is immutable; to change it, delete the object and apply its manifest again")]
    Immutable { field: String },
    #[error("{field}: {problem}")]
    Invalid { field: String, problem: String },
    #[error("{problem}")]
    Servers { problem: EnableHaError },
    #[error("{asked} servers need {asked} seats, and the set declares {seats}; declare more seats first")]
    TooFewSeats { asked: i64, seats: u32 },
    #[error("another step is under way; planning resumes when it has ended")]
    Busy,
    #[error("the plan is based on an outdated state; a new plan follows")]
    PlanOutdated,
    #[error("the set is already initiated")]
    AlreadyBegun,
    #[error("{}", PROTECTED)]
    Protected,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::Immutable { .. } => "immutable",
            Self::Invalid { .. } => "invalid",
            Self::Servers { .. } => "servers",
            Self::TooFewSeats { .. } => "too-few-seats",
            Self::Busy => "busy",
            Self::PlanOutdated => "plan-outdated",
            Self::AlreadyBegun => "already-begun",
            Self::Protected => "protected",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
