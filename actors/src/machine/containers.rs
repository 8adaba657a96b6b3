//! Machines that stand in another one: `0/lxd/0` stands in `0`.
//!
//! Before a container is made, its host keeps room for it. A host that is to go waits, with its workloads running, until its
//! containers are gone; who forces it does not wait, and what that may leave behind is recorded.
//! Source: Juju's containers, which are machines of their own and go before their host.

use super::{
    Event, Reason, Rejection, State,
    farewell::farewell,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{Life, Name},
};

pub(super) fn reserve(state: &State, container: &Name) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    if state.containers.contains(container) {
        return Ok(Decision::nothing(Reason::ContainerKnown));
    }
    Ok(Decision::because(Reason::ContainerWanted, [Event::ContainerReserved { container: container.clone() }]))
}

/// With the last container of a machine that is to go, its own removal goes on.
pub(super) fn release(state: &State, container: &Name, facts: &Facts<'_>) -> Verdict {
    if !state.containers.contains(container) {
        return Ok(Decision::nothing(Reason::ContainerKnown));
    }
    let mut events = vec![Event::ContainerReleased { container: container.clone() }];
    let is_last = state.containers.len() == 1;
    if state.life != Life::Dying || !is_last {
        return Ok(Decision::because(Reason::ContainerGone, events));
    }
    let mut after = state.clone();
    after.containers.clear();
    let (reason, rest) = farewell(&after, facts);
    events.extend(rest);
    Ok(Decision::because(reason, events))
}
