//! The life of what providers make and keep: volumes and filesystems.
//!
//! ```text
//! life       undeclared ─▶ alive ─▶ dying ─▶ dead ─▶ removed ─▶ (declared again) alive
//!                          waits for its attachments ┘    └ its storage is gone
//!
//! storage    none ─▶ creating ─▶ provisioned ─▶ destroying ─▶ none
//!              │      │   ▲                       │   ▲
//!              │      ▼   │ due                   ▼   │ due
//!              │     waiting                     waiting
//!              └ until the storage supervisor names what it is made on, if it needs anything
//! ```
//!
//! It owns the set of its attachments, so it can never be dead while one exists. What something dying was still waiting to try
//! is not tried any more. Source: the life rules of Juju's storage provisioner.
//!
//! Here stands what does not depend on what is kept. What does, stands in `volume` and `filesystem`: what is declared, what it
//! is made on, what ends it, what only one of the two can be asked or undergo, and how the provider is called.

mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod invariants;
mod kind;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::vocab::StorageRemoval as Removal;
pub use command::{Command, Declaration, Report};
pub use effect::Effect;
pub use event::Event;
pub use kind::{Begun, Claimed, FirstForm, Made, Provisioned, Step};
pub use state::{State, Storage};
pub use verdict::{Reason, Rejection};

pub(crate) use decide::{alive, death, declare, remove, report_created};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::{
    contract::{Decider, Facts, Invariant, NoView, Renumbered, Touches, Verdict},
    vocab::Call,
};

impl<K: Provisioned> Decider for State<K> {
    const KIND: &'static str = K::KIND;
    type Command = Command<K>;
    type Event = Event<K>;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    const FIRST_VERDICTS: Option<Renumbered> = K::FIRST_FORM.verdicts;
    const INVARIANTS: &'static [Invariant<Self>] = Self::CLAIMS;

    fn decide(&self, command: &Command<K>, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event<K>) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event<K>) -> Touches {
        event.touches()
    }

    fn calls_for(event: &Event<K>) -> Option<Call> {
        match event {
            Event::CreateRequested { .. } => Some(Call::Create),
            Event::DestroyRequested { .. } => Some(Call::Delete),
            _ => None,
        }
    }

    fn goes_on_from(&self, event: &Event<K>) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
