//! Why something was done to a volume or a filesystem, left alone, or refused. Both share the reasons; some are given for one
//! of them only.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons, retry_reasons},
    vocab::{Life, Name, PROTECTED},
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no storage yet";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        StorageMade = "storage-made", "the provider reported success";
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
        StorageAbsent = "storage-absent", "the provider reported success";
        RemovalAsked = "removal-asked", "its removal was requested and it is not attached";
        RemovalBlocked = "removal-blocked", "its removal was requested and waits until it is detached";
        AlreadyGoing = "already-going", "it is already being removed";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachmentWanted = "attachment-wanted", "it will be attached to a machine";
        AttachmentGone = "attachment-gone", "its attachment there is gone";
        LastAttachmentGone = "last-attachment-gone", "it is no longer attached";
        AttachmentUnknown = "attachment-unknown", "it has no such attachment";
        WaitsForMachine = "waits-for-machine", "it was declared and waits for its machine to run";
        MachineReady = "machine-ready", "its machine is running";
        AlreadyBegun = "already-begun", "it is already created, or being created";
        ReleaseAsked = "release-asked", "its release was requested";
        StorageLeft = "storage-left", "it is dead and its storage still exists";
        FilesystemWanted = "filesystem-wanted", "a filesystem will be created on it";
        FilesystemGone = "filesystem-gone", "the filesystem on it is gone";
        FilesystemUnknown = "filesystem-unknown", "it does not hold that filesystem";
        AwaitsFilesystem = "awaits-filesystem", "its removal was requested and waits for its filesystem, which is removed first";
        RemovalForced = "removal-forced", "an operator forced the removal";
        CannotRelease = "cannot-release", "its provider cannot release it without destroying the data";
        StorageLost = "storage-lost", "it was missing from two complete lists in a row from its provider";
        StorageFound = "storage-found", "its provider lists it again";
        Overdue = "overdue", "its destruction exceeded the time limit";
        StorageReturned = "storage-returned", "its provider still lists what was destroyed";
        DeclaredAnew = "declared-anew", "it was declared again; what is left of the earlier volume is destroyed once this one is removed";
        DestroyInstead = "destroy-instead", "its destruction was requested instead of its release";
        ReleaseInstead = "release-instead", "its release was requested instead of its destruction";
        MachineAsks = "machine-asks", "a machine of a set asks for it";
        MachineGoes = "machine-goes", "the machine it was created for is being removed, and its data is kept";
        NotClaimed = "not-claimed", "no machine of a set asks for it";
        ProtectionAsked = "protection-asked", "a change of its protection was requested";
        ProtectionKnown = "protection-known", "its protection did not change";
        NeedsMet = "needs-met", "all its dependencies are ready";
        DeviceMoved = "device-moved", "its device was renamed";
        GoesWithVolume = "goes-with-volume", "its volume has left the machine; its data stays on the volume, and goes with it";
        CameWithInstance = "came-with-instance", "it was created with the instance of its machine";
        WentWithInstance = "went-with-instance", "the instance that it came with is gone";
        InstanceReplaced = "instance-replaced", "the instance that it came with is gone, and its machine gets another one";
    }
}

retry_reasons!(Reason);

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("it does not exist")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("{field} is immutable; to change it, delete the object and apply its manifest again")]
    Immutable { field: String },
    #[error("it is attached to machine {machine}; detach it first")]
    AttachedElsewhere { machine: Name },
    #[error("an earlier attachment to this machine is still being removed; try again when it is gone")]
    StillReserved,
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
    #[error("it holds filesystem {filesystem}; remove that first")]
    HoldsFilesystem { filesystem: Name },
    #[error("its release is under way; try again when it has ended")]
    BeingReleased,
    #[error("it is already being destroyed; its data cannot be kept")]
    BeingDestroyed,
    #[error("an object of this name already exists and was not created for machine {machine}")]
    NotOfMachine { machine: Name },
    #[error("{}", PROTECTED)]
    Protected,
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
            Self::NotOfMachine { .. } => "not-of-machine",
            Self::Protected => "protected",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
