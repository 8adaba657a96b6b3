//! Whether one more machine may be given up.
//!
//! Giving up a machine means replacing it. When many nodes fall silent at once, the fault is more likely ours than
//! theirs, so machines of one deployment are given up one after the other.

use serde::{Deserialize, Serialize};

use crate::{
    policy::{Throttle, UndeployedReading},
    vocab::MachinePhase,
};

/// What a decision about the budget looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetView {
    /// Machines that share the budget.
    pub peers: u32,
    /// What they weigh, see [`weight`].
    pub in_replacement: u32,
}

/// What a peer takes of the budget: nothing while it runs or may run again, one while it comes or has failed, and two
/// while it goes, so that the gap between its end and its replacement's beginning does not look like room.
pub fn weight(phase: MachinePhase) -> u32 {
    match phase {
        MachinePhase::Running | MachinePhase::Unknown => 0,
        MachinePhase::Terminating => 2,
        MachinePhase::Blank
        | MachinePhase::Pending
        | MachinePhase::Available
        | MachinePhase::Failed
        | MachinePhase::CrashLoopBackOff => 1,
    }
}

impl BudgetView {
    /// The view of a machine of this deployment (blank: of none), over counts: of each deployment its machines, and what they
    /// weigh.
    pub fn counted<'a>(
        deployment: &str,
        counts: impl IntoIterator<Item = (&'a str, u32, u32)>,
        reading: UndeployedReading,
    ) -> Self {
        let shares = |of: &str| match (deployment, reading) {
            ("", UndeployedReading::Unlimited) => false,
            ("", UndeployedReading::Everyone) => true,
            _ => of == deployment,
        };
        let mut view = Self::default();
        for (_, peers, weight) in counts.into_iter().filter(|(of, ..)| shares(of)) {
            view.peers += peers;
            view.in_replacement += weight;
        }
        view
    }
}

/// Whether the budget has room for one more.
pub fn has_room(view: &BudgetView, throttle: &Throttle) -> bool {
    view.in_replacement < throttle.replacements_max
}
