//! The opening table: log against head file and block store; go, catch up, repair and say so, or refuse.
//!
//! | log and store | action |
//! |---|---|
//! | equal | go |
//! | store behind, log whole | append the missing blocks to the store: catch-up |
//! | store damaged, empty, panicking or refusing, log whole | rebuild it from the log: repair |
//! | the log's last bytes torn, never acknowledged | cut them |
//! | damage inside the log, the store has those blocks with the right chain | fill from the store: repair |
//! | store or head file ahead of the log, or a block that both have differs | refuse |

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

mod fill;
mod report;

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, OpenError,
    blocks::{Blocks, Store},
    core::{Core, State},
    crash,
    disk::{Disk, Lock, LockError, LockMode},
    foreign,
    format::{self, FoundFormat},
    frame::FrameHeader,
    head::{self, FoundHead, HEAD_FILE, HeadFile, HeadRecord},
    index::Index,
    integrity::{Problem, ProblemKind},
    log::{Log, LogError, LogReader, Tip},
    pack, repair,
    scan::{self, Scanned},
};

pub(crate) use fill::Survey;
pub(crate) use fill::on_its_own_thread;
use fill::{fill_store, isolated, survey};
pub use report::OpenReport;

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
}

/// What is asked of opening.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The id of a new journal.
    pub new_id: Uuid,
    pub segment_bytes: u64,
}

pub(crate) fn open(disk: Arc<dyn Disk>, store: &dyn Store, asked: &Asked) -> Result<Opened, OpenError> {
    let started = Instant::now();
    foreign::refuse(&*disk)?;
    let lock = take_lock(&*disk, LockMode::Exclusive)?;
    let (journal, created) = find_or_make_format(&*disk, asked.new_id)?;
    repair::finish_replacing(&*disk).map_err(io_error(&*disk, "restore the log in"))?;
    let mut opening = Opening { disk, store, journal, segment_bytes: asked.segment_bytes, filled: 0, aside: None };
    let found = head::read(&*opening.disk).map_err(io_error(&*opening.disk, "read the head of"))?;
    let settled = opening.settle(found)?;
    opening.finish(settled, found, created, lock, started)
}

struct Opening<'s> {
    disk: Arc<dyn Disk>,
    store: &'s dyn Store,
    journal: Uuid,
    segment_bytes: u64,
    filled: u64,
    aside: Option<String>,
}

/// Log and store, once they agree.
struct Settled {
    scanned: Scanned,
    index: Index,
    survey: Survey,
    torn_cut: Option<u64>,
}

impl Opening<'_> {
    /// Reads log and store until nothing is left to repair.
    fn settle(&mut self, found: FoundHead) -> Result<Settled, OpenError> {
        for _ in 0..ROUNDS_MAX {
            let mut index = Index::default();
            let mut visit = |header: &FrameHeader, records: &[u8], place| index.add_found(header, records, place);
            let mut scan = || scan::scan(&*self.disk, self.journal, &mut visit);
            let look = || isolated(self.store, || survey(self.store, self.journal));
            let (scanned, mut survey) = if self.store.wants_own_thread() {
                // Log and store are of one size, and each is read by one processor.
                std::thread::scope(|scope| {
                    let looking = scope.spawn(look);
                    let scanned = scan();
                    (scanned, looking.join().unwrap_or_else(|_| Survey::panicked()))
                })
            } else {
                (scan(), look())
            };
            let scanned = scanned.map_err(io_error(&*self.disk, "read the log in"))?;
            survey.compare(&scanned.hashes);
            crash::point("after-survey");
            self.refuse_differences(&scanned, &survey, found, &index)?;
            let required = required(&scanned, &survey, found);
            if required > scanned.tip.block {
                self.fill(&scanned, &survey, &index, required, found)?;
            } else if scanned.damaged_inside() {
                self.fill(&scanned, &survey, &index, scanned.tip.block, found)?;
            } else {
                let torn_cut = self.cut(&scanned)?;
                return Ok(Settled { scanned, index, survey, torn_cut });
            }
        }
        Err(self.refuse(IntegrityReport::default()))
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
        if let Some(block) = survey.differs {
            problems.push(Problem {
                kind: ProblemKind::StoreDiffers,
                file: "sled".into(),
                offset: None,
                blocks: Some((block, block)),
            });
        }
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
        // A log that simply ends was cut, even if the store could fill it: somebody put an older one there.
        if scanned.faults.is_empty() {
            return Err(self.refuse(refusal()));
        }
        let filled =
            repair::rewrite_log(&self.disk, self.journal, self.segment_bytes, scanned, survey, index, required)
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
        self,
        settled: Settled,
        found: FoundHead,
        created: bool,
        lock: Lock,
        started: Instant,
    ) -> Result<Opened, OpenError> {
        let Settled { scanned, index, mut survey, torn_cut } = settled;
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
        let caught = isolated(self.store, || fill_store(self.store, &core, survey, tip.block));
        core.set_stored(if caught.blocks.is_some() { tip.block } else { 0 });
        crash::point("after-store-filled");
        let mut report = OpenReport {
            journal: self.journal,
            created,
            epoch: scanned.epoch.max(last.map_or(0, |last| last.epoch)) + 1,
            clean: false,
            head,
            streams,
            caught_up_blocks: caught.caught_up,
            store_rebuilt: caught.rebuilt,
            store_unavailable: caught.unavailable,
            log_filled_blocks: self.filled,
            damaged_log: self.aside,
            torn_cut,
            head_rewritten: tip.block > 0 && (last.is_none() || other_slot_damaged),
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
        Ok(Opened { core, disk, log, tip, head_file: Arc::new(head_file), blocks, lock, report })
    }

    /// Goes on behind the last block; segments behind it are empty and are made anew when they are needed.
    fn resume_log(&self, scanned: &Scanned) -> Result<Log, OpenError> {
        let last = scanned.end.map(|end| end.0);
        for segment in scanned.segments.iter().filter(|segment| Some(segment.number) > last) {
            crate::segment::remove(&*self.disk, segment.number)
                .map_err(io_error(&*self.disk, "remove an empty segment in"))?;
        }
        let disk = self.disk.clone();
        let (journal, bytes, tip) = (self.journal, self.segment_bytes, scanned.tip);
        let log = match scanned.end {
            Some((segment, offset)) if !scanned.ends_in_sealed_segment() => {
                Log::resume(disk, journal, bytes, segment, offset, tip).map_err(LogError::Unclear)
            }
            _ => Log::create(disk, journal, bytes, last.unwrap_or(0) + 1, tip),
        };
        log.map_err(|error| {
            let source = match error {
                LogError::Full => io::ErrorKind::StorageFull.into(),
                LogError::Unclear(error) => error,
            };
            io_error(&*self.disk, "write the log in")(source)
        })
    }

    fn refuse(&self, report: IntegrityReport) -> OpenError {
        OpenError::Integrity { path: self.disk.path(), report: Box::new(report) }
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

/// History that is there but is not what it should be: never repaired.
pub(crate) fn differences(journal: Uuid, scanned: &Scanned, found: FoundHead) -> Vec<Problem> {
    let differing = scanned.faults.iter().filter(|fault| fault.differs);
    let mut problems: Vec<Problem> = differing.map(|fault| fault.problem.clone()).collect();
    if let FoundHead::Read { newest, .. } = found {
        let block = newest.head.block;
        let in_log = block.checked_sub(1).and_then(|at| scanned.hashes.get(at as usize));
        let other = in_log.is_some_and(|hash| *hash != newest.head.hash);
        if other || newest.journal != journal {
            let blocks = Some((block, block));
            problems.push(Problem { kind: ProblemKind::HeadDiffers, file: HEAD_FILE.into(), offset: None, blocks });
        }
    }
    problems
}

fn find_or_make_format(disk: &dyn Disk, new_id: Uuid) -> Result<(Uuid, bool), OpenError> {
    match format::read(disk).map_err(io_error(disk, "read FORMAT in"))? {
        FoundFormat::Journal(journal) => Ok((journal, false)),
        FoundFormat::Refused(problem) => Err(OpenError::Foreign { path: disk.path(), problem }),
        FoundFormat::Missing => {
            format::write(disk, new_id).map_err(io_error(disk, "write FORMAT in"))?;
            crash::point("after-format");
            Ok((new_id, true))
        }
    }
}

/// The id of an existing journal, for readers.
pub(crate) fn existing_id(disk: &dyn Disk) -> Result<Uuid, OpenError> {
    let foreign = |problem: String| OpenError::Foreign { path: disk.path(), problem };
    match format::read(disk).map_err(io_error(disk, "read FORMAT in"))? {
        FoundFormat::Journal(journal) => Ok(journal),
        FoundFormat::Refused(problem) => Err(foreign(problem)),
        FoundFormat::Missing => Err(foreign("it has no FORMAT file".into())),
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
