//! Tools.

pub mod check;
mod check_running;
pub mod export;
pub(crate) mod hex;
pub mod import;
pub mod read_only;
pub mod salvage;
// Saved states: no program of ours keeps any yet, so only the suite that damages everything sees them.
#[cfg(feature = "testing")]
pub mod snapshot;
pub mod stat;
