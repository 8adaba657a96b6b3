//! Why something was done to a filesystem attachment, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons, retry_reasons},
    vocab::Life,
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and waits for machine and filesystem";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
        BothReady = "both-ready", "machine and filesystem are ready";
        AlreadyConnected = "already-connected", "it is attached, or being attached, already";
        LinkMade = "link-made", "the provider has attached it";
        WorthRetrying = "worth-retrying", "the failure may pass, so it is tried again later";
        OutcomeUnknown = "outcome-unknown", "nobody knows whether the call took effect, so the provider is asked again later";
        RetriesExhausted = "retries-exhausted", "no attempt is left";
        NotRetryable = "not-retryable", "trying the same again cannot help";
        RetryDue = "retry-due", "the time of the next attempt has come";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        OperatorRetries = "operator-retries", "an operator asked to try again";
        NothingToRetry = "nothing-to-retry", "nothing was given up";
        StaleReport = "stale-report", "the report is about something that is over";
        MachineWent = "machine-went", "the instance that it was attached to is going or gone";
        NotConnectedThere = "not-connected-there", "it is not attached to that instance";
        LinkUndone = "link-undone", "the provider has detached it, and it waits for machine and filesystem again";
        LinkUndoneForGood = "link-undone-for-good", "the provider has detached it, and it was to be removed";
        RemovalAsked = "removal-asked", "its removal was asked for";
        NeverConnected = "never-connected", "its removal was asked for and it was attached nowhere";
        AlreadyGoing = "already-going", "it is already on its way out";
        AlreadyGone = "already-gone", "there is nothing to remove";
        TargetMoved = "target-moved", "what it is mounted from is called otherwise now";
        NewSession = "new-session", "it was attached in an earlier session, which this one makes sure of";
        NotAttached = "not-attached", "it is not attached now";
        LinkLeft = "link-left", "it is dying and may still be attached";
        RemovalForced = "removal-forced", "an operator did not wait until it is detached";
        Overdue = "overdue", "unmounting it takes longer than it may, so it is said to be blocked";
    }
}

retry_reasons!(Reason);

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such filesystem attachment")]
    NotDeclared,
    #[error("it is {life}, so nothing new can be asked of it; wait until it is removed")]
    Leaving { life: Life },
    #[error("{field} cannot change while it lives; remove it and declare it anew")]
    Immutable { field: String },
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::Immutable { .. } => "immutable",
            Self::UnknownAttempt { .. } => "unknown-attempt",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
