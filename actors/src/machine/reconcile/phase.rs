//! Gardener's view of a machine: its phase and its last operation.

use super::{Health, Instance, OperationKind, OperationState, RemovalStep, Removing, State};
use crate::vocab::{FaultCode, MachinePhase, Timestamp};

/// The phase that the four states amount to (the table stands in `mod.rs`).
pub fn phase(state: &State) -> MachinePhase {
    match (&state.removing, &state.instance, &state.health) {
        (Removing::Step { .. }, _, _) => MachinePhase::Terminating,
        (Removing::None, Instance::Failing { .. }, _) => MachinePhase::CrashLoopBackOff,
        (Removing::None, Instance::GivenUp { .. }, _) | (Removing::None, _, Health::GivenUp { .. }) => {
            MachinePhase::Failed
        }
        (Removing::None, _, Health::Suspect { .. }) => MachinePhase::Unknown,
        (Removing::None, _, Health::Well { .. }) => MachinePhase::Running,
        (Removing::None, Instance::Joining { .. }, Health::Unjudged) => MachinePhase::Pending,
        (Removing::None, Instance::Alone { .. }, Health::Unjudged) => MachinePhase::Available,
        (Removing::None, Instance::None | Instance::Joined, Health::Unjudged) => MachinePhase::Blank,
    }
}

/// Since when it is what time-outs count from: waiting to join, or suspect.
pub(super) fn waiting_since(state: &State) -> Option<Timestamp> {
    match (&state.removing, &state.instance, &state.health) {
        (Removing::None, _, Health::Suspect { since }) => Some(*since),
        (Removing::None, Instance::Joining { since, .. }, Health::Unjudged) => Some(*since),
        _ => None,
    }
}

/// The latest attempt at something, as Gardener tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOperation {
    pub kind: Option<OperationKind>,
    pub state: Option<OperationState>,
    /// What comes next in a removal.
    pub next_step: Option<RemovalStep>,
    /// The code that a call failed with.
    pub code: Option<FaultCode>,
}

/// The latest attempt at something.
pub fn last_operation(state: &State) -> LastOperation {
    let next_step = match (&state.removing, state.operation.kind) {
        (Removing::Step { step, .. }, Some(OperationKind::Delete)) => *step,
        _ => None,
    };
    LastOperation { kind: state.operation.kind, state: state.operation.state, next_step, code: state.code() }
}

impl State {
    /// Whether a time-out for its joining runs.
    pub fn is_timed(&self) -> bool {
        matches!((&self.removing, &self.instance), (Removing::None, Instance::Joining { is_timed: true, .. }))
    }
}

impl OperationKind {
    /// Gardener's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::HealthCheck => "HealthCheck",
            Self::Delete => "Delete",
        }
    }
}

impl OperationState {
    /// Gardener's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Processing => "Processing",
            Self::Failed => "Failed",
            Self::Successful => "Successful",
        }
    }
}
