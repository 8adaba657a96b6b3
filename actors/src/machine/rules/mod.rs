//! The rules that a machine's reconciliation is made of, each a function of what it is given.
//!
//! | file | decides |
//! |---|---|
//! | `condition.rs` | what a node condition is; whether a node is healthy; whether its conditions changed |
//! | `timeouts.rs` | which time-outs and counts are in force for one machine |
//! | `class.rs` | whether a class can be used; who keeps it; what its secrets amount to |
//! | `token.rs` | bootstrap tokens: id, name of the secret, place in the user data |
//! | `template.rs` | what of a machine's template has to be written to its node |
//! | `budget.rs` | whether one more machine may be given up |
//! | `removal.rs` | why a machine goes, whether its drain is forced or left out |
//! | `wake.rs` | whether a change of a node wakes its machine |
//!
//! Source: Gardener's machine controller, 0.49. Where we read a rule otherwise, `policy::Readings` has both readings.

pub mod budget;
pub mod class;
mod condition;
pub mod removal;
pub mod template;
mod timeouts;
pub mod token;
pub mod wake;

#[cfg(test)]
mod tests;

pub use crate::vocab::{Taint, TaintEffect};
pub use condition::{CRITICAL_TAINT, ConditionStatus, READY, NodeCondition, changed, has_critical_taint, is_healthy};
pub use timeouts::{InForce, Overrides};
