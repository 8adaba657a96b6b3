//! Which zone a machine is started in.
//!
//! The emptiest of the allowed ones, so that machines are spread; of equals the first by name, so that every replay chooses
//! the same. Source: Juju's provisioner (2.3 to 4.0, which takes one of the equals by chance). Tables are values: choosing
//! for one machine never changes what there is for another.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::vocab::{MachineId, Zone};

/// The zones, who is in each, and who has failed where in its present round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zones {
    machines: BTreeMap<Zone, BTreeSet<MachineId>>,
    failed: BTreeMap<MachineId, BTreeSet<Zone>>,
}

/// Where a machine may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish<'a> {
    pub machine: &'a MachineId,
    /// The zones of its constraint; none means any.
    pub constraint: Option<&'a BTreeSet<Zone>>,
    /// The zones that follow from its placement, subnets or volumes; none means any.
    pub derived: Option<&'a BTreeSet<Zone>>,
    /// The machines that it is to be apart from; without a group, all count.
    pub group: Option<&'a BTreeSet<MachineId>>,
}

/// Where it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// None where the provider has no zones.
    pub zone: Option<Zone>,
    /// It has failed in every allowed zone: a new round begins, and uses up a retry.
    pub round_is_new: bool,
}

/// No zone that it may be in is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of the zones it may be in exists")]
pub struct NoSuitableZone;

impl Zones {
    /// These zones with these machines in them.
    pub fn new(machines: BTreeMap<Zone, BTreeSet<MachineId>>) -> Self {
        Self { machines, failed: BTreeMap::new() }
    }

    /// Who is where.
    pub fn machines(&self) -> &BTreeMap<Zone, BTreeSet<MachineId>> {
        &self.machines
    }

    /// Takes over what the provider lists now. A zone that is not listed any more stays while machines are in it.
    pub fn list(&mut self, listed: &BTreeSet<Zone>) {
        self.machines.retain(|zone, machines| listed.contains(zone) || !machines.is_empty());
        for zone in listed {
            self.machines.entry(zone.clone()).or_default();
        }
    }

    /// The zone that a machine is to be started in.
    ///
    /// # Errors
    /// If no zone that it may be in is there.
    pub fn choose(&self, wish: &Wish<'_>) -> Result<Choice, NoSuitableZone> {
        if self.machines.is_empty() {
            return Ok(Choice { zone: None, round_is_new: false });
        }
        let allows = |zones: Option<&BTreeSet<Zone>>, zone: &Zone| zones.is_none_or(|zones| zones.contains(zone));
        let allowed = self
            .machines
            .iter()
            .filter(|(zone, _)| allows(wish.constraint, zone) && allows(wish.derived, zone))
            .map(|(zone, machines)| (zone, population(machines, wish.group)));
        let failed = self.failed.get(wish.machine);
        emptiest(allowed, |zone| failed.is_some_and(|failed| failed.contains(zone)))
    }

    /// The choice is made: it counts in its zone from now on, and nowhere else.
    pub fn place(&mut self, machine: &MachineId, choice: &Choice) {
        self.leave(machine);
        if choice.round_is_new {
            self.failed.remove(machine);
        }
        if let Some(machines) = choice.zone.as_ref().and_then(|zone| self.machines.get_mut(zone)) {
            machines.insert(machine.clone());
        }
    }

    /// A start failed there, and the zone is to blame: it is tried elsewhere first.
    pub fn blame(&mut self, machine: &MachineId, zone: &Zone) {
        self.leave(machine);
        self.failed.entry(machine.clone()).or_default().insert(zone.clone());
    }

    /// A start failed, and the zone has nothing to do with it.
    pub fn leave(&mut self, machine: &MachineId) {
        for machines in self.machines.values_mut() {
            machines.remove(machine);
        }
    }

    /// It is removed, or has failed for good: it leaves no trace.
    pub fn forget(&mut self, machine: &MachineId) {
        self.leave(machine);
        self.failed.remove(machine);
    }
}

/// The emptiest of the allowed zones, given in the order of their names; one that has failed only if all have.
///
/// # Errors
/// If there is no allowed zone.
pub fn emptiest<'a>(
    allowed: impl IntoIterator<Item = (&'a Zone, usize)>,
    has_failed: impl Fn(&Zone) -> bool,
) -> Result<Choice, NoSuitableZone> {
    let allowed: Vec<(&Zone, usize)> = allowed.into_iter().collect();
    let untried = allowed.iter().filter(|(zone, _)| !has_failed(zone));
    // The first of equals is the first by name.
    let (chosen, round_is_new) = match untried.min_by_key(|(_, population)| *population) {
        Some(chosen) => (chosen, false),
        None => (allowed.iter().min_by_key(|(_, population)| *population).ok_or(NoSuitableZone)?, true),
    };
    Ok(Choice { zone: Some(chosen.0.clone()), round_is_new })
}

fn population(machines: &BTreeSet<MachineId>, group: Option<&BTreeSet<MachineId>>) -> usize {
    match group {
        None => machines.len(),
        Some(group) => machines.intersection(group).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Zone {
        Zone(name.into())
    }

    fn listed(names: &[&str]) -> BTreeSet<Zone> {
        names.iter().map(|name| zone(name)).collect()
    }

    fn wish(machine: &MachineId) -> Wish<'_> {
        Wish { machine, constraint: None, derived: None, group: None }
    }

    #[test]
    fn the_list_follows_the_provider_and_keeps_zones_with_machines_in_them() {
        let mut zones = Zones::default();
        zones.list(&listed(&["az1"]));
        zones.list(&listed(&["az1", "az2", "az3"]));
        assert_eq!(zones.machines().len(), 3);
        let machine = "7".parse().unwrap();
        zones.place(&machine, &Choice { zone: Some(zone("az3")), round_is_new: false });
        zones.list(&listed(&["az1"]));
        assert_eq!(zones.machines().keys().cloned().collect::<BTreeSet<_>>(), listed(&["az1", "az3"]));
        zones.forget(&machine);
        zones.list(&listed(&["az1"]));
        assert_eq!(zones.machines().keys().cloned().collect::<BTreeSet<_>>(), listed(&["az1"]));
    }

    #[test]
    fn choosing_for_one_machine_changes_nothing_for_another() {
        let mut zones = Zones::default();
        zones.list(&listed(&["az1", "az2"]));
        let (picky, other) = ("1".parse().unwrap(), "2".parse().unwrap());
        let only = listed(&["az2"]);
        let before = zones.clone();
        zones.choose(&Wish { constraint: Some(&only), ..wish(&picky) }).unwrap();
        assert_eq!(zones, before);
        zones.blame(&picky, &zone("az1"));
        assert_eq!(zones.choose(&wish(&other)).unwrap().zone, Some(zone("az1")));
        assert_eq!(zones.choose(&wish(&picky)).unwrap().zone, Some(zone("az2")));
    }

    #[test]
    fn a_machine_is_counted_in_one_zone_whatever_was_tried() {
        let mut zones = Zones::default();
        zones.list(&listed(&["az1", "az2"]));
        let machine = "1".parse().unwrap();
        for name in ["az1", "az2", "az1"] {
            zones.place(&machine, &Choice { zone: Some(zone(name)), round_is_new: false });
        }
        assert_eq!(zones.machines().values().map(BTreeSet::len).sum::<usize>(), 1);
    }
}
