//! The part of the index that was taken from a checkpoint: one piece of bytes in which everything is found where it
//! lies, so that opening builds nothing.
//!
//! ```text
//!  0 u32 [8]  numbers: blocks, streams, bytes of their names, items, answers, bits of the streams' table, of the
//!             answers' table, zero; then, one after the other:
//! blocks      u64 first position, u32 segment, u32 offset                         in their order
//! streams     u64 mix of the name, u32 name at, u32 length, u32 first item, u32 number of items      by mix and name
//! names       the streams' names
//! items       u64 position, u64 next version                                      of each stream in their order
//! answers     [16] id, [16] hash, u64 position, u32 ms before the index's time     by the id's mix, which is not stored, and id
//! tables      2^bits + 1 times u32: where streams, and then answers, begin whose mix begins with these bits
//! ```
//!
//! Little endian throughout. The file around it has a checksum; lookups stay inside the bytes all the same, whatever
//! they hold.

use uuid::Uuid;

use super::{BlockPlace, Item};
use crate::{Answered, Position, Version, hash, log::Place};

const COUNTS: usize = 8;
const BLOCK: usize = 16;
const STREAM: usize = 24;
pub(super) const ITEM: usize = 16;
const ANSWER: usize = 44;
/// The largest table has so many places, as a power of two.
pub(super) const BITS_MAX: u32 = 24;

/// What a checkpoint holds of the index.
#[derive(Default)]
pub(crate) struct Base {
    bytes: Vec<u8>,
    /// Where the index begins in `bytes`; before it is the head of the file.
    blocks: Part,
    streams: Part,
    names: Part,
    items: Part,
    answers: Part,
    streams_table: Part,
    answers_table: Part,
    /// When the last entry was: the times of the answers count back from it.
    time_ms: u64,
}

/// Some things of one length, one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    at: usize,
    count: usize,
    each: usize,
}

impl Part {
    fn get(self, bytes: &[u8], number: usize) -> Option<&[u8]> {
        if number >= self.count {
            return None;
        }
        let at = self.at + number * self.each;
        bytes.get(at..at + self.each)
    }

    fn some(self, bytes: &[u8], first: usize, count: usize) -> Option<&[u8]> {
        let end = first.checked_add(count).filter(|end| *end <= self.count)?;
        bytes.get(self.at + first * self.each..self.at + end * self.each)
    }
}

impl Base {
    /// Takes bytes in which an index begins at `at`; none if it does not end where they end.
    pub(crate) fn read(bytes: Vec<u8>, at: usize) -> Option<Self> {
        let mut counts = [0usize; COUNTS];
        for (number, count) in counts.iter_mut().enumerate() {
            *count = u32_at(&bytes, at + number * 4)? as usize;
        }
        let [blocks, streams, names, items, answers, stream_bits, answer_bits, zero] = counts;
        if stream_bits > BITS_MAX as usize || answer_bits > BITS_MAX as usize || zero != 0 {
            return None;
        }
        let mut next = at + COUNTS * 4;
        let mut part = |count: usize, each: usize| -> Option<Part> {
            let part = Part { at: next, count, each };
            next = next.checked_add(count.checked_mul(each)?)?;
            Some(part)
        };
        let this = Self {
            blocks: part(blocks, BLOCK)?,
            streams: part(streams, STREAM)?,
            names: part(names, 1)?,
            items: part(items, ITEM)?,
            answers: part(answers, ANSWER)?,
            streams_table: part((1 << stream_bits) + 1, 4)?,
            answers_table: part((1 << answer_bits) + 1, 4)?,
            bytes: Vec::new(),
            time_ms: 0,
        };
        (next == bytes.len()).then_some(Self { bytes, ..this })
    }

    /// The same, whose last entry has this time.
    pub(super) fn of_time(self, time_ms: u64) -> Self {
        Self { time_ms, ..self }
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.count
    }

    pub(super) fn stream_count(&self) -> usize {
        self.streams.count
    }

    pub(super) fn item_count(&self) -> usize {
        self.items.count
    }

    /// The block with this number, from 0.
    pub(super) fn block(&self, number: usize) -> Option<BlockPlace> {
        let block = self.blocks.get(&self.bytes, number)?;
        let place = Place { segment: u32_at(block, 8)?, offset: u32_at(block, 12)? };
        Some(BlockPlace { first: Position(u64_at(block, 0)?), place })
    }

    /// How many blocks begin at this position or before it.
    pub(super) fn blocks_until(&self, position: Position) -> usize {
        partition(0, self.blocks.count, |number| self.block(number).is_some_and(|block| block.first <= position))
    }

    /// The items of a stream, [`ITEM`] bytes each; empty if it is not here.
    pub(super) fn items(&self, stream: &str) -> &[u8] {
        self.find(stream).unwrap_or(&[])
    }

    fn find(&self, stream: &str) -> Option<&[u8]> {
        if self.streams.count == 0 {
            return None;
        }
        let mix = hash::fixed(stream.as_bytes());
        let (first, last) = self.shared(self.streams_table, self.streams.count, mix)?;
        let before = |number: usize| self.stream(number).is_some_and(|found| found < (mix, stream));
        let number = partition(first, last, before);
        if self.stream(number)? != (mix, stream) {
            return None;
        }
        self.items_of(number)
    }

    fn items_of(&self, number: usize) -> Option<&[u8]> {
        let entry = self.streams.get(&self.bytes, number)?;
        self.items.some(&self.bytes, u32_at(entry, 16)? as usize, u32_at(entry, 20)? as usize)
    }

    fn stream(&self, number: usize) -> Option<(u64, &str)> {
        let entry = self.streams.get(&self.bytes, number)?;
        let name = self.names.some(&self.bytes, u32_at(entry, 8)? as usize, u32_at(entry, 12)? as usize)?;
        Some((u64_at(entry, 0)?, str::from_utf8(name).ok()?))
    }

    /// All streams with their items, in no order that means anything.
    pub(super) fn streams(&self) -> impl Iterator<Item = (&str, &[u8])> {
        (0..self.streams.count).filter_map(|number| Some((self.stream(number)?.1, self.items_of(number)?)))
    }

    pub(super) fn answered(&self, id: &Uuid) -> Option<(Answered, u64)> {
        if self.answers.count == 0 {
            return None;
        }
        let key = (hash::fixed(id.as_bytes()), *id);
        let (first, last) = self.shared(self.answers_table, self.answers.count, key.0)?;
        let key_of = |number: usize| self.answer(number).map(|(id, _)| (hash::fixed(id.as_bytes()), id));
        let number = partition(first, last, |number| key_of(number).is_some_and(|found| found < key));
        self.answer(number).filter(|(found, _)| found == id).map(|(_, answered)| answered)
    }

    fn answer(&self, number: usize) -> Option<(Uuid, (Answered, u64))> {
        let answer = self.answers.get(&self.bytes, number)?;
        let answered =
            Answered { position: Position(u64_at(answer, 32)?), command_hash: answer[16..32].try_into().ok()? };
        Some((
            Uuid::from_slice(&answer[..16]).ok()?,
            (answered, self.time_ms.saturating_sub(u32_at(answer, 40)?.into())),
        ))
    }

    /// In the order in which they are written: by the id's mix, then by the id.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Uuid, (Answered, u64))> {
        (0..self.answers.count).filter_map(|number| self.answer(number))
    }

    /// Where everything lies that has these first bits; there is something.
    fn shared(&self, table: Part, count: usize, mix: u64) -> Option<(usize, usize)> {
        let bits = table.count.checked_sub(1)?.trailing_zeros();
        let slot = slot(mix, bits);
        let begin = |slot: usize| u32_at(table.get(&self.bytes, slot)?, 0).map(|begin| begin as usize);
        Some((begin(slot)?.min(count), begin(slot + 1)?.min(count)))
    }
}

impl std::fmt::Debug for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Base").field("blocks", &self.blocks.count).finish_non_exhaustive()
    }
}

/// Which place of a table of so many bits this belongs to.
pub(super) fn slot(mix: u64, bits: u32) -> usize {
    mix.checked_shr(64 - bits).unwrap_or(0) as usize
}

/// The item in its stored form.
pub(super) fn item(bytes: &[u8]) -> Option<Item> {
    Some(Item { position: Position(u64_at(bytes, 0)?), next_version: Version(u64_at(bytes, 8)?) })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The first number from `first` on, before `last`, for which `before` is false.
pub(super) fn partition(mut first: usize, mut last: usize, before: impl Fn(usize) -> bool) -> usize {
    while first < last {
        let middle = first + (last - first) / 2;
        if before(middle) { first = middle + 1 } else { last = middle }
    }
    first
}
