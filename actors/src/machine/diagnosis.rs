//! A machine that failed is laid aside for a while, so that somebody can find out why.
//!
//! Its instance runs on just as it is, with its workloads and volumes: nothing of it is drained, deleted or made anew, for
//! what ends is what one would look at. Its set counts it no more and makes another machine in its place; when its time is
//! over, when somebody says so, or when its set goes, the set tells it to go like any that was given up. It does not come back
//! into service when it becomes healthy: its place is taken. A machine of no set is left alone for so long, and is then judged
//! as ever.
//! Source: the preserved machines of Gardener's machine controller, which drains them.

use serde::{Deserialize, Serialize};

use super::{
    Event, Instance, Reason, Rejection, State, health,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{EffectId, Life, Timestamp},
};

/// That a machine is laid aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    pub since: Timestamp,
    pub until: Timestamp,
    /// Whether that has ended: it waits for its set to tell it to go.
    pub is_over: bool,
}

impl State {
    /// Whether it is kept as it is, out of service, to be looked at.
    pub fn is_aside(&self) -> bool {
        self.life == Life::Alive && self.aside.is_some_and(|aside| !aside.is_over)
    }
}

/// When that ends by itself.
pub(super) fn until(state: &State) -> Option<Timestamp> {
    state.aside.filter(|_| state.is_aside()).map(|aside| aside.until)
}

/// A supervisor: its time is over, and there is room to keep it. The replacement is its set's.
pub(super) fn lay(state: &State, effect: EffectId, facts: &Facts<'_>) -> Verdict {
    let for_ms = state.in_force(facts.policy).keep_failed_ms;
    match health::judged(state, effect, facts) {
        Err(decision) => Ok(decision),
        Ok(_) if for_ms == 0 => Ok(Decision::nothing(Reason::KeepingNotWanted)),
        Ok(_) => {
            let laid = Event::LaidAside { until: facts.now.after(for_ms), at: facts.now };
            Ok(Decision::because(Reason::FailedKept, [laid]))
        }
    }
}

/// An operator wants to look at it, whether it failed or not.
pub(super) fn keep(state: &State, until: Timestamp, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if until <= facts.now {
        return Err(Rejection::KeepOver);
    }
    let is_there = matches!(state.instance, Instance::Running { .. } | Instance::Lost { .. });
    if !is_there || state.drain.is_some() {
        return Err(Rejection::NothingToKeep);
    }
    if state.aside.is_some_and(|aside| !aside.is_over && aside.until == until) {
        return Ok(Decision::nothing(Reason::KeptAlready));
    }
    Ok(Decision::because(Reason::OperatorKeeps, [Event::LaidAside { until, at: facts.now }]))
}

/// An operator has seen enough.
pub(super) fn let_go(state: &State) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    Ok(match state.is_aside() {
        true => Decision::because(Reason::OperatorLetsGo, [Event::AsideEnded]),
        false => Decision::nothing(Reason::NotKept),
    })
}

/// What follows for a machine from events about this. One of a set waits to be told to go; another is as it was before.
pub(super) fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::LaidAside { until, at } => {
            let since = state.aside.filter(|aside| !aside.is_over).map_or(*at, |aside| aside.since);
            state.aside = Some(Aside { since, until: *until, is_over: false });
        }
        Event::AsideEnded => {
            let is_of_set = state.spec.as_ref().is_some_and(|spec| spec.set.is_some());
            state.aside = state.aside.filter(|_| is_of_set).map(|aside| Aside { is_over: true, ..aside });
        }
        _ => (),
    }
}
