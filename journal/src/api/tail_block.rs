//! A block that is still in memory: its bytes as they were written, and its entries once a reader has asked for them.

use std::sync::{Arc, OnceLock};

use crate::{
    Entry,
    format::{
        frame::{self, HEADER_BYTES},
        record::Malformed,
    },
};

/// What an entry takes beside the bytes it was written as: itself, a pointer to it, and the ends of what it points to.
const ENTRY_BYTES: usize = size_of::<Entry>() + 128;

/// One of the newest blocks, as it was written and, once somebody has asked, as it is read.
#[derive(Debug)]
pub(crate) struct TailBlock {
    pub(crate) number: u64,
    pub(crate) frame: Vec<u8>,
    entries: OnceLock<Result<Vec<Arc<Entry>>, Malformed>>,
}

impl TailBlock {
    pub(crate) fn new(number: u64, entries: Option<Vec<Arc<Entry>>>, frame: Vec<u8>) -> Self {
        let known = OnceLock::new();
        if let Some(entries) = entries {
            drop(known.set(Ok(entries)));
        }
        Self { number, frame, entries: known }
    }

    /// Its entries, decoded once for all readers.
    pub(crate) fn entries(&self) -> Result<&[Arc<Entry>], Malformed> {
        let decode = || {
            let records = frame::records(&self.frame[HEADER_BYTES..]);
            records.map(|record| record?.entry().map(Arc::new)).collect()
        };
        self.entries.get_or_init(decode).as_deref().map_err(|problem| *problem)
    }

    /// How many bytes of memory it takes at most, as if somebody had asked for its entries: their bodies and names then lie
    /// there once more.
    pub(crate) fn bytes(&self) -> usize {
        let count = frame::peek(&self.frame).map_or(0, |header| header.count as usize);
        2 * self.frame.capacity() + count * ENTRY_BYTES
    }
}
