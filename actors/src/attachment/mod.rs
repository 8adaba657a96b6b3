//! The life of whatever is attached to machines: volumes as devices, filesystems as mounts. The stream's name is
//! `machine:volume` or `machine:filesystem`.
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ dying ─▶ removed ─▶ (declared again) alive       (never dead)
//!
//! link    waiting ─▶ attaching ─▶ attached ─▶ detaching ─▶ waiting (alive) or gone (dying)
//!            │        │   ▲                     │   ▲
//!            │        ▼   │ due                 ▼   │ due
//!            │       pausing                   pausing
//!            └ until the storage supervisor sees that all it needs is ready, and names that
//! ```
//!
//! What a client of Juju's has made is attached with the instance of its machine, and until that is gone: nobody is asked to
//! attach or detach it.
//!
//! Whether everything is ready is not this entity's business: the storage supervisor looks, and says `Attach` with all that
//! the provider needs. Source: the life rules of Juju's storage provisioner.
//!
//! Here stands what does not depend on what is attached. What does, stands in `volume_attachment` and
//! `filesystem_attachment`: what is declared, what is named to the provider, and how the provider is called.

mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod invariants;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::{Command, Report};
pub use effect::Effect;
pub use event::Event;
pub use state::{Link, State};
pub use verdict::{Reason, Rejection};

use std::{collections::BTreeSet, fmt};

use bailiwick_journal::Version;

use crate::{
    contract::{Decider, Facts, Invariant, NoView, Part, Renumbered, Touches, Verdict},
    vocab::{Call, EffectId, Name},
};

/// What is attached to machines.
pub trait Attached: Copy + fmt::Debug + Default + Eq + Send + Sync + Unpin + 'static {
    /// The kind of the attachments' streams.
    const KIND: &'static str;
    /// How the first stored form of its commands and events is read, if that was another one.
    const FIRST_FORM: Option<FirstForm>;
    /// The form that is written.
    const SCHEMA: u16 = if Self::FIRST_FORM.is_some() { 2 } else { 1 };

    /// What can be declared. None of it can change while the attachment lives.
    type Spec: Part;
    /// The real things at both ends, as the provider needs them named.
    type Target: Part;
    /// How it is reached on the machine, as the provider reports it.
    type Info: Part;

    /// The field in which two declarations differ.
    fn differs_in(present: &Self::Spec, wanted: &Self::Spec) -> &'static str;

    /// The machine that it is declared for.
    fn machine(spec: &Self::Spec) -> &Name;

    /// The effect that made the machine's instance.
    fn machine_effect(target: &Self::Target) -> EffectId;

    /// The provider that attaches it.
    fn provider(target: &Self::Target) -> &Name;
}

/// The numbers of variants in the first form, and today's.
#[derive(Clone, Copy, Debug)]
pub struct FirstForm {
    pub commands: Renumbered,
    pub events: Renumbered,
    pub verdicts: Renumbered,
}

impl<A: Attached> Decider for State<A> {
    const KIND: &'static str = A::KIND;
    type Command = Command<A>;
    type Event = Event<A>;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    const INVARIANTS: &'static [Invariant<Self>] = Self::CLAIMS;
    const FIRST_VERDICTS: Option<Renumbered> = match A::FIRST_FORM {
        Some(first) => Some(first.verdicts),
        None => None,
    };

    fn decide(&self, command: &Command<A>, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event<A>) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event<A>) -> Touches {
        event.touches()
    }

    fn calls_for(event: &Event<A>) -> Option<Call> {
        match event {
            Event::AttachRequested { .. } | Event::ReattachRequested { .. } => Some(Call::Attach),
            Event::DetachRequested { .. } => Some(Call::Detach),
            _ => None,
        }
    }

    fn goes_on_from(&self, event: &Event<A>) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
