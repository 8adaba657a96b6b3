//! Kinds of the embedder's own: entities that another program brings along, and that the node treats like the built-in ones.
//!
//! A program registers its kinds before it opens a node or a journal ([`register`]); from then on they are decided, journaled,
//! replayed and scheduled like the others. What such a kind consists of:
//!
//! - its core, a [`Decider`](crate::contract::Decider), which may keep the life of what a provider makes for it in a [`Kept`];
//! - what it asks of its provider ([`Resource`]), and the provider itself ([`Provider`]);
//! - a [`Rule`]: what each entity is told because of the machines as they are. A supervisor of its own,
//!   `supervisor/KIND`, follows the journal and issues these orders as the built-in supervisors do.
//!
//! Registered kinds are code, so they hold for the whole process. A journal with a kind that the program at hand has not
//! registered is read all the same: its entries stay as they are, and a list of them says that the kind is unknown.

mod kept;
mod rule;

#[cfg(feature = "shell")]
mod provider;
#[cfg(feature = "shell")]
mod register;
#[cfg(feature = "shell")]
mod supervise;
mod verdict;

pub use kept::{Effect, Event as KeptEvent, Kept, Report as KeptReport};
#[cfg(feature = "shell")]
pub use provider::{Provider, Resource};
#[cfg(feature = "shell")]
pub use register::{RegisterError, register};
pub use rule::{Command, Event, LookReason, NoRejection, Order, Rule, State, Told, View};
pub use verdict::{Reason, Rejection};
