//! Questions to the journal: was every decision right, what happened, and why?
//!
//! - [`replay()`] decides every entry again from what is recorded and demands the same answer;
//! - [`story()`] tells entries one line each, in plain words;
//! - [`why::why`] walks from an entity's last decision to the command from outside that led to it.
//!
//! All of it reads a [`Journal`](bailiwick_journal::Journal) and nothing else, so it is the same on a running node and on the
//! directory of a stopped one.

mod assert;
mod divergence;
mod policies;
mod redecide;
pub mod replay;
mod story;
mod views;
pub mod why;

#[cfg(test)]
pub(crate) mod tests;

pub use assert::{Audited, assert_replays};
pub use divergence::{Difference, Divergence, What};
pub use redecide::{Context, Deciders, Redecide, Redecider};
pub use replay::{Options, ReplayError, ReplayReport, replay, replay_with};
pub use story::story;
pub use why::{Cause, Link, Why};
