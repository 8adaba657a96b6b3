//! Machine classes: what machines are made from.
//!
//! ```text
//! undeclared ─▶ alive (revisions 1, 2, …) ─────────▶ removed ─▶ (declared again) alive
//!                └─▶ dying: no more machines use it ───▲ the last machine that used it is gone
//! ```
//!
//! A class knows which machines use it. As long as there is one, its removal is refused, and the refusal names them; it can
//! be asked to go once no machine uses it any more (Gardener: its finalizer). A machine takes a copy of what the class says before its instance is made (`machine/class_snapshot.rs`), and
//! keeps that: another revision holds for machines that come later, and nothing of a machine's end asks for its class. The
//! machine sets supervisor binds both (`supervisor/machine_sets/classes.rs`).
//!
//! Secrets are only named here. Their values are looked up for every call, and stand in no journal.
//!
//! Source: the machine classes of Gardener's machine controller, 0.49.

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
pub use state::State;
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, NoEffect, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "machine-class";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = NoEffect;
    type View = NoView;

    fn decide(&self, command: &Command, _facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        state::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<NoEffect> {
        BTreeSet::new()
    }
}
