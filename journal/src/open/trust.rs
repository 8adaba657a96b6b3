//! Opening by the index checkpoint of the last stop, and what that may be trusted for.
//!
//! The promise is the same as without: damage to history is repaired from the other copy, or nothing goes on. What
//! differs is when the inside of full segments is read.
//!
//! **When.** Only after a stop in order, by a writer that had itself read everything (at its opening, or behind it), and
//! only if nothing was written into since: head file, checkpoint and log end at the same block with the same chain
//! value; every file of the log and of the block store has the length and the time of writing that it had then, and
//! none is missing or added. A file that was cut, changed, swapped, deleted or put back from yesterday fails this, as do a copied
//! folder and a stop that was none; then the whole log and the whole store are read and compared before anything goes
//! on, as without a checkpoint.
//!
//! **At once**: both marks of every full segment, which have to follow one from the other without a gap up to the last
//! one; all of the last segment, which is written on in; the checksum of the checkpoint.
//!
//! **Behind the opening**: everything else, which only a medium can have changed that does so by itself: every block of
//! every full segment, its chain, its place and entries in the index, and the same block in the store (`verify.rs`).
//! Until then nothing unchecked is handed out: every block that is read is checked against its own checksum, and comes
//! from log or store, whichever has it whole.
//! What is found is repaired from the other copy and noted; what neither has ends the journal as a failed disk does,
//! without the checkpoint, so that the next opening refuses. A writer that ends before all was read leaves no
//! checkpoint: of two openings in a row at most one trusts.
//!
//! **`check`, `export` and every reader of a stopped journal** never use it: they read everything.

use crate::{
    blocks::Store,
    disk::Disk,
    frame::FrameHeader,
    head::{FoundHead, HeadRecord},
    index::Index,
    log::Tip,
    scan::{self, Scanned, Start},
    segment::{self, Mark},
};

use super::{Opening, Settled, Survey};
use crate::checkpoint::{self, Checkpoint, Files, SegmentFile};

/// What became of the checkpoint.
pub(super) enum Trusted {
    /// The index is that of the checkpoint.
    Yes(Box<Settled>),
    /// Everything is read. There is none, or it was not to be expected to fit.
    No,
    /// Everything is read. There is one, after a stop in order, and it does not fit.
    Ignored(String),
}

impl Opening<'_> {
    pub(super) fn trust(&self, found: FoundHead) -> Trusted {
        let stopped = match found {
            FoundHead::Read { newest, other_damaged: false } if newest.clean => newest,
            _ => return Trusted::No,
        };
        if !self.may_trust || !checkpoint::exists(&*self.disk) {
            return Trusted::No;
        }
        match self.fits(&stopped) {
            Ok(settled) => Trusted::Yes(Box::new(settled)),
            Err(problem) => Trusted::Ignored(problem),
        }
    }

    fn fits(&self, stopped: &HeadRecord) -> Result<Settled, String> {
        let Checkpoint { journal, head, epoch, files, base } = checkpoint::read(&*self.disk)?;
        if journal != self.journal || head != stopped.head || epoch != stopped.epoch {
            return Err("it is of another stop, or of another journal".into());
        }
        if stopped.store_synced != head.block {
            return Err("the block store had not everything".into());
        }
        let unreadable = |error: std::io::Error| format!("a file cannot be looked at: {error}");
        let segments = Files::of_log(&*self.disk).map_err(unreadable)?.unwrap_or_default();
        if segments.is_empty() || segments != files.segments {
            return Err("the log's files are not as they were".into());
        }
        if self.store.stamps().as_ref() != Some(&files.store) {
            return Err("the block store's files are not as they were".into());
        }
        let index = Index::of(base, head.position, head.time_ms);
        if index.block_count() != head.block || index.item_count() != head.position.0 {
            return Err("its numbers do not fit".into());
        }
        let tip = Tip { block: head.block, position: head.position, hash: head.hash };
        let scanned =
            self.look_at(&segments, &index, Start { tip, epoch, time_ms: head.time_ms }).map_err(unreadable)?;
        let scanned = scanned.ok_or("the segments do not follow one from the other")?;
        Ok(Settled { scanned, index, survey: Survey::default(), torn_cut: None, later: self.store.for_later() })
    }

    /// The marks of all segments and the whole of the last one; none if they do not lead to `end`.
    fn look_at(&self, segments: &[SegmentFile], index: &Index, end: Start) -> std::io::Result<Option<Scanned>> {
        let Some((last, full)) = segments.split_last() else { return Ok(None) };
        let mut tip = Tip::genesis(self.journal);
        let mut at = (1, 0);
        for SegmentFile { number, .. } in full {
            match segment::marks(&*self.disk, *number)? {
                Some((begin, seal)) if *number == at.0 && follows(&begin, self.journal, *number, &tip) => {
                    tip = Tip { block: seal.block, position: seal.position, hash: seal.hash };
                    at = (number + 1, seal.offset);
                }
                _ => return Ok(None),
            }
        }
        let mut fits = true;
        let mut visit = |header: &FrameHeader, records: &[u8], place| {
            fits &= index.agrees(header, records, place);
            Ok(())
        };
        let ended = (tip.block > 0).then_some((last.number - 1, at.1));
        let start = Start { tip, epoch: end.epoch, time_ms: end.time_ms };
        let numbers = [last.number];
        let mut scanned = scan::scan_some(&*self.disk, self.journal, start, &numbers, &mut visit)?;
        if !fits || last.number != at.0 || !scanned.faults.is_empty() || scanned.tip != end.tip {
            return Ok(None);
        }
        scanned.end = scanned.end.or(ended);
        let sealed = full.iter().map(|file| scan::Segment { number: file.number, sealed: true });
        scanned.segments.splice(0..0, sealed);
        Ok(Some(scanned))
    }
}

/// Whether the store's files are as the last stop in order left them.
pub(super) fn store_is_as_left(disk: &dyn Disk, store: &dyn Store, stopped: &HeadRecord) -> bool {
    let same =
        |left: &Checkpoint| (left.journal, left.head, left.epoch) == (stopped.journal, stopped.head, stopped.epoch);
    let left = checkpoint::read(disk).ok().filter(|left| stopped.clean && same(left));
    left.is_some_and(|left| store.stamps() == Some(left.files.store))
}

fn follows(begin: &Mark, journal: uuid::Uuid, number: u32, tip: &Tip) -> bool {
    let first = begin.block == tip.block + 1 && begin.position == tip.position.next() && begin.hash == tip.hash;
    first && begin.journal == journal && begin.segment == number
}
