//! Filesystems: what is declared, what they are made on, and how their providers are called. Their life is that of all storage
//! ([`crate::storage`]).
//!
//! A filesystem waits until the storage supervisor sees what it needs: nothing, or the device of the volume that it lives on.
//! One on a volume is nothing but data on that volume: once it is mounted nowhere it is gone without a call, and the volume,
//! which it holds until then, may go after it.

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
pub use own::{Base, Own, OwnCommand, OwnEvent, OwnReport};
pub use spec::{Claim, MANAGED, Spec, Wanted};

use crate::storage;

/// Filesystems, as a kind of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filesystem;

pub type State = storage::State<Filesystem>;
pub type Storage = storage::Storage<Filesystem>;
pub type Declaration = storage::Declaration<Filesystem>;
pub type Command = storage::Command<Filesystem>;
pub type Report = storage::Report<Filesystem>;
pub type Event = storage::Event<Filesystem>;
