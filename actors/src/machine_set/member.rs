//! What a set knows about a machine.

use serde::{Deserialize, Serialize};

use crate::vocab::{MachinePhase, Timestamp};

/// A machine of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub phase: MachinePhase,
    /// Its priority, if it has one of its own.
    pub priority: Option<i32>,
    pub created: Timestamp,
    /// Whether it was told to go.
    pub is_going: bool,
    /// Whether its latest operation failed.
    pub has_failed_operation: bool,
    /// Whether it is protected: it is not told to go.
    pub is_protected: bool,
    /// Whether it failed and is kept to be looked at: it is not told to go before its set does, and is no machine of its number.
    pub is_kept: bool,
    /// Whether it has all labels of the set's template.
    pub has_template_labels: bool,
}

/// A set, as a pass sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetSeen {
    /// How many machines it shall have.
    pub replicas: usize,
    /// Whether it makes no machines until further notice.
    pub is_frozen: bool,
    /// Whether its provider does not answer: then nobody is replaced either.
    pub is_cut_off: bool,
    /// Whether it shall go itself; neither holds it then.
    pub is_going: bool,
}

impl Member {
    /// Whether it counts as one of the set's machines: it runs, or may come to run.
    pub fn is_active(&self) -> bool {
        !self.is_failed() && self.phase != MachinePhase::Terminating
    }

    /// Whether it was given up.
    pub fn is_failed(&self) -> bool {
        self.phase == MachinePhase::Failed
    }

    /// Whether it runs.
    pub fn is_ready(&self) -> bool {
        self.phase == MachinePhase::Running
    }

    /// Whether it can be used.
    pub fn is_available(&self) -> bool {
        matches!(self.phase, MachinePhase::Running | MachinePhase::Available)
    }
}
