//! Whether a deployment gets on, and what it tells about itself.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{Found, OwnedSet, State, bounds, find};
use crate::vocab::{FailureReason, Timestamp};

/// How many machines of all sets stand where, as of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub machines: u32,
    /// Those of the new set.
    pub updated: u32,
    pub ready: u32,
    pub available: u32,
    /// The declaration that the pass was made for.
    pub observed: Version,
}

/// How the latest rollout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub reason: ProgressReason,
    /// When it got on last.
    pub at: Timestamp,
}

/// What happened last in a rollout. Source of the words: Gardener's conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgressReason {
    NewMachineSetCreated,
    FoundNewMachineSet,
    MachineSetUpdated,
    NewMachineSetAvailable,
    ProgressDeadlineExceeded,
    DeploymentPaused,
    DeploymentResumed,
    /// Ours, as the next one.
    WindowAwaited,
    WindowOpened,
}

/// One thing that a deployment tells about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Progressing(ProgressReason),
    /// Whether enough machines are available.
    Available(bool),
    ReplicaFailure(FailureReason),
}

/// What a deployment tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub totals: Totals,
    pub unavailable: u32,
    pub conditions: Vec<Condition>,
}

impl ProgressReason {
    /// Gardener's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewMachineSetCreated => "NewMachineSetCreated",
            Self::FoundNewMachineSet => "FoundNewMachineSet",
            Self::MachineSetUpdated => "MachineSetUpdated",
            Self::NewMachineSetAvailable => "NewMachineSetAvailable",
            Self::ProgressDeadlineExceeded => "ProgressDeadlineExceeded",
            Self::DeploymentPaused => "DeploymentPaused",
            Self::DeploymentResumed => "DeploymentResumed",
            Self::WindowAwaited => "WindowAwaited",
            Self::WindowOpened => "WindowOpened",
        }
    }

    fn is_true(self) -> &'static str {
        match self {
            Self::ProgressDeadlineExceeded => "False",
            Self::DeploymentPaused | Self::DeploymentResumed | Self::WindowAwaited | Self::WindowOpened => "Unknown",
            _ => "True",
        }
    }
}

impl Condition {
    /// Its type, its status (`True`, `False`, `Unknown`), and the reason: `Available`, `True`, `MinimumReplicasAvailable`.
    pub fn told(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Progressing(reason) => ("Progressing", reason.is_true(), reason.as_str()),
            Self::Available(true) => ("Available", "True", "MinimumReplicasAvailable"),
            Self::Available(false) => ("Available", "False", "MinimumReplicasUnavailable"),
            Self::ReplicaFailure(reason) => ("ReplicaFailure", "True", reason.as_str()),
        }
    }
}

/// All machines of these sets.
pub fn totals(found: &Found<'_>, observed: Version) -> Totals {
    let sum = |count: fn(&OwnedSet) -> u32| found.new.iter().chain(&found.old).map(|set| count(set)).sum();
    Totals {
        machines: sum(|set| set.counts.machines),
        updated: found.new.map_or(0, |new| new.counts.machines),
        ready: sum(|set| set.counts.ready),
        available: sum(|set| set.counts.available),
        observed,
    }
}

/// Whether the new set has all machines, all of them are available, and no others are left.
pub fn is_complete(replicas: u32, generation: Version, totals: &Totals) -> bool {
    totals.updated == replicas
        && totals.machines == replicas
        && totals.available >= replicas
        && totals.observed >= generation
}

/// Whether anything is better than before.
pub fn is_progressing(before: &Totals, after: &Totals) -> bool {
    let old = |totals: &Totals| i64::from(totals.machines) - i64::from(totals.updated);
    after.updated > before.updated
        || old(after) < old(before)
        || after.ready > before.ready
        || after.available > before.available
}

/// Whether it has not got on for longer than it may. A rollout that is over is not late.
pub fn is_timed_out(progress: Option<Progress>, deadline_ms: Option<u64>, now: Timestamp) -> bool {
    let (Some(progress), Some(deadline_ms)) = (progress, deadline_ms) else { return false };
    match progress.reason {
        // Who waits for a window is not late, and has all the time again when it opens.
        ProgressReason::NewMachineSetAvailable | ProgressReason::WindowAwaited => false,
        ProgressReason::ProgressDeadlineExceeded => true,
        _ => progress.at.after(deadline_ms) < now,
    }
}

/// What a deployment tells about itself: what was so in its last pass.
pub fn status(state: &State) -> Status {
    let (replicas, strategy) =
        state.spec.as_ref().map_or((0, Default::default()), |spec| (spec.replicas, spec.strategy));
    let found = state.template().map(|template| find(&state.sets, &template)).unwrap_or_default();
    let totals = totals(&found, state.told.observed);
    let is_available = totals.available >= bounds(strategy, replicas).min_available;
    // Of a new set it is told first: it is what the rollout waits for.
    let failure = found.new.iter().chain(&found.old).find_map(|set| set.counts.failure);
    let progress = state.progress.map(|progress| Condition::Progressing(progress.reason));
    let conditions = progress
        .into_iter()
        .chain([Condition::Available(is_available)])
        .chain(failure.map(Condition::ReplicaFailure))
        .collect();
    Status { totals, unavailable: replicas.saturating_sub(totals.available), conditions }
}
