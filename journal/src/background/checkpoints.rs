//! Index checkpoints while the journal runs, so that an opening after a crash need not read the whole log.
//!
//! One is made of the one before and of the full segments since, read back from the disk: never of the index in memory,
//! which an appender would have to wait for. (A segment that was compressed or moved since is not read again: it was
//! compared then with what it had been.) It goes as far as full segments do that the store has said to have
//! durably, and is written when what it does not know has become a part of it: so all of them together cost a few times
//! what the last one costs, however long the journal becomes, and after a crash that part is what is read at most.
//! Without new entries there is nothing that it does not know, and nothing is written.
//!
//! Once one is written, the index looks there for what it holds, and gives that up in memory: if what is read back from the
//! file is sound, ends where the index has an end of a block, and leads on to what the log has behind it. The file is opened
//! once, and stays open until the next one takes its place, whatever happens to its name. One that an opening went by is
//! looked in as well, once everything behind that opening was read.

use std::{io, sync::Arc};

use super::BackgroundWriter;
use crate::{
    Head,
    checkpoint::{self, Checkpoint, Files, Grown, Unfit},
    disk::{Disk, crash},
    format::frame,
    index::PARTS,
    log::segment_file::SegmentFile,
};

/// One is written once the log has this part of full segments more than the last one knew, or whose form has changed.
const PART: u32 = 4;
/// One takes in at most so many segments more than the last one knew, or that part of them: what it takes in is in memory
/// until it is written, and the log may be far ahead of the store, or there may be no checkpoint yet.
const STEP: u32 = 1;

/// How many segments the next one is to know if the last one knows so many, of so many that are full.
fn step(known: u32, full: u32) -> u32 {
    full.min(known.saturating_add((known / PART).max(STEP)))
}

/// When an index checkpoint is to be made, and whose it is.
#[derive(Debug)]
pub(crate) struct CheckpointSchedule {
    pub folder: Arc<dyn Disk>,
    pub epoch: u64,
    /// How many full segments the newest checkpoint knows; 0 where that is not known.
    pub known: u32,
    /// Full segments that have been compressed or moved since, as they were and as they are: until the next checkpoint says
    /// so, an opening reads them.
    pub changed: Vec<(SegmentFile, SegmentFile)>,
    /// An opening went by a checkpoint, and the index has all that it holds in memory.
    pub in_memory: bool,
}

impl CheckpointSchedule {
    fn is_due(&self, full: u32) -> bool {
        let changed = self.changed.iter().filter(|(before, _)| before.number <= self.known).count();
        let unknown = full.saturating_sub(self.known) + u32::try_from(changed).unwrap_or(u32::MAX);
        unknown >= (full / PART).max(1)
    }
}

impl BackgroundWriter {
    /// A full segment has another form or another place now; the one who changed that has compared what is in it.
    pub(super) fn note_change(&mut self, before: SegmentFile) {
        let now = SegmentFile::now(&*self.disk, before.number);
        if let (Some(schedule), Ok(now)) = (&mut self.schedule, now) {
            schedule.changed.push((before, now));
        }
    }

    /// Writes an index checkpoint, if it is time for one.
    pub(super) fn mark_interval(&mut self) {
        // What was there at the opening has to be right before anybody goes by it again.
        if self.schedule.is_none() || self.core.is_being_read() || self.core.state().index.has_failed() {
            return;
        }
        self.leave_in_file();
        let full = self.full_segments(self.synced);
        let is_due = self.schedule.as_ref().is_some_and(|schedule| schedule.is_due(full));
        if !is_due || self.blocks.is_none() || self.is_full() {
            return;
        }
        let mut known = 0;
        while known < full {
            known = match self.write_interval(full) {
                // Whatever was there, it is not gone on with.
                Ok(reached) if reached <= known => full,
                Ok(reached) => {
                    self.look_there();
                    reached
                }
                Err(Unfit::GivenUp) => return,
                Err(error) => {
                    tracing::warn!(%error, "no index checkpoint was written");
                    full
                }
            };
            if let Some(schedule) = &mut self.schedule {
                schedule.known = known;
                schedule.changed.clear();
            }
        }
    }

    /// Has the index look in the checkpoint that the opening went by, once everything behind that was read.
    pub(super) fn leave_in_file(&mut self) {
        let is_in_memory = |schedule: &mut CheckpointSchedule| std::mem::take(&mut schedule.in_memory);
        if !self.core.is_being_read() && self.schedule.as_mut().is_some_and(is_in_memory) {
            self.look_there();
        }
    }

    /// Has the index look in the checkpoint that is there, for what that holds.
    fn look_there(&self) {
        if let Err(problem) = self.look_in_file() {
            tracing::warn!(problem, "the index stays in memory");
        }
    }

    fn look_in_file(&self) -> Result<(), String> {
        let Checkpoint { journal, head, base, .. } = checkpoint::look_for_long(&*self.disk)?;
        if journal != self.core.journal || !self.core.state().index.takes(&base, head.position) {
            return Err("its checkpoint holds something else".into());
        }
        let next = self.core.read_logged(head.block + 1).map_err(|error| error.to_string())?;
        if !frame::peek(&next).is_ok_and(|next| next.previous == head.hash) {
            return Err("its checkpoint does not lead to what the log has".into());
        }
        let given_up = self.core.state_mut().index.rebase(base, head.position, head.time_ms);
        drop(given_up);
        for part in 0..PARTS {
            // The lock is let go of in between: an appender waits for one part.
            self.core.state_mut().index.give_back(part);
        }
        Ok(())
    }

    /// Whether a checkpoint would be due if the store made durable what it has.
    pub(super) fn interval_is_near(&self) -> bool {
        let full = self.full_segments(self.core.stored());
        self.schedule.as_ref().is_some_and(|schedule| schedule.is_due(full)) && !self.core.is_being_read()
    }

    /// How many segments, from the first on, are full and end at or before a block.
    fn full_segments(&self, block: u64) -> u32 {
        let state = self.core.state();
        let at_end = state.index.block(block).map_or(0, |found| found.place.segment);
        let ends_there = at_end > 0 && state.index.segment(at_end).1 == block + 1;
        let full = if ends_there { at_end } else { at_end.saturating_sub(1) };
        full.min(state.index.last_segment().saturating_sub(1))
    }

    /// Writes one that knows some segments more than the one that is there, of so many that are full; says how many it knows.
    fn write_interval(&self, full: u32) -> Result<u32, Unfit> {
        let Some(schedule) = self.schedule.as_ref().filter(|_| !self.signal.is_ended()) else {
            return Err(Unfit::GivenUp);
        };
        let there = self.there();
        let known = there.as_ref().map_or(0, |there| u32::try_from(there.files.segments.len()).unwrap_or(u32::MAX));
        let to = step(known, full);
        let files = SegmentFile::all(&*self.disk)?.unwrap_or_default();
        let segments: Vec<SegmentFile> = files.into_iter().take_while(|file| file.number <= to).collect();
        let Grown { index, scanned, .. } = self.grown(there, &segments)?;
        let tip = scanned.tip;
        if segments.len() != to as usize || !scanned.faults.is_empty() || !scanned.ends_in_seal() {
            return Err(Unfit::Differs("the log is not as it should be"));
        }
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        let files = Files { segments, store: Vec::new() };
        crash::point("before-index-checkpoint");
        let written = checkpoint::write(&*schedule.folder, self.core.journal, head, schedule.epoch, &files, &index)?;
        crash::point("after-index-checkpoint");
        if written { Ok(to) } else { Err(Unfit::Io(io::ErrorKind::FileTooLarge.into())) }
    }

    /// The checkpoint that is there, if it is this journal's.
    fn there(&self) -> Option<Checkpoint> {
        let mut there = checkpoint::look_into(&*self.disk).ok().filter(|there| there.journal == self.core.journal)?;
        for (before, now) in self.schedule.iter().flat_map(|schedule| &schedule.changed) {
            there.files.change(*before, *now);
        }
        Some(there)
    }

    /// From the checkpoint that is there, or, if it does not lead here, from the beginning.
    fn grown(&self, there: Option<Checkpoint>, segments: &[SegmentFile]) -> Result<Grown, Unfit> {
        let go_on = || !self.signal.is_ended();
        if let Some(there) = there {
            match checkpoint::grow(&*self.disk, there, segments, &go_on) {
                Ok(grown) if grown.scanned.faults.is_empty() => return Ok(grown),
                Err(Unfit::GivenUp) => return Err(Unfit::GivenUp),
                Ok(_) | Err(_) => (),
            }
        }
        checkpoint::grow(&*self.disk, Checkpoint::of_nothing(self.core.journal), segments, &go_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{SimulatedDisk, Stamp};

    fn schedule(known: u32, changed: u32) -> CheckpointSchedule {
        let file = |number, compressed| SegmentFile { number, compressed, stamp: Stamp::default() };
        let changed = (1..=changed).map(|number| (file(number, false), file(number, true))).collect();
        CheckpointSchedule { folder: Arc::new(SimulatedDisk::new()), epoch: 1, known, changed, in_memory: false }
    }

    #[test]
    fn it_is_time_when_a_quarter_is_unknown_and_never_for_nothing() {
        for (known, changed, full, is_due) in [
            (0, 0, 0, false),
            (0, 0, 1, true),
            (1, 0, 1, false),
            (4, 0, 4, false),
            (4, 0, 5, true),
            (8, 0, 9, false),
            (8, 0, 10, true),
            (12, 2, 12, false),
            (12, 3, 12, true),
            (12, 2, 13, true),
            // Segments that the checkpoint does not know anyway count once.
            (2, 8, 8, true),
            (20, 4, 20, false),
        ] {
            assert_eq!(schedule(known, changed).is_due(full), is_due, "{known} known, {changed} changed, {full} full");
        }
    }

    #[test]
    fn what_is_far_behind_is_caught_up_with_in_steps() {
        for (known, full, expected) in
            [(0, 0, 0), (0, 7, 1), (1, 7, 2), (8, 20, 10), (16, 20, 20), (20, 20, 20), (30, 20, 20)]
        {
            assert_eq!(step(known, full), expected, "{known} known, {full} full");
        }
    }

    #[test]
    fn all_of_them_together_cost_a_few_times_the_last_one() {
        let (mut known, mut written) = (0, 0u64);
        for full in 1..=10_000 {
            if schedule(known, 0).is_due(full) {
                (known, written) = (full, written + u64::from(full));
            }
            assert!(full - known <= full / 4, "{full} full segments, {known} known");
        }
        assert!(written < 60_000, "{written} segments were written down for 10,000");
    }
}
