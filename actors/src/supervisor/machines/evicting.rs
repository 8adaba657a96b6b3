//! Who may end which workloads now: disruption budgets of applications, and the order in which workloads end.
//!
//! A workload is asked for by itself: the budget of the application that it names has to have room for it, or those of all
//! applications on its machine if it names none. A budget counts the machines of its application that run well and keep
//! their workloads of it, the one that asks left out. Who was allowed to end counts as gone from the moment it was said, so
//! that two who ask at once do not both take the last room. Where workloads end in an order, they are told so one wave after
//! the other, budget or not.

use std::collections::BTreeSet;

use super::{Event, View, facts::Facts, rests::issued, seen::Seen, view::stream};
use crate::{
    document::{Application, Documents},
    machine::{self, BudgetSeen, Command, Instance},
    supervisor::Order,
    vocab::{EffectId, Name},
};

/// The workloads of a machine that go on although it is drained: this supervisor has not said yet that they may end.
pub fn going_on(state: &machine::State, documents: &Documents) -> BTreeSet<Name> {
    if is_asked(state, documents) { state.going_on() } else { BTreeSet::new() }
}

/// Whether this supervisor has a say in when the workloads of a machine end. Where nobody has, all of them end at once.
fn is_asked(state: &machine::State, documents: &Documents) -> bool {
    let Some(turns) = state.turns() else { return false };
    let has_budget = |turn: &machine::Turn| budgets(state, &turn.plan.workload, documents).next().is_some();
    // Who was refused is told when that ends, also if it ends with the budget itself.
    turns.has_order() || turns.all.iter().any(has_budget) || state.stranded().next().is_some()
}

/// The applications that a workload counts for and that have a budget, with what it needs.
fn budgets<'a>(
    state: &'a machine::State,
    workload: &'a Name,
    documents: &'a Documents,
) -> impl Iterator<Item = (&'a Name, &'a Application, u32)> {
    let units = state.units.iter().filter(|unit| counts_for(state, workload, unit));
    let known = units.filter_map(|unit| Some((unit, documents.application(unit)?.says)));
    known.filter_map(|(unit, says)| Some((unit, says, says.min_available?)))
}

/// Whether a workload is of this application: the one that it names, or any if it names none.
fn counts_for(state: &machine::State, workload: &Name, application: &Name) -> bool {
    let mut declared = state.spec.iter().flat_map(|spec| &spec.workloads);
    let named = declared.find(|it| it.name == *workload).and_then(|it| it.application.as_ref());
    named.is_none_or(|named| named == application)
}

/// Who was told in this look that it may end: a machine, and for which application it counts as gone.
type Allowed<'a> = BTreeSet<(&'a Name, &'a Name)>;

/// The answers to those of these machines that ask.
pub(super) fn evictions(seen: &Seen<'_>, facts: &Facts<'_>, machines: &BTreeSet<&Name>) -> Vec<Event> {
    let view = facts.view;
    let mut allowed = Allowed::new();
    let mut events = Vec::new();
    for name in machines {
        let Some(folded) = view.machines.folded(name.as_str()) else { continue };
        if !is_asked(&folded.state, &view.documents) {
            continue;
        }
        let Some(effect) = folded.state.running_effect() else { continue };
        let Some(command) = answer(view, name, &folded.state, effect, &allowed) else { continue };
        let order = Order::Machine { machine: (*name).clone(), command };
        // It was answered already, and the answer is on its way.
        if view.orders.any_open(&order.target()) || !view.orders.is_news(&order, folded.version) {
            continue;
        }
        if let Order::Machine { command: Command::AllowEviction { workloads, .. }, .. } = &order {
            let gone = folded.state.units.iter().filter(|unit| is_of(&folded.state, workloads, unit));
            allowed.extend(gone.map(|unit| (*name, unit)));
        }
        events.push(issued(seen, facts, order));
    }
    events
}

/// What a machine is told whose workloads ask: those that may end, or else why the first of them may not.
fn answer(
    view: &View,
    name: &Name,
    state: &machine::State,
    effect: EffectId,
    allowed: &Allowed<'_>,
) -> Option<Command> {
    let lacking = |workload: &Name| {
        budgets(state, workload, &view.documents).find_map(|budget| lacks(view, name, budget, allowed))
    };
    // What was refused for good is in its turn again, once its application says something else.
    let (mut freed, mut hopeful) = (BTreeSet::new(), None);
    for workload in state.stranded().map(|turn| &turn.plan.workload) {
        match lacking(workload) {
            None => drop(freed.insert(workload.clone())),
            Some(budget) if budget.is_hopeless() => (),
            Some(budget) => hopeful = hopeful.or(Some((workload.clone(), budget))),
        }
    }
    let (mut workloads, mut short) = (BTreeSet::new(), None);
    for workload in state.asking_with(&freed) {
        match lacking(&workload) {
            None => drop(workloads.insert(workload)),
            Some(budget) => short = short.or(Some((workload, budget))),
        }
    }
    if workloads.is_empty() {
        // Who asks is answered first: nobody wakes it otherwise.
        let (workload, budget) = short.or(hopeful)?;
        return Some(Command::RefuseEviction { effect, workload, budget });
    }
    Some(Command::AllowEviction { effect, workloads })
}

/// Whether one of these workloads is of an application.
fn is_of(state: &machine::State, workloads: &BTreeSet<Name>, application: &Name) -> bool {
    workloads.iter().any(|workload| counts_for(state, workload, application))
}

/// The budget, if too few of the other machines keep their workloads running well.
fn lacks(
    view: &View,
    asks: &Name,
    (application, says, needed): (&Name, &Application, u32),
    allowed: &Allowed<'_>,
) -> Option<BudgetSeen> {
    let others: Vec<&Name> = says.machines.iter().filter(|machine| *machine != asks).collect();
    let keeping = others.iter().filter(|machine| !allowed.contains(&(**machine, application)));
    let available = keeping.filter(|machine| is_available(view, machine, application)).count();
    let [available, others] = [available, others.len()].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    (available < needed).then(|| BudgetSeen { application: application.clone(), available, needed, others })
}

/// Whether a machine runs well and keeps its workloads of an application.
fn is_available(view: &View, name: &Name, application: &Name) -> bool {
    let Some(state) = view.machines.get(name.as_str()) else { return false };
    let is_told = view.orders.open_to(&stream(name)).any(|order| {
        matches!(order, Order::Machine { command: Command::AllowEviction { workloads, .. }, .. }
            if is_of(state, workloads, application))
    });
    let is_well = matches!(&state.node, machine::Node::Reporting { conditions, .. }
        if conditions.values().all(|condition| condition.healthy.is_yes()));
    matches!(state.instance, Instance::Running { .. }) && is_well && keeps(view, state, application) && !is_told
}

/// Whether no workload of an application has been told to end.
fn keeps(view: &View, state: &machine::State, application: &Name) -> bool {
    let Some(turns) = state.turns() else { return state.drain.is_none() };
    let mut own = turns.all.iter().filter(|turn| counts_for(state, &turn.plan.workload, application));
    is_asked(state, &view.documents) && own.all(machine::Turn::goes_on)
}
