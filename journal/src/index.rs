//! Where everything is, in memory: 16 bytes for each block and for each entry, and what the next append is checked
//! against.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

use crate::{
    Answered, COMMAND_WINDOW_MS, Position, StreamId, Version,
    frame::{self, FrameHeader},
    hash::Keyed,
    log::Place,
    record,
};

/// The stream → places, position → block, and command id → answer of all durable entries.
#[derive(Debug, Default)]
pub(crate) struct Index {
    blocks: Vec<BlockPlace>,
    streams: HashMap<StreamId, Places, Keyed>,
    answered: HashMap<Uuid, (Answered, u64), Keyed>,
    /// The remembered commands by age, for forgetting.
    by_age: VecDeque<(u64, Uuid, Position)>,
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

    fn version(&self) -> Version {
        self.items().last().map_or(Version::ZERO, |item| Version(item.next_version.0 - 1))
    }

    fn push(&mut self, item: Item) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, item]),
            Self::Many(items) => items.push(item),
        }
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
    /// Takes in a block that has just become durable.
    pub(crate) fn add_block(&mut self, first: Position, place: Place) {
        self.blocks.push(BlockPlace { first, place });
    }

    /// Takes in one entry of the newest block.
    pub(crate) fn add(&mut self, stream: &StreamId, entry: &Indexed) {
        match self.streams.get_mut(stream) {
            Some(places) => places.push(entry.item),
            None => drop(self.streams.insert(stream.clone(), Places::One(entry.item))),
        }
        self.remember(entry);
    }

    fn remember(&mut self, entry: &Indexed) {
        let Indexed { item, time_ms, command_id, command_hash } = *entry;
        self.last_position = item.position;
        self.last_time_ms = time_ms;
        self.answered.insert(command_id, (Answered { position: item.position, command_hash }, time_ms));
        self.by_age.push_back((time_ms, command_id, item.position));
        self.forget();
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
                    self.streams.insert(stream, Places::One(entry.item));
                }
            }
            self.remember(&entry);
        }
        Ok(())
    }

    /// The version of a stream by its text, which is a name if it is not known yet.
    fn found_version(&self, stream: &str) -> Result<Version, &'static str> {
        match self.streams.get(stream) {
            Some(places) => Ok(places.version()),
            None if stream.parse::<StreamId>().is_ok() => Ok(Version::ZERO),
            None => Err("a stream has no valid name"),
        }
    }

    /// The block with this number, from 1.
    pub(crate) fn block(&self, number: u64) -> Option<BlockPlace> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.blocks.get(at).copied()
    }

    /// The segment of the newest block; 0 if there is none.
    pub(crate) fn last_segment(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.place.segment)
    }

    /// The number of the block that holds a position.
    pub(crate) fn block_of(&self, position: Position) -> Option<u64> {
        if position == Position::ZERO || position > self.last_position {
            return None;
        }
        Some(self.blocks.partition_point(|block| block.first <= position) as u64)
    }

    pub(crate) fn version(&self, stream: &StreamId) -> Version {
        self.streams.get(stream).map_or(Version::ZERO, Places::version)
    }

    pub(crate) fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.answered.get(command_id).map(|known| known.0)
    }

    /// As [`Index::answered`], with the time of that entry.
    pub(crate) fn answered_at(&self, command_id: &Uuid) -> Option<(Answered, u64)> {
        self.answered.get(command_id).copied()
    }

    /// All entries of a stream, oldest first.
    pub(crate) fn items(&self, stream: &StreamId) -> &[Item] {
        self.streams.get(stream).map_or(&[], Places::items)
    }

    /// How many of a stream's entries lie wholly before version `from`.
    pub(crate) fn items_before(&self, stream: &StreamId, from: Version) -> usize {
        let items = self.items(stream);
        let at = items.partition_point(|item| item.next_version < from);
        // The entry whose last event is just below `from` ends there too; an entry without events stays.
        let previous_end = at.checked_sub(1).map_or(Version(1), |before| items[before].next_version);
        let ends_below = items.get(at).is_some_and(|item| item.next_version == from && previous_end < from);
        at + usize::from(ends_below)
    }

    pub(crate) fn streams(&self, prefix: &str) -> Vec<StreamId> {
        let mut found: Vec<StreamId> =
            self.streams.keys().filter(|stream| stream.as_str().starts_with(prefix)).cloned().collect();
        found.sort();
        found
    }

    pub(crate) fn stream_count(&self) -> usize {
        self.streams.len()
    }

    fn forget(&mut self) {
        let oldest_kept = self.last_time_ms.saturating_sub(COMMAND_WINDOW_MS);
        while let Some((time_ms, command_id, position)) = self.by_age.front().copied()
            && time_ms < oldest_kept
        {
            self.by_age.pop_front();
            // The id may have been used anew since.
            if self.answered.get(&command_id).is_some_and(|known| known.0.position == position) {
                self.answered.remove(&command_id);
            }
        }
    }
}
