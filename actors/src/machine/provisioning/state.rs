//! Where a machine stands, and what it is owed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::vocab::{InstanceId, Life, Timestamp, Zone};

/// A machine that is being provisioned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub life: Life,
    pub phase: Phase,
    /// Its own instance, once it is recorded.
    pub instance: Option<InstanceId>,
    pub keep_instance: bool,
    /// Retries of this series that are used up.
    pub retries_used: u32,
    /// What went wrong last in this series.
    pub trouble: Option<Trouble>,
    /// Instances that are nobody's and still have to go.
    pub orphans: BTreeSet<InstanceId>,
}

/// What went wrong last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub problem: Problem,
    /// Whether the first failure of the series was one that may pass.
    pub first_may_pass: bool,
}

/// Where it stands. A phase holds what only that phase needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It waits: for a reason to start, or for the next attempt.
    Pending {
        until: Option<Timestamp>,
    },
    RequestingZone,
    Provisioning {
        zone: Option<Zone>,
    },
    /// It was started, and that has to be recorded.
    Registering {
        instance: InstanceId,
    },
    /// It was started and could not be recorded: what was started has to go first.
    RollingBack {
        instance: InstanceId,
    },
    Running,
    Stopping {
        instance: InstanceId,
    },
    Removing,
    Complete,
    Error,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Pending { until: None }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    Unprepared { text: String },
    NoSuitableZone,
    StartFailed { text: String },
    RecordFailed { text: String },
}

impl Problem {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unprepared { .. } => "unprepared",
            Self::NoSuitableZone => "no_suitable_zone",
            Self::StartFailed { .. } => "start_failed",
            Self::RecordFailed { .. } => "record_failed",
        }
    }

    /// For people.
    pub fn text(&self) -> &str {
        match self {
            Self::NoSuitableZone => "no zone that it may be in suits it",
            Self::Unprepared { text } | Self::StartFailed { text } | Self::RecordFailed { text } => text,
        }
    }
}

/// Work in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Ask whoever owns the zones.
    RequestZone,
    Start {
        zone: Option<Zone>,
    },
    Record {
        instance: InstanceId,
    },
    Stop {
        instance: InstanceId,
    },
    Remove,
    WakeAt(Timestamp),
}

/// The phases by the names of Juju's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerState {
    Pending,
    RequestingZone,
    Provisioning,
    Registering,
    RollingBack,
    Running,
    Stopping,
    Removing,
    Complete,
    Error,
}

impl WorkerState {
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::RequestingZone,
        Self::Provisioning,
        Self::Registering,
        Self::RollingBack,
        Self::Running,
        Self::Stopping,
        Self::Removing,
        Self::Complete,
        Self::Error,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::RequestingZone => "requesting zone",
            Self::Provisioning => "provisioning",
            Self::Registering => "registering",
            Self::RollingBack => "rolling back",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Removing => "removing",
            Self::Complete => "complete",
            Self::Error => "error",
        }
    }

    /// Whether it may stand there next. Source: Juju 4.0, the worker's table.
    pub fn may_become(self, next: Self) -> bool {
        use WorkerState::*;
        matches!(
            (self, next),
            (Pending, RequestingZone | Running | Removing)
                | (RequestingZone, Provisioning | Pending | Removing | Error)
                | (Provisioning, Registering | Pending | Error)
                | (Registering, Running | RollingBack | Error)
                | (RollingBack, Pending | Error)
                | (Running, Stopping | Removing)
                | (Stopping, Removing)
                | (Removing, Complete)
        )
    }

    /// Whether nothing comes after it, but a new beginning that somebody asks for.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Error)
    }
}

/// The states of Juju's older task: fewer, and the one for a start that is not wanted any more apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskState {
    Pending,
    Starting,
    CancellingStart,
    Running,
    Stopping,
    Dead,
    Failed,
}

impl TaskState {
    pub const ALL: [Self; 7] =
        [Self::Pending, Self::Starting, Self::CancellingStart, Self::Running, Self::Stopping, Self::Dead, Self::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Starting => "Starting",
            Self::CancellingStart => "CancellingStart",
            Self::Running => "Running",
            Self::Stopping => "Stopping",
            Self::Dead => "Dead",
            Self::Failed => "Failed",
        }
    }

    /// Whether it may be there next; staying is always allowed. Source: Juju 4.0, the task's table.
    pub fn may_become(self, next: Self) -> bool {
        use TaskState::*;
        self == next
            || matches!(
                (self, next),
                (Pending, Starting | Dead)
                    | (Starting, Running | Failed | CancellingStart)
                    | (CancellingStart, Stopping | Dead)
                    | (Running, Stopping)
                    | (Stopping, Dead | Failed)
            )
    }

    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Dead | Self::Failed)
    }
}

impl Phase {
    /// The same by the name of Juju's worker.
    pub fn worker(&self) -> WorkerState {
        match self {
            Self::Pending { .. } => WorkerState::Pending,
            Self::RequestingZone => WorkerState::RequestingZone,
            Self::Provisioning { .. } => WorkerState::Provisioning,
            Self::Registering { .. } => WorkerState::Registering,
            Self::RollingBack { .. } => WorkerState::RollingBack,
            Self::Running => WorkerState::Running,
            Self::Stopping { .. } => WorkerState::Stopping,
            Self::Removing => WorkerState::Removing,
            Self::Complete => WorkerState::Complete,
            Self::Error => WorkerState::Error,
        }
    }

    /// Whether it has one of the places that bound how much a provider is asked at a time: during the start, and during
    /// the stop.
    pub fn holds_slot(&self) -> bool {
        matches!(self, Self::Provisioning { .. } | Self::Stopping { .. } | Self::RollingBack { .. })
    }
}

impl State {
    /// The same by the name of Juju's older task.
    pub fn task(&self) -> TaskState {
        match &self.phase {
            Phase::Pending { .. } => TaskState::Pending,
            Phase::RequestingZone | Phase::Provisioning { .. } | Phase::Registering { .. } if self.is_going() => {
                TaskState::CancellingStart
            }
            Phase::RequestingZone | Phase::Provisioning { .. } | Phase::Registering { .. } => TaskState::Starting,
            Phase::RollingBack { .. } => TaskState::CancellingStart,
            Phase::Running => TaskState::Running,
            Phase::Stopping { .. } | Phase::Removing => TaskState::Stopping,
            Phase::Complete => TaskState::Dead,
            Phase::Error => TaskState::Failed,
        }
    }

    /// The status word of Juju 2016: `pending`, `started`, `error`.
    pub fn status(&self) -> &'static str {
        match &self.phase {
            Phase::Running | Phase::Stopping { .. } | Phase::Removing | Phase::Complete => "started",
            Phase::Error | Phase::RollingBack { .. } => "error",
            Phase::Pending { .. } | Phase::RequestingZone | Phase::Provisioning { .. } | Phase::Registering { .. } => {
                "pending"
            }
        }
    }

    /// The instance status of later Juju: set once all attempts have failed.
    pub fn instance_status(&self) -> Option<&'static str> {
        matches!(self.phase, Phase::Error).then_some("provisioning error")
    }

    /// Whether it is dead, so that what it has must go.
    pub fn is_going(&self) -> bool {
        matches!(self.life, Life::Dead | Life::Removed)
    }
}
