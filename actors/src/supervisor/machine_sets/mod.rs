//! The machine sets supervisor: sees which machines a set has, plans its next pass, and carries it out by orders to machines.
//!
//! It looks whenever a set, or a machine of one, has changed. A set has one pass at a time; each step of it is an order here,
//! and what came of the orders is reported to the set, which owns the pass. After a crash the set says where its pass stands,
//! and the machines say what was done: nobody is declared twice, for the names of a pass are the set's own.
//!
//! It gives the sets of machine deployments their sizes (`deployments.rs`, `owners.rs`), and binds machines to their classes,
//! too (`classes.rs`): all of it is what a machine belongs to.

mod classes;
mod deployments;
mod members;
mod names;
mod owners;
mod rests;
mod state;
mod uses;
mod view;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use members::{Members, member, phase_in_set};
pub use owners::Owners;
pub use state::{Command, Effect, Event, Reason, Rejection, State};
pub use uses::ClassUses;
pub use view::View;
