//! What it may be told, and what happens to it.

use serde::{Deserialize, Serialize};

use super::{Phase, Problem};
use crate::vocab::{InstanceId, Life, Timestamp, Zone};

/// What it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Its life is now this. `Removed` counts as dead: what is left has to go.
    SeeLife(Life),
    /// Its instance stays when it is removed, or does not.
    KeepInstance(bool),
    /// An instance is known to be its own already.
    Adopt(InstanceId),
    /// It may start in this zone (or in none, where the provider has no zones). `round_is_new` says that every allowed
    /// zone has failed once, so that a retry is used up.
    GrantZone {
        zone: Option<Zone>,
        round_is_new: bool,
    },
    /// No zone that it may be in suits it.
    RefuseZone,
    /// What has to be known before a start could not be found out: provisioning information, instance configuration,
    /// agent binaries, start parameters, distribution group.
    ReportUnprepared {
        text: String,
    },
    ReportStarted {
        instance: InstanceId,
    },
    ReportStartFailed(StartFault),
    ReportRecorded,
    ReportRecordFailed {
        text: String,
    },
    /// The instance that was to go has gone; one that was never there has, too.
    ReportStopped {
        instance: InstanceId,
    },
    ReportStopFailed {
        instance: InstanceId,
        text: String,
    },
    ReportRemoved,
    /// It is time for the next attempt.
    Wake,
    /// Somebody asks for another series of attempts, or a watch found that the trouble may have passed.
    Retry,
}

/// Why a start failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartFault {
    /// Whether trying the same again may help: the class of the root cause.
    pub may_pass: bool,
    pub blame: Blame,
    /// For people.
    pub text: String,
}

/// What a failed start has to do with the zone that it was tried in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// It may work in another zone.
    Zone,
    /// It has nothing to do with the zone.
    Anything,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    LifeSeen {
        life: Life,
    },
    KeepInstanceSet {
        keep: bool,
    },
    Adopted {
        instance: InstanceId,
    },
    /// A failure was met; the first one of a series may decide about retries.
    Failed {
        problem: Problem,
        may_pass: bool,
    },
    RetryUsed,
    /// It stands here now.
    Entered {
        phase: Phase,
    },
    /// What it was started with is its own now.
    Registered {
        instance: InstanceId,
    },
    /// Its instance has gone.
    InstanceGone,
    /// This instance is nobody's, and could not be stopped yet.
    OrphanLeft {
        instance: InstanceId,
    },
    OrphanGone {
        instance: InstanceId,
    },
    /// A new series of attempts begins: nothing is used up, nothing has failed.
    BeganAnew {
        at: Timestamp,
    },
}
