//! A machine does not go while a replica set counts on it.
//!
//! Before a member is put on a machine, and as long as that member votes or may vote, the machine is engaged: its removal
//! then waits, with its workloads running, until the set does without it. A voter that simply vanished would be missed by
//! all others, and of two voters neither can do without the other.
//! Source: Juju, which removes no controller machine that wants a vote or has one.

use super::{
    Event, Reason, Rejection, State,
    farewell::farewell,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{Life, Name},
};

pub(super) fn engage(state: &State, set: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        // One that is dying may have a voter already: that is a fact, and no wish that could be refused.
        Life::Alive | Life::Dying => (),
    }
    if state.engaged.contains(set) {
        return Ok(Decision::nothing(Reason::EngagedAlready));
    }
    Ok(Decision::because(Reason::MemberCounts, [Event::Engaged { set: set.clone() }]))
}

pub(super) fn disengage(state: &State, set: &Name, facts: &Facts<'_>) -> Verdict {
    if !state.engaged.contains(set) {
        return Ok(Decision::nothing(Reason::NotEngaged));
    }
    let mut events = vec![Event::Disengaged { set: set.clone() }];
    let last = state.engaged.len() == 1;
    if state.life != Life::Dying || !last {
        return Ok(Decision::because(Reason::MemberCountsNoMore, events));
    }
    let mut after = state.clone();
    after.engaged.clear();
    let (reason, rest) = farewell(&after, facts);
    events.extend(rest);
    Ok(Decision::because(reason, events))
}
