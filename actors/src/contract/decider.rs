//! The contract.

use std::{collections::BTreeSet, fmt};

use bailiwick_journal::{Entry, Version};

use super::{Code, Decoded, DecodedEvents, Facts, Invariant, Renumbered, Stored, StoredError, Touches, Verdict};
use crate::vocab::Call;

/// The pure heart of one kind of actor: no clock, no chance, no I/O, no logging.
pub trait Decider: Clone + Default + fmt::Debug + PartialEq + Send + Unpin + 'static {
    /// The kind of its streams: `machine` for `machine/0`.
    const KIND: &'static str;

    /// What may be asked of it, and what the world may report to it.
    type Command: Stored;
    /// What happened to it.
    type Event: Stored;
    /// Why something was done, or left alone.
    type Reason: Stored + Code;
    /// Why something was refused.
    type Rejection: Stored + Code;
    /// Work that the world still owes it.
    type Effect: Clone + fmt::Debug + Ord + Send + Unpin;
    /// What it looks at beside its own state: nothing for an entity, a fold of the journal for a supervisor.
    type View: View;

    /// How the first stored form of its verdicts is read, where reasons or rejections had other numbers in it.
    const FIRST_VERDICTS: Option<Renumbered> = None;

    /// What holds of all its states.
    const INVARIANTS: &'static [Invariant<Self>] = &[];

    /// What should happen, and why. Same inputs, same answer, for ever.
    fn decide(&self, command: &Self::Command, facts: &Facts<'_, Self>) -> Verdict<Self>;

    /// Takes one event into account, knowing its version. Total: it cannot refuse and cannot fail.
    fn evolve(&mut self, at: Version, event: &Self::Event);

    /// The sides of its entity that an event changes: decisions cite the last event of a side.
    fn touches(event: &Self::Event) -> Touches;

    /// The sides that an event goes on from: mostly those that it changes. That a provider has made or deleted something rests
    /// on its having been asked, whichever attempt it was. Asked of the state before the decision.
    fn goes_on_from(&self, event: &Self::Event) -> Touches {
        Self::touches(event)
    }

    /// What a provider is called for because of an event; none if for nothing. An order counts as what its target calls for
    /// once it takes it.
    fn calls_for(_event: &Self::Event) -> Option<Call> {
        None
    }

    /// What the world still owes; asked after every step and every restart.
    fn pending(&self, view: &Self::View) -> BTreeSet<Self::Effect>;
}

/// A read model folded from the journal in order. It can be thrown away and built again.
pub trait View: Clone + Default + fmt::Debug + Send + Unpin + 'static {
    /// Whether entries of this kind of stream mean anything to it.
    fn wants(kind: &str) -> bool;

    /// Takes one entry into account, whose events others may have decoded.
    ///
    /// # Errors
    /// If the entry's stored forms cannot be decoded.
    fn apply_decoded(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError>;

    /// Takes one entry into account.
    ///
    /// # Errors
    /// As [`View::apply_decoded`].
    fn apply(&mut self, entry: &Entry) -> Result<(), StoredError> {
        self.apply_decoded(&Decoded::new(entry, &DecodedEvents::default()))
    }
}

/// The effect of an entity that owes nothing to the world and is owed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEffect {}

/// The view of an entity: nothing but its own state decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoView;

impl View for NoView {
    fn wants(_kind: &str) -> bool {
        false
    }

    fn apply_decoded(&mut self, _entry: &Decoded<'_>) -> Result<(), StoredError> {
        Ok(())
    }
}
