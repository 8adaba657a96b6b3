//! What every kind of actor is: a pure core that decides, and the one step around it.
//!
//! A decision is a function of the entity's state, a command, and the facts: nothing else. The same three give the same
//! verdict for ever, which is what lets an audit decide every entry of a journal again.

mod decider;
mod decision;
mod decoded;
mod entity;
mod facts;
mod fold;
mod invariant;
mod marks;
mod retry;
mod revision;
mod stored;
#[cfg(feature = "testing")]
mod written;

#[cfg(test)]
pub(crate) mod given;

pub use decider::{Decider, NoEffect, NoView, View};
pub use decision::{Code, Decision, Verdict};
pub use decoded::{Decoded, DecodedEvents};
pub use entity::{Entity, Request};
pub use facts::{Facts, Known, PolicyInForce};
pub use fold::{Fold, Folded};
pub(crate) use invariant::Broken;
pub use invariant::Invariant;
pub use marks::{Marks, Touches};
pub use retry::{
    Attempted, Failed, Next, RetryReasons, RetryRule, RetryWord, WaitsByFault, try_again, wake, wake_to_undo,
};
pub use revision::{is_news, stored_digest};
pub use stored::{Part, Recorded, Renumbered, Stored, StoredError, StoredFacts};
#[cfg(feature = "testing")]
pub use written::Written;

pub(crate) use decision::reasons;
pub(crate) use retry::retry_reasons;
pub(crate) use stored::{load_lifted, renumbered};
