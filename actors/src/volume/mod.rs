//! Volumes: what is declared, where they are made, what is on them, and how their providers are called. Their life is that of
//! all storage ([`crate::storage`]).
//!
//! A volume that is made where a machine is waits, with no storage, until the storage supervisor names that machine's
//! instance. It is attached to one machine at a time, and is not removed while a filesystem lives on it.
//!
//! A volume of provider `external` is made with the instance of its machine, by whoever makes that: a client of Juju's, or the
//! machine's provider. Nobody is asked for it alone, nor to destroy it.

mod decide;
mod first_form;
mod kind;
mod own;
mod spec;

#[cfg(feature = "shell")]
mod shell;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::storage::{Effect, Reason, Rejection, Removal};
pub use own::{AtCreation, Leftovers, Own, OwnCommand, OwnEvent, OwnReport, Place, Tags, VolumeFacts, Where};
pub use spec::{Claim, Spec, Wanted};

use crate::{storage, vocab::EXTERNAL};

/// Volumes, as a kind of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume;

pub type State = storage::State<Volume>;
pub type Storage = storage::Storage<Volume>;
pub type Declaration = storage::Declaration<Volume>;
pub type Command = storage::Command<Volume>;
pub type Report = storage::Report<Volume>;
pub type Event = storage::Event<Volume>;

impl Command {
    /// It shall exist, like this, and be tagged with these at its provider.
    pub fn declare_tagged(declaration: Declaration, tags: Tags) -> Self {
        if tags.is_empty() {
            return declaration.into();
        }
        Self::Own(OwnCommand::DeclareTagged { declaration: Box::new(declaration), tags })
    }
}

impl State {
    /// As [`State::differences`], with its tags.
    pub fn differences_tagged(&self, declaration: &Declaration, tags: &Tags) -> Vec<&'static str> {
        let differs = (self.own.tags != *tags).then_some("spec.tags");
        self.differences(declaration).into_iter().chain(differs).collect()
    }

    /// Whether it is made with the instance of a machine.
    pub fn is_external(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.provider.as_str() == EXTERNAL)
    }

    /// Whether it is there and goes with the instance that it came with.
    pub fn goes_with_instance(&self) -> bool {
        let is_there = self.is_external() && self.made().is_some();
        is_there && self.own.facts.as_ref().is_none_or(|facts| !facts.persistent)
    }
}
