//! A machine's workloads end before its instance goes, and before the volumes that they use go.
//!
//! Whatever runs inside is asked through the agent, which is told to run nothing any more and reports when nothing runs;
//! in the order of their priorities, and where their volumes have to leave in between (`ordered_drain.rs`).
//! It is waited for as long as the policy says, counted from when the removal was asked for: what has to go first (replica
//! sets, containers) takes its share of that. Nobody is waited for where nobody answers: an agent that is silent, an instance
//! that is gone, a machine without workloads; nor where a node has been unfit for too long, because what does not run well
//! there does not end well. Force does not wait either. How it ended is recorded.
//! Source: the removal flow of Gardener's machine controller; its time-out and what it skips.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Event, Instance, Node, Reason, State, Turns,
    death::death,
    rules::{READ_ONLY, READY},
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    ports::Condition,
    vocab::{EffectId, Life, Timestamp},
};

/// Workloads that are to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    pub since: Timestamp,
    /// They are not waited for after that.
    pub until: Timestamp,
    /// How each of them ends.
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

/// The beginning of a drain, where there is something to wait for, and time left to wait.
pub(super) fn begin(state: &State, facts: &Facts<'_>) -> Option<Event> {
    let until = latest_end(state, facts);
    let is_wanted = could_begin(state) && !is_unfit_for_too_long(state, facts) && facts.now < until;
    let order = facts.policy.reconciliation.drain.order;
    let turns = state.spec.as_ref().filter(|_| is_wanted)?.turns(order);
    Some(Event::DrainBegan { at: facts.now, until, turns })
}

/// Whether it would be drained if what had to go first had not taken all the time that there was.
pub(super) fn is_too_late(state: &State, facts: &Facts<'_>) -> bool {
    let end = latest_end(state, facts);
    could_begin(state) && end <= facts.now && state.going_since.is_some_and(|since| since < end)
}

/// Its time counts from when its removal was asked for: whatever has to go first takes some of it.
fn latest_end(state: &State, facts: &Facts<'_>) -> Timestamp {
    let since = state.going_since.unwrap_or(facts.now);
    since.after(state.in_force(facts.policy).drain_timeout_ms)
}

/// Whether it would be drained if its node had not been unfit for so long.
pub(super) fn is_skipped(state: &State, facts: &Facts<'_>) -> bool {
    could_begin(state) && is_unfit_for_too_long(state, facts)
}

/// Whether something runs there that can be told to end, and was not yet.
fn could_begin(state: &State) -> bool {
    let has_workloads = state.spec.as_ref().is_some_and(|spec| !spec.workloads.is_empty());
    let is_there = matches!(state.instance, Instance::Running { .. }) && matches!(state.node, Node::Reporting { .. });
    has_workloads && is_there && state.drain.is_none()
}

fn is_unfit_for_too_long(state: &State, facts: &Facts<'_>) -> bool {
    let skip_after_ms = facts.policy.reconciliation.drain.skip_after_ms;
    state.unfit_since.is_some_and(|since| since.after(skip_after_ms) < facts.now)
}

/// Whether a node that reports these conditions is not ready, or cannot be written to.
pub(super) fn is_unfit(conditions: &BTreeMap<String, Condition>) -> bool {
    [READY, READ_ONLY].iter().any(|kind| conditions.get(*kind).is_some_and(|condition| !condition.healthy.is_yes()))
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
    if state.turns().is_some_and(Turns::is_under_way) {
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
