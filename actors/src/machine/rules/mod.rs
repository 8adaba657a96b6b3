//! Rules about one machine and its node, each a function of what it is given.
//!
//! | file | decides |
//! |---|---|
//! | `condition.rs` | which condition says that a node is ready; whether it lacks its critical components |
//! | `timeouts.rs` | which time-outs, counts and conditions are in force for one machine |
//! | `token.rs` | where a bootstrap token goes in the user data |
//! | `template.rs` | what of a machine's template has to be written to its node |
//! | `budget.rs` | whether one more machine may be given up |
//!
//! Source: Gardener's machine controller, 0.49. Where we read a rule otherwise, `policy::Readings` has both readings.

pub mod budget;
mod condition;
pub mod template;
mod timeouts;
pub mod token;

pub use crate::vocab::{Overrides, Taint, TaintEffect};
pub use condition::{CRITICAL_TAINT, READ_ONLY, READY, has_critical_taint};
pub use timeouts::InForce;
