//! How far the log must reach: one slot of the head file.
//!
//! ```text
//!  0 [4]  "bwhd"                     12 u32  CRC32C over all but these     40 u64 position     72 u64  blocks that the
//!  4 u8   format version, 1          16 [16] journal id                    48 u64 block                store had synced
//!  5 u8   1 after a clean stop       32 u64  sequence of the writing       56 u64 time, ms     80 [32] chain value
//!  6 [6]  zero                                                             64 u64 epoch       112 [16] zero
//! ```

use uuid::Uuid;

use crate::{Head, Position};

pub(super) const SLOT_BYTES: usize = 128;
const FORMAT: u8 = 1;

/// What one slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadRecord {
    pub journal: Uuid,
    pub sequence: u64,
    pub head: Head,
    pub epoch: u64,
    /// Up to this block, the block store has said that everything is durable.
    pub store_synced: u64,
    pub clean: bool,
}

impl HeadRecord {
    pub(crate) fn encode(&self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..4].copy_from_slice(b"bwhd");
        bytes[4] = FORMAT;
        bytes[5] = u8::from(self.clean);
        bytes[16..32].copy_from_slice(self.journal.as_bytes());
        let numbers =
            [self.sequence, self.head.position.0, self.head.block, self.head.time_ms, self.epoch, self.store_synced];
        for (number, to) in numbers.into_iter().zip(bytes[32..80].chunks_exact_mut(8)) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes[80..112].copy_from_slice(&self.head.hash);
        let sum = crc(&bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<SLOT_BYTES>()?;
        if bytes[..4] != *b"bwhd" || bytes[4] != FORMAT || crc(bytes).to_le_bytes() != bytes[12..16] {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let head = Head {
            position: Position(number(40)),
            block: number(48),
            time_ms: number(56),
            hash: bytes[80..112].try_into().ok()?,
        };
        Some(Self {
            journal: Uuid::from_slice(&bytes[16..32]).ok()?,
            sequence: number(32),
            head,
            epoch: number(64),
            store_synced: number(72),
            clean: bytes[5] == 1,
        })
    }
}

fn crc(bytes: &[u8; SLOT_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}
