//! What should happen to a provider, and why.

use super::{Command, Event, Reason, Rejection, State, verdict::Verdict};
use crate::{
    contract::{self, Decision},
    vocab::{AskedHold, Timestamp},
};

type Facts<'a> = contract::Facts<'a, State>;

pub(super) fn decide(state: &State, command: &Command, facts: &Facts<'_>) -> Verdict {
    match command {
        Command::Hold { reason, until } => hold(state, reason, *until, facts),
        Command::Unhold => Ok(match &state.hold {
            Some(_) => Decision::because(Reason::OperatorReleases, [Event::HoldEnded]),
            None => Decision::nothing(Reason::NotHeld),
        }),
        Command::Wake { .. } => Ok(wake(state, facts)),
    }
}

fn hold(state: &State, reason: &str, until: Option<Timestamp>, facts: &Facts<'_>) -> Verdict {
    let held = state.hold.as_ref().map(|held| (held.reason.as_str(), held.until));
    match AskedHold::of(reason, until, held, facts.now) {
        AskedHold::BadReason => return Err(Rejection::BadHold),
        AskedHold::Over => return Err(Rejection::HoldOver),
        AskedHold::Already => return Ok(Decision::nothing(Reason::HeldAlready)),
        AskedHold::Begins => (),
    }
    let held = Event::Held { reason: reason.to_owned(), until, at: facts.now };
    Ok(Decision::because(Reason::OperatorHolds, [held]))
}

fn wake(state: &State, facts: &Facts<'_>) -> Decision<State> {
    match state.hold.as_ref().map(|hold| hold.until) {
        None => Decision::nothing(Reason::NothingWaits),
        Some(Some(until)) if until <= facts.now => Decision::because(Reason::HoldOver, [Event::HoldEnded]),
        Some(_) => Decision::nothing(Reason::NotDueYet),
    }
}
