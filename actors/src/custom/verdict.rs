//! Reasons and rejections that most custom kinds need, so that each need not have its own.

use serde::{Deserialize, Serialize};

use crate::contract::{Code, Stored, reasons};

reasons! {
    /// Why something was done to an entity of a custom kind, or left alone.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared";
        DeclarationDiffers = "declaration-differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        MachinesChanged = "machines-changed", "the machines that it depends on have changed";
        RemovalAsked = "removal-asked", "its removal was requested";
        AlreadyGoing = "already-going", "it is already being removed";
        ProviderMade = "provider-made", "its provider has created it";
        ProviderUndid = "provider-undid", "its provider has deleted it";
        WorthRetrying = "worth-retrying", "the fault may pass";
        OutcomeUnknown = "outcome-unknown", "nobody knows whether it happened";
        RetriesExhausted = "retries-exhausted", "no attempt is left";
        NotRetryable = "not-retryable", "trying again cannot help";
        RetryDue = "retry-due", "its next attempt is due";
        NotDueYet = "not-due-yet", "its next attempt is not due yet";
        NothingWaits = "nothing-waits", "nothing is waiting for this";
        StaleReport = "stale-report", "the report is about an attempt that is over";
        OperatorRetries = "operator-retries", "an operator asked to try again";
        NothingToRetry = "nothing-to-retry", "nothing has failed";
    }
}

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("it is not declared")]
    NotDeclared,
    #[error("it is being removed; wait until it is gone")]
    Leaving,
    #[error("{field} cannot change; declare another one")]
    Immutable { field: String },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving => "leaving",
            Self::Immutable { .. } => "immutable",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
