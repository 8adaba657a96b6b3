//! The opening table: log against head file and block store; go, catch up, repair and say so, or refuse.
//!
//! | log and store | action |
//! |---|---|
//! | equal | go |
//! | store behind, log whole | append the missing blocks to the store: catch-up |
//! | store damaged, empty, panicking or refusing, log whole | rebuild it from the log: repair |
//! | the log's last bytes torn, never acknowledged | cut them |
//! | damage inside the log, the store has those blocks with the right chain | fill from the store: repair |
//! | log cut, old, swapped or foreign; the store has all up to the head file's block, hash included | as above |
//! | head file missing, damaged or another journal's, log whole | write it anew: repair |
//! | log and head file older than the store, and the last stop in order left its mark at the store's last block | fill from the store: repair |
//! | log and head file older than the store or an index checkpoint, without that mark | refuse: put back to an older state |
//! | otherwise store or head file ahead of the log, or a block that two of them have differs | refuse |
//!
//! Whatever was in a log that is written anew stays beside it under another name.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

mod archived;
mod by_checkpoint;
mod catch_up;
mod evidence;
pub(crate) mod foreign;
pub(crate) mod format_file;
mod identity;
mod judge;
pub(crate) mod repair;
mod report;
mod rollback_guard;
mod settle;
pub(crate) mod store_copies;

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, LogKeep, OpenError,
    background::archiver::Archiver,
    blocks::{Blocks, Store},
    checkpoint,
    core::{Core, State},
    disk::{Disk, Lock, LockMode, crash},
    format::{
        clean_stop,
        head_file::{self, FoundHead, HeadFile},
        head_record::HeadRecord,
    },
    index::Index,
    log::{
        commit_log::{Log, LogError, Tip},
        compress,
        scan::Scanned,
        segment::LOG_DIR,
    },
};

use archived::Archived;
use by_checkpoint::Trusted;
pub(crate) use by_checkpoint::store_is_as_left;
pub(crate) use catch_up::Survey;
use catch_up::{Filled, fill_store, isolated};
pub(crate) use catch_up::{on_its_own_thread, open_copy, survey_of};
pub(crate) use evidence::Evidence;
pub use identity::{Occupant, occupant};
use identity::{Origin, find_or_make_format};
pub(crate) use identity::{existing_id, io_error, take_lock};
pub(crate) use judge::is_in_doubt;
pub use report::OpenReport;
pub(crate) use rollback_guard::{RollbackGuard, required};

/// What opening hands to the journal.
pub(crate) struct Opened {
    pub core: Arc<Core>,
    pub disk: Arc<dyn Disk>,
    pub log: Log,
    pub tip: Tip,
    pub head_file: Arc<HeadFile>,
    pub blocks: Option<Box<dyn Blocks>>,
    pub lock: Lock,
    pub report: OpenReport,
    /// What is left to be done behind the opening, if it went by a checkpoint.
    pub later: Option<AfterOpen>,
    /// Blocks up to this one are durable in the store.
    pub store_synced: u64,
    /// Where full segments go, if they go.
    pub archiver: Option<Archiver>,
    /// The journal's folder, without what of the log is elsewhere.
    pub folder: Arc<dyn Disk>,
}

/// What an opening by a checkpoint leaves for later.
#[derive(Debug)]
pub(crate) struct AfterOpen {
    /// The store, which is not open yet.
    pub store: Box<dyn Store>,
    /// Whether its files are as the last stop in order left them; else what it has is to be seen.
    pub as_left: bool,
    /// Segments before this one are still to be read.
    pub read_from: u32,
}

/// What is asked of opening.
#[derive(Clone, Debug)]
pub(crate) struct OpenOptions {
    /// The id of a new journal.
    pub new_id: Uuid,
    pub segment_bytes: u64,
    /// Whether somebody reads behind the opening what a checkpoint is trusted for.
    pub may_trust: bool,
    pub keep: LogKeep,
    pub archive: Option<PathBuf>,
}

pub(crate) fn open(disk: Arc<dyn Disk>, store: &dyn Store, options: &OpenOptions) -> Result<Opened, OpenError> {
    let started = Instant::now();
    foreign::refuse(&*disk)?;
    let lock = take_lock(&*disk, LockMode::Exclusive)?;
    let (journal, origin) = find_or_make_format(&*disk, options.new_id)?;
    repair::finish_replacing(&*disk).map_err(io_error(&*disk, "restore the log in"))?;
    store_copies::remove_copies(&*disk).map_err(io_error(&*disk, "tidy"))?;
    let found = head_file::read_of(&*disk, journal).map_err(io_error(&*disk, "read the head of"))?;
    let mut archived = Archived::find(&disk, journal, options)?;
    let (folder, mut disk) = (disk.clone(), disk);
    store.finish_adopting().map_err(|error| io_error(&*disk, "restore the block store in")(io::Error::other(error)))?;
    if let Some(archived) = &mut archived {
        let untouched = matches!(found, FoundHead::Read { newest, .. } if store_is_as_left(&*disk, store, &newest));
        archived.open_store(store, untouched)?;
        disk = archived.whole.clone();
    }
    let mut opening = Opening {
        disk,
        folder,
        store,
        journal,
        segment_bytes: options.segment_bytes,
        may_trust: options.may_trust && archived.as_ref().is_none_or(|archived| !archived.needs_store()),
        archived,
        filled: 0,
        aside: None,
        ignored: None,
    };
    let settled = match opening.trust(found) {
        Trusted::Yes(settled) => *settled,
        other => {
            if let Trusted::Ignored(problem) = other {
                tracing::warn!(%problem, "ignoring the index checkpoint; reading the whole log");
                opening.ignored = Some(problem);
            }
            opening.begin_log(found)?;
            let settled = opening.settle(found)?;
            // Only now: it may be the one that knows how far the journal had come.
            checkpoint::forget_used(&*opening.folder);
            settled
        }
    };
    if origin == Origin::Recovered {
        // Only now: what was refused is left as it was.
        format_file::write(&*opening.folder, journal).map_err(io_error(&*opening.folder, "write FORMAT in"))?;
    }
    opening.finish(settled, found, origin, lock, started)
}

struct Opening<'s> {
    /// The journal's folder, with what of the log is elsewhere.
    disk: Arc<dyn Disk>,
    folder: Arc<dyn Disk>,
    archived: Option<Archived>,
    store: &'s dyn Store,
    journal: Uuid,
    segment_bytes: u64,
    may_trust: bool,
    filled: u64,
    aside: Option<String>,
    /// Why the checkpoint was left aside.
    ignored: Option<String>,
}

/// Log and store, once they agree.
struct Settled {
    scanned: Scanned,
    index: Index,
    survey: Survey,
    torn_cut: Option<u64>,
    /// As in [`Opened`].
    later: Option<AfterOpen>,
}

impl Opening<'_> {
    /// Makes the first segment of a new journal before its block store is touched. An opening that meets a damaged store and no
    /// log then knows that a log is lost, and that this is not a journal that was just being made.
    fn begin_log(&self, found: FoundHead) -> Result<(), OpenError> {
        let names = self.disk.list(LOG_DIR).map_err(io_error(&*self.disk, "list the log in"))?;
        if !names.is_empty() || found != FoundHead::Missing || self.store.exists() {
            return Ok(());
        }
        let made = Log::create(self.disk.clone(), self.journal, self.segment_bytes, 1, Tip::genesis(self.journal));
        crash::point("after-first-segment");
        made.map(drop).map_err(|error| self.log_error(error))
    }

    fn finish(
        mut self,
        settled: Settled,
        found: FoundHead,
        origin: Origin,
        lock: Lock,
        started: Instant,
    ) -> Result<Opened, OpenError> {
        let Settled { scanned, index, mut survey, torn_cut, later } = settled;
        let tip = scanned.tip;
        let log = self.resume_log(&scanned)?;
        compress::remove_unfinished(&*self.disk).map_err(io_error(&*self.disk, "tidy the log in"))?;
        crash::point("after-log-resumed");
        let last = match found {
            FoundHead::Read { newest, .. } => Some(newest),
            FoundHead::Missing | FoundHead::Damaged => None,
        };
        let other_slot_damaged = matches!(found, FoundHead::Read { other_damaged: true, .. });
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        let streams = index.stream_count();
        let core = Arc::new(Core::new(self.journal, self.disk.clone(), State::new(index, head)));
        let synced_before = last.map_or(0, |last| last.store_synced).min(tip.block);
        let lost_synced =
            survey.blocks.as_ref().is_some_and(|blocks| blocks.is_durable()) && survey.contiguous < synced_before;
        if lost_synced && survey.trouble.is_none() {
            let problem = format!("blocks {} to {synced_before} are missing", survey.contiguous + 1);
            survey.trouble = Some(problem);
        }
        let mut adopted = None;
        let needed = self.archived.as_mut().filter(|archived| archived.needs_store());
        if let Some(archived) = needed.filter(|_| survey.trouble.is_some()) {
            // It is never built anew from a log that does not have everything.
            drop(survey.blocks.take());
            archived.adopt(self.store)?;
            adopted = survey.trouble.take();
            let journal = self.journal;
            survey = isolated(self.store, || catch_up::survey(self.store, journal));
            survey.compare(&scanned.hashes);
            if let Some(problem) = survey.trouble {
                return Err(OpenError::OnlyInStore { path: self.disk.path(), problem });
            }
        }
        let caught = match &later {
            Some(_) => Filled::default(),
            None => isolated(self.store, || fill_store(self.store, &core, survey, tip.block)),
        };
        if let Some(archived) = self.archived.as_mut() {
            if archived.needs_store() && caught.blocks.is_none() {
                let problem = caught.unavailable.unwrap_or_default();
                return Err(OpenError::OnlyInStore { path: self.disk.path(), problem });
            }
            archived.let_go();
            archived.note_changes().map_err(io_error(&*self.disk, "write where the log begins in"))?;
        }
        core.set_stored(if caught.blocks.is_some() { tip.block } else { 0 });
        let store_synced = match (caught.synced, &caught.rebuilt) {
            (true, _) => tip.block,
            (false, None) => synced_before,
            (false, Some(_)) => 0,
        };
        crash::point("after-store-filled");
        let mut report = OpenReport {
            journal: self.journal,
            created: origin == Origin::Created,
            epoch: scanned.epoch.max(last.map_or(0, |last| last.epoch)) + 1,
            clean: false,
            head,
            streams,
            caught_up_blocks: caught.caught_up,
            store_rebuilt: caught.rebuilt.or(adopted),
            store_unavailable: caught.unavailable,
            log_filled_blocks: self.filled,
            damaged_log: self.aside,
            torn_cut,
            format_rewritten: origin == Origin::Recovered,
            head_rewritten: tip.block > 0 && (last.is_none() || other_slot_damaged),
            by_checkpoint: later.is_some(),
            checkpoint_ignored: self.ignored,
            duration: Duration::ZERO,
        };
        // Damage since then does not make it an unclean one.
        let stopped = clean_stop::read(&*self.folder, self.journal).or(last.filter(|last| last.clean));
        report.clean = stopped.is_some_and(|stopped| stopped.head.block == tip.block);
        let first = HeadRecord {
            journal: self.journal,
            sequence: last.map_or(0, |last| last.sequence),
            head,
            epoch: report.epoch,
            store_synced,
            clean: false,
        };
        let exists = found != FoundHead::Missing;
        let head_file =
            HeadFile::begin(&*self.disk, first, exists).map_err(io_error(&*self.disk, "write the head of"))?;
        crash::point("after-head-begun");
        clean_stop::remove(&*self.folder).map_err(io_error(&*self.folder, "remove the mark of the last stop in"))?;
        crash::point("after-mark-removed");
        report.duration = started.elapsed();
        let (disk, blocks) = (self.disk, caught.blocks);
        let folder = self.folder;
        let archiver = self.archived.as_ref().and_then(|archived| {
            let (whole, folder) = (archived.whole.clone(), folder.clone());
            archived.to.clone().map(|to| Archiver { whole, folder, to })
        });
        Ok(Opened {
            store_synced,
            archiver,
            folder,
            core,
            disk,
            log,
            tip,
            head_file: Arc::new(head_file),
            blocks,
            lock,
            report,
            later,
        })
    }

    /// Goes on behind the last block; segments behind it are empty and are made anew when they are needed.
    fn resume_log(&self, scanned: &Scanned) -> Result<Log, OpenError> {
        let last = scanned.end.map(|end| end.0);
        let made_anew = scanned.made_anew();
        let numbers = scanned.segments.iter().map(|segment| segment.number);
        for number in numbers.filter(|number| Some(*number) > last && Some(*number) != made_anew) {
            crate::log::segment::remove(&*self.disk, number)
                .map_err(io_error(&*self.disk, "remove an empty segment in"))?;
        }
        let disk = self.disk.clone();
        let (journal, bytes, tip) = (self.journal, self.segment_bytes, scanned.tip);
        let log = match (scanned.end, made_anew) {
            (Some((segment, offset)), None) => {
                Log::resume(disk, journal, bytes, segment, offset, tip).map_err(LogError::Unclear)
            }
            (_, number) => {
                let number = number.unwrap_or(1);
                let is_there = scanned.segments.iter().any(|segment| segment.number == number);
                let make = if is_there { Log::replace } else { Log::create };
                make(disk, journal, bytes, number, tip)
            }
        };
        log.map_err(|error| self.log_error(error))
    }

    fn log_error(&self, error: LogError) -> OpenError {
        let source = match error {
            LogError::Full => io::ErrorKind::StorageFull.into(),
            LogError::Unclear(error) => error,
        };
        io_error(&*self.disk, "write the log in")(source)
    }

    fn refuse(&self, report: IntegrityReport) -> OpenError {
        OpenError::Integrity { path: self.disk.path(), report: Box::new(report) }
    }
}
