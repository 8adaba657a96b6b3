//! Opening by an index checkpoint, and what that may be trusted for.
//!
//! The promise is the same as without: damage to history is repaired from the other copy, or nothing goes on. What
//! differs is when the inside of full segments is read, and when the block store is held against the log.
//!
//! **After a stop in order**, by a writer that had itself read everything (at its opening, or behind it), and only if
//! nothing was written into since: head file, checkpoint and log end at the same block with the same chain value; every
//! file of the log and of the block store has the length and the time of writing that it had then, and none is missing
//! or added. A file that was cut, changed, swapped, deleted or put back from yesterday fails this, as does a copied
//! folder; then the whole log and the whole store are read and compared before anything goes on, as without a checkpoint.
//!
//! **After a kill or a power cut** the checkpoint is one that was made while the journal ran, from what was read back of
//! full segments, once the store had said that it had them durably; or that of the last stop in order. Of the log, what
//! is gone by is each full segment that has the length and the time it had when the checkpoint was made: those
//! were synced before, and nobody writes into them again. Every other one, and everything behind the checkpoint, is read
//! before anything goes on. The head file, synced before the checkpoint was written, has to name a block at or behind the
//! checkpoint's that the log has with that chain value, and to say that the store was durable at or behind the checkpoint's;
//! the end may be torn as after any crash. Log against head file decides as without a checkpoint: a log that
//! lacks what the head file knows, has damage inside, or differs, is read in full beside the store.
//! Of the store nothing is trusted. Its files change while it runs, and what it lost it does not say. It is
//! opened behind the opening; until then reads come from the log. Before anything is put into it, it is asked for the last
//! block that it said was durable, for those behind it, and for the one behind the log's end: if the first differs or is
//! missing it is built anew; those behind it that differ are put again; and if it has a block that the log has lost, the
//! journal fails, and the next opening reads everything. (Without a checkpoint that is noticed before the opening. It takes
//! a head file and a log that both lost the same, and no file beside them that knows better: the documented limit of a power
//! cut that also damages the last group.)
//!
//! **At once**, after both: both marks of every full segment that is gone by, which have to follow one from the other
//! without a gap; all of the last segment, which is written on in; the checksum of the checkpoint.
//!
//! **Behind the opening**: every block of every segment that was gone by, its chain, its place and entries in the index,
//! and every block of the store against the log's (`background/verify.rs`). Until then nothing unchecked is handed out: every
//! block that is read is checked against its own checksum, and comes from log or store, whichever has it whole.
//! What is found is repaired from the other copy and noted; what neither has ends the journal as a failed disk does,
//! without the checkpoint, so that the next opening refuses.
//!
//! **Never twice in a row**: while what a checkpoint was trusted for has not been read, it has another name, and a writer
//! that ends before leaves none. The next opening then reads everything.
//!
//! **Not where the store alone has the older history** after a crash (`LogKeep::Checkpoint`), and never by `check`,
//! `export` and readers of a stopped journal: they read everything.

use crate::{
    blocks::Store,
    checkpoint::{self, Checkpoint, Files, Grown},
    disk::Disk,
    format::{head_file::FoundHead, head_record::HeadRecord},
    log::segment_file::SegmentFile,
};

use super::{AfterOpen, Opening, RollbackGuard, Settled, Survey, is_in_doubt};

/// What became of the checkpoint.
pub(super) enum Trusted {
    /// The index is that of the checkpoint, and what came behind it.
    Yes(Box<Settled>),
    /// Everything is read. There is none, or nothing says that it should fit.
    No,
    /// Everything is read. There is one, and it does not fit.
    Ignored(String),
}

impl Opening<'_> {
    pub(super) fn trust(&self, found: FoundHead) -> Trusted {
        let FoundHead::Read { newest, other_damaged: false } = found else { return Trusted::No };
        if !self.may_trust || !checkpoint::exists(&*self.disk) {
            return Trusted::No;
        }
        let fits = self.fits(&newest, found).and_then(|grown| self.gone_by(grown, &newest));
        fits.map_or_else(Trusted::Ignored, |settled| Trusted::Yes(Box::new(settled)))
    }

    fn fits(&self, newest: &HeadRecord, found: FoundHead) -> Result<Grown, String> {
        let checkpoint = checkpoint::read(&*self.disk)?;
        if checkpoint.journal != self.journal {
            return Err("it is of another journal".into());
        }
        let unreadable = |error: std::io::Error| format!("a file cannot be examined: {error}");
        let segments = SegmentFile::all(&*self.disk).map_err(unreadable)?.unwrap_or_default();
        if segments.is_empty() {
            return Err("the log's files are not as they were".into());
        }
        if newest.clean {
            self.is_as_left(newest, &checkpoint, &Files { segments: segments.clone(), store: Vec::new() })?;
        } else {
            is_behind(newest, &checkpoint)?;
        }
        let grown =
            checkpoint::grow(&*self.disk, checkpoint, &segments, &|| true).map_err(|unfit| unfit.to_string())?;
        if grown.hash_of(newest.head.block) != Some(newest.head.hash)
            || is_in_doubt(&grown.scanned, found, &RollbackGuard::beside_checkpoints(&*self.folder, self.journal))
        {
            return Err("log and head file do not agree".into());
        }
        if newest.clean && (grown.scanned.tip.block != newest.head.block || !grown.scanned.faults.is_empty()) {
            return Err("the log does not end where it was left".into());
        }
        Ok(grown)
    }

    /// Whether everything is as the last stop in order left it.
    fn is_as_left(&self, stopped: &HeadRecord, left: &Checkpoint, now: &Files) -> Result<(), String> {
        if (left.head, left.epoch) != (stopped.head, stopped.epoch) {
            return Err("it is from another stop".into());
        }
        if stopped.store_synced != left.head.block {
            return Err("the block store was incomplete".into());
        }
        if now.segments != left.files.segments {
            return Err("the log's files are not as they were".into());
        }
        if self.store.stamps().as_ref() != Some(&left.files.store) {
            return Err("the block store's files are not as they were".into());
        }
        Ok(())
    }

    fn gone_by(&self, grown: Grown, newest: &HeadRecord) -> Result<Settled, String> {
        let Grown { index, scanned, read_from, .. } = grown;
        let store = self.store.for_later().ok_or("the block store must be opened with the journal")?;
        checkpoint::take_up(&*self.folder).map_err(|error| format!("it cannot be used: {error}"))?;
        let torn_cut = self.cut(&scanned).map_err(|error| error.to_string())?;
        let later = AfterOpen { store, as_left: newest.clean, read_from };
        Ok(Settled { scanned, index, survey: Survey::default(), torn_cut, later: Some(later) })
    }
}

/// Whether head file and store say that they were durable at the checkpoint's end or behind it.
fn is_behind(newest: &HeadRecord, checkpoint: &Checkpoint) -> Result<(), String> {
    let block = checkpoint.head.block;
    if newest.head.block < block || newest.epoch < checkpoint.epoch {
        return Err("it is of a later time than the head file".into());
    }
    if newest.store_synced < block {
        return Err("the block store was incomplete".into());
    }
    Ok(())
}

/// Whether the store's files are as the last stop in order left them.
pub(crate) fn store_is_as_left(disk: &dyn Disk, store: &dyn Store, stopped: &HeadRecord) -> bool {
    if !stopped.clean {
        return false;
    }
    let of_this_stop =
        |left: &Checkpoint| (left.journal, left.head, left.epoch) == (stopped.journal, stopped.head, stopped.epoch);
    let left = checkpoint::look_into(disk).ok().filter(of_this_stop);
    left.is_some_and(|left| store.stamps() == Some(left.files.store))
}
