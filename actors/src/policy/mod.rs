//! Policies: the settings that decisions depend on, as an entity with revisions.
//!
//! Every decision names the revision it was made under, so an audit can decide it again, or under another one.

mod document;
mod entity;
mod named;
mod pools;
mod reconciliation;
mod zones;

pub use document::*;
pub use entity::{Command, Event, Reason, Rejection, State};
pub use reconciliation::*;
pub use zones::*;
