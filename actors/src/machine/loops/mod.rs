//! What is done again and again about all machines of a class, beside the machines' own passes.
//!
//! | file | what |
//! |---|---|
//! | `search.rs` | which instances belong to no machine |
//! | `orphans.rs` | one search: list, remove, come again |
//! | `unmanaged.rs` | which nodes belong to no machine |
//!
//! Source: the safety loops of Gardener's machine controller, 0.49.

pub mod orphans;
mod search;
mod unmanaged;

#[cfg(test)]
mod tests;

pub use search::{KnownMachine, Search, Sightings, is_kept, search};
pub use unmanaged::{NodeSurveyed, Survey, survey};
