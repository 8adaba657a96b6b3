//! Log and store are read, and one is repaired from the other, until they agree; or opening is refused.

use std::io;

use super::{
    Evidence, Opening, RollbackGuard, Settled, Survey,
    archived::Held,
    catch_up::{isolated, survey, survey_blocks},
    io_error, is_in_doubt,
};
use crate::{
    IntegrityReport, OpenError,
    blocks::{Store, StoreError},
    disk::crash,
    format::{frame::FrameHeader, head_file::FoundHead},
    index::Index,
    log::scan::{self, Scanned},
    model::integrity::ProblemKind,
    open::repair,
};

/// A later repair would need a third reading of the log; two repairs of one log do not happen.
const ROUNDS_MAX: u32 = 3;

impl Opening<'_> {
    /// Reads log and store until nothing is left to repair.
    pub(super) fn settle(&mut self, found: FoundHead) -> Result<Settled, OpenError> {
        let guard = RollbackGuard::find(&*self.folder, self.journal);
        let mut looked_aside = false;
        for _ in 0..ROUNDS_MAX {
            let mut index = Index::default();
            let mut visit = |header: &FrameHeader, records: &[u8], place| index.add_found(header, records, place);
            // The log first: a store is not opened before it is known that nothing will be refused, because opening changes it.
            let scanned =
                scan::scan(&*self.disk, self.journal, &mut visit).map_err(io_error(&*self.disk, "read the log in"))?;
            let doubted = !looked_aside && self.store.exists() && is_in_doubt(&scanned, found, &guard);
            looked_aside |= doubted;
            if doubted && self.look_aside(&scanned, &index, found, &guard)? {
                self.tidy_outside();
                continue;
            }
            let journal = self.journal;
            // What is only in a copy of the store is not opened in place before it is in that place.
            let copied = self.held().is_some_and(|held| held.copy.is_some());
            if let Some(archived) = self.archived.as_mut().filter(|_| copied) {
                archived.adopt(self.store)?;
            }
            let mut survey = match self.held().filter(|held| held.copy.is_none()).and_then(|held| held.blocks.take()) {
                Some(blocks) => isolated(self.store, || survey_blocks(blocks, journal)),
                None => isolated(self.store, || survey(self.store, journal)),
            };
            survey.compare(&scanned.hashes);
            crash::point("after-survey");
            if !self.repair_log(&scanned, &survey, &index, found, &guard)? {
                let torn_cut = self.cut(&scanned)?;
                return Ok(Settled { scanned, index, survey, torn_cut, later: None });
            }
            drop(survey);
            self.tidy_outside();
        }
        Err(self.refuse(IntegrityReport::default()))
    }

    /// The store, as far as it had to be opened before the log was read.
    pub(super) fn held(&mut self) -> Option<&mut Held> {
        self.archived.as_mut()?.held.as_mut()
    }

    /// Once the log was written anew, nothing of it is elsewhere.
    pub(super) fn tidy_outside(&mut self) {
        if let Some(archived) = self.archived.as_mut().filter(|archived| !archived.needs_store()) {
            archived.let_go();
        }
    }

    /// Repairs the log with what a copy of the store has: should the answer be a refusal, the store was not touched.
    /// False if there is no copy, because opening the store does it no harm, or because it is open.
    pub(super) fn look_aside(
        &mut self,
        scanned: &Scanned,
        index: &Index,
        found: FoundHead,
        guard: &RollbackGuard,
    ) -> Result<bool, OpenError> {
        let journal = self.journal;
        let held = self.held().map(|held| (held.copy.is_some(), held.blocks.take()));
        let (aside, mut survey) = match held {
            Some((true, Some(blocks))) => (None, isolated(self.store, || survey_blocks(blocks, journal))),
            Some((_, blocks)) => {
                if let Some(held) = self.held() {
                    held.blocks = blocks;
                }
                return Ok(false);
            }
            None => {
                let Some(aside) = self.copy_aside()? else { return Ok(false) };
                let survey = isolated(&*aside, || survey(&*aside, journal));
                (Some(aside), survey)
            }
        };
        survey.compare(&scanned.hashes);
        crash::point("after-survey");
        let repaired = self.repair_log(scanned, &survey, index, found, guard);
        if let (None, Some(held)) = (&aside, self.held()) {
            held.blocks = survey.blocks.take();
        }
        drop(survey);
        // A copy that stays is replaced by the next one.
        let _ = aside.map(|aside| aside.wipe());
        repaired.map(|_| true)
    }

    pub(super) fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, OpenError> {
        let failed = |error: StoreError| io_error(&*self.disk, "copy the block store in")(io::Error::other(error));
        self.store.copy_aside().map_err(failed)
    }

    /// Writes the log anew if that has to be; whether it had to.
    pub(super) fn repair_log(
        &mut self,
        scanned: &Scanned,
        survey: &Survey,
        index: &Index,
        found: FoundHead,
        guard: &RollbackGuard,
    ) -> Result<bool, OpenError> {
        let newer = |fault: &&scan::Fault| matches!(fault.problem.kind, ProblemKind::NewerFormat { .. });
        if let Some(fault) = scanned.faults.iter().find(newer) {
            let path = self.disk.path();
            return Err(OpenError::Foreign { path, problem: fault.problem.to_string() });
        }
        let (journal, disk) = (self.journal, self.disk.clone());
        let evidence = Evidence { journal, disk: &disk, scanned, index, found, guard, survey };
        let Some(wanted) = evidence.judge().map_err(|report| self.refuse(report))? else { return Ok(false) };
        let rewritten = repair::rewrite_log(&evidence, self.segment_bytes, wanted);
        let Some(rewritten) = rewritten.map_err(io_error(&*disk, "repair the log in"))? else {
            return Err(self.refuse(evidence.refusal()));
        };
        self.filled += rewritten.filled;
        self.aside = Some(rewritten.aside);
        Ok(true)
    }

    /// Cuts what stands behind the last block; answers how much it was, if it was anything but zeros.
    pub(super) fn cut(&self, scanned: &Scanned) -> Result<Option<u64>, OpenError> {
        if scanned.faults.is_empty() {
            return Ok(None);
        }
        let cut =
            repair::cut_tail(&*self.disk, scanned).map_err(io_error(&*self.disk, "cut the torn end of the log in"))?;
        Ok(Some(cut))
    }
}
