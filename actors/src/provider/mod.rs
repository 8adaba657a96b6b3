//! Providers, as far as operators have a say in them: one that is held is asked for nothing that changes something.
//!
//! ```text
//! in service ─▶ held ─▶ in service: an operator ends the hold, or its time has come
//! ```
//!
//! What was to be asked of it waits and keeps its place: nothing fails and nothing is forgotten. Looking at what it has goes
//! on, and a call that had begun is awaited. The shell asks here before a call begins (`shell/holds.rs`).

mod command;
mod decide;
mod event;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::Command;
pub use event::Event;
pub use state::{Effect, Hold, State};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "provider";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, _at: Version, event: &Event) {
        state::evolve(self, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        self.hold.as_ref().and_then(|hold| hold.until).map(Effect::WakeAt).into_iter().collect()
    }
}
