//! The entries of each stream that no checkpoint holds, in parts that are given up one after the other: an appender
//! waits for one part, not for all.

use std::{collections::HashMap, hash::BuildHasher};

use super::Item;
use crate::{Position, StreamId, index::hash::Keyed};

pub(super) const PARTS: usize = 64;
/// A part of no more streams than this keeps the last item of each, no matter who else has it: in most journals no append then
/// reads what a stream's version is. That is at most some megabytes.
const STREAMS_KEPT: usize = if cfg!(test) { 2 } else { 512 };

#[derive(Debug)]
pub(super) struct Streams {
    keyed: Keyed,
    parts: Vec<HashMap<StreamId, Places, Keyed>>,
    /// What is not behind this position is not here any more, or about to be given up.
    floor: Position,
}

impl Default for Streams {
    fn default() -> Self {
        let keyed = Keyed::default();
        let parts = (0..PARTS).map(|_| HashMap::with_hasher(keyed.clone())).collect();
        Self { keyed, parts, floor: Position::ZERO }
    }
}

/// Most streams of a large journal have one entry: those need no allocation of their own.
#[derive(Debug)]
enum Places {
    One(Item),
    Many(Vec<Item>),
}

impl Places {
    fn items(&self, floor: Position) -> &[Item] {
        let items = match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        };
        match items.first() {
            Some(first) if first.position <= floor => &items[items.partition_point(|item| item.position <= floor)..],
            _ => items,
        }
    }

    fn push(&mut self, item: Item) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, item]),
            Self::Many(items) => items.push(item),
        }
    }

    fn last(&self) -> Option<Item> {
        match self {
            Self::One(item) => Some(*item),
            Self::Many(items) => items.last().copied(),
        }
    }

    /// Keeps what is behind this position; or, if that is nothing and it is wanted, the last item. False if it keeps nothing.
    fn keep_behind(&mut self, floor: Position, keep_last: bool) -> bool {
        let kept = match (self.items(floor), self.last()) {
            ([], Some(last)) if keep_last => Self::One(last),
            ([], _) => return false,
            ([one], _) => Self::One(*one),
            (many, _) => Self::Many(many.to_vec()),
        };
        *self = kept;
        true
    }
}

impl Streams {
    /// Of a stream, oldest first.
    pub(super) fn items(&self, stream: &str) -> &[Item] {
        self.parts[self.part(stream)].get(stream).map_or(&[], |places| places.items(self.floor))
    }

    /// The last item of a stream, if it is still here: even if it was given up.
    pub(super) fn last(&self, stream: &str) -> Option<Item> {
        self.parts[self.part(stream)].get(stream).and_then(Places::last)
    }

    /// Takes in the newest item of a stream, which is asked for its name if it is not here.
    pub(super) fn push<E>(
        &mut self,
        stream: &str,
        item: Item,
        name: impl FnOnce() -> Result<StreamId, E>,
    ) -> Result<(), E> {
        let part = self.part(stream);
        match self.parts[part].get_mut(stream) {
            Some(places) => places.push(item),
            None => drop(self.parts[part].insert(name()?, Places::One(item))),
        }
        Ok(())
    }

    /// Every stream that has something here, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&StreamId, &[Item])> {
        let all = self.parts.iter().flatten().map(|(stream, places)| (stream, places.items(self.floor)));
        all.filter(|(_, items)| !items.is_empty())
    }

    /// What is not behind this position is not here from now on. Its room is given back by [`Streams::give_back`].
    pub(super) fn give_up(&mut self, until: Position) {
        self.floor = self.floor.max(until);
    }

    /// Gives back the room of what was given up, in one part.
    pub(super) fn give_back(&mut self, part: usize) {
        let Some(streams) = self.parts.get_mut(part) else { return };
        let (floor, keep_last) = (self.floor, streams.len() <= STREAMS_KEPT);
        streams.retain(|_, places| match places.items(Position::ZERO).first() {
            Some(first) if first.position <= floor => places.keep_behind(floor, keep_last),
            _ => true,
        });
        if streams.len() < streams.capacity() / 4 {
            streams.shrink_to_fit();
        }
    }

    fn part(&self, stream: &str) -> usize {
        // The maps themselves go by the lowest and the highest bits.
        (self.keyed.hash_one(stream) >> 32) as usize % PARTS
    }
}
