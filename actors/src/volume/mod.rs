//! Volumes: what is declared, where they are made, what is on them, and how their providers are called. Their life is that of
//! all storage ([`crate::storage`]).
//!
//! A volume that is made where a machine is waits, with no storage, until the storage supervisor names that machine's
//! instance. It is attached to one machine at a time, and is not removed while a filesystem lives on it.

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
pub use own::{AtCreation, Leftovers, Own, OwnCommand, OwnEvent, OwnReport, Place, VolumeFacts, Where};
pub use spec::{Claim, Spec, Wanted};

use crate::storage;

/// Volumes, as a kind of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume;

pub type State = storage::State<Volume>;
pub type Storage = storage::Storage<Volume>;
pub type Declaration = storage::Declaration<Volume>;
pub type Command = storage::Command<Volume>;
pub type Report = storage::Report<Volume>;
pub type Event = storage::Event<Volume>;
