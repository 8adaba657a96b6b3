//! Questions to the journal: was every decision right, what happened, and why?
//!
//! - [`replay()`] decides every entry again from what is recorded and demands the same answer (the room `replay` of the actors);
//! - [`backtest()`] decides them under another policy, and names those that come out differently;
//! - [`why::why`] walks from a decision along what it cites to the wishes, observations and due times behind it, and
//!   [`why::following`] the other way.
//!
//! All of it reads a [`Journal`](bailiwick_journal::Journal) and nothing else, so it is the same on a running node and on the
//! directory of a stopped one.

pub mod why;

#[cfg(test)]
pub(crate) mod tests;

pub use bailiwick_actors::replay::{
    Backtest, CallFlips, Context, Deciders, Difference, Divergence, Flip, FlipGroup, Follow, Options, Redecide,
    Redecider, ReplayError, ReplayReport, What, backtest, replay, replay_followed, replay_with,
};
pub use why::{About, Direction, Side, Source, Step, Why};
