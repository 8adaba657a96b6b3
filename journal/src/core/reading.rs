//! The iterators behind the reads of `Journal`: a few blocks at a time, decoded as far as they are wanted.

mod pass;

use std::{
    collections::VecDeque,
    ops::{ControlFlow, RangeInclusive},
    sync::Arc,
};

use crate::{
    Entry, Filter, Header, Position, ReadError, StreamId, Version,
    api::view::damaged,
    core::{Core, Loaded},
    format::record::{Malformed, Record},
};
pub(crate) use pass::pass;

/// The most blocks fetched at once; the first fetch is one block, each next one twice as many.
const BLOCKS_AT_ONCE_MAX: usize = 32;
/// How many entries of one stream are looked up at once.
const ITEMS_AT_ONCE: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

/// What an entry is read as.
pub(crate) trait Readable: Sized {
    fn live(entry: &Arc<Entry>) -> Self;
    fn stored(record: &Record<'_>) -> Result<Self, Malformed>;
}

impl Readable for Arc<Entry> {
    fn live(entry: &Arc<Entry>) -> Self {
        entry.clone()
    }

    fn stored(record: &Record<'_>) -> Result<Self, Malformed> {
        record.entry().map(Arc::new)
    }
}

impl Readable for Header {
    fn live(entry: &Arc<Entry>) -> Self {
        entry.header.clone()
    }

    fn stored(record: &Record<'_>) -> Result<Self, Malformed> {
        record.header()
    }
}

/// Reads positions in order.
pub(crate) struct Scan<'a, T> {
    core: &'a Core,
    from: Position,
    to: Position,
    filter: Filter,
    direction: Direction,
    at_once: usize,
    read: VecDeque<T>,
    failed: Option<ReadError>,
}

impl<'a, T: Readable> Scan<'a, T> {
    pub(crate) fn new(core: &'a Core, from: Position, to: Position, filter: &Filter, direction: Direction) -> Self {
        let from = from.max(Position(1));
        let to = to.min(core.state().head.position);
        let filter = filter.clone();
        Self { core, from, to, filter, direction, at_once: 1, read: VecDeque::new(), failed: None }
    }

    /// Reads the next blocks; the range shrinks from the end that was read.
    fn refill(&mut self) -> Result<(), ReadError> {
        let (numbers, from, to) = self.next_blocks()?;
        self.at_once = (self.at_once * 2).min(BLOCKS_AT_ONCE_MAX);
        let filter = &self.filter;
        for block in self.core.load(&numbers)? {
            pick(&block, from..=to, &mut self.read, |_, stream| wants(filter, stream))?;
        }
        match self.direction {
            Direction::Forward => self.from = to.next(),
            Direction::Back => self.to = Position(from.0 - 1),
        }
        Ok(())
    }

    fn next_blocks(&self) -> Result<(Vec<u64>, Position, Position), ReadError> {
        let state = self.core.state();
        let index = &state.index;
        let block_of = |position| index.block_of(position).unwrap_or(1);
        let (first, last) = (block_of(self.from), block_of(self.to));
        let more = self.at_once as u64 - 1;
        let (first, last) = match self.direction {
            Direction::Forward => (first, last.min(first + more)),
            Direction::Back => (first.max(last.saturating_sub(more)), last),
        };
        let begin = index.block(first).map_or(self.from, |block| block.first);
        let end = index.block(last + 1).map_or(self.to, |block| Position(block.first.0 - 1));
        state.is_readable()?;
        Ok(((first..=last).collect(), self.from.max(begin), self.to.min(end)))
    }
}

impl<T: Readable> Iterator for Scan<'_, T> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = match self.direction {
                Direction::Forward => self.read.pop_front(),
                Direction::Back => self.read.pop_back(),
            };
            if let Some(next) = next {
                return Some(Ok(next));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            if self.from > self.to {
                return None;
            }
            if let Err(error) = self.refill() {
                self.failed = Some(error);
                if self.direction == Direction::Back {
                    // What was read before the failure is older than what was not.
                    self.read.clear();
                }
                (self.from, self.to) = (Position(1), Position::ZERO);
            }
        }
    }
}

/// Reads the entries of one stream.
pub(crate) struct StreamScan<'a> {
    core: &'a Core,
    stream: StreamId,
    /// The part of the stream's entries, by their number in it, that is still to be read.
    from: usize,
    to: usize,
    direction: Direction,
    read: VecDeque<Arc<Entry>>,
    failed: Option<ReadError>,
}

impl<'a> StreamScan<'a> {
    pub(crate) fn new(core: &'a Core, stream: &StreamId, from: Version, direction: Direction) -> Self {
        let state = core.state();
        let to = state.index.items(stream).len();
        let from = state.index.items_before(stream, from);
        let failed = state.is_readable().err();
        drop(state);
        let to = if failed.is_some() { from } else { to };
        Self { core, stream: stream.clone(), from, to, direction, read: VecDeque::new(), failed }
    }

    fn refill(&mut self) -> Result<(), ReadError> {
        let chunk = match self.direction {
            Direction::Forward => self.from..self.to.min(self.from + ITEMS_AT_ONCE),
            Direction::Back => self.from.max(self.to.saturating_sub(ITEMS_AT_ONCE))..self.to,
        };
        let (positions, numbers) = {
            let state = self.core.state();
            let items = state.index.items(&self.stream).some(chunk.clone());
            let positions: Vec<Position> = items.iter().map(|item| item.position).collect();
            let mut numbers: Vec<u64> = positions.iter().filter_map(|at| state.index.block_of(*at)).collect();
            numbers.dedup();
            state.is_readable()?;
            (positions, numbers)
        };
        if let (Some(first), Some(last)) = (positions.first(), positions.last()) {
            for numbers in numbers.chunks(BLOCKS_AT_ONCE_MAX) {
                for block in self.core.load(numbers)? {
                    let wanted = |position, _: &str| positions.binary_search(&position).is_ok();
                    pick(&block, *first..=*last, &mut self.read, wanted)?;
                }
            }
        }
        match self.direction {
            Direction::Forward => self.from = chunk.end,
            Direction::Back => self.to = chunk.start,
        }
        Ok(())
    }
}

impl Iterator for StreamScan<'_> {
    type Item = Result<Arc<Entry>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = match self.direction {
                Direction::Forward => self.read.pop_front(),
                Direction::Back => self.read.pop_back(),
            };
            if let Some(next) = next {
                return Some(Ok(next));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            if self.from >= self.to {
                return None;
            }
            if let Err(error) = self.refill() {
                self.failed = Some(error);
                if self.direction == Direction::Back {
                    self.read.clear();
                }
                self.to = self.from;
            }
        }
    }
}

/// Reads what is wanted of one block, and lies in the range of positions.
fn pick<T: Readable>(
    block: &Loaded,
    range: RangeInclusive<Position>,
    to: &mut VecDeque<T>,
    wanted: impl Fn(Position, &str) -> bool,
) -> Result<(), ReadError> {
    match block {
        Loaded::Live(block) => {
            let wanted = |entry: &&Arc<Entry>| wanted(entry.header.position, entry.header.stream.as_str());
            let entries = block.entries().map_err(|problem| damaged(Position::ZERO, problem))?;
            // Most reads of what is in memory want its end, or one entry: the others are not touched.
            let begin = entries.partition_point(|entry| entry.header.position < *range.start());
            let end = entries.partition_point(|entry| entry.header.position <= *range.end());
            to.extend(entries[begin..end.max(begin)].iter().filter(wanted).map(T::live));
        }
        Loaded::Stored(_) => {
            let shown = block.each_record::<At>(|record| {
                let position = record.position();
                if position < *range.start() {
                    return Ok(ControlFlow::Continue(()));
                }
                if position > *range.end() {
                    return Ok(ControlFlow::Break(()));
                }
                let stream = record.stream_text().map_err(|problem| At(position, problem))?;
                if wanted(position, stream) {
                    to.push_back(T::stored(record).map_err(|problem| At(position, problem))?);
                }
                Ok(ControlFlow::Continue(()))
            });
            shown.map(drop).map_err(|At(position, problem)| damaged(position, problem))?;
        }
    }
    Ok(())
}

/// What is wrong with a record, and where.
struct At(Position, Malformed);

impl From<Malformed> for At {
    fn from(problem: Malformed) -> Self {
        Self(Position::ZERO, problem)
    }
}

fn wants(filter: &Filter, stream: &str) -> bool {
    // Most passes want everything.
    if filter.kinds.is_empty() && filter.streams.is_empty() {
        return true;
    }
    let kind = stream.split_once('/').map_or(stream, |(kind, _)| kind);
    let kind_wanted = filter.kinds.is_empty() || filter.kinds.iter().any(|wanted| wanted == kind);
    let stream_wanted = filter.streams.is_empty() || filter.streams.iter().any(|wanted| wanted.as_str() == stream);
    kind_wanted && stream_wanted
}
