//! Two older ways to say where a machine stands, as views of its states: Gardener's phase and Juju's status.

use super::{Health, Instance, Node, State};
use crate::vocab::{Life, MachinePhase, Outlook};

/// Gardener's phase. The table stands in the module's documentation.
pub fn phase(state: &State) -> MachinePhase {
    if matches!(state.life, Life::Dying | Life::Dead | Life::Removed) {
        return MachinePhase::Terminating;
    }
    match (&state.instance, &state.health) {
        // Its set does without it.
        (Instance::Running { .. }, _) if state.aside.is_some() => MachinePhase::Failed,
        (Instance::None, _) => MachinePhase::Blank,
        (Instance::Creating(effort), _) => match effort.outlook {
            Outlook::GivenUp { .. } => MachinePhase::Failed,
            Outlook::Waiting { .. } => MachinePhase::CrashLoopBackOff,
            Outlook::Trying if effort.attempt > 1 => MachinePhase::CrashLoopBackOff,
            Outlook::Trying => MachinePhase::Blank,
        },
        (Instance::Running { .. }, _) if state.drain.is_some() => MachinePhase::Terminating,
        (Instance::Running { .. }, Health::Unjudged | Health::Joining { .. }) => MachinePhase::Pending,
        (Instance::Running { .. }, Health::Well { .. }) => MachinePhase::Running,
        (Instance::Running { .. }, Health::Suspect { .. } | Health::Overdue { .. }) => MachinePhase::Unknown,
        (Instance::Lost { .. }, _) => MachinePhase::Failed,
        (Instance::Deleting { .. }, _) => MachinePhase::Terminating,
    }
}

/// Juju's status of a machine: pending, started, down, error or stopped.
pub fn juju_status(state: &State) -> &'static str {
    let is_given_up = state.effort().is_some_and(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }));
    match (&state.instance, &state.node) {
        _ if matches!(state.life, Life::Removed) => "stopped",
        _ if is_given_up => "error",
        (Instance::None | Instance::Creating(_), _) | (Instance::Running { .. }, Node::Silent) => "pending",
        (Instance::Running { .. }, Node::Reporting { .. }) => "started",
        (Instance::Running { .. }, Node::Stale { .. }) | (Instance::Lost { .. }, _) => "down",
        (Instance::Deleting { .. }, _) if matches!(state.life, Life::Dead) => "stopped",
        (Instance::Deleting { .. }, _) => "down",
    }
}
