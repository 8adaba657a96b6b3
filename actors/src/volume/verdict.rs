//! Why something was done to a volume, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons, retry_reasons},
    vocab::{Life, Name},
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no storage yet";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
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
        StorageAbsent = "storage-absent", "the provider confirmed that it is destroyed";
        RemovalAsked = "removal-asked", "its removal was asked for and it is attached nowhere";
        RemovalBlocked = "removal-blocked", "its removal was asked for and waits for its attachment";
        AlreadyGoing = "already-going", "it is already on its way out";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachmentWanted = "attachment-wanted", "it is to be attached to a machine";
        AttachmentGone = "attachment-gone", "its attachment is gone";
        LastAttachmentGone = "last-attachment-gone", "it is attached nowhere any more";
        AttachmentUnknown = "attachment-unknown", "it has no such attachment";
        WaitsForMachine = "waits-for-machine", "it was declared and is made once its machine has an instance";
        MachineReady = "machine-ready", "the machine that it is made at has an instance";
        AlreadyBegun = "already-begun", "its storage is there, or being made, already";
        ReleaseAsked = "release-asked", "it was asked to go without its data";
        StorageLeft = "storage-left", "it is dead and its storage is still there";
        FilesystemWanted = "filesystem-wanted", "a filesystem is to be made on it";
        FilesystemGone = "filesystem-gone", "the filesystem on it is gone";
        FilesystemUnknown = "filesystem-unknown", "no such filesystem lives on it";
        AwaitsFilesystem = "awaits-filesystem", "its removal was asked for and waits for the filesystem on it, which goes too";
        RemovalForced = "removal-forced", "an operator did not wait for what blocks its removal";
        CannotRelease = "cannot-release", "its provider cannot let go of it without destroying its data, so both stay";
        StorageLost = "storage-lost", "its provider has shown two complete lists in a row without it";
        StorageFound = "storage-found", "its provider shows it again";
        Overdue = "overdue", "destroying it takes longer than it may, so it is said to be blocked";
        StorageReturned = "storage-returned", "its provider still shows what was destroyed, so it is destroyed again";
        DeclaredAnew = "declared-anew", "it was declared again, so what is left of the earlier one goes after this one";
        DestroyInstead = "destroy-instead", "it is to be destroyed instead of released";
        ReleaseInstead = "release-instead", "it is to be released, with its data, instead of destroyed";
    }
}

retry_reasons!(Reason);

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such volume")]
    NotDeclared,
    #[error("it is {life}, so nothing new can be asked of it; wait until it is removed")]
    Leaving { life: Life },
    #[error("{field} cannot change while it lives; remove it and declare it anew")]
    Immutable { field: String },
    #[error("it is attached to machine {machine}; detach it there first")]
    AttachedElsewhere { machine: Name },
    #[error("an earlier attachment of this machine is not undone yet; try again when it is removed")]
    StillReserved,
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
    #[error("the filesystem {filesystem} lives on it; remove that first")]
    HoldsFilesystem { filesystem: Name },
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
            Self::AttachedElsewhere { .. } => "attached-elsewhere",
            Self::StillReserved => "still-reserved",
            Self::UnknownAttempt { .. } => "unknown-attempt",
            Self::HoldsFilesystem { .. } => "holds-filesystem",
            Self::BeingReleased => "being-released",
            Self::BeingDestroyed => "being-destroyed",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
