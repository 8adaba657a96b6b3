//! Why something was done to a machine, left alone, or refused.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Code, Stored, reasons},
    vocab::{InstanceId, Life, Name, Zone},
};

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no instance yet";
        SpecDiffers = "spec-differs", "what is declared differs from what was";
        AlreadyAsDeclared = "already-as-declared", "it is already declared like this";
        InstanceMade = "instance-made", "the provider has made its instance";
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
        InstanceGone = "instance-gone", "its instance has gone and the policy replaces it";
        InstanceGoneKept = "instance-gone-kept", "its instance has gone and the policy leaves it so";
        InstanceAbsent = "instance-absent", "the provider confirmed that its instance is gone";
        ReplacementDue = "replacement-due", "the remains of the lost instance are gone, so another one is made";
        NodeSeen = "node-seen", "what its agent reports has changed";
        NodeUnchanged = "node-unchanged", "what its agent reports has not changed";
        NodeTooSilent = "node-too-silent", "its agent was silent for longer than the policy allows";
        NodeNotSilentLongEnough = "node-not-silent-long-enough", "its agent was not silent for long enough";
        RemovalAsked = "removal-asked", "its removal was asked for and nothing hangs on it";
        RemovalBlocked = "removal-blocked", "its removal was asked for and waits for its attachments";
        AlreadyGoing = "already-going", "it is already on its way out";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachmentWanted = "attachment-wanted", "a volume is to be attached to it";
        AttachmentGone = "attachment-gone", "an attachment of it is gone";
        LastAttachmentGone = "last-attachment-gone", "nothing hangs on it any more";
        AttachmentUnknown = "attachment-unknown", "it has no such attachment";
        OperatorHolds = "operator-holds", "an operator wants nothing to happen to it by itself";
        HeldAlready = "held-already", "it is held for that reason already";
        OperatorReleases = "operator-releases", "an operator lets it go on";
        NotHeld = "not-held", "it is not held";
        HoldOver = "hold-over", "the time of its hold is over";
        OnHold = "on-hold", "it is held, so what would have happened is only noted";
        RemovalForced = "removal-forced", "an operator asked not to wait for what blocks its removal";
        DeletionUnderWay = "deletion-under-way", "its instance is being deleted at this moment, and there is nothing else to skip";
        InstanceSpared = "instance-spared", "its removal was asked for, and its instance stays";
        OperatorAdopts = "operator-adopts", "an operator gives it an instance that was nobody's";
        AlreadyItsOwn = "already-its-own", "that instance is its own already";
        OperatorDisowns = "operator-disowns", "an operator wants it to let go of its instance";
        StrayUnknown = "stray-unknown", "an instance bears its name that nobody knows, and the policy removes such instances";
        StrayKept = "stray-kept", "an operator keeps that instance";
        StrayGoing = "stray-going", "that instance is being removed already";
        StrayAbsent = "stray-absent", "the provider confirmed that an instance that was not its own is gone";
        TimeOver = "time-over", "it was not well in time, so a supervisor decides what becomes of it";
        GivenUp = "given-up", "it was not well in time and there is room to replace it";
        Recovered = "recovered", "it is not about to be given up any more";
        RemovalDrains = "removal-drains", "its removal was asked for, and its workloads end first";
        Drained = "drained", "nothing runs inside any more";
        DrainTimedOut = "drain-timed-out", "its workloads did not end in time, so they are not waited for";
        ZoneIsBack = "zone-is-back", "its zone is not silent as a whole any more, so it gets some more time";
        MemberCounts = "member-counts", "a replica set has a voter on it, or is about to have a member on it";
        EngagedAlready = "engaged-already", "that replica set counts on it already";
        MemberCountsNoMore = "member-counts-no-more", "that replica set does without it";
        NotEngaged = "not-engaged", "that replica set does not count on it";
        RemovalWaitsForSet = "removal-waits-for-set", "its removal was asked for, and a replica set has to do without it first";
        SiteChosen = "site-chosen", "the zone for its instance was chosen";
        SiteNotAwaited = "site-not-awaited", "no zone has to be chosen for it";
        ZoneFailed = "zone-failed", "its instance could not be made in that zone, and may be in another one";
        AllZonesFailed = "all-zones-failed", "its instance could not be made in any zone that it may be in";
        ProgressTold = "progress-told", "its provider tells how far it is";
        ProgressKnown = "progress-known", "its provider told that already";
        ClassTaken = "class-taken", "its class says what its instances are made from";
        ClassNotAwaited = "class-not-awaited", "nothing has to be taken from a class for it";
        StartPrepared = "start-prepared", "everything that its start needs is there";
        StartRefused = "start-refused", "something that its start needs is missing";
        StartNotAwaited = "start-not-awaited", "its start does not wait for that";
        UnitWanted = "unit-wanted", "a unit of an application is to stand on it";
        UnitUnwanted = "unit-unwanted", "no unit of that application is to stand on it any more";
        UnitKnown = "unit-known", "that is so already";
        ContainerWanted = "container-wanted", "a machine is about to be made in it";
        ContainerGone = "container-gone", "a machine that stood in it is gone";
        ContainerKnown = "container-known", "nothing has changed about that machine";
        RemovalWaitsForContainers = "removal-waits-for-containers", "its removal was asked for, and the machines that stand in it go first";
        VolumeSeen = "volume-seen", "a volume of it is in a zone, so its instances are made there";
        VolumeZoneKnown = "volume-zone-known", "nothing follows from where that volume is";
        AgentJoined = "agent-joined", "its agent has come with the token that was made for it";
        EvictionAllowed = "eviction-allowed", "enough of the others run well, so its workloads may end";
        EvictionRefused = "eviction-refused", "too few of the others run well for its workloads to end now";
        EvictionForced = "eviction-forced", "its workloads were refused to end too often, so they end in any case";
        EvictionNotAsked = "eviction-not-asked", "nobody asks for its workloads to end";
        StartedByOther = "started-by-other", "what is there was started by another control plane, so nothing of it is touched";
        WorkloadEnded = "workload-ended", "the workload whose turn it was does not run any more";
        VolumeDetached = "volume-detached", "a volume that was waited for is detached";
        DetachmentNotAwaited = "detachment-not-awaited", "nobody waits for that volume";
        TurnTimedOut = "turn-timed-out", "a workload or its volumes took too long, so they are not waited for";
        TurnUnderWay = "turn-under-way", "its workloads end one after the other, and one of them still has its turn";
        StrayReturned = "stray-returned", "the provider still shows an instance of it that was deleted, so it is deleted again";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine")]
    NotDeclared,
    #[error("it is {life}, so nothing new can be asked of it; wait until it is removed")]
    Leaving { life: Life },
    #[error("{field} cannot change while it lives; remove it and declare it anew")]
    Immutable { field: String },
    #[error("an earlier attachment of this volume is not undone yet; try again when it is removed")]
    StillReserved,
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
    #[error("it is held ({reason}); end that with `bailiwick unhold`, or ask with --force")]
    Held { reason: String },
    #[error("a hold needs a reason of 1 to 255 bytes without control characters")]
    BadHold,
    #[error("it has an instance ({instance}); `bailiwick disown` makes it let go of that first")]
    HasInstance { instance: InstanceId },
    #[error("it has no instance that runs")]
    NoInstance,
    #[error("an instance is being made or deleted for it at this moment; try again when that is over")]
    Busy,
    #[error("that instance is of {machine}, and this is another machine")]
    NotItsName { machine: Name },
    #[error("that instance is of provider {provider}, and this machine is declared with another one")]
    OtherProvider { provider: Name },
    #[error("that instance does not run")]
    NotRunning,
    #[error("that instance is being removed already")]
    BeingRemoved,
    #[error("class {class} is of provider {provider}, and this machine is declared with another one")]
    ClassOfOtherProvider { class: Name, provider: Name },
    #[error("its volume {other} is in zone {here}, and volume {volume} in zone {zone}: no machine is in both")]
    VolumesApart { volume: Name, zone: Zone, other: Name, here: Zone },
    #[error(
        "volume {volume} is in zone {zone}, where this machine is not to be; attach it to a machine that may be there"
    )]
    VolumeElsewhere { volume: Name, zone: Zone },
    #[error("that instance was started by somebody else: it reports the nonce {nonce}")]
    OtherNonce { nonce: String },
    #[error("the end of a hold has to be still to come")]
    HoldOver,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::NotDeclared => "not-declared",
            Self::Leaving { .. } => "leaving",
            Self::Immutable { .. } => "immutable",
            Self::StillReserved => "still-reserved",
            Self::UnknownAttempt { .. } => "unknown-attempt",
            Self::Held { .. } => "held",
            Self::BadHold => "bad-hold",
            Self::HoldOver => "hold-over",
            Self::HasInstance { .. } => "has-instance",
            Self::NoInstance => "no-instance",
            Self::Busy => "busy",
            Self::NotItsName { .. } => "not-its-name",
            Self::OtherProvider { .. } => "other-provider",
            Self::NotRunning => "not-running",
            Self::BeingRemoved => "being-removed",
            Self::ClassOfOtherProvider { .. } => "class-of-other-provider",
            Self::VolumesApart { .. } => "volumes-apart",
            Self::VolumeElsewhere { .. } => "volume-elsewhere",
            Self::OtherNonce { .. } => "other-nonce",
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
