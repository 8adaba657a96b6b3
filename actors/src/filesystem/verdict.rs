//! Why something was done to a filesystem, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons, retry_reasons},
    vocab::Life,
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and waits for what it needs";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
        NeedsMet = "needs-met", "everything that it needs is there";
        DeviceMoved = "device-moved", "the device beneath it is called otherwise now";
        AlreadyBegun = "already-begun", "it is there, or being made, already";
        StorageMade = "storage-made", "the provider has made it";
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
        StorageAbsent = "storage-absent", "the provider confirmed that it is gone";
        RemovalAsked = "removal-asked", "its removal was asked for and it is mounted nowhere";
        ReleaseAsked = "release-asked", "it was asked to go without its data and it is mounted nowhere";
        RemovalBlocked = "removal-blocked", "it is to go and waits for its attachments";
        StorageLeft = "storage-left", "it is dead and its storage is still there";
        AlreadyGoing = "already-going", "it is already on its way out";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachmentWanted = "attachment-wanted", "it is to be mounted on a machine";
        AttachmentGone = "attachment-gone", "an attachment of it is gone";
        LastAttachmentGone = "last-attachment-gone", "it is mounted nowhere any more";
        AttachmentUnknown = "attachment-unknown", "it has no such attachment";
        RemovalForced = "removal-forced", "an operator did not wait for what blocks its removal";
        CannotRelease = "cannot-release", "its provider cannot let go of it without destroying its data, so both stay";
        Overdue = "overdue", "destroying it takes longer than it may, so it is said to be blocked";
        DestroyInstead = "destroy-instead", "it is to be destroyed instead of released";
        ReleaseInstead = "release-instead", "it is to be released, with its data, instead of destroyed";
    }
}

retry_reasons!(Reason);

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such filesystem")]
    NotDeclared,
    #[error("it is {life}, so nothing new can be asked of it; wait until it is removed")]
    Leaving { life: Life },
    #[error("{field} cannot change while it lives; remove it and declare it anew")]
    Immutable { field: String },
    #[error("an earlier attachment of this machine is not undone yet; try again when it is removed")]
    StillReserved,
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
    #[error("its provider has been asked to let go of it; ask again when that has ended")]
    BeingReleased,
    #[error("it is being destroyed already, so its data cannot be kept")]
    BeingDestroyed,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::Immutable { .. } => "immutable",
            Self::StillReserved => "still-reserved",
            Self::UnknownAttempt { .. } => "unknown-attempt",
            Self::BeingReleased => "being-released",
            Self::BeingDestroyed => "being-destroyed",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
