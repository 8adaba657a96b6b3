//! Deletion protection: neither people nor the node delete anything of a machine before somebody ends that.
//!
//! It is not removed, not even by force, and its instance is not deleted to be replaced: a set that shrinks takes others, one
//! that is given up stays as it is, and what is left of a lost instance is not cleaned up, because a stopped instance looks
//! just like one. What was left undone is done once the protection ends.
//! EC2 protects an instance from people only, and an autoscaling group replaces it all the same; who protects a machine
//! because of what is on it has nothing left of it then.

use super::{
    Event, Instance, Reason, Rejection, State, Step,
    verdict::{Facts, Verdict},
};
use crate::{contract::Decision, policy::WhenLost, vocab::Life};

pub(super) fn protect(state: &State, on: bool, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive if state.protected == on => return Ok(Decision::nothing(Reason::ProtectionKnown)),
        Life::Alive => (),
    }
    let rest = if on { None } else { replacement(state, facts) };
    Ok(Decision::because(Reason::ProtectionAsked, std::iter::once(Event::Protected { on }).chain(rest)))
}

/// What waited for the end of the protection.
fn replacement(state: &State, facts: &Facts<'_>) -> Option<Event> {
    let is_lost = matches!(state.instance, Instance::Lost { .. });
    if !is_lost || facts.policy.machines.when_lost == WhenLost::Keep {
        return None;
    }
    Some(match state.hold {
        Some(_) => Event::Withheld { step: Step::Replace, at: facts.now },
        None => Event::DeleteRequested { at: facts.now },
    })
}

impl State {
    /// Whether its protection is what keeps its instance from being replaced.
    pub fn is_kept_by_protection(&self) -> bool {
        let is_lost = matches!(self.instance, Instance::Lost { .. });
        self.protected && self.life == Life::Alive && (is_lost || super::is_overdue(self))
    }
}
