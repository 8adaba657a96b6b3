//! What is read behind an opening by a checkpoint, one segment after the other.

use std::{io, sync::Arc};

use super::Progress;
use crate::{
    JournalNote,
    background::restore_segment::{self, Restored},
    checkpoint,
    core::Core,
    disk::Disk,
    format::frame::{self, FrameHeader},
    log::{
        commit_log::{Place, Tip},
        scan::{self, Scanned, Start},
    },
};

/// Blocks that are asked of the store at once.
const BLOCKS_AT_ONCE: usize = 64;

/// What the reading needs, and whom it tells.
pub(crate) struct Verifier {
    pub core: Arc<Core>,
    pub disk: Arc<dyn Disk>,
    /// Where the log ended at the opening.
    pub tip: Tip,
    /// What is in the segments from this one on was read at the opening; those before it are still to be read.
    pub read_from: u32,
    /// Has the block store built anew from the log.
    pub rebuild_store: Box<dyn Fn(String) + Send>,
    pub note: Box<dyn Fn(&JournalNote) + Send>,
    /// Fails the journal.
    pub fail: Box<dyn Fn(String) + Send>,
}

/// Waits for the store, where somebody else works at it.
pub(super) trait Patience {
    /// False if there is nothing to wait for, or no time.
    fn wait(&self) -> bool;
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
        format!("history is damaged, and log and block store together do not have all of it: {}", problems.join("; "))
    }
}

/// Why the reading did not come to its end; none if it was ended from outside.
pub(super) type GivenUp = Option<String>;

/// How far a reading is.
#[derive(Debug)]
pub(super) struct Course {
    /// The segment that is read next, and what it goes on from.
    number: u32,
    tip: Tip,
    filled: u64,
    store_trouble: Option<String>,
}

impl Verifier {
    pub(super) fn begin(&self) -> Course {
        Course { number: 1, tip: Tip::genesis(self.core.journal), filled: 0, store_trouble: None }
    }

    /// Reads one segment more; false if all were read, and now everything has been.
    pub(super) fn go_on(&self, course: &mut Course, patience: &dyn Patience) -> Result<bool, GivenUp> {
        // What is damaged in the log is taken from the store.
        while self.core.stored() < self.tip.block && !self.core.store_is_gone() {
            if !patience.wait() {
                return Err(None);
            }
        }
        if course.number < self.read_from {
            self.read_next(course, patience)?;
            return Ok(true);
        }
        self.end(course, patience).map(|()| false)
    }

    fn read_next(&self, course: &mut Course, patience: &dyn Patience) -> Result<(), GivenUp> {
        let Course { number, tip, .. } = *course;
        let unreadable = |error: io::Error| Some(format!("segment {number} of the log cannot be read: {error}"));
        let mut read = self.read(number, tip).map_err(unreadable)?;
        if !read.is_whole() {
            let restored = restore_segment::segment(&self.disk, &self.core, number, tip).map_err(unreadable)?;
            let Restored::Whole { filled, aside } = restored else { return Err(Some(read.problem())) };
            tracing::warn!(segment = number, filled, aside, "a damaged segment of the log was rewritten");
            course.filled += filled.max(1);
            read = self.read(number, tip).map_err(unreadable)?;
        }
        if !read.is_whole() {
            return Err(Some(read.problem()));
        }
        if course.store_trouble.is_none() {
            course.store_trouble = self.compare(&read.blocks, patience)?;
        }
        (course.number, course.tip) = (number + 1, read.scanned.tip);
        Ok(())
    }

    fn end(&self, course: &mut Course, patience: &dyn Patience) -> Result<(), GivenUp> {
        self.ends_there(course.tip)?;
        if course.store_trouble.is_none() {
            course.store_trouble = self.compare_newest(patience)?;
        }
        if let Some(problem) = &course.store_trouble {
            tracing::warn!(%problem, "the block store is damaged; rebuilding it from the log");
            (self.rebuild_store)(problem.clone());
        }
        let store_rebuilt = course.store_trouble.is_some() || self.core.store_is_rebuilt();
        if course.filled > 0 || store_rebuilt {
            (self.note)(&JournalNote::HistoryRepaired { log_filled_blocks: course.filled, store_rebuilt });
        }
        Ok(())
    }

    /// Says how it ended: only what was read to its end is gone by again.
    pub(super) fn conclude(&self, outcome: Result<(), GivenUp>) -> Progress {
        let progress = match outcome {
            Ok(()) => {
                if let Err(error) = checkpoint::put_back(&*self.disk) {
                    tracing::warn!(%error, "the index checkpoint stays in use; the next start reads the whole log");
                }
                Progress::Done
            }
            Err(Some(problem)) => {
                // Without it the next opening reads everything, and refuses or repairs.
                if let Err(error) = checkpoint::remove(&*self.disk) {
                    tracing::error!(%error, "the index checkpoint cannot be removed");
                }
                (self.fail)(problem);
                Progress::GivenUp
            }
            Err(None) => Progress::GivenUp,
        };
        self.core.set_being_read(false);
        progress
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
            hash = self.logged(first)?.previous;
        }
        if tip.hash == hash { Ok(()) } else { Err(Some("the chain does not lead to the log's end".into())) }
    }

    /// The blocks that were read at the opening, as far as the store has to have the same.
    fn compare_newest(&self, patience: &dyn Patience) -> Result<Option<String>, GivenUp> {
        let first = self.core.state().index.segment(self.read_from).0;
        for from in (first..=self.tip.block).step_by(BLOCKS_AT_ONCE) {
            let last = self.tip.block.min(from + BLOCKS_AT_ONCE as u64 - 1);
            let mut blocks = Vec::new();
            for number in from..=last {
                blocks.push((number, self.logged(number)?.hash));
            }
            if let Some(problem) = self.compare(&blocks, patience)? {
                return Ok(Some(problem));
            }
        }
        Ok(None)
    }

    fn logged(&self, number: u64) -> Result<FrameHeader, GivenUp> {
        let logged = self.core.read_logged(number).map_err(|error| Some(error.to_string()))?;
        frame::peek(&logged).map_err(|_| Some(format!("block {number} cannot be read")))
    }

    /// Whether the store has the same blocks; what is wrong with it, if it has not.
    fn compare(&self, blocks: &[(u64, [u8; 32])], patience: &dyn Patience) -> Result<Option<String>, GivenUp> {
        for some in blocks.chunks(BLOCKS_AT_ONCE) {
            let numbers: Vec<u64> = some.iter().map(|block| block.0).collect();
            let stored = loop {
                match self.core.read_store(&numbers) {
                    Some(stored) => break stored,
                    None if self.core.store_is_gone() => return Ok(None),
                    None if patience.wait() => (),
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
