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
//! | otherwise store or head file ahead of the log, or a block that two of them have differs | refuse |
//!
//! Whatever was in a log that is written anew stays beside it under another name.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

mod fill;
mod judge;
mod outside;
mod report;
mod trust;

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, LogKeep, OpenError,
    blocks::{Blocks, Store, StoreError},
    core::{Core, State},
    crash,
    disk::{Disk, Lock, LockError, LockMode},
    foreign,
    format::{self, FoundFormat},
    frame::FrameHeader,
    head::{self, FoundHead, HeadFile, HeadRecord},
    index::Index,
    integrity::{Problem, ProblemKind},
    leave::Leaving,
    log::{Log, LogError, LogReader, Tip},
    pack, readonly, repair,
    scan::{self, Scanned},
    segment::LOG_DIR,
};

pub(crate) use fill::Survey;
use fill::{Filled, fill_store, isolated, survey, survey_blocks};
pub(crate) use fill::{on_its_own_thread, open_copy};
pub(crate) use judge::{differences, required, unknown_end};
use judge::{is_in_doubt, vouched};
use outside::{Held, Outside};
pub use report::OpenReport;
use trust::Trusted;

/// A later repair would need a third reading of the log; two repairs of one log do not happen.
const ROUNDS_MAX: u32 = 3;

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
    /// The store, to be opened behind the opening; everything before the head is then still to be read.
    pub later: Option<Box<dyn Store>>,
    /// The segment that was read in full whatever was trusted; those before it are still to be read then.
    pub last_segment: u32,
    /// Where full segments go, if they go.
    pub leaving: Option<Leaving>,
    /// The journal's folder, without what of the log is elsewhere.
    pub folder: Arc<dyn Disk>,
}

/// What is asked of opening.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The id of a new journal.
    pub new_id: Uuid,
    pub segment_bytes: u64,
    /// Whether there will be threads that read behind the opening what a checkpoint is trusted for.
    pub may_trust: bool,
    pub keep: LogKeep,
    pub archive: Option<PathBuf>,
}

pub(crate) fn open(disk: Arc<dyn Disk>, store: &dyn Store, asked: &Asked) -> Result<Opened, OpenError> {
    let started = Instant::now();
    foreign::refuse(&*disk)?;
    let lock = take_lock(&*disk, LockMode::Exclusive)?;
    let (journal, origin) = find_or_make_format(&*disk, asked.new_id)?;
    repair::finish_replacing(&*disk).map_err(io_error(&*disk, "restore the log in"))?;
    readonly::remove_copies(&*disk).map_err(io_error(&*disk, "tidy"))?;
    let found = match head::read(&*disk).map_err(io_error(&*disk, "read the head of"))? {
        // It says nothing about this one; a log that was cut is then seen by the store alone, as without a head file.
        FoundHead::Read { newest, .. } if newest.journal != journal => FoundHead::Damaged,
        found => found,
    };
    let mut outside = Outside::find(&disk, journal, asked)?;
    let (folder, mut disk) = (disk.clone(), disk);
    store.finish_adopting().map_err(|error| io_error(&*disk, "restore the block store in")(io::Error::other(error)))?;
    if let Some(outside) = &mut outside {
        let untouched =
            matches!(found, FoundHead::Read { newest, .. } if trust::store_is_as_left(&*disk, store, &newest));
        outside.open_store(store, untouched)?;
        disk = outside.whole.clone();
    }
    let mut opening = Opening {
        disk,
        folder,
        store,
        journal,
        segment_bytes: asked.segment_bytes,
        may_trust: asked.may_trust && outside.as_ref().is_none_or(|outside| !outside.needs_store()),
        outside,
        filled: 0,
        aside: None,
        ignored: None,
    };
    let settled = match opening.trust(found) {
        Trusted::Yes(settled) => *settled,
        other => {
            if let Trusted::Ignored(problem) = other {
                tracing::warn!(%problem, "the index checkpoint is left aside; the whole log is read");
                opening.ignored = Some(problem);
            }
            opening.begin_log(found)?;
            opening.settle(found)?
        }
    };
    if origin == Origin::Witnessed {
        // Only now: what was refused is left as it was.
        format::write(&*opening.folder, journal).map_err(io_error(&*opening.folder, "write FORMAT in"))?;
    }
    opening.finish(settled, found, origin, lock, started)
}

/// How the journal's id was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Format,
    /// `FORMAT` is missing or damaged; head file and log agree.
    Witnessed,
    /// The journal is new.
    Created,
}

struct Opening<'s> {
    /// The journal's folder, with what of the log is elsewhere.
    disk: Arc<dyn Disk>,
    folder: Arc<dyn Disk>,
    outside: Option<Outside>,
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
    later: Option<Box<dyn Store>>,
}

impl Opening<'_> {
    /// Makes the first segment of a new journal before its block store is touched. Whoever meets a damaged store and no
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

    /// Reads log and store until nothing is left to repair.
    fn settle(&mut self, found: FoundHead) -> Result<Settled, OpenError> {
        let mut looked_aside = false;
        for _ in 0..ROUNDS_MAX {
            let mut index = Index::default();
            let mut visit = |header: &FrameHeader, records: &[u8], place| index.add_found(header, records, place);
            // The log first: a store is not opened before it is known that nothing will be refused, because opening changes it.
            let scanned =
                scan::scan(&*self.disk, self.journal, &mut visit).map_err(io_error(&*self.disk, "read the log in"))?;
            let doubted = !looked_aside && self.store.exists() && is_in_doubt(&scanned, found);
            looked_aside |= doubted;
            if doubted && self.look_aside(&scanned, &index, found)? {
                self.tidy_outside();
                continue;
            }
            let journal = self.journal;
            // What is only in a copy of the store is not opened in place before it is in that place.
            let copied = self.held().is_some_and(|held| held.copy.is_some());
            if let Some(outside) = self.outside.as_mut().filter(|_| copied) {
                outside.adopt(self.store)?;
            }
            let mut survey = match self.held().filter(|held| held.copy.is_none()).and_then(|held| held.blocks.take()) {
                Some(blocks) => isolated(self.store, || survey_blocks(blocks, journal)),
                None => isolated(self.store, || survey(self.store, journal)),
            };
            survey.compare(&scanned.hashes);
            crash::point("after-survey");
            if !self.repair_log(&scanned, &survey, &index, found)? {
                let torn_cut = self.cut(&scanned)?;
                return Ok(Settled { scanned, index, survey, torn_cut, later: None });
            }
            drop(survey);
            self.tidy_outside();
        }
        Err(self.refuse(IntegrityReport::default()))
    }

    /// The store, as far as it had to be opened before the log was read.
    fn held(&mut self) -> Option<&mut Held> {
        self.outside.as_mut()?.held.as_mut()
    }

    /// Once the log was written anew, nothing of it is elsewhere.
    fn tidy_outside(&mut self) {
        if let Some(outside) = self.outside.as_mut().filter(|outside| !outside.needs_store()) {
            outside.let_go();
        }
    }

    /// Repairs the log with what a copy of the store has: should the answer be a refusal, the store was not touched.
    /// False if there is no copy, because opening the store does it no harm, or because it is open.
    fn look_aside(&mut self, scanned: &Scanned, index: &Index, found: FoundHead) -> Result<bool, OpenError> {
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
        let repaired = self.repair_log(scanned, &survey, index, found);
        if let (None, Some(held)) = (&aside, self.held()) {
            held.blocks = survey.blocks.take();
        }
        drop(survey);
        // A copy that stays is replaced by the next one.
        let _ = aside.map(|aside| aside.wipe());
        repaired.map(|_| true)
    }

    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, OpenError> {
        let failed = |error: StoreError| io_error(&*self.disk, "copy the block store in")(io::Error::other(error));
        self.store.copy_aside().map_err(failed)
    }

    /// Writes the log anew if that has to be; whether it had to.
    fn repair_log(
        &mut self,
        scanned: &Scanned,
        survey: &Survey,
        index: &Index,
        found: FoundHead,
    ) -> Result<bool, OpenError> {
        self.refuse_differences(scanned, survey, found, index)?;
        let required = required(scanned, survey, found);
        if required > scanned.tip.block {
            self.fill(scanned, survey, index, required, found)?;
        } else if scanned.damaged_inside() || scanned.differs() {
            self.fill(scanned, survey, index, scanned.tip.block, found)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn refuse_differences(
        &self,
        scanned: &Scanned,
        survey: &Survey,
        found: FoundHead,
        index: &Index,
    ) -> Result<(), OpenError> {
        if let Some(fault) =
            scanned.faults.iter().find(|fault| matches!(fault.problem.kind, ProblemKind::NewerFormat { .. }))
        {
            let path = self.disk.path();
            return Err(OpenError::Foreign { path, problem: fault.problem.to_string() });
        }
        let mut problems = differences(self.journal, scanned, found);
        if vouched(found).is_some() {
            // Whether the store has what should be there instead is seen when the log is written anew.
            problems.retain(|problem| problem.kind == ProblemKind::HeadDiffers);
        }
        if let Some(block) = survey.differs {
            problems.push(Problem {
                kind: ProblemKind::StoreDiffers,
                file: "sled".into(),
                offset: None,
                blocks: Some((block, block)),
            });
        }
        problems.extend(unknown_end(scanned, found));
        // Neither log nor head, and a store that cannot say what there was: not a journal that was just being made.
        let nothing_left = scanned.segments.is_empty() && found == FoundHead::Missing;
        if nothing_left && survey.trouble.is_some() {
            problems.push(Problem { kind: ProblemKind::FileMissing, file: "log".into(), offset: None, blocks: None });
        }
        if problems.is_empty() {
            return Ok(());
        }
        let mut report = repair::missing(self.journal, &self.disk, scanned, survey, index, found);
        report.problems.splice(0..0, problems);
        Err(self.refuse(report))
    }

    /// Writes the log anew, from its own sound blocks and the store's.
    fn fill(
        &mut self,
        scanned: &Scanned,
        survey: &Survey,
        index: &Index,
        required: u64,
        found: FoundHead,
    ) -> Result<(), OpenError> {
        let refusal = || {
            let mut report = repair::missing(self.journal, &self.disk, scanned, survey, index, found);
            let inside = scanned.faults.iter().map(|fault| fault.problem.clone());
            report.problems.extend(inside);
            report
        };
        // A log that simply ends was cut, or is an older one. Without a head file nobody knows where it should end.
        let vouched = vouched(found);
        if scanned.faults.is_empty() && vouched.is_none() {
            return Err(self.refuse(refusal()));
        }
        let wanted = repair::Wanted { last: required, vouched };
        let filled = repair::rewrite_log(&self.disk, self.journal, self.segment_bytes, scanned, survey, index, wanted)
            .map_err(io_error(&*self.disk, "repair the log in"))?;
        match filled {
            Some(rewritten) => {
                self.filled += rewritten.filled;
                self.aside = Some(rewritten.aside);
                Ok(())
            }
            None => Err(self.refuse(refusal())),
        }
    }

    /// Cuts what stands behind the last block; answers how much it was, if it was anything but zeros.
    fn cut(&self, scanned: &Scanned) -> Result<Option<u64>, OpenError> {
        if scanned.faults.is_empty() {
            return Ok(None);
        }
        let cut =
            repair::cut_tail(&*self.disk, scanned).map_err(io_error(&*self.disk, "cut the torn end of the log in"))?;
        Ok(Some(cut))
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
        pack::remove_unfinished(&*self.disk).map_err(io_error(&*self.disk, "tidy the log in"))?;
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
        let needed = self.outside.as_mut().filter(|outside| outside.needs_store());
        if let Some(outside) = needed.filter(|_| survey.trouble.is_some()) {
            // It is never built anew from a log that does not have everything.
            drop(survey.blocks.take());
            outside.adopt(self.store)?;
            adopted = survey.trouble.take();
            let journal = self.journal;
            survey = isolated(self.store, || fill::survey(self.store, journal));
            survey.compare(&scanned.hashes);
            if let Some(problem) = survey.trouble {
                return Err(OpenError::OnlyInStore { path: self.disk.path(), problem });
            }
        }
        let caught = match &later {
            Some(_) => Filled::default(),
            None => isolated(self.store, || fill_store(self.store, &core, survey, tip.block)),
        };
        if let Some(outside) = self.outside.as_mut() {
            if outside.needs_store() && caught.blocks.is_none() {
                let problem = caught.unavailable.unwrap_or_default();
                return Err(OpenError::OnlyInStore { path: self.disk.path(), problem });
            }
            outside.let_go();
            outside.note_changes().map_err(io_error(&*self.disk, "write where the log begins in"))?;
        }
        core.set_stored(if caught.blocks.is_some() { tip.block } else { 0 });
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
            format_rewritten: origin == Origin::Witnessed,
            head_rewritten: tip.block > 0 && (last.is_none() || other_slot_damaged),
            by_checkpoint: later.is_some(),
            checkpoint_ignored: self.ignored,
            duration: Duration::ZERO,
        };
        let stopped_in_order = last.is_some_and(|last| last.clean && last.head.block == tip.block);
        report.clean = stopped_in_order && !report.repaired() && torn_cut.is_none() && report.caught_up_blocks == 0;
        let first = HeadRecord {
            journal: self.journal,
            sequence: last.map_or(0, |last| last.sequence),
            head,
            epoch: report.epoch,
            store_synced: if caught.synced { tip.block } else { synced_before },
            clean: false,
        };
        let exists = found != FoundHead::Missing;
        let head_file =
            HeadFile::begin(&*self.disk, first, exists).map_err(io_error(&*self.disk, "write the head of"))?;
        crash::point("after-head-begun");
        report.duration = started.elapsed();
        let (disk, blocks) = (self.disk, caught.blocks);
        let folder = self.folder;
        let leaving = self.outside.as_ref().and_then(|outside| {
            let (whole, folder) = (outside.whole.clone(), folder.clone());
            outside.to.clone().map(|to| Leaving { whole, folder, to })
        });
        let last_segment = scanned.segments.last().map_or(0, |segment| segment.number);
        Ok(Opened {
            last_segment,
            leaving,
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
        let goes_on = scanned.end.is_some() && !scanned.ends_in_sealed_segment();
        // The one that is made anew is not removed before: a log without any segment is a lost one.
        let made_anew = if goes_on { 0 } else { last.unwrap_or(0) + 1 };
        let empty = |number: u32| Some(number) > last && number != made_anew;
        for segment in scanned.segments.iter().filter(|segment| empty(segment.number)) {
            crate::segment::remove(&*self.disk, segment.number)
                .map_err(io_error(&*self.disk, "remove an empty segment in"))?;
        }
        let disk = self.disk.clone();
        let (journal, bytes, tip) = (self.journal, self.segment_bytes, scanned.tip);
        let log = match scanned.end {
            Some((segment, offset)) if goes_on => {
                Log::resume(disk, journal, bytes, segment, offset, tip).map_err(LogError::Unclear)
            }
            _ => Log::create(disk, journal, bytes, made_anew, tip),
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

fn find_or_make_format(disk: &dyn Disk, new_id: Uuid) -> Result<(Uuid, Origin), OpenError> {
    if let Some((journal, is_witnessed)) = known_id(disk)? {
        return Ok((journal, if is_witnessed { Origin::Witnessed } else { Origin::Format }));
    }
    format::write(disk, new_id).map_err(io_error(disk, "write FORMAT in"))?;
    crash::point("after-format");
    Ok((new_id, Origin::Created))
}

/// The id of an existing journal, for readers; and whether it is known without a `FORMAT` file.
pub(crate) fn existing_id(disk: &dyn Disk) -> Result<(Uuid, bool), OpenError> {
    let problem = || "it has no FORMAT file".into();
    known_id(disk)?.ok_or_else(|| OpenError::Foreign { path: disk.path(), problem: problem() })
}

/// None: nothing says that there is a journal.
fn known_id(disk: &dyn Disk) -> Result<Option<(Uuid, bool)>, OpenError> {
    let foreign = |problem: String| OpenError::Foreign { path: disk.path(), problem };
    let problem = match format::read(disk).map_err(io_error(disk, "read FORMAT in"))? {
        FoundFormat::Journal(journal) => return Ok(Some((journal, false))),
        FoundFormat::Refused(problem) => return Err(foreign(problem)),
        FoundFormat::Damaged(problem) => Some(problem),
        FoundFormat::Missing => None,
    };
    let witnessed = format::witnessed(disk).map_err(io_error(disk, "read head and log in"))?;
    match (witnessed, problem) {
        (Some(journal), _) => Ok(Some((journal, true))),
        (None, Some(problem)) => Err(foreign(problem)),
        (None, None) => Ok(None),
    }
}

pub(crate) fn take_lock(disk: &dyn Disk, how: LockMode) -> Result<Lock, OpenError> {
    disk.lock(how).map_err(|error| match error {
        LockError::Held { holder } => OpenError::InUse { path: disk.path(), holder },
        LockError::Io(source) => OpenError::Io { action: "lock", path: disk.path(), source },
    })
}

pub(crate) fn io_error(disk: &dyn Disk, action: &'static str) -> impl Fn(io::Error) -> OpenError + use<> {
    let path = disk.path();
    move |source| OpenError::Io { action, path: path.clone(), source }
}

/// The reader that repairs use before there is a core.
pub(crate) fn reader(disk: &Arc<dyn Disk>) -> LogReader {
    LogReader::new(disk.clone())
}
