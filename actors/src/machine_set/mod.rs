//! Machine sets: so many machines of one kind, kept at that number.
//!
//! One pass of a set: machines that were given up are told to go, then what is missing is made or what is too much is told
//! to go, in the same pass.
//!
//! | file | what |
//! |---|---|
//! | `member.rs` | what a set knows about a machine; who counts |
//! | `rank.rs` | who goes first |
//! | `slow_start.rs` | how many are made at once |
//! | `plan.rs` | what a pass has to do |
//! | `pass.rs` | the pass: state, events, effects |
//! | `status.rs` | what a set tells about itself |
//!
//! Source: the machine sets of Gardener's machine controller, 0.49. A machine counts as going only when its removal was
//! accepted; there it was hidden from every count even if nobody had been told.

mod member;
mod pass;
mod plan;
mod rank;
mod slow_start;
mod status;

#[cfg(test)]
mod tests;

pub use member::{Member, SetSeen};
pub use pass::{Command, Effect, Event, State, decide};
pub use plan::{BURST_MAX, Change, Plan, plan};
pub use rank::{pick, ranked};
pub use slow_start::SlowStart;
pub use status::{Failure, FailureReason, Status, status};
