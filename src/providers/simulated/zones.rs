//! Zones: what is cut off, and where instances are made.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::{Name, Timestamp, Zone};

/// The zone of a provider that was given none.
pub(super) const ONLY_ZONE: &str = "a";

/// The zones of all providers, and which of them cannot be reached when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Zones {
    pub(super) of: BTreeMap<Name, Vec<Zone>>,
    pub(super) outages: Vec<(Name, Zone, Timestamp, Timestamp)>,
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
