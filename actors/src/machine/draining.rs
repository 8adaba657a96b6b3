//! A machine's workloads end before its instance goes, and before the volumes that they use go.
//!
//! Whatever runs inside is asked through the agent, which is told to run nothing any more and reports when nothing runs;
//! workloads that name their volumes are told so one after the other (`turns.rs`).
//! It is waited for as long as the policy says. Nobody is waited for where nobody answers: an agent that is silent, an
//! instance that is gone, a machine without workloads. Force does not wait either. How it ended is recorded.
//! Source: the removal flow of Gardener's machine controller; its time-out and what it skips.

use serde::{Deserialize, Serialize};

use super::{
    Event, Eviction, Instance, Node, Reason, State, Turns,
    decide::{Facts, Verdict, death},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Life, Timestamp},
};

/// Workloads that are to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    pub since: Timestamp,
    /// They are not waited for after that.
    pub until: Timestamp,
    /// Whether they may, where budgets have a say in that.
    pub eviction: Eviction,
    /// How those end that end one after the other.
    pub turns: Turns,
    /// How it ended; none while it is under way.
    pub outcome: Option<DrainOutcome>,
}

/// How a drain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DrainOutcome {
    /// Nothing runs any more.
    Empty,
    /// Something did not end in time.
    TimedOut,
    /// Its agent fell silent.
    Silent,
    /// An operator did not wait.
    Forced,
}

impl State {
    /// Whether its workloads are ending at this moment.
    pub fn is_draining(&self) -> bool {
        self.drain.as_ref().is_some_and(|drain| drain.outcome.is_none())
    }
}

/// The beginning of a drain, where there is something to wait for.
pub(super) fn begin(state: &State, facts: &Facts<'_>) -> Option<Event> {
    let has_workloads = state.spec.as_ref().is_some_and(|spec| !spec.workloads.is_empty());
    let is_there = matches!(state.instance, Instance::Running { .. }) && matches!(state.node, Node::Reporting { .. });
    let timeout_ms = state.in_force(facts.policy).drain_timeout_ms;
    let is_wanted = has_workloads && is_there && state.drain.is_none() && timeout_ms > 0;
    is_wanted.then(|| Event::DrainBegan { at: facts.now, until: facts.now.after(timeout_ms) })
}

/// When nobody is waited for any more.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    state.drain.as_ref().filter(|drain| drain.outcome.is_none()).map(|drain| drain.until)
}

/// The agent says that nothing runs any more.
pub(super) fn report_drained(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    if state.running_effect() != Some(effect) || !state.is_draining() {
        return Ok(Decision::nothing(Reason::StaleReport));
    }
    if state.turn().is_some() {
        return Ok(Decision::nothing(Reason::TurnUnderWay));
    }
    Ok(Decision::because(Reason::Drained, end(state, DrainOutcome::Empty, facts)))
}

/// The drain is over, and what waited for it goes on.
pub(super) fn end(state: &State, outcome: DrainOutcome, facts: &Facts<'_>) -> Vec<Event> {
    let mut events = vec![Event::DrainEnded { outcome }];
    match state.life {
        Life::Alive => events.push(Event::DeleteRequested { at: facts.now }),
        Life::Dying if state.is_free() => events.extend(death(state, facts)),
        Life::Dying | Life::Undeclared | Life::Dead | Life::Removed => (),
    }
    events
}
