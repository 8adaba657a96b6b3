//! Which instances belong to no machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    policy::Orphans,
    vocab::{MachinePhase, Timestamp},
};

/// What of a machine counts here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMachine {
    /// The provider's id of its instance; blank if it is not known.
    pub provider_id: String,
    pub phase: MachinePhase,
    /// Whether the making of its instance is under way, so that its id cannot be known yet.
    pub is_being_made: bool,
}

/// Instances that seemed to be orphans, and when each was seen first and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sightings(BTreeMap<String, Sighting>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sighting {
    last: Timestamp,
    count: u32,
}

/// What one search amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Instances to be removed: provider id and the machine's name on it.
    pub remove: BTreeMap<String, String>,
    /// What to remember until the next search.
    pub sightings: Sightings,
}

/// Whether an instance with this id and this name on it belongs to a machine: one that has its id, or one that is just
/// being made.
pub fn is_kept(id: &str, machine: Option<&KnownMachine>) -> bool {
    let is_made = |phase| matches!(phase, MachinePhase::Blank | MachinePhase::CrashLoopBackOff);
    machine.is_some_and(|machine| machine.provider_id == id || machine.is_being_made || is_made(machine.phase))
}

/// One search through everything that a provider has of a class (never through a part of it), by provider id with the
/// machine's name. An instance is removed when it was an orphan often enough, each time a period after the last.
pub fn search(
    instances: &BTreeMap<String, String>,
    machines: &BTreeMap<String, KnownMachine>,
    before: &Sightings,
    policy: &Orphans,
    now: Timestamp,
) -> Search {
    let mut search = Search { remove: BTreeMap::new(), sightings: Sightings::default() };
    for (id, name) in instances.iter().filter(|(id, name)| !is_kept(id, machines.get(*name))) {
        let sighting = match before.0.get(id) {
            Some(earlier) if now.since(earlier.last) < policy.period_ms => *earlier,
            Some(earlier) => Sighting { last: now, count: earlier.count.saturating_add(1) },
            None => Sighting { last: now, count: 1 },
        };
        if sighting.count >= policy.sightings_min {
            search.remove.insert(id.clone(), name.clone());
        }
        search.sightings.0.insert(id.clone(), sighting);
    }
    search
}
