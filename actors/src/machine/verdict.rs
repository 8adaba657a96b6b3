//! Why something was done to a machine, left alone, or refused.

use serde::{Deserialize, Serialize};

use super::{State, juju};
use crate::{
    contract::{self, Code, Stored, reasons},
    vocab::{InstanceId, Life, Name, PROTECTED, Zone},
};

/// What a step of its life is decided by.
pub(super) type Facts<'a> = contract::Facts<'a, State>;
/// What is decided.
pub(super) type Verdict = contract::Verdict<State>;

reasons! {
    /// Why.
    pub enum Reason {
        NewlyDeclared = "newly-declared", "it was declared and has no instance yet";
        SpecDiffers = "spec-differs", "its declaration changed";
        AlreadyAsDeclared = "already-as-declared", "its declaration did not change";
        InstanceMade = "instance-made", "the provider reported success";
        WorthRetrying = "worth-retrying", "another attempt may succeed";
        OutcomeUnknown = "outcome-unknown", "the outcome of the call is unknown, and the provider is asked again later";
        RetriesExhausted = "retries-exhausted", "no attempt is left";
        TookTooLong = "took-too-long", "its instance could not be created in time";
        NotRetryable = "not-retryable", "a retry cannot help";
        RetryDue = "retry-due", "the next attempt is due";
        NotDueYet = "not-due-yet", "nothing is due yet";
        NothingWaits = "nothing-waits", "nothing is waiting";
        OperatorRetries = "operator-retries", "an operator requested a retry";
        NothingToRetry = "nothing-to-retry", "nothing needs a retry";
        StaleReport = "stale-report", "the report is out of date";
        InstanceGone = "instance-gone", "its instance is gone and the policy replaces it";
        InstanceGoneKept = "instance-gone-kept", "its instance is gone and the policy does not replace it";
        InstanceAbsent = "instance-absent", "the provider confirmed that its instance is gone";
        ReplacementDue = "replacement-due", "the lost instance is cleaned up and can be replaced";
        NodeSeen = "node-seen", "the report differs from the last one";
        NodeUnchanged = "node-unchanged", "the report equals the last one";
        NodeTooSilent = "node-too-silent", "there was no health report for longer than the policy allows";
        NodeNotSilentLongEnough = "node-not-silent-long-enough", "there has been a health report recently enough";
        RemovalAsked = "removal-asked", "its removal was requested and nothing depends on it";
        RemovalBlocked = "removal-blocked", "its removal was requested and waits for its attachments";
        AlreadyGoing = "already-going", "it is already being removed";
        AlreadyGone = "already-gone", "there is nothing to remove";
        AttachmentWanted = "attachment-wanted", "a volume will be attached to it";
        AttachmentGone = "attachment-gone", "one of its attachments is gone";
        LastAttachmentGone = "last-attachment-gone", "nothing depends on it any more";
        AttachmentUnknown = "attachment-unknown", "it has no such attachment";
        OperatorHolds = "operator-holds", "an operator holds it";
        HeldAlready = "held-already", "it is already held for that reason";
        OperatorReleases = "operator-releases", "an operator ended the hold";
        NotHeld = "not-held", "it is not held";
        HoldOver = "hold-over", "its hold expired";
        OnHold = "on-hold", "it is held, so the step was recorded but not taken";
        RemovalForced = "removal-forced", "an operator forced the removal";
        DeletionUnderWay = "deletion-under-way", "its instance is already being deleted, and nothing else can be skipped";
        InstanceSpared = "instance-spared", "its removal was requested, and its instance is kept";
        OperatorAdopts = "operator-adopts", "an operator assigned it an unmanaged instance";
        AlreadyItsOwn = "already-its-own", "it already owns that instance";
        OperatorDisowns = "operator-disowns", "an operator disowned its instance";
        StrayUnknown = "stray-unknown", "an unknown instance has its name, and the policy deletes such instances";
        StrayKept = "stray-kept", "an operator keeps that instance";
        StrayGoing = "stray-going", "that instance is already being deleted";
        StrayAbsent = "stray-absent", "the provider confirmed that the stray instance is gone";
        TimeOver = "time-over", "it did not become healthy in time, and its supervisor decides what happens next";
        GivenUp = "given-up", "it did not become healthy in time and the replacement budget allows it";
        Recovered = "recovered", "it recovered";
        RemovalDrains = "removal-drains", "its removal was requested, and its workloads stop first";
        DrainSkipped = "drain-skipped", "its removal was requested, and its workloads are not waited for because its node has been unhealthy for too long";
        Drained = "drained", "all its workloads stopped";
        DrainTimedOut = "drain-timed-out", "its workloads did not stop in time";
        ZoneIsBack = "zone-is-back", "its zone answers again";
        MemberCounts = "member-counts", "a replica set has a voter on it, or is about to add a member";
        EngagedAlready = "engaged-already", "that replica set already depends on it";
        MemberCountsNoMore = "member-counts-no-more", "that replica set no longer depends on it";
        NotEngaged = "not-engaged", "that replica set does not depend on it";
        RemovalWaitsForSet = "removal-waits-for-set", "its removal was requested, and a replica set must remove its member first";
        SiteChosen = "site-chosen", "the zone for its instance was chosen";
        SiteNotAwaited = "site-not-awaited", "no zone has to be chosen for it";
        ZoneFailed = "zone-failed", "its instance could not be created in that zone, and another one may work";
        AllZonesFailed = "all-zones-failed", "its instance could not be created in any allowed zone";
        ProgressTold = "progress-told", "the provider reported progress";
        ProgressKnown = "progress-known", "the progress did not change";
        ClassTaken = "class-taken", "its class defines how its instance is created";
        ClassNotAwaited = "class-not-awaited", "it does not wait for a class";
        StartPrepared = "start-prepared", "everything it needs to start is there";
        StartRefused = "start-refused", "something it needs to start is missing";
        StartNotAwaited = "start-not-awaited", "its start does not wait for this any more";
        UnitWanted = "unit-wanted", "an application needs a unit on it";
        UnitUnwanted = "unit-unwanted", "the application no longer needs a unit on it";
        UnitKnown = "unit-known", "the assignment did not change";
        ContainerWanted = "container-wanted", "a machine will be created in it";
        ContainerGone = "container-gone", "a machine that it hosted is gone";
        ContainerKnown = "container-known", "nothing changed about that machine";
        RemovalWaitsForContainers = "removal-waits-for-containers", "its removal was requested, and the machines that it hosts are removed first";
        VolumeSeen = "volume-seen", "one of its volumes is in that zone";
        VolumeZoneKnown = "volume-zone-known", "the zone of that volume does not matter to it";
        AgentJoined = "agent-joined", "its agent presented a valid token";
        EvictionAllowed = "eviction-allowed", "enough of the other machines are healthy";
        EvictionRefused = "eviction-refused", "too few of the other machines are healthy";
        BudgetHopeless = "budget-hopeless", "its application has too few machines for its disruption budget";
        EvictionForced = "eviction-forced", "the eviction was refused too often";
        EvictionNotAsked = "eviction-not-asked", "no eviction was requested";
        StartedByOther = "started-by-other", "another control plane started that instance";
        WorkloadEnded = "workload-ended", "the workload stopped";
        VolumeDetached = "volume-detached", "a volume that it waited for is detached";
        DetachmentNotAwaited = "detachment-not-awaited", "nothing waits for that volume";
        TurnTimedOut = "turn-timed-out", "the workload or its volumes took too long";
        TurnUnderWay = "turn-under-way", "its workloads stop one after the other, and one is still stopping";
        StrayReturned = "stray-returned", "the provider still lists an instance that was deleted";
        NoZoneAllowed = "no-zone-allowed", "none of its allowed zones exists";
        ProviderIsBack = "provider-is-back", "its provider answers again, and its recovery time restarts";
        ProtectionAsked = "protection-asked", "a change of its protection was requested";
        ProtectionKnown = "protection-known", "its protection did not change";
        InstanceGoneProtected = "instance-gone-protected", "its instance is gone, and it is protected from being replaced";
        GivenUpProtected = "given-up-protected", "it did not become healthy in time, and it is protected from being replaced";
        FailedKept = "failed-kept", "it did not become healthy in time, and failed machines are kept for diagnosis";
        KeepingNotWanted = "keeping-not-wanted", "failed machines are not kept for diagnosis any more";
        OperatorKeeps = "operator-keeps", "an operator keeps it for diagnosis";
        KeptAlready = "kept-already", "it is already kept until then";
        OperatorLetsGo = "operator-lets-go", "an operator no longer keeps it";
        NotKept = "not-kept", "it is not kept";
        AsideOver = "aside-over", "its time for diagnosis is over";
        InstanceGoneAside = "instance-gone-aside", "its instance is gone, and it is kept for diagnosis";
        ClientTold = "client-told", "a client of the facade reported it";
        ClientToldBefore = "client-told-before", "a client of the facade reported the same before";
        ClientProvisioned = "client-provisioned", "a client of the facade created its instance";
        ClientEnded = "client-ended", "a client of the facade ended its life";
        ClientRemoved = "client-removed", "a client of the facade deleted its instance";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("there is no such machine")]
    NotDeclared,
    #[error("it is being removed ({life}); wait until it is gone")]
    Leaving { life: Life },
    #[error("{field} is immutable; to change it, delete the object and apply its manifest again")]
    Immutable { field: String },
    #[error("an earlier attachment of this volume is still being removed; try again when it is gone")]
    StillReserved,
    #[error("no attempt {attempt} is under way")]
    UnknownAttempt { attempt: u32 },
    #[error("it is held ({reason}); end the hold with `bailiwick unhold`, or add --force")]
    Held { reason: String },
    #[error("the reason for a hold must be 1 to 255 bytes long, without control characters")]
    BadHold,
    #[error("it already has instance {instance}; disown that first with `bailiwick disown`")]
    HasInstance { instance: InstanceId },
    #[error("it has no running instance")]
    NoInstance,
    #[error("its instance is being created or deleted; try again when that is done")]
    Busy,
    #[error("that instance belongs to machine {machine}")]
    NotItsName { machine: Name },
    #[error("that instance belongs to provider {provider}, but this machine is declared with a different provider")]
    OtherProvider { provider: Name },
    #[error("that instance is not running")]
    NotRunning,
    #[error("that instance is already being deleted")]
    BeingRemoved,
    #[error("class {class} is for provider {provider}, but this machine is declared with a different provider")]
    ClassOfOtherProvider { class: Name, provider: Name },
    #[error(
        "its volume {other} is in zone {here} and volume {volume} in zone {zone}; a machine can only be in one of them"
    )]
    VolumesApart { volume: Name, zone: Zone, other: Name, here: Zone },
    #[error("volume {volume} is in zone {zone}, which this machine does not allow; attach it to a machine that does")]
    VolumeElsewhere { volume: Name, zone: Zone },
    #[error("another control plane started that instance: it reports nonce {nonce}")]
    OtherNonce { nonce: String },
    #[error("the end of a hold must be in the future")]
    HoldOver,
    #[error("{}", PROTECTED)]
    Protected,
    #[error("it has no instance that could be kept")]
    NothingToKeep,
    #[error("the end of its time for diagnosis must be in the future")]
    KeepOver,
    #[error("{0}")]
    Client(juju::Refusal),
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
            Self::Protected => "protected",
            Self::NothingToKeep => "nothing-to-keep",
            Self::KeepOver => "keep-over",
            Self::Client(refusal) => refusal.code(),
        }
    }
}

impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
