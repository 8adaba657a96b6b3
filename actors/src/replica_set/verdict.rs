//! Why something was done to a replica set, left alone, or refused.

use serde::{Deserialize, Serialize};

use super::enable_ha::EnableHaError;
use crate::{
    contract::{Code, Stored, reasons},
    vocab::Life,
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and nobody has looked at it yet";
        SpecDiffers = "spec-differs", "what is declared differs from what was";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
        HaAsked = "ha-asked", "another number of voting servers was asked for";
        HaAlready = "ha-already", "so many servers shall vote already";
        StepPlanned = "step-planned", "the supervisor has planned it on what was read last";
        SeenNew = "seen-new", "what is there differs from what was seen last";
        SeenAgain = "seen-again", "it was to be read, and is as it was";
        NothingNew = "nothing-new", "this is known already";
        NoSetYet = "no-set-yet", "a server answers, and there is no set yet";
        LookWorthRetrying = "look-worth-retrying", "it could not be read what there is, so it is tried again later";
        StepTaken = "step-taken", "the engine says that it is done, so it is read back";
        PrimaryGaveWay = "primary-gave-way", "the primary gives way, and the rest follows when another one is there";
        StepWorthRetrying = "step-worth-retrying", "the engine did not take it, so everything is looked at again later";
        OutcomeUnknown = "outcome-unknown", "nobody knows whether it was taken, so it is read back later";
        RetryDue = "retry-due", "the time to look again has come";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        OperatorRetries = "operator-retries", "an operator asked to try again";
        NothingToRetry = "nothing-to-retry", "nothing failed";
        StaleReport = "stale-report", "the report is about something that is over";
        RemovalAsked = "removal-asked", "its removal was asked for";
        AlreadyGone = "already-gone", "there is nothing to remove";
        EndpointsDiffer = "endpoints-differ", "its servers are to be found elsewhere than was said";
        EndpointsKnown = "endpoints-known", "nothing differs from what was said of where its servers are";
        AskedNumberStays = "asked-number-stays", "it is declared like this; the number of servers that was asked for since stays";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such replica set")]
    NotDeclared,
    #[error("it is {life}, so nothing can be asked of it")]
    Leaving { life: Life },
    #[error("{field} cannot change while it lives; remove it and declare it anew")]
    Immutable { field: String },
    #[error("{field}: {problem}")]
    Invalid { field: String, problem: String },
    #[error("{problem}")]
    Servers { problem: EnableHaError },
    #[error("{asked} servers need as many seats, and only {seats} are declared; declare more seats first")]
    TooFewSeats { asked: i64, seats: u32 },
    #[error("something is under way or waits; the plan is made anew after it")]
    Busy,
    #[error("the plan was made on something that was seen before; it is made anew")]
    PlanOutdated,
    #[error("the set has begun already, and is never begun twice")]
    AlreadyBegun,
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
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
