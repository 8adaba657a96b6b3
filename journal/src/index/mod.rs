//! Where everything is: 16 bytes for each block and for each entry, and what the next append is checked against, at most
//! 48 bytes for each command of the last day.
//!
//! What a checkpoint held lies below, as it was read at the opening, or in its file; what came since lies in maps above it,
//! in memory. A running node writes a checkpoint from time to time, and from then on looks in that file for what it holds,
//! and gives up what it had of that in memory ([`rebase`](self::rebase)): so the memory does not grow with the journal, but
//! for about two bytes a command. What is looked up in a file may be unreadable: then [`Index::has_failed`], and
//! nothing that was said may be gone by. A caller asks for that as well, before it lets go of the index.

mod answers;
mod base;
mod bytes;
mod filter;
pub(crate) mod hash;
mod rebase;
mod streams;
mod written;

use std::{collections::HashMap, convert::Infallible, io, ops::Range};

use uuid::Uuid;

use crate::{
    Answered, COMMAND_WINDOW_MS, Position, StreamId, Version,
    format::{
        frame::{self, FrameHeader},
        record::{self, Record},
    },
    index::hash::Keyed,
    log::commit_log::Place,
};
use answers::Answers;
pub(crate) use base::Base;
use base::Run;
pub(crate) use bytes::Bytes;
pub(crate) use rebase::PARTS;
use streams::Streams;

/// What is said where a part of it cannot be read.
pub(crate) const UNREADABLE: &str =
    "a part of the index cannot be read back from its checkpoint; the next start reads the whole log";

/// One stream is looked up in the time in which so many are gone through.
const STREAMS_PER_LOOK: usize = 16;

/// The stream → places, position → block, and command id → answer of all durable entries.
#[derive(Debug, Default)]
pub(crate) struct Index {
    base: Base,
    blocks: Vec<BlockPlace>,
    streams: Streams,
    answers: Answers,
    /// How many items are in `streams`.
    newer_items: usize,
    pub(crate) last_time_ms: u64,
    pub(crate) last_position: Position,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlace {
    pub first: Position,
    pub place: Place,
}

/// One entry of a stream: its position, and the version that the next event after it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub position: Position,
    pub next_version: Version,
}

impl Item {
    /// The stream's version behind it.
    fn version(self) -> Version {
        Version(self.next_version.0.saturating_sub(1))
    }
}

/// The entries of one stream, oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items<'i> {
    base: &'i Base,
    old: Run,
    new: &'i [Item],
}

impl Items<'_> {
    pub(crate) fn len(self) -> usize {
        self.old.count + self.new.len()
    }

    pub(crate) fn get(self, number: usize) -> Option<Item> {
        match number.checked_sub(self.old.count) {
            Some(number) => self.new.get(number).copied(),
            None => self.base.item(self.old, number),
        }
    }

    /// Those with these numbers, as far as they are there.
    pub(crate) fn some(self, numbers: Range<usize>) -> Vec<Item> {
        let new = |number: usize| number.saturating_sub(self.old.count).min(self.new.len());
        let mut found = match numbers.start < self.old.count {
            true => self.base.some_items(self.old, numbers.start, numbers.len()),
            false => Vec::new(),
        };
        found.extend_from_slice(&self.new[new(numbers.start)..new(numbers.end.max(numbers.start))]);
        found
    }

    fn last(self) -> Option<Item> {
        self.get(self.len().checked_sub(1)?)
    }

    fn version(self) -> Version {
        self.last().map_or(Version::ZERO, Item::version)
    }
}

/// What the index keeps of one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    pub item: Item,
    pub time_ms: u64,
    pub command_id: Uuid,
    pub command_hash: [u8; 16],
}

impl Index {
    /// The index as it was when a checkpoint was written.
    pub(crate) fn of(base: Base, last_position: Position, last_time_ms: u64) -> Self {
        Self { base: base.of_time(last_time_ms), last_position, last_time_ms, ..Self::default() }
    }

    /// Writes everything for a checkpoint; false if there is too much.
    pub(crate) fn write(&self, to: &mut dyn io::Write) -> io::Result<bool> {
        written::write(self, to)
    }

    /// Takes in a block that has just become durable.
    pub(crate) fn add_block(&mut self, first: Position, place: Place) {
        self.blocks.push(BlockPlace { first, place });
    }

    /// Takes in one entry of the newest block.
    pub(crate) fn add(&mut self, stream: &StreamId, entry: &Indexed) {
        let Ok(()) = self.streams.push::<Infallible>(stream.as_str(), entry.item, || Ok(stream.clone()));
        self.remember(entry);
    }

    fn remember(&mut self, entry: &Indexed) {
        let Indexed { item, time_ms, command_id, command_hash } = *entry;
        self.newer_items += 1;
        self.last_position = item.position;
        self.last_time_ms = time_ms;
        self.answers.push(command_id, Answered { position: item.position, command_hash }, time_ms);
        self.answers.forget_before(self.oldest_kept());
    }

    /// Takes in a checked block as it is found in the log, and checks that it goes on where the last one ended.
    pub(crate) fn add_found(&mut self, header: &FrameHeader, records: &[u8], place: Place) -> Result<(), &'static str> {
        // No more room than the bytes can fill, whatever the count says.
        let mut found = Vec::with_capacity((header.count as usize).min(records.len() / record::FIXED));
        let mut versions: HashMap<&str, Version, Keyed> = HashMap::default();
        let mut next = self.last_position.next();
        let mut time_ms = self.last_time_ms;
        for record in frame::records(records) {
            let record = record?;
            let stream = record.stream_text()?;
            let version = match versions.get(stream) {
                Some(version) => *version,
                None => self.found_version(stream)?,
            };
            if record.position() != next || record.first_version() != version.next() || record.time_ms() < time_ms {
                return Err("positions, versions or times are out of order");
            }
            let after = version.plus(u64::from(record.events()));
            let item = Item { position: next, next_version: after.next() };
            versions.insert(stream, after);
            time_ms = record.time_ms();
            next = next.next();
            let (command_id, command_hash) = (record.command_id(), record.command_hash());
            found.push((stream, Indexed { item, time_ms, command_id, command_hash }));
        }
        if found.len() != header.count as usize || found.is_empty() || header.first != self.last_position.next() {
            return Err("the block's count or first position is wrong");
        }
        self.add_block(header.first, place);
        for (stream, entry) in found {
            let name = || stream.parse().map_err(|_| "a stream has no valid name");
            self.streams.push(stream, entry.item, name)?;
            self.remember(&entry);
        }
        Ok(())
    }

    /// The version of a stream by its text, which is a name if it is not known yet.
    fn found_version(&self, stream: &str) -> Result<Version, &'static str> {
        let new = self.streams.items(stream);
        let items = if new.is_empty() { self.items_of(stream) } else { self.only(new) };
        if items.len() > 0 || stream.parse::<StreamId>().is_ok() {
            Ok(items.version())
        } else {
            Err("a stream has no valid name")
        }
    }

    /// The block with this number, from 1.
    pub(crate) fn block(&self, number: u64) -> Option<BlockPlace> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        match at.checked_sub(self.base.block_count()) {
            Some(at) => self.blocks.get(at).copied(),
            None => self.base.block(at),
        }
    }

    pub(crate) fn block_count(&self) -> u64 {
        (self.base.block_count() + self.blocks.len()) as u64
    }

    /// How many entries there are, of all streams together.
    pub(crate) fn item_count(&self) -> u64 {
        (self.base.item_count() + self.newer_items) as u64
    }

    /// The blocks with these numbers, where they are there: less is read for them than for each alone.
    pub(crate) fn some_blocks(&self, numbers: &[u64]) -> Vec<Option<BlockPlace>> {
        let mut near = self.base.blocks_near();
        let old = self.base.block_count() as u64;
        let block = |number: &u64| match number.checked_sub(1).filter(|at| *at < old) {
            Some(at) => near(at as usize),
            None => self.block(*number),
        };
        numbers.iter().map(block).collect()
    }

    /// The first block of a segment, and the one behind its last.
    pub(crate) fn segment(&self, number: u32) -> (u64, u64) {
        let before = |limit: u32| self.blocks_while(|block| block.place.segment < limit) + 1;
        (before(number), before(number.saturating_add(1)))
    }

    /// How many blocks there are, from the first on, for which this is true; it is for none behind them.
    fn blocks_while(&self, holds: impl Fn(&BlockPlace) -> bool) -> u64 {
        let count = match self.blocks.first() {
            // Mostly it is the newest that are asked for: nothing is read then.
            Some(first) if holds(first) => self.base.block_count() + self.blocks.partition_point(&holds),
            _ => self.base.blocks_while(&holds),
        };
        count as u64
    }

    /// The segment of the newest block; 0 if there is none.
    pub(crate) fn last_segment(&self) -> u32 {
        self.block(self.block_count()).map_or(0, |block| block.place.segment)
    }

    /// The number of the block that holds a position.
    pub(crate) fn block_of(&self, position: Position) -> Option<u64> {
        if position == Position::ZERO || position > self.last_position {
            return None;
        }
        Some(self.blocks_while(|block| block.first <= position))
    }

    pub(crate) fn version(&self, stream: &StreamId) -> Version {
        let last = self.streams.last(stream.as_str());
        last.map_or_else(|| self.items(stream).version(), Item::version)
    }

    pub(crate) fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.answered_at(command_id).map(|known| known.0)
    }

    /// As [`Index::answered`], with the time of that entry.
    pub(crate) fn answered_at(&self, command_id: &Uuid) -> Option<(Answered, u64)> {
        let new = self.answers.get(command_id);
        new.or_else(|| self.base.answered(command_id).filter(|known| known.1 >= self.oldest_kept()))
    }

    /// Whether it says of a block what the block says of itself.
    pub(crate) fn agrees(&self, header: &FrameHeader, records: &[u8], place: Place) -> bool {
        let known = self.block(header.block);
        if known.is_none_or(|block| block.first != header.first || block.place != place) {
            return false;
        }
        frame::records(records).all(|record| record.is_ok_and(|record| self.agrees_on(&record).unwrap_or(false)))
    }

    fn agrees_on(&self, record: &Record<'_>) -> Option<bool> {
        let items = self.items_of(record.stream_text().ok()?);
        let before = |number| items.get(number).is_some_and(|item| item.position < record.position());
        let item = items.get(base::partition(0, items.len(), before))?;
        let after = record.first_version().plus(u64::from(record.events()));
        // Beyond the window nothing need be known, and an id may have been used anew.
        let known = self.answered_at(&record.command_id()).map(|known| known.0.position);
        let remembered = known.is_some_and(|known| known >= record.position()) || record.time_ms() < self.oldest_kept();
        Some(item.position == record.position() && item.next_version == after && remembered)
    }

    /// All entries of a stream, oldest first.
    pub(crate) fn items(&self, stream: &StreamId) -> Items<'_> {
        self.items_of(stream.as_str())
    }

    fn items_of(&self, stream: &str) -> Items<'_> {
        let new = self.streams.items(stream);
        Items { base: &self.base, old: self.base.items(stream), new }
    }

    /// Of a stream only what no checkpoint held: enough where the last one is wanted.
    fn only<'i>(&'i self, new: &'i [Item]) -> Items<'i> {
        Items { base: &self.base, old: Run::default(), new }
    }

    /// How many of a stream's entries lie wholly before version `from`.
    pub(crate) fn items_before(&self, stream: &StreamId, from: Version) -> usize {
        let items = self.items(stream);
        let below = |number| items.get(number).is_some_and(|item| item.next_version < from);
        let at = base::partition(0, items.len(), below);
        // The entry whose last event is just below `from` ends there too; an entry without events stays.
        let previous_end = at.checked_sub(1).and_then(|before| items.get(before)).map(|item| item.next_version);
        let ends_below =
            items.get(at).is_some_and(|item| item.next_version == from && previous_end.unwrap_or(Version(1)) < from);
        at + usize::from(ends_below)
    }

    pub(crate) fn streams(&self, prefix: &str) -> Vec<StreamId> {
        let old = self.base.streams().map(|stream| stream.name).filter(|name| name.starts_with(prefix));
        let mut found: Vec<StreamId> = old.filter_map(|name| name.parse().ok()).collect();
        let new = self.streams.iter().map(|(stream, _)| stream);
        found.extend(new.filter(|stream| stream.as_str().starts_with(prefix)).cloned());
        found.sort();
        found.dedup();
        found
    }

    pub(crate) fn stream_count(&self) -> usize {
        let newer = self.streams.iter().count();
        if newer < self.base.stream_count() / STREAMS_PER_LOOK {
            let is_new = |(stream, _): &(&StreamId, _)| self.base.items(stream.as_str()).count == 0;
            return self.base.stream_count() + self.streams.iter().filter(is_new).count();
        }
        newer + self.base.streams().filter(|stream| self.streams.items(&stream.name).is_empty()).count()
    }

    /// Whether something of it could not be read: then whatever it said since is not to be gone by.
    pub(crate) fn has_failed(&self) -> bool {
        self.base.has_failed()
    }

    fn oldest_kept(&self) -> u64 {
        self.last_time_ms.saturating_sub(COMMAND_WINDOW_MS)
    }
}
