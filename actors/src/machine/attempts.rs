//! The attempts of a machine that wait for their time.

use super::{Event, State};
use crate::vocab::{Effort, Timestamp};

/// The efforts that wait for their time, each with the event that begins its next attempt.
pub(super) fn waiting(state: &State) -> impl Iterator<Item = (Timestamp, Event)> {
    let own = state.effort().and_then(Effort::next_attempt).map(|until| (until, Event::AttemptBegun));
    let strays = state.strays.iter().filter_map(|(effect, stray)| {
        Some((stray.effort.next_attempt()?, Event::StrayAttemptBegun { effect: *effect }))
    });
    own.into_iter().chain(strays)
}

/// The attempts whose time has come.
pub(super) fn due(state: &State, now: Timestamp) -> Vec<Event> {
    waiting(state).filter(|(until, _)| *until <= now).map(|(_, event)| event).collect()
}
