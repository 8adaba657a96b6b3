//! What of the world can be reached, zone by zone, and how much a provider lets itself be asked.

use std::collections::BTreeSet;

use bailiwick_actors::{
    ports::{InstanceStatus, MachineInstance},
    vocab::{EffectId, Name, Timestamp, Zone},
};

use super::{
    Change,
    world::{SimulatedInstance, World, WorldState},
    zones::ONLY_ZONE,
};

impl World {
    /// A provider has these zones from now on. Instances are made where they are wanted, or else spread over them. Without
    /// any there is one zone, `a`, which is not told of.
    pub fn set_zones(&self, provider: &Name, zones: Vec<Zone>) {
        self.state().zones.of.insert(provider.clone(), zones);
    }

    /// The zones that a provider was given.
    pub fn zones_of(&self, provider: &Name) -> BTreeSet<Zone> {
        self.state().zones.of.get(provider).into_iter().flatten().cloned().collect()
    }

    /// Nothing in a zone is reached between the two moments, and nothing in it reports: nothing is made or removed there,
    /// nobody can tell what is there, and lists lack it and say so.
    pub fn add_zone_outage(&self, provider: &Name, zone: &Zone, from: Timestamp, to: Timestamp) {
        self.state().zones.outages.push((provider.clone(), zone.clone(), from, to));
    }

    /// All instances in a zone die: they stay, and do not run any more. Answers how many.
    pub fn kill_zone(&self, provider: &Name, zone: &Zone) -> usize {
        let mut state = self.state();
        let is_there = |instance: &&mut SimulatedInstance| instance.provider == *provider && instance.zone() == zone.0;
        let there = state.instances.values_mut().filter(is_there);
        there.map(|instance| instance.seen.status = InstanceStatus::Stopped).count()
    }
}

impl SimulatedInstance {
    /// Where it stands.
    pub fn zone(&self) -> &str {
        self.seen.facts.get(MachineInstance::ZONE).map_or(ONLY_ZONE, String::as_str)
    }
}

impl WorldState {
    /// From now on every zone can be reached.
    pub(super) fn end_zone_outages(&mut self) {
        self.zones.outages.clear();
    }

    /// The volumes that a provider has, or will have.
    pub(super) fn volumes_of(&self, provider: &Name) -> usize {
        let coming = |change: &&Change| matches!(change, Change::CreateVolume(name, _) if name == provider);
        self.volumes.values().filter(|volume| volume.provider == *provider).count()
            + self.in_the_air.values().filter(coming).count()
    }

    /// Whether an instance stands in a zone that cannot be reached.
    pub(super) fn is_cut_off(&self, id: &EffectId, now: Timestamp) -> bool {
        let instance = self.instances.get(id);
        instance.is_some_and(|instance| self.zones.is_out(&instance.provider, instance.zone(), now))
    }

    /// Counts a call; says whether there were too many within a minute.
    pub(super) fn is_too_often(&mut self, provider: &Name, now: Timestamp, max: Option<usize>) -> bool {
        let Some(max) = max else { return false };
        let recent = self.recent_calls.entry(provider.clone()).or_default();
        while recent.front().is_some_and(|at| 60_000 <= now.since(*at)) {
            recent.pop_front();
        }
        if max <= recent.len() {
            return true;
        }
        recent.push_back(now);
        false
    }
}
