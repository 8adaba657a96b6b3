//! Zones, and how much a provider lets itself be asked: what is cut off, where instances are made, what is used up.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    ports::{InstanceStatus, MachineInstance},
    vocab::{EffectId, Name, Timestamp, Zone},
};

use super::{
    Change,
    world::{SimulatedInstance, World, WorldState},
};

/// The zone of a provider that was given none.
const ONLY_ZONE: &str = "a";

/// The zones of all providers, and which of them cannot be reached when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Zones {
    of: BTreeMap<Name, Vec<Zone>>,
    outages: Vec<(Name, Zone, Timestamp, Timestamp)>,
}

impl Zones {
    /// Whether a zone cannot be reached now.
    pub fn is_out(&self, provider: &Name, zone: &str, now: Timestamp) -> bool {
        let covers = |(name, of, from, to): &(Name, Zone, Timestamp, Timestamp)| {
            name == provider && of.0 == zone && *from <= now && now < *to
        };
        self.outages.iter().any(covers)
    }

    /// Whether something of a provider cannot be seen now.
    pub fn any_is_out(&self, provider: &Name, now: Timestamp) -> bool {
        self.of(provider).iter().any(|zone| self.is_out(provider, zone, now))
    }

    /// Whether a provider has no zone at all that an instance could be made in, or not the one that is wanted.
    pub fn has_no_place(&self, provider: &Name, wanted: Option<&str>, now: Timestamp) -> bool {
        let is_out = |zone: &str| self.is_out(provider, zone, now);
        let zones = self.of(provider);
        match wanted.filter(|wanted| zones.contains(wanted)) {
            Some(wanted) => is_out(wanted),
            None => zones.iter().all(|zone| is_out(zone)),
        }
    }

    /// Where an instance is made: where it is wanted, else in the zone with the fewest of those that can be reached.
    pub fn place<'a>(
        &self,
        provider: &Name,
        wanted: Option<&str>,
        standing: impl Iterator<Item = &'a str>,
        now: Timestamp,
    ) -> String {
        let zones = self.of(provider);
        if let Some(wanted) = wanted.filter(|wanted| zones.contains(wanted)) {
            return wanted.to_owned();
        }
        if let [only] = zones[..] {
            return only.to_owned();
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        standing.for_each(|zone| *counts.entry(zone).or_default() += 1);
        let count = |zone: &&&str| counts.get(**zone).copied().unwrap_or(0);
        let reached = zones.iter().filter(|zone| !self.is_out(provider, zone, now)).min_by_key(count);
        // A call that was sent before the outage comes through all the same.
        reached.or(zones.first()).copied().unwrap_or(ONLY_ZONE).to_owned()
    }

    fn of(&self, provider: &Name) -> Vec<&str> {
        match self.of.get(provider) {
            Some(zones) if !zones.is_empty() => zones.iter().map(|zone| zone.0.as_str()).collect(),
            _ => vec![ONLY_ZONE],
        }
    }
}

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
