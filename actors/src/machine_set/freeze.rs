//! When a set has more machines than it can have any use for, it makes no more.
//!
//! ```text
//! free ──(as many as its bound)──▶ frozen ──(few enough, or an operator says so)──▶ free
//! ```
//!
//! Something is wrong then that more machines would not cure: they do not go, or they fail one after the other. Source:
//! Gardener's machine controller, 0.49. There an operator's way out counts for one minute, because the next look freezes the
//! set again; here the machines that the set has at that moment do not count any more until it has few enough.

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, Rejection, Spec, State, pass,
    pass_end::cut_short,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    policy::Overshoot,
    vocab::{Life, Timestamp},
};

/// With how many machines a set is frozen, and with how many it thaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub upper: u32,
    pub lower: u32,
}

/// That a set makes no machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen {
    /// How many machines it had then, those that go included.
    pub machines: u32,
    /// With how many it was to be frozen.
    pub bound: u32,
    pub since: Timestamp,
}

/// What follows for a set from the number of its machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judged {
    Freezes { bound: u32 },
    Thaws,
}

impl Bound {
    /// The bound of a set that is declared so, and has so much room if it has a deployment.
    pub fn of(spec: &Spec, room: Option<u32>, rules: &Overshoot) -> Self {
        let usual = room.unwrap_or_else(|| spec.replicas.saturating_mul(2));
        let upper = usual.saturating_add(rules.up);
        Self { upper, lower: upper.saturating_sub(rules.down) }
    }
}

fn judged(state: &State, machines: u32, room: Option<u32>, rules: &Overshoot) -> Option<Judged> {
    let spec = state.spec.as_ref().filter(|_| state.life == Life::Alive)?;
    let bound = Bound::of(spec, room, rules);
    let upper = bound.upper.saturating_add(state.spared);
    let is_marked = state.frozen.is_some() || state.spared > 0;
    match () {
        () if is_marked && machines <= bound.lower => Some(Judged::Thaws),
        () if state.frozen.is_none() && upper <= machines => Some(Judged::Freezes { bound: upper }),
        () => None,
    }
}

/// Whether the number of its machines is to be told to a set: something would follow from it.
pub fn is_worth_telling(state: &State, machines: u32, room: Option<u32>, rules: &Overshoot) -> bool {
    judged(state, machines, room, rules).is_some()
}

/// It has so many machines. A pass that makes some ends.
pub(super) fn report(state: &State, machines: u32, room: Option<u32>, facts: &Facts<'_>) -> Decision<State> {
    match judged(state, machines, room, &facts.policy.reconciliation.overshoot) {
        None => Decision::nothing(Reason::NumberTolerable),
        Some(Judged::Thaws) => Decision::because(Reason::FewEnough, [Event::Thawed { spares: 0 }]),
        Some(Judged::Freezes { bound }) => {
            let frozen = Event::Frozen { machines, bound, at: facts.now };
            let makes = matches!(state.pass, pass::State::Creating { .. });
            let ended = if makes { cut_short(state, facts) } else { Vec::new() };
            Decision::because(Reason::Overshot, std::iter::once(frozen).chain(ended))
        }
    }
}

/// An operator has looked, and it is to go on.
pub(super) fn thaw(state: &State) -> Verdict {
    match (state.life.exists(), &state.frozen) {
        (false, _) => Err(Rejection::NotDeclared),
        (true, None) => Ok(Decision::nothing(Reason::NotFrozen)),
        (true, Some(frozen)) => {
            Ok(Decision::because(Reason::OperatorThaws, [Event::Thawed { spares: frozen.machines }]))
        }
    }
}
