//! Which machines are replaced now, and which have to wait.
//!
//! Two things lead to a replacement: the instance was seen stopped, or missed in a complete and fresh list; or the machine's
//! time to become well is over. When all machines of a zone go at once, the fault is more likely the zone's or ours than
//! theirs, so nobody there is replaced before one of them is well again, or an operator says `retry`; the same if all
//! machines of all zones do. While their provider cannot be reached nobody can tell, so nobody is replaced before it answers,
//! and a machine that came under suspicion by then is judged anew. And machines that are
//! given up share one budget, whatever they are given up for. Before one is, its provider is asked about its instance
//! (`asking.rs`). What is withheld is an event, once; it ends with another.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Event, Withholding, asking,
    evicting::evictions,
    facts::Facts,
    placement::placements,
    preparing::preparations,
    rests::issued,
    seen::Seen,
    tally::{Standing, group},
};
use crate::{
    contract::Folded,
    machine::{self, Health, Instance, Report, Step, rules::budget},
    policy::WhenLost,
    supervisor::Order,
    vocab::{EffectId, Name, Timestamp, Zone, sort_by},
};

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
pub(super) fn remedies(seen: &Seen<'_>, facts: &Facts<'_>, machines: &BTreeSet<Name>) -> Vec<Event> {
    let (view, state) = (facts.view, seen.base);
    let names: BTreeSet<&Name> = machines.iter().chain(&view.overdue).chain(state.withheld.keys()).collect();
    let mut patients: Vec<Patient<'_>> = names.iter().filter_map(|name| patient(seen, facts, name)).collect();
    // Machines that are gone come first, then those that have waited longest.
    sort_by(&mut patients, |a, b| (a.overdue, &a.name).cmp(&(b.overdue, &b.name)));
    let zones: BTreeSet<&Zone> = patients.iter().filter_map(|patient| patient.zone.as_ref()).collect();
    let silent = zones.into_iter().filter(|zone| is_silent(seen, facts, zone)).cloned().collect();
    let all_silent = !patients.is_empty() && are_all_silent(seen, facts);
    let doubts = doubts(seen, facts, &names);
    patients.retain(|patient| patient.overdue.is_none() || !doubts.contains_key(&patient.name));
    let mut spent = Spent::default();
    let mut events: Vec<Event> = Vec::new();
    let mut withheld: BTreeMap<Name, Withholding> = BTreeMap::new();
    for patient in patients {
        let command = match patient.overdue {
            None => machine::Command::Report(Report::Lost { effect: patient.effect }),
            // The others of its zone came back a moment ago; it gets the time to do so, too.
            Some(_) if !all_silent && was_dark(seen, &patient, &silent) => {
                machine::Command::Reprieve { effect: patient.effect }
            }
            Some(_) if spent.may_keep(facts, patient.folded) => machine::Command::KeepFailed { effect: patient.effect },
            Some(_) => machine::Command::GiveUp { effect: patient.effect },
        };
        let keeps = matches!(command, machine::Command::KeepFailed { .. });
        let gives_up = keeps || matches!(command, machine::Command::GiveUp { .. });
        let order = Order::Machine { machine: patient.name.clone(), command };
        // It was told already, and takes its room; or it has answered that nothing is to be done.
        if !view.orders.is_news(&order, patient.folded.version) {
            continue;
        }
        let zone = patient.zone.clone().filter(|zone| silent.contains(zone));
        let provider = provider(patient.folded).filter(|provider| state.out.contains_key(*provider)).cloned();
        let why = match (provider, zone) {
            (Some(provider), _) => Some(Withholding::ProviderOut { provider }),
            (None, Some(zone)) => Some(Withholding::ZoneSilent { zone }),
            // Whose instance is gone is told by its provider, and not by its silence.
            (None, None) if gives_up && all_silent => Some(Withholding::AllSilent),
            (None, None) if gives_up && !spent.has_room(facts, patient.folded) => Some(Withholding::BudgetSpent),
            (None, None) => patient.overdue.filter(|_| gives_up).and_then(|since| {
                // A question takes no room: all whose time is over are asked about in one call.
                asking::objection(seen, facts, (&patient.name, patient.folded), since)
            }),
        };
        match why {
            Some(why) => drop(withheld.insert(patient.name, why)),
            None => {
                if gives_up {
                    spent.issue(group(&patient.folded.state));
                    spent.keep(keeps, &patient.folded.state);
                }
                events.push(issued(seen, facts, order));
            }
        }
    }
    events.extend(anew(seen, facts, doubts));
    events.extend(preparations(seen, facts, &names));
    events.extend(evictions(seen, facts, &names));
    events.extend(placements(seen, facts, &names, &mut withheld));
    events.extend(differences(seen, withheld));
    events
}

/// The machines that came under suspicion before their provider answered again, having been out: each with its instance, and
/// since when.
fn doubts(seen: &Seen<'_>, facts: &Facts<'_>, names: &BTreeSet<&Name>) -> BTreeMap<Name, (EffectId, Timestamp)> {
    let state = seen.base;
    let doubt = |name: &&Name| {
        let folded = facts.view.machines.folded(name.as_str())?;
        let provider = provider(folded).filter(|provider| !state.out.contains_key(*provider))?;
        let (back, effect) = (state.back.get(provider)?, folded.state.running_effect()?);
        let since = folded.state.health.since().filter(|since| since < back)?;
        let counts = machine::is_doubted(&folded.state) && !seen.is_gone(effect);
        counts.then(|| ((*name).clone(), (effect, since)))
    };
    names.iter().filter_map(doubt).collect()
}

/// The orders to judge them anew.
fn anew(seen: &Seen<'_>, facts: &Facts<'_>, doubts: BTreeMap<Name, (EffectId, Timestamp)>) -> Vec<Event> {
    let order = |(machine, (effect, since)): (Name, (EffectId, Timestamp))| {
        let version = facts.view.machines.folded(machine.as_str())?.version;
        let order = Order::Machine { machine, command: machine::Command::JudgeAnew { effect, since } };
        facts.view.orders.is_news(&order, version).then(|| issued(seen, facts, order))
    };
    doubts.into_iter().filter_map(order).collect()
}

fn provider(folded: &Folded<machine::State>) -> Option<&Name> {
    folded.state.spec.as_ref().map(|spec| &spec.provider)
}

/// Whether it was left alone because its whole zone, or everybody, was silent, which is over.
fn was_dark(seen: &Seen<'_>, patient: &Patient<'_>, silent: &BTreeSet<Zone>) -> bool {
    let is_dark = patient.zone.as_ref().is_some_and(|zone| silent.contains(zone));
    let why = seen.base.withheld.get(&patient.name);
    !is_dark && matches!(why, Some(Withholding::ZoneSilent { .. } | Withholding::AllSilent))
}

/// What is withheld now and was not, and the other way round.
fn differences(seen: &Seen<'_>, now: BTreeMap<Name, Withholding>) -> Vec<Event> {
    let state = seen.base;
    let over = state.withheld.keys().filter(|machine| !now.contains_key(*machine));
    let mut events: Vec<Event> = over.map(|machine| Event::Released { machine: machine.clone() }).collect();
    let new = now.into_iter().filter(|(machine, why)| state.withheld.get(machine) != Some(why));
    events.extend(new.map(|(machine, why)| Event::Withheld { machine, why }));
    events
}

/// The machine, if it should be replaced.
fn patient<'a>(seen: &Seen<'_>, facts: &Facts<'a>, name: &Name) -> Option<Patient<'a>> {
    let folded = facts.view.machines.folded(name.as_str())?;
    let Instance::Running { instance, .. } = &folded.state.instance else {
        return None;
    };
    let is_gone = facts.policy.machines.when_lost != WhenLost::Ignore && seen.is_gone(instance.effect);
    let is_noted = folded.state.hold.as_ref().is_some_and(|hold| hold.withheld.contains(&Step::GiveUp));
    let overdue = match folded.state.health {
        Health::Overdue { since, .. } if !is_gone && machine::is_overdue(&folded.state) && !is_noted => Some(since),
        _ => None,
    };
    let zone = instance.zone();
    (is_gone || overdue.is_some()).then(|| Patient {
        name: name.clone(),
        folded,
        effect: instance.effect,
        zone,
        overdue,
    })
}

/// Whether enough machines are in a zone, none of which is well.
fn is_silent(seen: &Seen<'_>, facts: &Facts<'_>, zone: &Zone) -> bool {
    let least = facts.policy.reconciliation.throttle.zone_silent_min;
    let standing = facts.view.tally.standing(zone);
    standing.is_some_and(|standing| is_quiet(seen, facts, standing) && has_as_many(seen, facts, standing, least))
}

/// Whether enough machines have gone silent and none is well, wherever they are. Those that have never joined do not count:
/// that says something of them, and nothing of the node.
fn are_all_silent(seen: &Seen<'_>, facts: &Facts<'_>) -> bool {
    let (least, tally) = (facts.policy.reconciliation.outage.all_silent_min, &facts.view.tally);
    let cause = |name: &Name| facts.view.machines.get(name.as_str())?.health.cause();
    let silent = tally.standings().flat_map(|it| &it.others).filter(|name| cause(name) == Some(machine::Cause::Silent));
    let enough = usize::try_from(least).unwrap_or(usize::MAX);
    least != 0
        && enough <= silent.take(enough).count()
        && tally.standings().all(|standing| is_quiet(seen, facts, standing))
}

/// Whether nobody is well.
fn is_quiet(seen: &Seen<'_>, facts: &Facts<'_>, standing: &Standing) -> bool {
    standing.well.iter().all(|name| is_gone(seen, facts, name))
}

fn is_gone(seen: &Seen<'_>, facts: &Facts<'_>, name: &Name) -> bool {
    let machine = facts.view.machines.get(name.as_str());
    machine.and_then(running).is_some_and(|effect| seen.is_gone(effect))
}

/// Whether so many machines say something about the place that they are in.
fn has_as_many(seen: &Seen<'_>, facts: &Facts<'_>, standing: &Standing, least: u32) -> bool {
    let machine = |name: &Name| facts.view.machines.get(name.as_str());
    // Who was made a moment ago and may still join says nothing about the zone.
    let joins = |name: &Name| {
        machine(name).is_some_and(|machine| matches!(machine.health, Health::Joining { .. } | Health::Unjudged))
    };
    let tells = |name: &&Name| !joins(name) || is_gone(seen, facts, name);
    let telling = standing.well.iter().chain(standing.others.iter().filter(tells));
    let enough = usize::try_from(least).unwrap_or(usize::MAX);
    least != 0 && enough <= telling.take(enough).count()
}

fn running(machine: &machine::State) -> Option<EffectId> {
    match &machine.instance {
        Instance::Running { instance, .. } => Some(instance.effect),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    }
}

/// What this decision has taken of the budgets.
#[derive(Default)]
struct Spent {
    issued: BTreeMap<String, u32>,
    /// What was issued before and is not answered yet, of each group that was asked for.
    ordered: BTreeMap<String, u32>,
    /// Machines of each set that are to be kept.
    kept: BTreeMap<Name, u32>,
}

impl Spent {
    fn issue(&mut self, group: String) {
        *self.issued.entry(group).or_default() += 1;
    }

    fn keep(&mut self, keeps: bool, machine: &machine::State) {
        if let Some(set) = set_of(machine).filter(|_| keeps) {
            *self.kept.entry(set.clone()).or_default() += 1;
        }
    }

    /// Whether it is kept to be looked at, instead of being replaced under its name: its set can do without it, and there
    /// are not too many that are kept.
    fn may_keep(&self, facts: &Facts<'_>, of: &Folded<machine::State>) -> bool {
        let Some(set) = set_of(&of.state) else { return false };
        let is_wanted = of.state.in_force(facts.policy).keep_failed_ms > 0;
        let more = self.kept.get(set).copied().unwrap_or_default();
        is_wanted && facts.view.tally.kept(set) + more < facts.policy.reconciliation.keep.most
    }

    /// Whether one more machine of its group may be given up.
    fn has_room(&mut self, facts: &Facts<'_>, of: &Folded<machine::State>) -> bool {
        let rules = &facts.policy.reconciliation;
        let group_of = group(&of.state);
        let tally = &facts.view.tally;
        let shares = tally.shares().map(|(group, share)| (group, share.peers, share.in_replacement));
        let own = tally.share(&group_of);
        let mut view = match group_of.as_str() {
            "" => budget::BudgetView::counted("", shares, rules.readings.undeployed),
            _ => budget::BudgetView::counted(
                &group_of,
                [(group_of.as_str(), own.peers, own.in_replacement)],
                rules.readings.undeployed,
            ),
        };
        view.in_replacement += self.issued.get(&group_of).copied().unwrap_or_default();
        view.in_replacement += *self.ordered.entry(group_of).or_insert_with_key(|group| ordered(facts, group));
        budget::has_room(&view, &rules.throttle)
    }
}

fn set_of(machine: &machine::State) -> Option<&Name> {
    machine.spec.as_ref()?.set.as_ref()
}

/// Machines of the group that were told to give up and have not answered yet.
fn ordered(facts: &Facts<'_>, of: &str) -> u32 {
    let open = facts.view.orders.open().filter(|(_, issued)| match &issued.order {
        Order::Machine { machine, command: machine::Command::GiveUp { .. } | machine::Command::KeepFailed { .. } } => {
            facts.view.machines.get(machine.as_str()).is_some_and(|state| group(state) == of)
        }
        _ => false,
    });
    u32::try_from(open.count()).unwrap_or(u32::MAX)
}
