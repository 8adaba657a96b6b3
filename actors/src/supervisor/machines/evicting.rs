//! Who may end its workloads now: disruption budgets of applications.
//!
//! A budget counts the machines of its application that run well and keep their workloads, the one that asks left out. Whoever
//! was allowed to end counts as gone from the moment it was said, so that two who ask at once do not both take the last room.
//! Who ends its workloads one after the other begins when it is told so, budget or not.

use std::collections::BTreeSet;

use super::{Event, View, decide::Facts, rests::issued, seen::Seen, view::stream};
use crate::{
    document::{Application, Documents},
    machine::{self, BudgetSeen, Command, Instance},
    supervisor::Order,
    vocab::Name,
};

/// Whether the workloads of a machine go on until this supervisor has said that they may end, although it is drained.
pub fn waits_for_eviction(state: &machine::State, documents: &Documents) -> bool {
    let has_turns = || state.spec.as_ref().is_some_and(|spec| spec.has_turns());
    state.is_draining() && !state.is_evicted() && (has_turns() || budgets(state, documents).next().is_some())
}

/// The applications on a machine that have a budget, with what it needs.
fn budgets<'a>(
    state: &'a machine::State,
    documents: &'a Documents,
) -> impl Iterator<Item = (&'a Name, &'a Application, u32)> {
    let known = state.units.iter().filter_map(|unit| Some((unit, documents.application(unit)?.says)));
    known.filter_map(|(unit, says)| Some((unit, says, says.min_available?)))
}

/// The answers to those of these machines that ask.
pub(super) fn evictions(seen: &Seen<'_>, facts: &Facts<'_>, machines: &BTreeSet<&Name>) -> Vec<Event> {
    let view = facts.view;
    let mut allowed: BTreeSet<&Name> = BTreeSet::new();
    let mut events = Vec::new();
    for name in machines {
        let Some(folded) = view.machines.folded(name.as_str()) else { continue };
        if !(folded.state.asks_for_eviction() && waits_for_eviction(&folded.state, &view.documents)) {
            continue;
        }
        let Some(effect) = folded.state.running_effect() else { continue };
        let short = budgets(&folded.state, &view.documents).find_map(|budget| lacks(view, name, budget, &allowed));
        let is_allowed = short.is_none();
        let command = match short {
            None => Command::AllowEviction { effect },
            Some(budget) => Command::RefuseEviction { effect, budget },
        };
        let order = Order::Machine { machine: (*name).clone(), command };
        // It was answered already, and the answer is on its way.
        if view.orders.any_open(&order.target()) || !view.orders.is_news(&order, folded.version) {
            continue;
        }
        if is_allowed {
            allowed.insert(name);
        }
        events.push(issued(seen, facts, order));
    }
    events
}

/// The budget, if too few of the other machines keep their workloads running well.
fn lacks(
    view: &View,
    asks: &Name,
    (application, says, needed): (&Name, &Application, u32),
    allowed: &BTreeSet<&Name>,
) -> Option<BudgetSeen> {
    let others: Vec<&Name> = says.machines.iter().filter(|machine| *machine != asks).collect();
    let keeping = others.iter().filter(|machine| !allowed.contains(*machine));
    let [available, others] = [keeping.filter(|machine| is_available(view, machine)).count(), others.len()]
        .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    (available < needed).then(|| BudgetSeen { application: application.clone(), available, needed, others })
}

/// Whether a machine runs well and keeps its workloads.
fn is_available(view: &View, name: &Name) -> bool {
    let Some(state) = view.machines.get(name.as_str()) else { return false };
    let is_told = view
        .orders
        .open_to(&stream(name))
        .any(|order| matches!(order, Order::Machine { command: Command::AllowEviction { .. }, .. }));
    let keeps = state.drain.is_none() || waits_for_eviction(state, &view.documents);
    let is_well = matches!(&state.node, machine::Node::Reporting { conditions, .. }
        if conditions.values().all(|condition| condition.healthy.is_yes()));
    matches!(state.instance, Instance::Running { .. }) && is_well && keeps && !is_told
}
