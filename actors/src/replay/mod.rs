//! The replay gate: every decision of a journal, decided again from what is recorded, has to come out the same.
//!
//! It stands beside the shell, because it takes the very same step ([`Entity`](crate::contract::Entity)) with another way
//! to come by its inputs; tests of the shell end with it (`Audited`).

mod added;
#[cfg(feature = "testing")]
mod assert;
mod backtest;
mod divergence;
mod lineage;
mod pass;
mod policies;
mod redecide;
mod views;

#[cfg(feature = "shell")]
pub(crate) use added::add;
#[cfg(feature = "testing")]
pub use assert::{Audited, assert_replays};
pub use backtest::{Backtest, CallFlips, Flip, FlipGroup, KEPT_MAX, backtest};
pub use divergence::{Difference, Divergence, What};
pub use pass::{Follow, Options, ReplayError, ReplayReport, replay, replay_followed, replay_with};
pub use redecide::{Context, Deciders, Redecide, Redecider};
