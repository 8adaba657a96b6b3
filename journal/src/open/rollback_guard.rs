//! What beside log, head file and block store tells how far the journal had come.
//!
//! A log and a head file that were put back together from an older copy agree with each other. But a checkpoint of the
//! index is written once the log and the head file are durable beyond it, and the block store is given a block once the
//! head file names it, after the file `reached` was written: none of them is ever ahead of both, unless those two are older
//! than they were. (After a power cut the head file may be older, the log is not.)

use uuid::Uuid;

use super::catch_up::Survey;
use crate::{
    Head, Position, checkpoint,
    disk::Disk,
    format::{
        clean_stop::{self, STOPPED_FILE},
        head_file::FoundHead,
        reached::{self, REACHED_FILE},
    },
    log::{commit_log::Tip, scan::Scanned},
    model::integrity::{Problem, ProblemKind},
};

/// Files that know of the journal's end, whatever log and head file say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RollbackGuard {
    /// The end of the newest index checkpoint, and its name.
    checkpoint: Option<(&'static str, Head)>,
    /// How far a writer has said that it came.
    reached: Option<Head>,
    /// Where the last stop in order was, if no writer has begun since.
    stopped: Option<Head>,
}

/// A log and a head file that are older than what somebody knows of.
#[derive(Clone, Debug)]
pub(crate) struct RolledBack {
    pub problem: Problem,
    /// The last entry that is known to have been there.
    pub known: Position,
    /// The journal's true end, if the block store has everything up to there.
    pub whole: Option<(u64, [u8; 32])>,
}

impl RollbackGuard {
    pub(crate) fn find(disk: &dyn Disk, journal: Uuid) -> Self {
        let checkpoint = checkpoint::ends(disk, journal).into_iter().max_by_key(|(_, head)| head.block);
        Self { checkpoint, ..Self::beside_checkpoints(disk, journal) }
    }

    /// As [`RollbackGuard::find`], but for what index checkpoints tell: for an opening that relies on one of them.
    pub(crate) fn beside_checkpoints(disk: &dyn Disk, journal: Uuid) -> Self {
        let stopped = clean_stop::read(disk, journal).map(|found| found.head);
        Self { checkpoint: None, reached: reached::read(disk, journal), stopped }
    }

    /// The newest block that one of the files knows of.
    pub(crate) fn block(&self) -> u64 {
        self.named().map_or(0, |(_, head)| head.block)
    }

    fn named(&self) -> Option<(&'static str, Head)> {
        let stopped = self.stopped.map(|head| (STOPPED_FILE, head));
        let reached = self.reached.map(|head| (REACHED_FILE, head));
        self.checkpoint.into_iter().chain(reached).chain(stopped).max_by_key(|(_, head)| head.block)
    }

    /// Whether somebody knows of a block that is newer than all that log and head file know of.
    pub(crate) fn rolled_back(&self, scanned: &Scanned, survey: &Survey, found: FoundHead) -> Option<RolledBack> {
        let claimed = required(scanned, &Survey::default(), found);
        let stored = survey.end.map(|end| ("sled", end.block, end.position));
        let named = self.named().map(|(name, head)| (name, head.block, head.position));
        let (file, block, known) = stored.into_iter().chain(named).max_by_key(|(_, block, _)| *block)?;
        if block <= claimed {
            return None;
        }
        let problem = Problem {
            kind: ProblemKind::RolledBack,
            file: file.to_owned(),
            offset: None,
            blocks: Some((claimed + 1, block)),
        };
        let ends_there = |head: &Head| {
            let end = survey.end.filter(|_| survey.trouble.is_none() && survey.contiguous == head.block);
            head.block == block && end.is_some_and(|end: Tip| (end.block, end.hash) == (head.block, head.hash))
        };
        let whole = self.stopped.filter(ends_there).map(|head| (head.block, head.hash));
        Some(RolledBack { problem, known, whole })
    }
}

/// The newest block that anybody knows to have been acknowledged.
pub(crate) fn required(scanned: &Scanned, survey: &Survey, found: FoundHead) -> u64 {
    let by_head = match found {
        FoundHead::Read { newest, .. } => newest.head.block,
        FoundHead::Missing | FoundHead::Damaged => 0,
    };
    scanned.newest_block().max(survey.newest).max(by_head)
}
