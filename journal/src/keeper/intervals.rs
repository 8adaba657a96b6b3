//! Index checkpoints while the journal runs, so that an opening after a crash need not read the whole log.
//!
//! One is made of the one before and of the full segments since, read back from the disk: never of the index in memory,
//! which whoever appends would have to wait for. It goes as far as full segments do that the store has said to have
//! durably, and is written when what it does not know has become a part of it: so all of them together cost a few times
//! what the last one costs, however long the journal becomes, and after a crash that part is what is read at most.
//! Without new entries there is nothing that it does not know, and nothing is written.

use std::{io, sync::Arc};

use super::Keeper;
use crate::{
    Head,
    checkpoint::{self, Checkpoint, Files, Grown, SegmentFile, Unfit},
    crash,
    disk::Disk,
};

/// One is written once the log has this part of full segments more than the last one knew, or whose form has changed.
const PART: u32 = 4;

/// When an index checkpoint is to be made, and whose it is.
#[derive(Debug)]
pub(crate) struct Intervals {
    pub folder: Arc<dyn Disk>,
    pub epoch: u64,
    /// How many full segments the newest checkpoint knows; 0 where that is not known.
    pub known: u32,
    /// How many of those have been compressed or moved since: an opening reads them.
    pub changed: u32,
}

impl Intervals {
    fn is_due(&self, full: u32) -> bool {
        let unknown = full.saturating_sub(self.known) + self.changed;
        unknown >= (full / PART).max(1)
    }

    /// A full segment has another form or another place now.
    pub(super) fn note_change(&mut self, segment: u32) {
        self.changed += u32::from(segment <= self.known);
    }
}

impl Keeper {
    /// Writes an index checkpoint, if it is time for one.
    pub(super) fn mark_interval(&mut self) {
        let full = self.full_segments(self.synced);
        let is_due = self.intervals.as_ref().is_some_and(|intervals| intervals.is_due(full));
        // What was there at the opening has to be right before anybody goes by it again.
        if !is_due || self.blocks.is_none() || self.core.is_being_read() || self.is_full() {
            return;
        }
        match self.write_interval(full) {
            Ok(()) => (),
            Err(Unfit::GivenUp) => return,
            Err(error) => tracing::warn!(%error, "no index checkpoint was written"),
        }
        if let Some(intervals) = &mut self.intervals {
            (intervals.known, intervals.changed) = (full, 0);
        }
    }

    /// Whether a checkpoint would be due if the store made durable what it has.
    pub(super) fn interval_is_near(&self) -> bool {
        let full = self.full_segments(self.core.stored());
        self.intervals.as_ref().is_some_and(|intervals| intervals.is_due(full)) && !self.core.is_being_read()
    }

    /// How many segments, from the first on, are full and end at or before a block.
    fn full_segments(&self, block: u64) -> u32 {
        let state = self.core.state();
        let at_end = state.index.block(block).map_or(0, |found| found.place.segment);
        let ends_there = at_end > 0 && state.index.segment(at_end).1 == block + 1;
        let full = if ends_there { at_end } else { at_end.saturating_sub(1) };
        full.min(state.index.last_segment().saturating_sub(1))
    }

    fn write_interval(&self, full: u32) -> Result<(), Unfit> {
        let Some(intervals) = &self.intervals else { return Ok(()) };
        let files = Files::of_log(&*self.disk)?.unwrap_or_default();
        let segments: Vec<SegmentFile> = files.into_iter().take_while(|file| file.number <= full).collect();
        let Grown { index, scanned, .. } = self.grown(&segments)?;
        let tip = scanned.tip;
        if segments.len() != full as usize || !scanned.faults.is_empty() || !scanned.ends_in_seal() {
            return Err(Unfit::Differs("the log is not as it should be"));
        }
        if tip.block > self.synced {
            return Err(Unfit::Differs("the block store has not everything"));
        }
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        let files = Files { segments, store: Vec::new() };
        crash::point("before-index-checkpoint");
        let written = checkpoint::write(&*intervals.folder, self.core.journal, head, intervals.epoch, &files, &index)?;
        crash::point("after-index-checkpoint");
        if written { Ok(()) } else { Err(Unfit::Io(io::ErrorKind::FileTooLarge.into())) }
    }

    /// From the checkpoint that is there, or, if it does not lead here, from the beginning.
    fn grown(&self, segments: &[SegmentFile]) -> Result<Grown, Unfit> {
        let go_on = || !self.bell.is_ended();
        let journal = self.core.journal;
        if let Ok(there) = checkpoint::read(&*self.disk)
            && there.journal == journal
        {
            match checkpoint::grow(&*self.disk, there, segments, &go_on) {
                Ok(grown) if grown.scanned.faults.is_empty() => return Ok(grown),
                Err(Unfit::GivenUp) => return Err(Unfit::GivenUp),
                Ok(_) | Err(_) => (),
            }
        }
        checkpoint::grow(&*self.disk, Checkpoint::of_nothing(journal), segments, &go_on)
    }
}
