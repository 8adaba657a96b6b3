//! The operator's hand on a machine: nothing happens to it by itself, and what would have happened is noted.
//!
//! A call that is out when the hold begins is finished; what the world reports is taken in. What is held back is another
//! attempt, the replacement of a lost instance, and the removal of strays. It happens when the hold ends.

use super::{
    Event, Hold, Instance, Reason, Rejection, State, Step,
    attempts::due,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{AskedHold, Life, Timestamp},
};

pub(super) fn hold(state: &State, reason: &str, until: Option<Timestamp>, facts: &Facts<'_>) -> Verdict {
    if !state.life.exists() {
        return Err(Rejection::NotDeclared);
    }
    let held = state.hold.as_ref().map(|held| (held.reason.as_str(), held.until));
    match AskedHold::of(reason, until, held, facts.now) {
        AskedHold::BadReason => return Err(Rejection::BadHold),
        AskedHold::Over => return Err(Rejection::HoldOver),
        AskedHold::Already => return Ok(Decision::nothing(Reason::HeldAlready)),
        AskedHold::Begins => (),
    }
    let event = Event::Held { reason: reason.to_owned(), until, at: facts.now };
    Ok(Decision::because(Reason::OperatorHolds, [event]))
}

pub(super) fn unhold(state: &State, facts: &Facts<'_>) -> Verdict {
    let Some(hold) = &state.hold else {
        return Ok(Decision::nothing(Reason::NotHeld));
    };
    Ok(Decision::because(Reason::OperatorReleases, end(state, hold, facts.now)))
}

/// Something is due: either the end of the hold, or something that is noted now, once.
pub(super) fn wake(state: &State, hold: &Hold, facts: &Facts<'_>) -> Verdict {
    if hold.until.is_some_and(|until| until <= facts.now) {
        return Ok(Decision::because(Reason::HoldOver, end(state, hold, facts.now)));
    }
    if due(state, facts.now).is_empty() || hold.withheld.contains(&Step::Attempt) {
        return Ok(Decision::nothing(Reason::NotDueYet));
    }
    Ok(Decision::because(Reason::OnHold, [Event::Withheld { step: Step::Attempt, at: facts.now }]))
}

/// The hold is over, and what it held back happens.
fn end(state: &State, hold: &Hold, now: Timestamp) -> Vec<Event> {
    let mut events = vec![Event::HoldEnded];
    events.extend(due(state, now));
    if state.life == Life::Alive {
        match state.instance {
            Instance::Lost { .. } if hold.withheld.contains(&Step::Replace) && !state.protected => {
                events.push(Event::DeleteRequested { at: now });
            }
            Instance::None if hold.withheld.contains(&Step::Create) => events.push(Event::CreateRequested { at: now }),
            _ => (),
        }
    }
    events
}
