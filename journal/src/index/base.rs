//! The part of the index that was taken from a checkpoint: one piece of bytes in which everything is found where it
//! lies, so that opening builds nothing, and so that it can be left in its file.
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
//!
//! Where a running node looks in the file, little is kept in memory so that little is read: where every 256th block is,
//! which leaves one read for any block, and [filters](super::filter) that tell of most new streams and commands, without
//! any, that they are not here. What shares a place of a table lies together, and is read at once.

use std::{borrow::Cow, cmp::Ordering, io};

use uuid::Uuid;

use super::{
    BlockPlace, Item,
    bytes::{Bytes, Passing},
    filter::Filter,
};
use crate::{Answered, Position, Version, index::hash, log::commit_log::Place};

const COUNTS: usize = 8;
const BLOCK: usize = 16;
const STREAM: usize = 24;
const ITEM: usize = 16;
const ANSWER: usize = 44;
/// One block in so many is known without reading: those between fill a page.
const FENCE: usize = 256;
/// Where one thing is looked for among others, they are read at once if they are no more than this.
const NEAR_BYTES: usize = FENCE * BLOCK;
/// How many items are passed on at once.
const ITEMS_AT_ONCE: usize = 4096;
/// The largest table has so many places, as a power of two.
pub(super) const BITS_MAX: u32 = 24;

/// What a checkpoint holds of the index.
#[derive(Default)]
pub(crate) struct Base {
    bytes: Bytes,
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
    /// Blocks number 0, 256, 512 and so on; none where nothing is kept.
    fences: Vec<BlockPlace>,
    /// Of the mixes of the streams' names, and of the answers' ids.
    streams_filter: Filter,
    answers_filter: Filter,
}

/// Some things of one length, one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    at: usize,
    count: usize,
    each: usize,
}

impl Part {
    /// Where one of them lies.
    fn place(self, number: usize) -> Option<usize> {
        (number < self.count).then_some(self.at + number * self.each)
    }

    /// Where so many of them lie, if they are all here.
    fn places(self, first: usize, count: usize) -> Option<usize> {
        first.checked_add(count).filter(|end| *end <= self.count)?;
        Some(self.at + first * self.each)
    }

    fn get(self, bytes: &Bytes, number: usize) -> Option<Cow<'_, [u8]>> {
        bytes.get(self.place(number)?, self.each)
    }
}

/// All things of a part in their order, of which each has `N` bytes.
struct Each<'b, const N: usize> {
    from: Passing<'b>,
    part: Part,
    next: usize,
}

impl<'b, const N: usize> Each<'b, N> {
    fn new(bytes: &'b Bytes, part: Part) -> Self {
        Self { from: bytes.passing(), part, next: 0 }
    }
}

impl<const N: usize> Iterator for Each<'_, N> {
    type Item = [u8; N];

    fn next(&mut self) -> Option<[u8; N]> {
        let found = self.from.get(self.part.place(self.next)?, N)?.try_into().ok();
        self.next += 1;
        found
    }
}

/// The items of one stream: the first, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    first: usize,
    pub(super) count: usize,
}

/// A stream, by the mix of its name.
pub(super) struct Stream<'b> {
    pub mix: u64,
    pub name: Cow<'b, str>,
    pub items: Run,
}

impl Base {
    /// Takes bytes in which an index begins at `at`; none if it does not end where they end.
    pub(crate) fn read(bytes: Bytes, at: usize) -> Option<Self> {
        let head = bytes.get(at, COUNTS * 4)?;
        let mut counts = [0usize; COUNTS];
        for (number, count) in counts.iter_mut().enumerate() {
            *count = u32_at(&head, number * 4)? as usize;
        }
        drop(head);
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
            ..Self::default()
        };
        (next == bytes.len()).then_some(Self { bytes, ..this })
    }

    /// The same, whose last entry has this time.
    pub(super) fn of_time(self, time_ms: u64) -> Self {
        Self { time_ms, ..self }
    }

    /// Reads what is kept in memory of one that is looked in for long; none if that cannot be read.
    pub(crate) fn for_long(mut self) -> Option<Self> {
        let (mut streams, mut answers) = (Filter::new(self.streams.count), Filter::new(self.answers.count));
        Each::<STREAM>::new(&self.bytes, self.streams)
            .filter_map(|bytes| u64_at(&bytes, 0))
            .for_each(|mix| streams.add(mix));
        self.answers().for_each(|(id, _)| answers.add(hash::fixed(id.as_bytes())));
        let fences: Vec<BlockPlace> = self.blocks().step_by(FENCE).collect();
        let is_whole = !self.has_failed() && fences.len() == self.blocks.count.div_ceil(FENCE);
        (self.streams_filter, self.answers_filter, self.fences) = (streams, answers, fences);
        is_whole.then_some(self)
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

    /// Whether something could not be read: then whatever was said is not to be gone by.
    pub(super) fn has_failed(&self) -> bool {
        self.bytes.has_failed()
    }

    /// The block with this number, from 0.
    pub(super) fn block(&self, number: usize) -> Option<BlockPlace> {
        block(&self.blocks.get(&self.bytes, number)?)
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockPlace> {
        Each::<BLOCK>::new(&self.bytes, self.blocks).filter_map(|bytes| block(&bytes))
    }

    /// As [`Base::block`], for several that lie near each other.
    pub(super) fn blocks_near(&self) -> impl FnMut(usize) -> Option<BlockPlace> {
        let mut near = self.bytes.near();
        move |number| block(near.get(self.blocks.place(number)?, BLOCK)?)
    }

    /// How many blocks there are, from the first on, for which this is true; it is for none behind them.
    pub(super) fn blocks_while(&self, holds: impl Fn(&BlockPlace) -> bool) -> usize {
        let fences = self.fences.partition_point(&holds);
        let (first, last) = match fences.checked_sub(1) {
            Some(fence) => (fence * FENCE + 1, self.blocks.count.min(fences * FENCE)),
            None if self.fences.is_empty() => (0, self.blocks.count),
            None => return 0,
        };
        let near = Near::new(&self.bytes, self.blocks, first, last);
        partition(first, last, |number| {
            near.get(number).and_then(|bytes| block(&bytes)).is_some_and(|block| holds(&block))
        })
    }

    /// Which items are a stream's; none if it is not here.
    pub(super) fn items(&self, stream: &str) -> Run {
        self.find(stream).unwrap_or_default()
    }

    /// The item of a stream with this number, from 0.
    pub(super) fn item(&self, run: Run, number: usize) -> Option<Item> {
        item(&self.items.get(&self.bytes, run.first + number)?)
    }

    /// So many items of a stream, from this one on, as far as they are here.
    pub(super) fn some_items(&self, run: Run, number: usize, count: usize) -> Vec<Item> {
        let count = count.min(run.count.saturating_sub(number));
        let place = self.items.places(run.first.saturating_add(number), count);
        let bytes = place.and_then(|at| self.bytes.get(at, count * ITEM));
        bytes.map_or_else(Vec::new, |bytes| bytes.chunks(ITEM).filter_map(item).collect())
    }

    fn find(&self, stream: &str) -> Option<Run> {
        if self.streams.count == 0 {
            return None;
        }
        let mix = hash::fixed(stream.as_bytes());
        if !self.streams_filter.may_have(mix) {
            return None;
        }
        let (first, last) = self.shared(self.streams_table, self.streams.count, mix)?;
        let near = Near::new(&self.bytes, self.streams, first, last);
        let entry = |number: usize| Entry::read(&near.get(number)?);
        // Nearly always it has its mix for itself: no other name is read.
        let is_before = |entry: &Entry| match entry.mix.cmp(&mix) {
            Ordering::Equal => self.name(entry).is_some_and(|name| *name < *stream.as_bytes()),
            order => order.is_lt(),
        };
        let found = entry(partition(first, last, |number| entry(number).is_some_and(|entry| is_before(&entry))))?;
        self.items.places(found.items.first, found.items.count)?;
        (found.mix == mix && *self.name(&found)? == *stream.as_bytes()).then_some(found.items)
    }

    fn name(&self, entry: &Entry) -> Option<Cow<'_, [u8]>> {
        self.bytes.get(self.names.places(entry.name_at, entry.name_bytes)?, entry.name_bytes)
    }

    /// All streams, by mix and name.
    pub(super) fn streams(&self) -> impl Iterator<Item = Stream<'_>> {
        let mut names = self.bytes.passing();
        Each::<STREAM>::new(&self.bytes, self.streams).filter_map(move |bytes| {
            let entry = Entry::read(&bytes)?;
            let name = names.get(self.names.places(entry.name_at, entry.name_bytes)?, entry.name_bytes)?;
            let name = Cow::Owned(str::from_utf8(name).ok()?.to_owned());
            self.items.places(entry.items.first, entry.items.count)?;
            Some(Stream { mix: entry.mix, name, items: entry.items })
        })
    }

    /// Passes on a stream's items as they are stored. Reading all streams in their order reads every piece once.
    pub(super) fn copier(&self) -> impl FnMut(Run, &mut dyn io::Write) -> io::Result<()> {
        let mut from = self.bytes.passing();
        move |run, to| {
            for number in (0..run.count).step_by(ITEMS_AT_ONCE) {
                let count = ITEMS_AT_ONCE.min(run.count - number);
                let place = self.items.places(run.first + number, count);
                let bytes = place.and_then(|at| from.get(at, count * ITEM)).ok_or(io::ErrorKind::InvalidData)?;
                to.write_all(bytes)?;
            }
            Ok(())
        }
    }

    pub(super) fn answered(&self, id: &Uuid) -> Option<(Answered, u64)> {
        if self.answers.count == 0 {
            return None;
        }
        let key = (hash::fixed(id.as_bytes()), *id);
        if !self.answers_filter.may_have(key.0) {
            return None;
        }
        let (first, last) = self.shared(self.answers_table, self.answers.count, key.0)?;
        let near = Near::new(&self.bytes, self.answers, first, last);
        let found = |number: usize| answer(&near.get(number)?, self.time_ms);
        let key_of = |number: usize| found(number).map(|(id, _)| (hash::fixed(id.as_bytes()), id));
        let number = partition(first, last, |number| key_of(number).is_some_and(|found| found < key));
        found(number).filter(|(found, _)| found == id).map(|(_, answered)| answered)
    }

    /// In the order in which they are written: by the id's mix, then by the id.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Uuid, (Answered, u64))> {
        Each::<ANSWER>::new(&self.bytes, self.answers).filter_map(|bytes| answer(&bytes, self.time_ms))
    }

    /// Where everything lies that has these first bits; there is something.
    fn shared(&self, table: Part, count: usize, mix: u64) -> Option<(usize, usize)> {
        let bits = table.count.checked_sub(1)?.trailing_zeros();
        let slot = slot(mix, bits);
        let begins = self.bytes.get(table.places(slot, 2)?, 2 * table.each)?;
        let begin = |at: usize| u32_at(&begins, at).map(|begin| begin as usize);
        Some((begin(0)?.min(count), begin(4)?.min(count)))
    }
}

/// Some things of a part among which one is looked for: read at once, if they are few.
struct Near<'b> {
    bytes: &'b Bytes,
    part: Part,
    first: usize,
    read: Option<Cow<'b, [u8]>>,
}

impl<'b> Near<'b> {
    /// From `first` on, before `last`.
    fn new(bytes: &'b Bytes, part: Part, first: usize, last: usize) -> Self {
        let count = last.saturating_sub(first);
        let at = if count * part.each <= NEAR_BYTES { part.places(first, count) } else { None };
        Self { bytes, part, first, read: at.and_then(|at| bytes.get(at, count * part.each)) }
    }

    fn get(&self, number: usize) -> Option<Cow<'_, [u8]>> {
        let Some(read) = &self.read else { return self.part.get(self.bytes, number) };
        let at = number.checked_sub(self.first)?.checked_mul(self.part.each)?;
        read.get(at..at.checked_add(self.part.each)?).map(Cow::Borrowed)
    }
}

/// What is stored of a stream beside its name.
struct Entry {
    mix: u64,
    name_at: usize,
    name_bytes: usize,
    items: Run,
}

impl Entry {
    fn read(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| u32_at(bytes, at).map(|number| number as usize);
        let items = Run { first: number(16)?, count: number(20)? };
        Some(Self { mix: u64_at(bytes, 0)?, name_at: number(8)?, name_bytes: number(12)?, items })
    }
}

fn block(bytes: &[u8]) -> Option<BlockPlace> {
    let place = Place { segment: u32_at(bytes, 8)?, offset: u32_at(bytes, 12)? };
    Some(BlockPlace { first: Position(u64_at(bytes, 0)?), place })
}

fn answer(bytes: &[u8], time_ms: u64) -> Option<(Uuid, (Answered, u64))> {
    let command_hash = bytes.get(16..32)?.try_into().ok()?;
    let answered = Answered { position: Position(u64_at(bytes, 32)?), command_hash };
    let known = (answered, time_ms.saturating_sub(u32_at(bytes, 40)?.into()));
    Some((Uuid::from_slice(bytes.get(..16)?).ok()?, known))
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
fn item(bytes: &[u8]) -> Option<Item> {
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
