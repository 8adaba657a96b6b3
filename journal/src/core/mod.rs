//! The reading side that a running journal and a stopped one share: index, tail, and where to fetch blocks from.

mod held;
pub(crate) mod reading;
mod tail;

use std::{
    borrow::Cow,
    fmt,
    ops::ControlFlow,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use uuid::Uuid;

use crate::api::{tail_block::TailBlock, view::damaged};
use crate::{
    Head, Position, ReadError,
    blocks::{BlockReader, Pieces, each_record},
    disk::Disk,
    format::{
        frame::{self, FrameHeader, HEADER_BYTES},
        record::{Malformed, Record},
    },
    index::{self, Index},
    log::{
        archive::ArchiveError,
        commit_log::{LogReader, Place},
    },
};
use held::{Held, HeldOnce};
use tail::Tail;

/// How many blocks are handled at once: sled takes 64 in half the time of 64 times one.
const BLOCKS_AT_ONCE: u64 = 64;
/// How far into the log the last of them begins behind the first: each is in memory twice meanwhile, and in sled's batch.
const BYTES_AT_ONCE: u32 = 1024 * 1024;

pub(crate) struct Core {
    pub(crate) journal: Uuid,
    state: HeldOnce<State>,
    log: LogReader,
    store: RwLock<Option<Arc<dyn BlockReader>>>,
    /// Blocks up to this one are in the store.
    stored: AtomicU64,
    /// Blocks that the store should have had and that came from the log instead.
    store_misses: AtomicU64,
    /// Bytes of blocks that became durable, and that were put into the store, since opening.
    written_bytes: AtomicU64,
    stored_bytes: AtomicU64,
    /// Segments before this one have been compressed, or could not be.
    packed_before: AtomicU32,
    /// Whether a pass over many entries may fetch on a thread of its own.
    reads_ahead: AtomicBool,
    /// Whether the store is still to be opened, behind the opening.
    store_awaited: Mutex<bool>,
    store_came: Condvar,
    /// Whether the store may have blocks that the log has lost: nothing is appended before that was looked at.
    unlooked: AtomicBool,
    /// The store was given up.
    store_gone: AtomicBool,
    /// The store was built anew since the opening.
    store_rebuilt: AtomicBool,
    /// What was there at the opening is still being read behind it.
    reading: AtomicBool,
    /// The block that was read alone last, checked: a reader of one stream after another, as a starting node is, wants
    /// the same one for hundreds of them.
    recent: Mutex<Option<(u64, Arc<Pieces>)>>,
}

/// A larger block is not kept after it was read.
const RECENT_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) index: Index,
    pub(crate) head: Head,
    tail: Tail,
}

/// A block that is about to be read.
#[derive(Debug)]
pub(crate) enum Loaded {
    Live(Arc<TailBlock>),
    Stored(Arc<Pieces>),
}

impl Loaded {
    /// The whole block; copied only if it lies in several pieces.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Live(block) => Cow::Borrowed(&block.frame),
            Self::Stored(pieces) => pieces.joined(),
        }
    }

    /// Shows its records in their order, until the visitor breaks off.
    pub(crate) fn each_record<E: From<Malformed>>(
        &self,
        visit: impl FnMut(&Record<'_>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        match self {
            Self::Live(block) => each_record(std::iter::once(&block.frame[..]), visit),
            Self::Stored(pieces) => each_record(pieces.iter(), visit),
        }
    }
}

impl State {
    pub(crate) fn new(index: Index, head: Head) -> Self {
        Self { index, head, ..Self::default() }
    }

    /// Keeps the newest block, and gives back old ones.
    pub(crate) fn push_tail(&mut self, block: Arc<TailBlock>) -> Vec<Arc<TailBlock>> {
        self.tail.push(block)
    }

    /// An error, if the index cannot be read: a caller that used it asks for this before the state is released.
    pub(crate) fn is_readable(&self) -> Result<(), ReadError> {
        if self.index.has_failed() { Err(ReadError::Unreadable { problem: index::UNREADABLE.into() }) } else { Ok(()) }
    }

    /// Why a block that should be there has no place.
    fn not_there(&self) -> ReadError {
        self.is_readable().err().unwrap_or_else(not_there)
    }

    fn in_tail(&self, number: u64) -> Option<&Arc<TailBlock>> {
        self.tail.get(number)
    }
}

impl Core {
    pub(crate) fn new(journal: Uuid, disk: Arc<dyn Disk>, state: State) -> Self {
        Self {
            journal,
            state: HeldOnce::new(state),
            log: LogReader::new(disk),
            store: RwLock::new(None),
            stored: AtomicU64::new(0),
            store_misses: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
            packed_before: AtomicU32::new(1),
            reads_ahead: AtomicBool::new(false),
            store_awaited: Mutex::new(false),
            store_came: Condvar::new(),
            unlooked: AtomicBool::new(false),
            store_gone: AtomicBool::new(false),
            store_rebuilt: AtomicBool::new(false),
            reading: AtomicBool::new(false),
            recent: Mutex::new(None),
        }
    }

    /// Says whether the store is still to be opened.
    pub(crate) fn await_store(&self, awaited: bool) {
        *self.store_awaited.lock().unwrap_or_else(PoisonError::into_inner) = awaited;
        self.store_came.notify_all();
    }

    /// Waits until a store that is being opened behind the opening is there, or is given up.
    fn wait_for_store(&self) {
        let awaited = self.store_awaited.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.store_came.wait_while(awaited, |awaited| *awaited);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Says that nobody has looked yet whether the store has blocks that the log has lost.
    pub(crate) fn set_unlooked(&self) {
        self.unlooked.store(true, Ordering::Release);
    }

    /// It was looked at, or there is no store to look at any more.
    pub(crate) fn set_looked(&self) {
        let awaited = self.store_awaited.lock().unwrap_or_else(PoisonError::into_inner);
        self.unlooked.store(false, Ordering::Release);
        drop(awaited);
        self.store_came.notify_all();
    }

    /// Waits until it was looked at.
    pub(crate) fn wait_for_look(&self) {
        if self.unlooked.load(Ordering::Acquire) {
            let awaited = self.store_awaited.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.store_came.wait_while(awaited, |_| self.unlooked.load(Ordering::Acquire));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(crate) fn store_is_gone(&self) -> bool {
        self.store_gone.load(Ordering::Acquire)
    }

    pub(crate) fn set_store_gone(&self, gone: bool) {
        self.store_gone.store(gone, Ordering::Release);
    }

    pub(crate) fn store_is_rebuilt(&self) -> bool {
        self.store_rebuilt.load(Ordering::Acquire)
    }

    pub(crate) fn set_store_rebuilt(&self) {
        self.store_rebuilt.store(true, Ordering::Release);
    }

    /// Whether what was there at the opening is still being read behind it: a segment is not changed meanwhile.
    pub(crate) fn is_being_read(&self) -> bool {
        self.reading.load(Ordering::Acquire)
    }

    pub(crate) fn set_being_read(&self, reading: bool) {
        self.reading.store(reading, Ordering::Release);
    }

    /// Segments that were begun; the first has the number 1.
    pub(crate) fn segments(&self) -> u32 {
        self.state().index.last_segment()
    }

    /// Full segments that the keeper has not looked at yet.
    pub(crate) fn segments_to_pack(&self) -> u32 {
        let current = self.state().index.last_segment();
        current.saturating_sub(self.packed_before.load(Ordering::Relaxed))
    }

    pub(crate) fn set_packed_before(&self, segment: u32) {
        self.packed_before.store(segment, Ordering::Relaxed);
    }

    pub(crate) fn reads_ahead(&self) -> bool {
        self.reads_ahead.load(Ordering::Relaxed)
    }

    pub(crate) fn read_ahead(&self, yes: bool) {
        self.reads_ahead.store(yes, Ordering::Relaxed);
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_written_bytes(&self, bytes: u64) {
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stored_bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_stored_bytes(&self, bytes: u64) {
        self.stored_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The store is not behind, if it has everything: what went into it may never have been counted as written.
    pub(crate) fn level_lag(&self) {
        // What is written is counted while the state is being changed, so both are of one moment.
        let state = self.state();
        if self.stored() >= state.head.block {
            self.stored_bytes.store(self.written_bytes(), Ordering::Relaxed);
        }
    }

    /// How far the store is behind.
    pub(crate) fn lag_bytes(&self) -> u64 {
        self.written_bytes().saturating_sub(self.stored_bytes())
    }

    pub(crate) fn state(&self) -> Held<RwLockReadGuard<'_, State>> {
        self.state.read()
    }

    pub(crate) fn state_mut(&self) -> Held<RwLockWriteGuard<'_, State>> {
        self.state.write()
    }

    pub(crate) fn set_store(&self, reader: Option<Arc<dyn BlockReader>>) -> Option<Arc<dyn BlockReader>> {
        std::mem::replace(&mut *self.store.write().unwrap_or_else(PoisonError::into_inner), reader)
    }

    /// Changes the store while readers wait.
    pub(crate) fn change_store<E>(
        &self,
        change: impl FnOnce(Option<Arc<dyn BlockReader>>) -> Result<Arc<dyn BlockReader>, E>,
    ) -> Result<(), E> {
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(store.take())?;
        *store = Some(changed);
        Ok(())
    }

    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Acquire)
    }

    pub(crate) fn set_stored(&self, block: u64) {
        self.stored.store(block, Ordering::Release);
    }

    pub(crate) fn store_misses(&self) -> u64 {
        self.store_misses.load(Ordering::Relaxed)
    }

    /// The numbers of some blocks from `first` to `last` that are handled at once: many where they are small, few where
    /// they are large.
    pub(crate) fn some_blocks(&self, first: u64, last: u64) -> Vec<u64> {
        let numbers: Vec<u64> = (first..=last.min(first + BLOCKS_AT_ONCE - 1)).collect();
        let places = self.state().index.some_blocks(&numbers);
        let begin = places.first().copied().flatten().map(|block| block.place);
        let is_near = |place: Place, begin: Place| {
            place.segment == begin.segment && place.offset.saturating_sub(begin.offset) < BYTES_AT_ONCE
        };
        let others = numbers.into_iter().zip(places).take_while(|(number, block)| {
            *number == first || block.zip(begin).is_some_and(|(block, begin)| is_near(block.place, begin))
        });
        others.map(|(number, _)| number).collect()
    }

    /// A block for a reader of every block, checked: from the log, because the store would keep it in memory.
    pub(crate) fn load_in_passing(&self, number: u64) -> Result<Loaded, ReadError> {
        if let Ok(bytes) = self.read_logged(number) {
            return Ok(Loaded::Stored(Arc::new(Pieces::whole(bytes))));
        }
        self.load(&[number])?.pop().ok_or_else(not_there)
    }

    /// The blocks with these numbers, which exist, each from the tail, the store or the log, checked.
    pub(crate) fn load(&self, numbers: &[u64]) -> Result<Vec<Loaded>, ReadError> {
        let mut loaded: Vec<Option<Loaded>> = Vec::with_capacity(numbers.len());
        let mut places = Vec::new();
        {
            let state = self.state();
            loaded.extend(numbers.iter().map(|number| state.in_tail(*number).cloned().map(Loaded::Live)));
            let others = numbers.iter().zip(&loaded).filter(|(_, live)| live.is_none());
            let others: Vec<u64> = others.map(|(number, _)| *number).collect();
            for (number, block) in others.iter().zip(state.index.some_blocks(&others)) {
                let block = block.ok_or_else(|| state.not_there())?;
                places.push((*number, block.place, block.first));
            }
        }
        let mut fetched = self.fetch(&places)?.into_iter();
        loaded.into_iter().map(|live| live.or_else(|| fetched.next()).ok_or_else(not_there)).collect()
    }

    /// Where the journal stood when this block was its last; none if there is no such block.
    pub(crate) fn head_after(&self, number: u64) -> Result<Option<Head>, ReadError> {
        if !(1..=self.state().head.block).contains(&number) {
            return Ok(None);
        }
        let block = self.load(&[number])?.pop().ok_or_else(not_there)?;
        let bytes = block.bytes();
        let (header, _) = frame::check(&bytes).map_err(|_| damaged(Position::ZERO, "the block is damaged"))?;
        if !frame::hash_fits(&bytes) {
            return Err(damaged(header.first, "the block does not match its chain value"));
        }
        let mut time_ms = 0;
        let read = block.each_record::<Malformed>(|record| {
            time_ms = record.time_ms();
            Ok(ControlFlow::Continue(()))
        });
        read.map(drop).map_err(|problem| damaged(header.first, problem))?;
        let position = Position(header.first.0 + u64::from(header.count) - 1);
        Ok(Some(Head { position, time_ms, block: number, hash: header.hash }))
    }

    fn fetch(&self, places: &[(u64, Place, Position)]) -> Result<Vec<Loaded>, ReadError> {
        if let [(number, ..)] = places
            && let Some((_, pieces)) = self.recent().as_ref().filter(|(recent, _)| recent == number)
        {
            return Ok(vec![Loaded::Stored(pieces.clone())]);
        }
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let stored = self.stored();
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner).clone();
        let asked: Vec<u64> = places.iter().map(|place| place.0).filter(|number| *number <= stored).collect();
        let mut found = match &store {
            Some(store) if !asked.is_empty() => store.lend(&asked).into_iter(),
            _ => Vec::new().into_iter(),
        };
        let mut loaded = Vec::with_capacity(places.len());
        for (number, place, first) in places {
            let from_store = if *number <= stored { found.next().flatten() } else { None };
            let fits = from_store.filter(|pieces| self.are_block(pieces, *number));
            if fits.is_none() && store.is_some() && *number <= stored {
                self.store_misses.fetch_add(1, Ordering::Relaxed);
            }
            let pieces = match fits {
                Some(pieces) => pieces,
                None => {
                    let logged = self.read_log(*number, *place, *first);
                    // Nobody has looked into a log that was gone on with by its checkpoint, and what was removed from it
                    // is in the store alone, which may just have been opened again.
                    Pieces::whole(logged.or_else(|damaged| self.read_late(*number).ok_or(damaged))?)
                }
            };
            loaded.push(Arc::new(pieces));
        }
        if let ([(number, ..)], [pieces]) = (places, &loaded[..])
            && pieces.len() <= RECENT_BYTES_MAX
        {
            *self.recent() = Some((*number, pieces.clone()));
        }
        Ok(loaded.into_iter().map(Loaded::Stored).collect())
    }

    fn recent(&self) -> MutexGuard<'_, Option<(u64, Arc<Pieces>)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_late(&self, number: u64) -> Option<Vec<u8>> {
        self.wait_for_store();
        self.read_store(&[number])?.pop().flatten().filter(|bytes| self.is_block(bytes, number))
    }

    pub(crate) fn forget_segment(&self, segment: u32) {
        self.log.forget(segment);
    }

    fn read_log(&self, number: u64, place: Place, first: Position) -> Result<Vec<u8>, ReadError> {
        let bytes = self.log.read(place).map_err(|error| match ArchiveError::of(&error) {
            Some(ArchiveError::NotInArchive { path, segment }) => {
                ReadError::Archive { archive: path.clone(), segment: *segment }
            }
            _ => ReadError::Unreadable { problem: format!("log: {error}") },
        })?;
        if self.is_block(&bytes, number) {
            return Ok(bytes);
        }
        Err(ReadError::Damaged { position: first, problem: format!("block {number} does not match its checksum") })
    }

    /// These blocks as the store has them, unchecked; none while it is not open, or has not all of them yet.
    pub(crate) fn read_store(&self, numbers: &[u64]) -> Option<Vec<Option<Vec<u8>>>> {
        if numbers.iter().any(|number| *number > self.stored()) {
            return None;
        }
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(store.read(numbers))
    }

    /// A block as the log has it.
    pub(crate) fn read_logged(&self, number: u64) -> Result<Vec<u8>, ReadError> {
        let place = {
            let state = self.state();
            state.index.block(number).ok_or_else(|| state.not_there())?
        };
        self.read_log(number, place.place, place.first)
    }

    /// Whether these bytes are the block with this number, sound in itself.
    pub(crate) fn is_block(&self, bytes: &[u8], number: u64) -> bool {
        let fits = |header: &FrameHeader| header.block == number && header.journal == self.journal;
        frame::check(bytes).is_ok_and(|(header, records)| fits(&header) && bytes.len() == HEADER_BYTES + records.len())
    }

    /// As [`Core::is_block`], of a block in pieces.
    fn are_block(&self, pieces: &Pieces, number: u64) -> bool {
        pieces.check().is_ok_and(|header| header.block == number && header.journal == self.journal)
    }
}

fn not_there() -> ReadError {
    ReadError::Unreadable { problem: "a block is in no place".into() }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("journal", &self.journal).finish_non_exhaustive()
    }
}
