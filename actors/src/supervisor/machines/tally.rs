//! Counts of machines, kept as the journal goes on, so that a decision about one machine costs the same in any fleet.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    machine::{self, Health, Instance, ZoneRule, phase, rules::budget},
    vocab::{Life, Name, Outlook, Zone},
};

/// The label that names the group whose machines share a budget. Source: Gardener's machine deployments.
const GROUP: &str = "name";

/// What is counted of all machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The zones that count for machines which wait for one: that was chosen and is not taken in yet, or that they were in
    /// before. Where others count follows from what they are.
    counted: BTreeMap<Name, Option<Site>>,
    /// Machines for whose next instance a zone is to be chosen.
    pub unsited: BTreeSet<Name>,
    /// Machines for which a provider's call is under way, or owed.
    pub calling: BTreeSet<Name>,
    /// How many machines are in each zone, or are to be made there: of a provider, and of each of its groups.
    populations: BTreeMap<(Name, Option<String>), BTreeMap<Zone, usize>>,
    /// The machines whose instances run, by zone, or in none; those that are well, and the others.
    standing: BTreeMap<Option<Zone>, Standing>,
    /// The machines that share a budget, and what they weigh.
    shares: BTreeMap<String, Share>,
    /// How many machines of each set are kept to be looked at.
    kept: BTreeMap<Name, u32>,
}

/// The machines whose instances run in a zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    pub well: BTreeSet<Name>,
    pub others: BTreeSet<Name>,
}

/// What a group takes of its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub peers: u32,
    pub in_replacement: u32,
}

/// Where one machine counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mark {
    site: Option<Site>,
    standing: Option<(Option<Zone>, bool)>,
    share: Option<(String, u32)>,
    /// The set of a machine that is kept.
    kept: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
struct Site {
    provider: Name,
    group: Option<String>,
    zone: Zone,
}

impl Tally {
    /// Where a machine counts, that is like this; none if it is not known.
    pub(super) fn mark(&self, name: &str, machine: Option<&machine::State>) -> Mark {
        let mark = machine.map(Mark::of).unwrap_or_default();
        match self.counted.get(name) {
            Some(site) => Mark { site: site.clone(), ..mark },
            None => mark,
        }
    }

    /// A machine, which counted there before, is like this now, or is gone.
    pub(super) fn saw(&mut self, name: &Name, before: Mark, machine: Option<&machine::State>) {
        let mut mark = machine.map(Mark::of).unwrap_or_default();
        let is_calling =
            machine.is_some_and(|machine| machine.effort().is_some_and(|effort| effort.outlook == Outlook::Trying));
        if is_calling {
            self.calling.insert(name.clone());
        } else {
            self.calling.remove(name);
        }
        if machine.is_some_and(|machine| machine.awaits_site() && machine.life == Life::Alive) {
            self.unsited.insert(name.clone());
            // What was chosen for it and is not taken in yet goes on counting.
            mark.site = before.site.clone();
            self.counted.insert(name.clone(), before.site.clone());
        } else {
            self.unsited.remove(name);
            self.counted.remove(name);
        }
        self.remark(name, before, mark);
    }

    /// A zone was chosen for a machine; it counts from now on, so that the next choice knows of it.
    pub(super) fn chose(&mut self, name: &Name, machine: &machine::State, zone: Option<&Zone>) {
        let Some((provider, group)) = owner(machine) else { return };
        let before = self.mark(name.as_str(), Some(machine));
        let site = zone.map(|zone| Site { provider, group, zone: zone.clone() });
        self.counted.insert(name.clone(), site.clone());
        self.remark(name, before.clone(), Mark { site, ..before });
    }

    /// How many machines of a provider, or of one of its groups, are in each zone.
    pub fn population(&self, provider: &Name, group: Option<&str>) -> BTreeMap<Zone, usize> {
        let key = (provider.clone(), group.map(str::to_owned));
        self.populations.get(&key).cloned().unwrap_or_default()
    }

    /// Where a machine was counted that still waits for its zone.
    pub(super) fn counted_in(&self, name: &Name) -> Option<&Zone> {
        self.counted.get(name)?.as_ref().map(|site| &site.zone)
    }

    /// The machines whose instances run in a zone.
    pub fn standing(&self, zone: &Zone) -> Option<&Standing> {
        self.standing.get(&Some(zone.clone()))
    }

    /// The machines whose instances run, zone by zone.
    pub fn standings(&self) -> impl Iterator<Item = &Standing> {
        self.standing.values()
    }

    /// What each group takes of its budget.
    pub fn shares(&self) -> impl Iterator<Item = (&str, Share)> {
        self.shares.iter().map(|(group, share)| (group.as_str(), *share))
    }

    /// What one group takes of its budget.
    pub fn share(&self, group: &str) -> Share {
        self.shares.get(group).copied().unwrap_or_default()
    }

    /// How many machines of a set are kept to be looked at.
    pub fn kept(&self, set: &Name) -> u32 {
        self.kept.get(set).copied().unwrap_or_default()
    }

    fn remark(&mut self, name: &Name, before: Mark, mark: Mark) {
        // Most of what happens to a machine changes nothing of this.
        if before != mark {
            self.forget(name, before);
            self.count(name, mark);
        }
    }

    fn forget(&mut self, name: &Name, mark: Mark) {
        for (key, zone) in mark.site.into_iter().flat_map(Site::counts) {
            if let Some(zones) = self.populations.get_mut(&key) {
                if let Some(count) = zones.get_mut(&zone) {
                    *count -= 1;
                }
                zones.retain(|_, count| *count != 0);
                if zones.is_empty() {
                    self.populations.remove(&key);
                }
            }
        }
        if let Some((zone, is_well)) = mark.standing
            && let Some(standing) = self.standing.get_mut(&zone)
        {
            let _ = if is_well { standing.well.remove(name) } else { standing.others.remove(name) };
            if standing.well.is_empty() && standing.others.is_empty() {
                self.standing.remove(&zone);
            }
        }
        if let Some(set) = mark.kept
            && let Some(kept) = self.kept.get_mut(&set)
        {
            *kept -= 1;
            if *kept == 0 {
                self.kept.remove(&set);
            }
        }
        if let Some((group, weight)) = mark.share
            && let Some(share) = self.shares.get_mut(&group)
        {
            *share = Share { peers: share.peers - 1, in_replacement: share.in_replacement - weight };
            if share.peers == 0 {
                self.shares.remove(&group);
            }
        }
    }

    fn count(&mut self, name: &Name, mark: Mark) {
        for (key, zone) in mark.site.into_iter().flat_map(Site::counts) {
            *self.populations.entry(key).or_default().entry(zone).or_default() += 1;
        }
        if let Some((zone, is_well)) = mark.standing {
            let standing = self.standing.entry(zone).or_default();
            let _ = if is_well { standing.well.insert(name.clone()) } else { standing.others.insert(name.clone()) };
        }
        if let Some(set) = mark.kept {
            *self.kept.entry(set).or_default() += 1;
        }
        if let Some((group, weight)) = mark.share {
            let share = self.shares.entry(group).or_default();
            share.peers += 1;
            share.in_replacement += weight;
        }
    }
}

impl Mark {
    fn of(machine: &machine::State) -> Self {
        let zone = machine.zone();
        // What was given up is nowhere, and takes no place from others.
        let stands = zone.clone().filter(|_| !is_given_up(machine));
        let site = stands.zip(owner(machine)).map(|(zone, (provider, group))| Site { provider, group, zone });
        // What is kept says nothing of its zone, and is not being replaced: somebody else was made for it.
        let is_aside = machine.aside.is_some();
        let runs = matches!(machine.instance, Instance::Running { .. }) && !is_aside;
        let is_well = matches!(machine.health, Health::Well { .. });
        let standing = runs.then_some((zone, is_well));
        let share = (counts(machine) && !is_aside).then(|| (group(machine), budget::weight(phase(machine))));
        let kept = machine.spec.as_ref().filter(|_| machine.is_aside()).and_then(|spec| spec.set.clone());
        Self { site, standing, share, kept }
    }
}

impl Site {
    /// Where it counts: among all of its provider, and among its group.
    fn counts(self) -> impl Iterator<Item = ((Name, Option<String>), Zone)> {
        let Self { provider, group, zone } = self;
        let of_group = group.map(|group| ((provider.clone(), Some(group)), zone.clone()));
        std::iter::once(((provider, None), zone)).chain(of_group)
    }
}

/// Whose machine it is: its provider, and the group within which it is spread.
fn owner(machine: &machine::State) -> Option<(Name, Option<String>)> {
    let spec = machine.spec.as_ref()?;
    let group = match machine.zone_rule() {
        ZoneRule::Spread { group, .. } if !group.is_empty() => Some(group),
        ZoneRule::Spread { .. } | ZoneRule::Provider | ZoneRule::Declared(_) => None,
    };
    Some((spec.provider.clone(), group))
}

/// The machines that it shares a budget with; blank if it is of no group.
pub(super) fn group(machine: &machine::State) -> String {
    machine.spec.as_ref().and_then(|spec| spec.labels.get(GROUP)).cloned().unwrap_or_default()
}

/// Who was given up by everybody is not being replaced, and takes no room for ever.
fn counts(machine: &machine::State) -> bool {
    machine.life == Life::Alive && !is_given_up(machine) && !matches!(machine.instance, Instance::None)
}

fn is_given_up(machine: &machine::State) -> bool {
    machine.effort().is_some_and(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }))
}
