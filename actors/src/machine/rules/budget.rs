//! Whether one more machine may be given up.
//!
//! Giving up a machine means replacing it. When many nodes fall silent at once, the fault is more likely ours than
//! theirs, so machines of one deployment are given up one after the other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    policy::{Throttle, UndeployedReading},
    vocab::{MachinePhase, Timestamp},
};

/// What a decision about the budget looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetView {
    /// Whether the deployment's one permit could be had.
    pub permit: PermitSeen,
    /// Machines that share the budget.
    pub peers: u32,
    /// What they weigh, see [`weight`].
    pub in_replacement: u32,
}

/// Whether the deployment's permit could be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PermitSeen {
    #[default]
    Free,
    /// Another machine of the deployment is being decided about.
    Taken,
}

/// Why a machine may not be given up now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Refusal {
    PermitTaken,
    Spent,
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
    /// The view of a machine of this deployment (blank: of none) over all machines, given with the deployment of each.
    pub fn of<'a>(
        deployment: &str,
        machines: impl IntoIterator<Item = (&'a str, MachinePhase)>,
        permit: PermitSeen,
        reading: UndeployedReading,
    ) -> Self {
        let counts = machines.into_iter().map(|(of, phase)| (of, 1, weight(phase)));
        Self { permit, ..Self::counted(deployment, counts, reading) }
    }

    /// The same over counts: of each deployment its machines, and what they weigh. The permit is free.
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
///
/// # Errors
/// If the permit is taken, or peers are in replacement already.
pub fn room(view: &BudgetView, throttle: &Throttle) -> Result<(), Refusal> {
    if view.permit == PermitSeen::Taken {
        return Err(Refusal::PermitTaken);
    }
    if view.in_replacement >= throttle.replacements_max {
        return Err(Refusal::Spent);
    }
    Ok(())
}

/// The permits: a few for each key, taken and given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permits(BTreeMap<String, Permit>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Permit {
    of: u32,
    taken: u32,
    used: Timestamp,
}

impl Permits {
    /// Makes a key known, with so many permits. A key that is known stays as it is.
    pub fn register(&mut self, key: &str, permits: u32, now: Timestamp) {
        self.0.entry(key.to_owned()).or_insert(Permit { of: permits, taken: 0, used: now });
    }

    /// Takes a permit, if the key is known and has one left.
    pub fn take(&mut self, key: &str, now: Timestamp) -> bool {
        let Some(permit) = self.0.get_mut(key) else { return false };
        permit.used = now;
        let is_free = permit.taken < permit.of;
        permit.taken += u32::from(is_free);
        is_free
    }

    /// Gives a permit back. Without one taken, nothing happens.
    pub fn release(&mut self, key: &str, now: Timestamp) {
        if let Some(permit) = self.0.get_mut(key) {
            permit.used = now;
            permit.taken = permit.taken.saturating_sub(1);
        }
    }

    /// Forgets a key with all its permits.
    pub fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Forgets what nobody has used for so long.
    pub fn forget_stale(&mut self, stale_ms: u64, now: Timestamp) {
        self.0.retain(|_, permit| now.since(permit.used) <= stale_ms);
    }
}
