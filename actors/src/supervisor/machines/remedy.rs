//! Which machines are replaced now, and which have to wait.
//!
//! Two things lead to a replacement: the instance was seen stopped, or missed in a complete and fresh list; or the machine's
//! time to become well is over. When all machines of a zone go at once, the fault is more likely the zone's or ours than
//! theirs, so nobody there is replaced before one of them is well again, or an operator says `retry`. And machines that are
//! given up share one budget, whatever they are given up for. What is withheld is an event, once; it ends with another.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, SightingStatus, State, Withholding, decide::Facts};
use crate::{
    contract::Folded,
    machine::{self, Health, Instance, Report, Step, phase, rules::budget},
    supervisor::Order,
    vocab::{EffectId, Life, Name, Outlook, Timestamp, Zone},
};

/// The fact of an instance that names its zone.
const ZONE: &str = "zone";
/// The label that names the group whose machines share a budget. Source: Gardener's machine deployments.
const GROUP: &str = "name";

/// A machine that should be replaced.
struct Patient<'a> {
    name: Name,
    folded: &'a Folded<machine::State>,
    effect: EffectId,
    zone: Option<Zone>,
    /// When its time was over; none if its instance is gone.
    overdue: Option<Timestamp>,
}

/// The orders that follow for these machines and for all whose time is over, and what is withheld from whom.
pub(super) fn remedies(state: &State, facts: &Facts<'_>, machines: &BTreeSet<Name>) -> Vec<Event> {
    let view = facts.view;
    let names: BTreeSet<&Name> = machines.iter().chain(&view.overdue).chain(state.withheld.keys()).collect();
    let mut patients: Vec<Patient<'_>> = names.iter().filter_map(|name| patient(state, facts, name)).collect();
    // Who is gone comes first, then whoever waits longest.
    patients.sort_by(|a, b| (a.overdue, &a.name).cmp(&(b.overdue, &b.name)));
    let silent = if patients.is_empty() { BTreeSet::new() } else { silent_zones(state, facts) };
    let mut spent = Spent::default();
    let mut events = Vec::new();
    let mut withheld: BTreeMap<Name, Withholding> = BTreeMap::new();
    for patient in patients {
        let command = match patient.overdue {
            None => machine::Command::Report(Report::Lost { effect: patient.effect }),
            // The others of its zone came back a moment ago; it gets the time to do so, too.
            Some(_) if was_dark(state, &patient, &silent) => machine::Command::Reprieve { effect: patient.effect },
            Some(_) => machine::Command::GiveUp { effect: patient.effect },
        };
        let gives_up = matches!(command, machine::Command::GiveUp { .. });
        let order = Order::Machine { machine: patient.name.clone(), command };
        // It was told already, and takes its room; or it has answered that nothing is to be done.
        if !view.orders.is_news(&order, patient.folded.version) {
            continue;
        }
        let zone = patient.zone.clone().filter(|zone| silent.contains(zone));
        let why = match zone {
            Some(zone) => Some(Withholding::ZoneSilent { zone }),
            None if gives_up && !spent.has_room(facts, patient.folded) => Some(Withholding::BudgetSpent),
            None => None,
        };
        match why {
            Some(why) => drop(withheld.insert(patient.name, why)),
            None => {
                if gives_up {
                    spent.issue(group(&patient.folded.state));
                }
                events.push(Event::Issued { order });
            }
        }
    }
    events.extend(differences(state, withheld));
    events
}

/// Whether it was left alone because its whole zone was silent, which is over.
fn was_dark(state: &State, patient: &Patient<'_>, silent: &BTreeSet<Zone>) -> bool {
    let is_dark = patient.zone.as_ref().is_some_and(|zone| silent.contains(zone));
    !is_dark && matches!(state.withheld.get(&patient.name), Some(Withholding::ZoneSilent { .. }))
}

/// What is withheld now and was not, and the other way round.
fn differences(state: &State, now: BTreeMap<Name, Withholding>) -> Vec<Event> {
    let over = state.withheld.keys().filter(|machine| !now.contains_key(machine));
    let mut events: Vec<Event> = over.map(|machine| Event::Released { machine: machine.clone() }).collect();
    let new = now.into_iter().filter(|(machine, why)| state.withheld.get(machine) != Some(why));
    events.extend(new.map(|(machine, why)| Event::Withheld { machine, why }));
    events
}

/// The machine, if it should be replaced.
fn patient<'a>(state: &State, facts: &Facts<'a>, name: &Name) -> Option<Patient<'a>> {
    let folded = facts.view.machines.folded(name.as_str())?;
    let Instance::Running { instance, .. } = &folded.state.instance else {
        return None;
    };
    let is_gone = is_gone(state, instance.effect);
    let is_noted = folded.state.hold.as_ref().is_some_and(|hold| hold.withheld.contains(&Step::GiveUp));
    let overdue = match folded.state.health {
        Health::Overdue { since, .. } if !is_gone && folded.state.life == Life::Alive && !is_noted => Some(since),
        _ => None,
    };
    let zone = zone(&folded.state);
    (is_gone || overdue.is_some()).then(|| Patient {
        name: name.clone(),
        folded,
        effect: instance.effect,
        zone,
        overdue,
    })
}

fn is_gone(state: &State, effect: EffectId) -> bool {
    let status = state.sightings.get(&effect).map(|sighting| sighting.status);
    matches!(status, Some(SightingStatus::Stopped | SightingStatus::Gone))
}

fn zone(machine: &machine::State) -> Option<Zone> {
    match &machine.instance {
        Instance::Running { instance, .. } => instance.facts.get(ZONE).cloned().map(Zone),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    }
}

/// The zones with enough machines of which none is well.
fn silent_zones(state: &State, facts: &Facts<'_>) -> BTreeSet<Zone> {
    let least = facts.policy.reconciliation.throttle.zone_silent_min;
    let mut zones: BTreeMap<Zone, (u32, bool)> = BTreeMap::new();
    for (_, Folded { state: machine, .. }) in facts.view.machines.iter() {
        let (Some(zone), Some(effect)) = (zone(machine), running(machine)) else { continue };
        // Who was made a moment ago and may still join says nothing about the zone.
        if matches!(machine.health, Health::Joining { .. } | Health::Unjudged) && !is_gone(state, effect) {
            continue;
        }
        let (count, any_well) = zones.entry(zone).or_default();
        *count += 1;
        *any_well |= matches!(machine.health, Health::Well { .. }) && !is_gone(state, effect);
    }
    let is_silent = |(count, any_well): &(u32, bool)| least != 0 && least <= *count && !any_well;
    zones.into_iter().filter(|(_, counts)| is_silent(counts)).map(|(zone, _)| zone).collect()
}

fn running(machine: &machine::State) -> Option<EffectId> {
    match &machine.instance {
        Instance::Running { instance, .. } => Some(instance.effect),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    }
}

fn group(machine: &machine::State) -> String {
    machine.spec.as_ref().and_then(|spec| spec.labels.get(GROUP)).cloned().unwrap_or_default()
}

/// What this decision has taken of the budgets.
#[derive(Default)]
struct Spent(BTreeMap<String, u32>);

impl Spent {
    fn issue(&mut self, group: String) {
        *self.0.entry(group).or_default() += 1;
    }

    /// Whether one more machine of its group may be given up.
    fn has_room(&self, facts: &Facts<'_>, of: &Folded<machine::State>) -> bool {
        let rules = &facts.policy.reconciliation;
        let group_of = group(&of.state);
        let weighed: Vec<(String, crate::vocab::MachinePhase)> = facts
            .view
            .machines
            .iter()
            .filter(|(_, folded)| counts(&folded.state))
            .map(|(_, folded)| (group(&folded.state), phase(&folded.state)))
            .collect();
        let peers = weighed.iter().map(|(group, phase)| (group.as_str(), *phase));
        let mut view = budget::BudgetView::of(&group_of, peers, budget::PermitSeen::Free, rules.readings.undeployed);
        view.in_replacement += self.0.get(&group_of).copied().unwrap_or_default();
        view.in_replacement += ordered(facts, &group_of);
        budget::room(&view, &rules.throttle).is_ok()
    }
}

/// Who was given up by everybody is not being replaced, and takes no room for ever.
fn counts(machine: &machine::State) -> bool {
    let is_over = machine.effort().is_some_and(|effort| matches!(effort.outlook, Outlook::GivenUp { .. }));
    machine.life == Life::Alive && !is_over && !matches!(machine.instance, Instance::None)
}

/// Machines of the group that were told to give up and have not answered yet.
fn ordered(facts: &Facts<'_>, of: &str) -> u32 {
    let open = facts.view.orders.open().filter(|(_, issued)| match &issued.order {
        Order::Machine { machine, command: machine::Command::GiveUp { .. } } => {
            facts.view.machines.get(machine.as_str()).is_some_and(|state| group(state) == of)
        }
        _ => false,
    });
    u32::try_from(open.count()).unwrap_or(u32::MAX)
}
