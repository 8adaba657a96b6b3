//! Workloads whose application has a disruption budget are told to end when that has room.
//!
//! ```text
//! asked ─▶ allowed                   (no budget, or enough of the others run well): its agent is told to run nothing
//!   ▲ └──▶ refused ─▶ asked again …  after the policy's wait; a refusal beyond the last one allows it by force
//!   └───────┘ due
//! ```
//!
//! A budget that can never have room is asked again after the policy's long wait, because somebody has to act first, and
//! nothing is forced by how often it refuses.
//!
//! Who decides is the machines supervisor, which sees the other machines of the application; its answers are events here, so
//! that a restart forgets no permission that was given. The drain as a whole has its time-out beside that: then the
//! instance goes with whatever still runs in it.
//! Source: evictions and disruption budgets of Gardener's machine controller, 0.49.

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, State,
    decide::{Facts, Verdict},
    turns,
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Name, Timestamp},
};

/// Whether the workloads of a machine that is drained may end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Eviction {
    /// For the time of this number, from 1.
    Asked {
        attempt: u32,
    },
    Refused {
        attempt: u32,
        budget: BudgetSeen,
        until: Timestamp,
    },
    /// By the budget, or by force after too many refusals.
    Allowed {
        is_forced: bool,
    },
}

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

impl State {
    /// Whether somebody has to say if its workloads may end.
    pub fn asks_for_eviction(&self) -> bool {
        self.is_draining() && matches!(self.eviction(), Some(Eviction::Asked { .. }))
    }

    /// Whether its workloads are told to end, if a budget has a say in that.
    pub fn is_evicted(&self) -> bool {
        matches!(self.eviction(), Some(Eviction::Allowed { .. }))
    }

    /// How the eviction of its workloads stands; none if it is not drained.
    pub fn eviction(&self) -> Option<&Eviction> {
        self.drain.as_ref().map(|drain| &drain.eviction)
    }
}

/// There is room in the budgets of all applications on it.
pub(super) fn allow(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    if state.running_effect() != Some(effect) || !state.asks_for_eviction() {
        return Ok(Decision::nothing(Reason::EvictionNotAsked));
    }
    Ok(Decision::because(Reason::EvictionAllowed, allowed(state, false, facts)))
}

/// There is none in this one.
pub(super) fn refuse(state: &State, effect: EffectId, budget: &BudgetSeen, facts: &Facts<'_>) -> Verdict {
    let (Some(Eviction::Asked { attempt }), true) = (state.eviction(), state.asks_for_eviction()) else {
        return Ok(Decision::nothing(Reason::EvictionNotAsked));
    };
    if state.running_effect() != Some(effect) {
        return Ok(Decision::nothing(Reason::EvictionNotAsked));
    }
    let rules = &facts.policy.reconciliation;
    let refused = |reason, wait_ms| {
        let event = Event::EvictionRefused { budget: budget.clone(), until: facts.now.after(wait_ms) };
        Ok(Decision::because(reason, [event]))
    };
    if budget.is_hopeless() {
        return refused(Reason::BudgetHopeless, rules.retry_long_ms);
    }
    if state.in_force(facts.policy).evictions_in_drain <= *attempt {
        return Ok(Decision::because(Reason::EvictionForced, allowed(state, true, facts)));
    }
    refused(Reason::EvictionRefused, rules.drain.eviction_retry_ms)
}

/// Those without volumes end at once, and the first turn begins.
fn allowed(state: &State, is_forced: bool, facts: &Facts<'_>) -> Vec<Event> {
    let allowed = Event::EvictionAllowed { is_forced, at: facts.now };
    std::iter::once(allowed).chain(turns::begin(state, facts)).collect()
}

/// When it is asked for again.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    match state.eviction() {
        Some(Eviction::Refused { until, .. }) if state.is_draining() => Some(*until),
        _ => None,
    }
}
