//! Why something was done to an attachment, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons, retry_reasons},
    vocab::Life,
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and waits for its machine and storage";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        BothReady = "both-ready", "its machine and storage are ready";
        AlreadyConnected = "already-connected", "it is already attached, or being attached";
        LinkMade = "link-made", "the provider reported success";
        WorthRetrying = "worth-retrying", "another attempt may succeed";
        OutcomeUnknown = "outcome-unknown", "the outcome of the call is unknown, and the provider is asked again later";
        RetriesExhausted = "retries-exhausted", "no attempt is left";
        NotRetryable = "not-retryable", "a retry cannot help";
        RetryDue = "retry-due", "the next attempt is due";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        OperatorRetries = "operator-retries", "an operator requested a retry";
        NothingToRetry = "nothing-to-retry", "nothing needs a retry";
        StaleReport = "stale-report", "the report is out of date";
        MachineWent = "machine-went", "the instance it was attached to is gone or being deleted";
        NotConnectedThere = "not-connected-there", "it is not attached to that instance";
        LinkUndone = "link-undone", "the provider reported success; it waits for its machine and storage again";
        LinkUndoneForGood = "link-undone-for-good", "the provider reported success and its removal was requested";
        RemovalAsked = "removal-asked", "its removal was requested";
        NeverConnected = "never-connected", "its removal was requested and it was never attached";
        AlreadyGoing = "already-going", "it is already being removed";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachedAtCreation = "attached-at-creation", "the provider attached it when it created the volume";
        NewSession = "new-session", "it was attached before the node restarted";
        NotAttached = "not-attached", "it is not attached now";
        LinkLeft = "link-left", "it is being removed and may still be attached";
        RemovalForced = "removal-forced", "an operator forced the removal";
        Overdue = "overdue", "detaching it exceeded the time limit";
        TargetMoved = "target-moved", "its source device was renamed";
        CameWithInstance = "came-with-instance", "it came with the instance of its machine";
        GoneWithInstance = "gone-with-instance", "the instance that it came with is gone";
    }
}

retry_reasons!(Reason);

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such attachment")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("{field} is immutable; to change it, delete the object and apply its manifest again")]
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
