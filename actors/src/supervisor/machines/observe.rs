//! What differs between a provider's list and what was seen before.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{Change, SightingStatus, State, View, harvest::is_worth_noting};
use crate::{
    machine::Instance,
    policy::Harvest,
    ports::{Listing, MachineInstance},
    vocab::{EffectId, Name, Timestamp},
};

/// The differences, in a fixed order: what appeared or changed by effect id, then what vanished, then what is forgotten.
///
/// An absence counts only in a complete list, and only for instances that were there before the list was made. A list that
/// is older than what was seen already says nothing.
///
/// That an instance is nobody's is told only from a complete list, and as often as the policy for such instances needs.
pub fn differences(
    state: &State,
    view: &View,
    provider: &Name,
    listing: &Listing<MachineInstance>,
    policy: &Harvest,
    journal: Uuid,
) -> Vec<Change> {
    let listed: BTreeMap<EffectId, &MachineInstance> =
        listing.items.iter().map(|instance| (instance.effect, instance)).collect();
    let mut changes = Vec::new();
    if state.is_too_old(provider, listing.as_of) {
        return changes;
    }
    for (effect, instance) in &listed {
        match state.sightings.get(effect) {
            None => changes.push(Change::Appeared { instance: (*instance).clone() }),
            Some(sighting) if sighting.status != SightingStatus::from(instance.status) => {
                changes.push(Change::StatusChanged { effect: *effect, status: instance.status });
            }
            Some(_) => (),
        }
    }
    if !listing.complete {
        return changes;
    }
    let expected = expected(view, provider, listing);
    let mut missing: BTreeMap<EffectId, Name> = expected.clone();
    let mut forgotten = BTreeSet::new();
    for (effect, sighting) in state.sightings.iter().filter(|(_, sighting)| sighting.provider == *provider) {
        match sighting.status {
            SightingStatus::Gone => {
                if missing.remove(effect).is_none() && !listed.contains_key(effect) {
                    forgotten.insert(*effect);
                }
            }
            SightingStatus::Running | SightingStatus::Stopped => {
                missing.insert(*effect, sighting.machine.clone());
            }
        }
    }
    missing.retain(|effect, _| !listed.contains_key(effect));
    changes.extend(missing.into_iter().map(|(effect, machine)| Change::Vanished { effect, machine }));
    changes.extend(forgotten.into_iter().map(|effect| Change::Forgotten { effect }));
    changes.extend(listed.values().filter_map(|instance| claim(state, view, instance, policy, listing.as_of, journal)));
    changes
}

/// What is new about whose an instance is.
fn claim(
    state: &State,
    view: &View,
    instance: &MachineInstance,
    policy: &Harvest,
    as_of: Timestamp,
    journal: Uuid,
) -> Option<Change> {
    let effect = instance.effect;
    // What is seen for the first time is judged when it is seen again.
    let sighting = state.sightings.get(&effect)?;
    match (view.is_claimed(journal, &instance.machine, effect), &sighting.unclaimed) {
        (true, Some(_)) => Some(Change::Claimed { effect }),
        (true, None) => None,
        (false, _) if !is_worth_noting(sighting, policy, as_of) => None,
        (false, _) if view.deleted.has(&effect) => Some(Change::Returned { effect }),
        (false, _) => Some(Change::Unclaimed { effect }),
    }
}

/// The instances that the list should have: those that ran before it was made.
fn expected(view: &View, provider: &Name, listing: &Listing<MachineInstance>) -> BTreeMap<EffectId, Name> {
    let mut expected = BTreeMap::new();
    for (_, folded) in view.machines.iter() {
        let Instance::Running { instance, since, .. } = &folded.state.instance else {
            continue;
        };
        let of_provider = folded.state.spec.as_ref().is_some_and(|spec| spec.provider == *provider);
        if of_provider && *since < listing.as_of {
            expected.insert(instance.effect, instance.machine.clone());
        }
    }
    expected
}
