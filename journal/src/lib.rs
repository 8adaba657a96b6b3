//! Streams of decisions on disk.
//!
//! (The layout on disk is described here; see the modules.)

mod codec;
mod entry;
mod error;
mod journal;
mod stream;

pub use codec::{CODEC_BINCODE_FIXED, CodecError, decode, digest, encode};
pub use entry::*;
pub use error::*;
pub use journal::*;
pub use stream::*;

/// What `check` and `open` found wrong (placeholder shape until `check.rs` lands).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    pub problems: Vec<String>,
}

impl std::fmt::Display for IntegrityReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problems.join("; "))
    }
}
