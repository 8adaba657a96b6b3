//! Where a journal stands, and what it remembers of a command that was answered.

use crate::Position;

/// A command id is remembered this long after its entry's time, in milliseconds: 24 hours.
pub const COMMAND_WINDOW_MS: u64 = 24 * 60 * 60 * 1000;

/// Where the journal stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The last durable entry.
    pub position: Position,
    /// The time of the last durable entry, in milliseconds.
    pub time_ms: u64,
    /// Number of the last block, from 1.
    pub block: u64,
    /// BLAKE3 chain value over all blocks.
    pub hash: [u8; 32],
}

/// What is remembered of an answered command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    pub position: Position,
    pub command_hash: [u8; 16],
}
