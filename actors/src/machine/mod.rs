//! Machines.
//!
//! One machine is three small states side by side, each moving on its own:
//!
//! ```text
//! life       undeclared ─▶ alive ─▶ dying ─▶ dead ─▶ removed ─▶ (declared again) alive
//!                            nothing may hang on it ┘      └ its instance is gone
//!
//! instance   none ─▶ creating ─▶ running ─▶ deleting ─▶ none
//!                     │   ▲         │ lost ────▲
//!                     ▼   │ due     │
//!                   waiting         └ (a lost instance's remains are deleted before another is made)
//!
//! node       silent ─▶ reporting ◀─▶ stale          (silent again with every new instance)
//! ```
//!
//! A machine owns the set of its attachments: it does not die before they are released.
//! Sources: Juju's machine life and provisioner, Gardener's machine phases; the two will become views of these states.

mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod foreign;
mod hold;
pub mod provisioning;
mod spec;
mod state;
mod verdict;

pub mod drain;
pub mod loops;
pub mod reconcile;
pub mod rules;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::{Command, Removal, Report};
pub use effect::Effect;
pub use event::{Event, Leaving, Skipped};
pub use spec::{Spec, Workload};
pub use state::{Hold, Instance, Node, State, Step, Stray};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, NoView, Verdict};

impl Decider for State {
    const KIND: &'static str = "machine";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        evolve::evolve(self, at, event);
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
