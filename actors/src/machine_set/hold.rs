//! The operator's hand on a set: it neither makes machines nor has some go.
//!
//! What was ordered before is carried out, and its machines go on by themselves. It cannot be removed meanwhile, as a machine that is held cannot.

use serde::{Deserialize, Serialize};

use super::{
    Event, Reason, Rejection, State,
    pass_end::cut_short,
    verdict::{Facts, Verdict},
};
use crate::{
    contract::Decision,
    vocab::{AskedHold, Life, Timestamp},
};

/// That a set leaves the number of its machines as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The operator's words.
    pub reason: String,
    pub since: Timestamp,
    /// It ends by itself then; none means that an operator ends it.
    pub until: Option<Timestamp>,
}

pub(super) fn hold(state: &State, reason: &str, until: Option<Timestamp>, facts: &Facts<'_>) -> Verdict {
    match state.life {
        Life::Undeclared | Life::Removed => return Err(Rejection::NotDeclared),
        Life::Dying | Life::Dead => return Err(Rejection::Leaving { life: state.life }),
        Life::Alive => (),
    }
    let held = state.hold.as_ref().map(|held| (held.reason.as_str(), held.until));
    match AskedHold::of(reason, until, held, facts.now) {
        AskedHold::BadReason => return Err(Rejection::BadHold),
        AskedHold::Over => return Err(Rejection::HoldOver),
        AskedHold::Already => return Ok(Decision::nothing(Reason::HeldAlready)),
        AskedHold::Begins => (),
    }
    let held = Event::Held { reason: reason.to_owned(), until, at: facts.now };
    Ok(Decision::because(Reason::OperatorHolds, std::iter::once(held).chain(cut_short(state, facts))))
}

pub(super) fn unhold(state: &State) -> Verdict {
    match &state.hold {
        Some(_) => Ok(Decision::because(Reason::OperatorReleases, [Event::HoldEnded])),
        None => Ok(Decision::nothing(Reason::NotHeld)),
    }
}
