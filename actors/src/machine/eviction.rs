//! Workloads whose application has a disruption budget are told to end when that has room.
//!
//! ```text
//! asked ─▶ its turn begins           (no budget, or enough of the others run well): its agent is told not to run it
//!   ▲ └──▶ refused ─▶ asked again …  after the policy's wait; a refusal beyond the last one ends it by force
//!   └───────┘ due
//! ```
//!
//! Each workload is asked for by itself, once it is its turn (`ordered_drain.rs`). A budget that can never have room is asked again
//! after the policy's long wait, or once somebody has acted: its application has another budget, more machines, or is gone.
//! Nothing is forced by how often it refuses.
//!
//! Who decides is the machines supervisor, which sees the other machines of the application; its answers are events here, so
//! that a restart forgets no permission that was given. The drain as a whole has its time-out beside that: then the
//! instance goes with whatever still runs in it.
//! Source: evictions and disruption budgets of Gardener's machine controller, 0.49.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, State, Turn, TurnStep, ordered_drain,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Name, Timestamp},
};

/// A budget without room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetSeen {
    pub application: Name,
    /// How many of its other machines run well.
    pub available: u32,
    /// How many have to.
    pub needed: u32,
    /// How many other machines it has, whether they run well or not.
    pub others: u32,
}

impl BudgetSeen {
    /// Whether it has too few machines to ever have room: somebody has to change the budget, or add machines.
    pub fn is_hopeless(&self) -> bool {
        self.others < self.needed
    }
}

/// There is room in the budgets of these workloads.
pub(super) fn allow(state: &State, effect: EffectId, workloads: &BTreeSet<Name>, facts: &Facts<'_>) -> Verdict {
    let asking = asking(state, effect, workloads);
    let allowed = asking.iter().filter(|turn| workloads.contains(&turn.plan.workload));
    let events: Vec<Event> = allowed.filter_map(|turn| ordered_drain::begin(state, turn, false, facts)).collect();
    if events.is_empty() {
        return Ok(Decision::nothing(Reason::EvictionNotAsked));
    }
    Ok(Decision::because(Reason::EvictionAllowed, events))
}

/// There is none in this one.
pub(super) fn refuse(
    state: &State,
    effect: EffectId,
    workload: &Name,
    budget: &BudgetSeen,
    facts: &Facts<'_>,
) -> Verdict {
    let asking = asking(state, effect, &[workload.clone()].into());
    let turn = asking.iter().find(|turn| turn.plan.workload == *workload);
    let (turn, attempt) = match turn.map(|turn| (turn, &turn.step)) {
        Some((turn, TurnStep::Asked { attempt })) => (turn, attempt),
        // It could have room by now, and is asked about as often as any other.
        Some((turn, TurnStep::Refused { attempt, .. })) if !budget.is_hopeless() => (turn, attempt),
        _ => return Ok(Decision::nothing(Reason::EvictionNotAsked)),
    };
    let rules = &facts.policy.reconciliation;
    let refused = |reason, wait_ms| {
        let (workload, budget, until) = (workload.clone(), budget.clone(), facts.now.after(wait_ms));
        Ok(Decision::because(reason, [Event::EvictionRefused { workload, budget, until }]))
    };
    if budget.is_hopeless() {
        return refused(Reason::BudgetHopeless, rules.retry_long_ms);
    }
    if state.in_force(facts.policy).evictions_in_drain <= *attempt {
        return Ok(Decision::because(Reason::EvictionForced, ordered_drain::begin(state, turn, true, facts)));
    }
    refused(Reason::EvictionRefused, rules.drain.eviction_retry_ms)
}

/// The turns of those that ask, and of these if they were refused for good, if this is the instance that they run in.
fn asking<'s>(state: &'s State, effect: EffectId, freed: &BTreeSet<Name>) -> Vec<&'s Turn> {
    let turns = state.turns().filter(|_| state.running_effect() == Some(effect));
    let names = state.asking_with(freed);
    turns.into_iter().flat_map(|turns| &turns.all).filter(|turn| names.contains(&turn.plan.workload)).collect()
}

/// Those that were refused and are asked for again now.
pub(super) fn due(state: &State, now: Timestamp) -> Vec<Event> {
    let again = |(turn, until): (&Turn, Timestamp)| {
        (until <= now).then(|| Event::EvictionAskedAgain { workload: turn.plan.workload.clone() })
    };
    refused(state).filter_map(again).collect()
}

/// When the first of them is asked for again.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    refused(state).map(|(_, until)| until).min()
}

fn refused(state: &State) -> impl Iterator<Item = (&Turn, Timestamp)> {
    let all = state.turns().into_iter().flat_map(|turns| &turns.all);
    all.filter_map(|turn| match &turn.step {
        TurnStep::Refused { until, .. } => Some((turn, *until)),
        _ => None,
    })
}
