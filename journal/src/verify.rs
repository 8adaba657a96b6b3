//! Reads behind the opening what a checkpoint was trusted for: every full segment, block by block, against the index, and
//! the block store against the whole log. Slowly: whoever opened the journal comes first.
//!
//! `open/trust.rs` tells what is promised. What is damaged in the log is taken from the store, and the store is built
//! anew from the log; both are noted in the journal. What neither has whole fails the journal.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crate::{
    JournalNote, checkpoint,
    core::Core,
    disk::Disk,
    frame::{self, FrameHeader},
    log::{Place, Tip},
    restore::{self, Restored},
    scan::{self, Scanned, Start},
};

/// The share of a processor that reading takes: one part in two.
const REST: u32 = 1;
const REST_MAX: Duration = Duration::from_secs(1);
/// How often it is asked whether the store has been opened.
const STORE_WAIT: Duration = Duration::from_millis(20);
/// Blocks that are asked of the store at once.
const BLOCKS_AT_ONCE: usize = 64;

/// The reading behind an opening; it ends with the journal.
#[derive(Default)]
pub(crate) struct Verification {
    state: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hurried: bool,
    ended: bool,
    progress: Progress,
}

/// How far the reading behind an opening is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Everything that was there at the opening has been read and is right.
    #[default]
    Done,
    /// Some of it is still to be read.
    Reading,
    /// It was given up: the journal has failed, or ended before.
    GivenUp,
}

/// What the reading needs, and whom it tells.
pub(crate) struct Reading {
    pub core: Arc<Core>,
    pub disk: Arc<dyn Disk>,
    /// Where the log ended at the opening.
    pub tip: Tip,
    /// What is in the segments from this one on was read at the opening; those before it are still to be read.
    pub read_from: u32,
    /// Whether the store is what a stop in order left, so that its newest blocks need not be looked at.
    pub store_as_left: bool,
    /// Has the block store built anew from the log.
    pub rebuild_store: Box<dyn Fn(String) + Send>,
    pub note: Box<dyn Fn(&JournalNote) + Send>,
    /// Fails the journal.
    pub fail: Box<dyn Fn(String) + Send>,
}

impl Verification {
    pub(crate) fn start(&self, reading: Reading) -> io::Result<()> {
        lock(&self.state.state).progress = Progress::Reading;
        reading.core.set_being_read(true);
        let state = self.state.clone();
        let run = move || {
            let outcome = reading.run(&state);
            let progress = match outcome {
                Ok(()) => {
                    // Without it the next opening reads everything.
                    if let Err(error) = checkpoint::put_back(&*reading.disk) {
                        tracing::warn!(%error, "the index checkpoint stays taken up");
                    }
                    Progress::Done
                }
                Err(Some(problem)) => {
                    // Without it the next opening reads everything, and refuses or repairs.
                    if let Err(error) = checkpoint::remove(&*reading.disk) {
                        tracing::error!(%error, "the index checkpoint cannot be removed");
                    }
                    (reading.fail)(problem);
                    Progress::GivenUp
                }
                Err(None) => Progress::GivenUp,
            };
            reading.core.set_being_read(false);
            lock(&state.state).progress = progress;
            state.changed.notify_all();
        };
        let thread = std::thread::Builder::new().name("journal-verify".into()).spawn(run)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    pub(crate) fn progress(&self) -> Progress {
        lock(&self.state.state).progress
    }

    /// Waits until everything was read or given up.
    pub(crate) fn wait(&self) -> Progress {
        let state = lock(&self.state.state);
        let waited = self.state.changed.wait_while(state, |state| state.progress == Progress::Reading);
        waited.unwrap_or_else(PoisonError::into_inner).progress
    }

    /// Ends the reading, after so long at the latest; meanwhile it does not rest.
    pub(crate) fn end(&self, patience: Duration) -> Progress {
        let mut state = lock(&self.state.state);
        state.hurried = true;
        self.state.changed.notify_all();
        let reading = |state: &mut State| state.progress == Progress::Reading;
        let waited = self.state.changed.wait_timeout_while(state, patience, reading);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended = true;
        self.state.changed.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
        self.progress()
    }
}

impl Drop for Verification {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl Shared {
    /// Rests for so long, unless somebody waits; whether to go on.
    fn rest(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(lock(&self.state), time, |state| !state.ended && !state.hurried);
        !waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    /// Waits for so long; whether to go on.
    fn wait(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(lock(&self.state), time, |state| !state.ended);
        !waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// One segment as it was read.
struct Segment {
    scanned: Scanned,
    /// Number and chain value of its blocks.
    blocks: Vec<(u64, [u8; 32])>,
    /// The first block of the next one.
    behind: u64,
}

impl Segment {
    fn is_whole(&self) -> bool {
        self.scanned.faults.is_empty() && self.scanned.ends_in_seal() && self.scanned.tip.block + 1 == self.behind
    }

    fn problem(&self) -> String {
        let problems: Vec<String> = self.scanned.faults.iter().map(|fault| fault.problem.to_string()).collect();
        format!("history is damaged, and log and block store together have not all of it: {}", problems.join("; "))
    }
}

/// Why the reading did not come to its end; none if it was ended from outside.
type GivenUp = Option<String>;

impl Reading {
    fn run(&self, shared: &Shared) -> Result<(), GivenUp> {
        // What is damaged in the log is taken from the store.
        while self.core.stored() < self.tip.block && !self.core.store_is_gone() {
            if !shared.wait(STORE_WAIT) {
                return Err(None);
            }
        }
        let mut tip = Tip::genesis(self.core.journal);
        let (mut filled, mut store_trouble) = (0, None::<String>);
        for number in 1..self.read_from {
            let begun = Instant::now();
            let unreadable = |error: io::Error| Some(format!("segment {number} of the log cannot be read: {error}"));
            let mut read = self.read(number, tip).map_err(unreadable)?;
            if !read.is_whole() {
                let restored = restore::segment(&self.disk, &self.core, number, tip).map_err(unreadable)?;
                let Restored::Whole { filled: count, aside } = restored else { return Err(Some(read.problem())) };
                tracing::warn!(segment = number, count, aside, "a segment of the log was damaged and was made anew");
                filled += count.max(1);
                read = self.read(number, tip).map_err(unreadable)?;
            }
            if !read.is_whole() {
                return Err(Some(read.problem()));
            }
            if store_trouble.is_none() {
                store_trouble = self.compare(&read.blocks, shared)?;
            }
            tip = read.scanned.tip;
            if !shared.rest((begun.elapsed() * REST).min(REST_MAX)) {
                return Err(None);
            }
        }
        self.ends_there(tip)?;
        if store_trouble.is_none() && !self.store_as_left {
            store_trouble = self.compare_newest(shared)?;
        }
        if let Some(problem) = &store_trouble {
            tracing::warn!(%problem, "the block store is damaged and is built anew from the log");
            (self.rebuild_store)(problem.clone());
        }
        let store_rebuilt = store_trouble.is_some() || self.core.store_is_rebuilt();
        if filled > 0 || store_rebuilt {
            (self.note)(&JournalNote::HistoryRepaired { log_filled_blocks: filled, store_rebuilt });
        }
        Ok(())
    }

    fn read(&self, number: u32, tip: Tip) -> io::Result<Segment> {
        let mut blocks = Vec::new();
        let mut visit = |header: &FrameHeader, records: &[u8], place: Place| {
            if !self.core.state().index.agrees(header, records, place) {
                return Err("the index says something else");
            }
            blocks.push((header.block, header.hash));
            Ok(())
        };
        let start = Start { tip, epoch: 0, time_ms: 0 };
        let scanned = scan::scan_some(&*self.disk, self.core.journal, start, &[number], &mut visit)?;
        let behind = self.core.state().index.segment(number).1;
        Ok(Segment { scanned, blocks, behind })
    }

    /// What came behind was read at the opening: the chain has to lead there.
    fn ends_there(&self, tip: Tip) -> Result<(), GivenUp> {
        let first = self.core.state().index.segment(self.read_from).0;
        let mut hash = self.tip.hash;
        if first <= self.tip.block {
            let block = self.core.load(&[first]).map_err(|error| Some(error.to_string()))?;
            let header = block.first().and_then(|block| frame::peek(block.bytes()).ok());
            hash = header.map(|header| header.previous).ok_or_else(|| Some("a block is in no place".to_owned()))?;
        }
        if tip.hash == hash { Ok(()) } else { Err(Some("the chain does not lead to the log's end".into())) }
    }

    /// The blocks that were read at the opening, as far as the store has to have the same.
    fn compare_newest(&self, shared: &Shared) -> Result<Option<String>, GivenUp> {
        let first = self.core.state().index.segment(self.read_from).0;
        for from in (first..=self.tip.block).step_by(BLOCKS_AT_ONCE) {
            let last = self.tip.block.min(from + BLOCKS_AT_ONCE as u64 - 1);
            let mut blocks = Vec::new();
            for number in from..=last {
                let logged = self.core.read_logged(number).map_err(|error| Some(error.to_string()))?;
                let header = frame::peek(&logged).map_err(|_| Some(format!("block {number} cannot be read")))?;
                blocks.push((number, header.hash));
            }
            if let Some(problem) = self.compare(&blocks, shared)? {
                return Ok(Some(problem));
            }
        }
        Ok(None)
    }

    /// Whether the store has the same blocks; what is wrong with it, if it has not.
    fn compare(&self, blocks: &[(u64, [u8; 32])], shared: &Shared) -> Result<Option<String>, GivenUp> {
        for some in blocks.chunks(BLOCKS_AT_ONCE) {
            let numbers: Vec<u64> = some.iter().map(|block| block.0).collect();
            let stored = loop {
                match self.core.read_store(&numbers) {
                    Some(stored) => break stored,
                    None if self.core.store_is_gone() => return Ok(None),
                    None if shared.wait(STORE_WAIT) => (),
                    None => return Err(None),
                }
            };
            for ((number, hash), bytes) in some.iter().zip(stored) {
                let sound = bytes.is_some_and(|bytes| {
                    let header = self.core.is_block(&bytes, *number).then(|| frame::peek(&bytes).ok()).flatten();
                    header.is_some_and(|header| header.hash == *hash)
                });
                if !sound {
                    return Ok(Some(format!("block {number} is missing or damaged")));
                }
            }
        }
        Ok(None)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
