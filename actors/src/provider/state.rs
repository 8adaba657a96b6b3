//! What is true of a provider now.

use serde::{Deserialize, Serialize};

use super::Event;
use crate::vocab::Timestamp;

/// A provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// That an operator holds it; none if it is in service.
    pub hold: Option<Hold>,
}

/// That no call begins that changes something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The operator's words.
    pub reason: String,
    /// Since when: another reason or end does not begin it anew.
    pub since: Timestamp,
    /// It ends by itself then; none means that an operator ends it.
    pub until: Option<Timestamp>,
}

/// What is owed: that it is woken when its hold ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    WakeAt(Timestamp),
}

impl State {
    /// One word for people: `held`, `in-service`.
    pub fn status(&self) -> &'static str {
        if self.hold.is_some() { "held" } else { "in-service" }
    }
}

pub(super) fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Held { reason, until, at } => {
            let since = state.hold.as_ref().map_or(*at, |hold| hold.since);
            state.hold = Some(Hold { reason: reason.clone(), since, until: *until });
        }
        Event::HoldEnded => state.hold = None,
    }
}
