//! The index as of now, from a checkpoint and what the log has that the checkpoint does not know.
//!
//! A full segment that has the length and the time of writing that the checkpoint says it had is passed over by its marks,
//! which have to follow from the segment before. Every other one is read: what the checkpoint knows of its blocks has to
//! be what they say of themselves, and what it does not know is added.

use std::io;

use uuid::Uuid;

use super::Checkpoint;
use crate::{
    disk::Disk,
    format::frame::FrameHeader,
    index::Index,
    log::{
        commit_log::{Place, Tip},
        scan::{self, Scanned, Start},
        segment::{self, Mark},
        segment_file::SegmentFile,
    },
};

/// An index, and what was found in the log for it.
#[derive(Debug)]
pub(crate) struct Grown {
    pub index: Index,
    /// Segments that were passed over have no chain values in it.
    pub scanned: Scanned,
    /// From this segment on everything was read.
    pub read_from: u32,
    known: (u64, [u8; 32]),
}

/// Why there is no index to be had from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("a file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Differs(&'static str),
    /// The caller wants no answer any more.
    #[error("it was given up")]
    GivenUp,
}

impl Grown {
    /// The chain value of a block, if it is the checkpoint's last one or a later one.
    pub(crate) fn hash_of(&self, block: u64) -> Option<[u8; 32]> {
        if block == self.known.0 {
            return Some(self.known.1);
        }
        let before_last = self.scanned.tip.block.checked_sub(block).filter(|_| block > self.known.0)?;
        self.scanned.hashes.iter().rev().nth(usize::try_from(before_last).ok()?).copied()
    }
}

/// Reads on behind a checkpoint, up to the end of these segments, the last of which is always read. `go_on` is asked before
/// each. Faults in what was read are told, and end nothing.
pub(crate) fn grow(
    disk: &dyn Disk,
    from: Checkpoint,
    segments: &[SegmentFile],
    go_on: &dyn Fn() -> bool,
) -> Result<Grown, Unfit> {
    let Checkpoint { journal, head, epoch, files, base } = from;
    let mut index = Index::of(base, head.position, head.time_ms);
    if index.block_count() != head.block || index.item_count() != head.position.0 {
        return Err(Unfit::Differs("its numbers do not fit"));
    }
    let mut scanned = Scanned::begin(Start { tip: Tip::genesis(journal), epoch, time_ms: head.time_ms });
    let mut read_from = 1;
    for (number, file) in (1..).zip(segments) {
        if !go_on() {
            return Err(Unfit::GivenUp);
        }
        if file.number != number {
            return Err(Unfit::Differs("a segment of the log is missing"));
        }
        let at = number as usize - 1;
        let is_last = at + 1 == segments.len();
        let same = !is_last && files.segments.get(at) == Some(file);
        let passed = if same { seal_that_follows(disk, journal, number, &scanned.tip)? } else { None };
        if let Some(seal) = passed.filter(|seal| seal.block <= head.block) {
            scanned.pass_over(&seal);
            read_from = number + 1;
        } else {
            let mut visit = |header: &FrameHeader, records: &[u8], place: Place| {
                if header.block > head.block {
                    return index.add_found(header, records, place);
                }
                let follows = header.block < head.block || header.hash == head.hash;
                let same = follows && index.agrees(header, records, place);
                if same { Ok(()) } else { Err("the index checkpoint says something else") }
            };
            scan::read_on(disk, journal, number, &mut scanned, &mut visit)?;
        }
        if scanned.tip.block == head.block && scanned.tip.hash != head.hash {
            return Err(Unfit::Differs("the log does not lead to its end"));
        }
    }
    if files.segments.len() > segments.len() || scanned.tip.block < head.block {
        return Err(Unfit::Differs("the log ends before it"));
    }
    scanned.time_ms = index.last_time_ms;
    Ok(Grown { index, scanned, read_from, known: (head.block, head.hash) })
}

/// The seal of a full segment whose marks say that it goes on from `tip`.
fn seal_that_follows(disk: &dyn Disk, journal: Uuid, number: u32, tip: &Tip) -> io::Result<Option<Mark>> {
    let follows = |begin: &Mark| {
        let first = begin.block == tip.block + 1 && begin.position == tip.position.next() && begin.hash == tip.hash;
        first && begin.journal == journal && begin.segment == number
    };
    let marks = segment::marks(disk, number)?;
    Ok(marks.filter(|(begin, _)| follows(begin)).map(|(_, seal)| seal))
}
