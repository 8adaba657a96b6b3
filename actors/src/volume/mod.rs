//! Volumes.
//!
//! ```text
//! life       undeclared ─▶ alive ─▶ dying ─▶ dead ─▶ removed ─▶ (declared again) alive
//!                          waits for its attachments ┘    └ its storage is gone
//!
//! storage    none ─▶ creating ─▶ provisioned ─▶ destroying ─▶ none
//!                     │   ▲                       │   ▲
//!                     ▼   │ due                   ▼   │ due
//!                    waiting                     waiting
//! ```
//!
//! A volume that is made where a machine is waits, with no storage, until the storage supervisor names that machine's
//! instance. What a dying volume was still waiting to try is not tried any more. A volume is not removed while a filesystem
//! lives on it.
//!
//! A volume owns the set of its attachments, so it can never be dead while one exists, and it is attached to one machine
//! at a time. Source: the life rules of Juju's storage provisioner.

mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod invariants;
mod spec;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use crate::vocab::StorageRemoval as Removal;
pub use command::{Claim, Command, Report};
pub use effect::Effect;
pub use event::Event;
pub use spec::Spec;
pub use state::{AtCreation, Leftovers, Place, State, Storage, VolumeFacts};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, Invariant, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "volume";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    const INVARIANTS: &'static [Invariant<Self>] = invariants::ALL;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn follows(event: &Event) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
