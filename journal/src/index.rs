//! Where everything is, in memory: 16 bytes for each block and for each entry, and what the next append is checked
//! against, at most 48 bytes for each command of the last day. What a checkpoint held lies below, as it was read; what came since lies in maps above it.

mod answers;
mod base;
mod bytes;
mod written;

use std::{collections::HashMap, io};

use uuid::Uuid;

use crate::{
    Answered, COMMAND_WINDOW_MS, Position, StreamId, Version,
    frame::{self, FrameHeader},
    hash::Keyed,
    log::Place,
    record::{self, Record},
};
use answers::Answers;
pub(crate) use base::Base;
use base::Run;
pub(crate) use bytes::Bytes;

/// The stream → places, position → block, and command id → answer of all durable entries.
#[derive(Debug, Default)]
pub(crate) struct Index {
    base: Base,
    blocks: Vec<BlockPlace>,
    streams: HashMap<StreamId, Places, Keyed>,
    answers: Answers,
    /// Streams that are in both.
    grown: usize,
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

/// Most streams of a large journal have one entry: those need no allocation of their own.
#[derive(Debug)]
enum Places {
    One(Item),
    Many(Vec<Item>),
}

impl Places {
    fn items(&self) -> &[Item] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }

    fn push(&mut self, item: Item) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, item]),
            Self::Many(items) => items.push(item),
        }
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

    fn last(self) -> Option<Item> {
        self.get(self.len().checked_sub(1)?)
    }

    fn version(self) -> Version {
        self.last().map_or(Version::ZERO, |item| Version(item.next_version.0.saturating_sub(1)))
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
        match self.streams.get_mut(stream) {
            Some(places) => places.push(entry.item),
            None => self.insert(stream.clone(), entry.item),
        }
        self.remember(entry);
    }

    fn insert(&mut self, stream: StreamId, item: Item) {
        self.grown += usize::from(self.base.items(stream.as_str()).count > 0);
        self.streams.insert(stream, Places::One(item));
    }

    fn remember(&mut self, entry: &Indexed) {
        let Indexed { item, time_ms, command_id, command_hash } = *entry;
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
            match self.streams.get_mut(stream) {
                Some(places) => places.push(entry.item),
                None => {
                    let stream = stream.parse().map_err(|_| "a stream has no valid name")?;
                    self.insert(stream, entry.item);
                }
            }
            self.remember(&entry);
        }
        Ok(())
    }

    /// The version of a stream by its text, which is a name if it is not known yet.
    fn found_version(&self, stream: &str) -> Result<Version, &'static str> {
        let new = self.streams.get(stream).map_or(&[][..], Places::items);
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
        (self.base.item_count() + self.streams.values().map(|places| places.items().len()).sum::<usize>()) as u64
    }

    /// The first block of a segment, and the one behind its last.
    pub(crate) fn segment(&self, number: u32) -> (u64, u64) {
        let before = |limit: u32| {
            let below = |at: usize| self.block(at as u64 + 1).is_some_and(|block| block.place.segment < limit);
            base::partition(0, self.block_count() as usize, below) as u64 + 1
        };
        (before(number), before(number + 1))
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
        if self.blocks.first().is_some_and(|block| block.first <= position) {
            let behind = self.blocks.partition_point(|block| block.first <= position);
            return Some((self.base.block_count() + behind) as u64);
        }
        Some(self.base.blocks_until(position) as u64)
    }

    pub(crate) fn version(&self, stream: &StreamId) -> Version {
        match self.streams.get(stream) {
            Some(places) => self.only(places.items()).version(),
            None => self.items(stream).version(),
        }
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
        let new = self.streams.get(stream).map_or(&[][..], Places::items);
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
        found.extend(self.streams.keys().filter(|stream| stream.as_str().starts_with(prefix)).cloned());
        found.sort();
        found.dedup();
        found
    }

    pub(crate) fn stream_count(&self) -> usize {
        self.base.stream_count() + self.streams.len() - self.grown
    }

    fn oldest_kept(&self) -> u64 {
        self.last_time_ms.saturating_sub(COMMAND_WINDOW_MS)
    }
}
