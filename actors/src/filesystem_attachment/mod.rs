//! Filesystems mounted on machines; the stream's name is `machine:filesystem`.
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ dying ─▶ removed ─▶ (declared again) alive       (never dead)
//!
//! link    waiting ─▶ attaching ─▶ attached ─▶ detaching ─▶ waiting (alive) or gone (dying)
//!            │        │   ▲                     │   ▲
//!            │        ▼   │ due                 ▼   │ due
//!            │       pausing                   pausing
//!            └ until the storage supervisor sees machine, filesystem and device ready, and names them
//! ```
//!
//! Whether everything is ready is not this entity's business: the storage supervisor looks, and says `Attach` with all that
//! the provider needs. Source: the life rules of Juju's storage provisioner.

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

pub use command::{Command, Report};
pub use effect::Effect;
pub use event::Event;
pub use spec::Spec;
pub use state::{Link, State, Target};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, Invariant, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "filesystem-attachment";
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
