//! Walks a stopped journal: every block, every entry, the chain, the head file. Reports; never repairs.

use std::{fmt, io, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, OpenError, Position, Problem, ProblemKind, Salvaged,
    blocks::{SledStore, Store},
    disk::{Disk, LockMode, OsDisk},
    format::{
        clean_stop, frame,
        head_file::{FoundHead, HEAD_FILE},
        head_record::HeadRecord,
    },
    open::{self, format_file::FORMAT_FILE},
    tools::{
        read_only::{Care, CopyOfStore, Each, Outlook, Repair, StoreSeen, inspect},
        salvage,
    },
};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub journal: Uuid,
    /// The end of the chain as far as it holds, or will hold once the node has repaired it.
    pub head: Head,
    /// Of the last writer that is known to have appended.
    pub epoch: u64,
    pub streams: usize,
    pub segments: usize,
    /// Bytes of all segment files.
    pub bytes: u64,
    /// The last writer stopped in order.
    pub clean: bool,
    /// What the next opening mends by itself without loss, and will report: a torn end, a seal, the head file.
    pub mendable: Vec<Problem>,
    /// What is lost or was changed, and no start repairs.
    pub integrity: IntegrityReport,
    /// What the next start repairs without loss, from what log and block store have together: both were looked into. The
    /// problems are among `mendable`.
    pub repair: Option<Repair>,
    /// What is left behind damage that no start repairs.
    pub recovery: Option<Recovery>,
    /// What was seen of the block store.
    pub store: StoreSeen,
}

/// What [`salvage`](crate::salvage()) would make of a damaged journal, found by the same rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The first entry that is not as it was, and the last that is known to have been there.
    pub affected: (Position, Position),
    /// How many of those salvage recovers.
    pub recoverable: u64,
    /// First and last of each range that it does not: unreadable, or following something unreadable in its stream.
    pub lost: Vec<(Position, Position)>,
}

impl Recovery {
    /// None, if every entry up to `known`, the last known one, is as it was.
    pub(crate) fn of(salvaged: Salvaged, known: Position) -> Option<Self> {
        let Salvaged { entries, head, unchanged, mut lost, .. } = salvaged;
        if known > head.position {
            lost.push((head.position.next(), known));
        }
        lost.dedup_by(|next, before| {
            let follows = before.1.next() == next.0;
            before.1 = if follows { next.1 } else { before.1 };
            follows
        });
        let affected = (unchanged.next(), known.max(head.position));
        (affected.0 <= affected.1).then(|| Self { affected, recoverable: entries.saturating_sub(unchanged.0), lost })
    }
}

/// Checks the journal in a folder. Changes nothing of it. Unless the block store's files are as the last stop in order
/// left them, a copy of it is made in the folder, held against the log, and removed: opening sled itself rewrites it.
///
/// # Errors
/// If a node has it open, if it is no journal, or if the disk does not answer. What is wrong with the history is in the
/// report.
pub fn check(dir: &Path) -> Result<CheckReport, OpenError> {
    check_from(Arc::new(OsDisk::new(dir)), Some(dir))
}

/// As [`check`], on any disk.
///
/// # Errors
/// As [`check`].
pub fn check_on(disk: Arc<dyn Disk>) -> Result<CheckReport, OpenError> {
    check_from(disk, None)
}

fn check_from(disk: Arc<dyn Disk>, dir: Option<&Path>) -> Result<CheckReport, OpenError> {
    let (journal, is_witnessed) = open::existing_id(&*disk)?;
    let _lock = open::take_lock(&*disk, LockMode::Shared)?;
    let each: Each = |index, header, records, place| {
        for record in frame::records(records) {
            record?.entry()?;
        }
        index.add_found(header, records, place)
    };
    let looked = inspect(disk.clone(), journal, dir, Care::Every, each)?;
    let mut mendable = Vec::new();
    let (mut repair, mut recovery, mut integrity) = (None, None, IntegrityReport::default());
    let (scanned, found) = (&looked.scanned, looked.found);
    let newest = match found {
        FoundHead::Read { newest, .. } => Some(newest),
        FoundHead::Missing | FoundHead::Damaged => None,
    };
    let mut epoch = scanned.epoch;
    match looked.outlook()? {
        Outlook::Lost(report) => {
            integrity = report;
            let foreseen = foresee(&disk, dir, journal, newest);
            let (salvaged, newest_epoch) = foreseen.map_err(open::io_error(&*disk, "look behind the damage in"))?;
            epoch = epoch.max(newest_epoch);
            integrity.missing.clone_from(&salvaged.missing);
            let known = integrity.missing_positions.map_or(scanned.tip.position, |missing| missing.1);
            let cut = salvaged.cut.map_or(known, |cut| cut.1);
            recovery = Recovery::of(salvaged, known.max(cut));
        }
        Outlook::Repair(found, _) => {
            epoch = epoch.max(found.epoch);
            mendable.extend(found.problems.iter().cloned());
            repair = Some(found);
        }
        Outlook::Whole => mendable.extend(scanned.faults.iter().map(|fault| {
            let behind = scanned.end.is_none_or(|end| (fault.segment, fault.offset) >= end);
            let kind = if behind { ProblemKind::TornTail } else { fault.problem.kind };
            Problem { kind, ..fault.problem.clone() }
        })),
    }
    if let (StoreSeen::Damaged(_), true) = (&looked.store, integrity.is_whole()) {
        mendable.push(Problem { kind: ProblemKind::StoreDamaged, file: "sled".into(), offset: None, blocks: None });
    }
    if is_witnessed {
        let file = FORMAT_FILE.into();
        mendable.push(Problem { kind: ProblemKind::FormatDamaged, file, offset: None, blocks: None });
    }
    let sound_head = matches!(found, FoundHead::Read { other_damaged: false, .. });
    if !sound_head {
        let file = HEAD_FILE.into();
        mendable.push(Problem { kind: ProblemKind::HeadDamaged, file, offset: None, blocks: None });
    }
    let known = looked.known_block();
    let at_the_end = |stopped: HeadRecord| stopped.head.block >= known;
    let tip = scanned.tip;
    let found_head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
    Ok(CheckReport {
        journal,
        head: repair.as_ref().map_or(found_head, |repair| repair.head),
        epoch,
        streams: repair.as_ref().map_or_else(|| looked.index.stream_count(), |repair| repair.streams),
        segments: scanned.segments.len(),
        bytes: scanned.bytes,
        // Log and head file may have been put back to an older state, as may the mark.
        clean: clean_stop::read(&*disk, journal).or(newest.filter(|newest| newest.clean)).is_some_and(at_the_end),
        mendable: once_each(mendable),
        integrity: IntegrityReport { problems: once_each(integrity.problems), ..integrity },
        repair,
        recovery,
        store: looked.store.clone(),
    })
}

/// What salvage would make of the journal, and the newest writer that it meets.
fn foresee(
    disk: &Arc<dyn Disk>,
    dir: Option<&Path>,
    journal: Uuid,
    head: Option<HeadRecord>,
) -> io::Result<(Salvaged, u64)> {
    let sled = dir.map(|dir| SledStore::new(dir.join("sled"))).filter(Store::exists);
    let copy = match (sled, dir) {
        (Some(sled), Some(dir)) => Some(CopyOfStore::make(&sled, dir).map_err(io::Error::other)?),
        _ => None,
    };
    salvage::foresee(disk, copy.as_ref().map(|copy| &copy.store as &dyn Store), journal, head)
}

/// The same damage may be seen from several sides.
fn once_each(problems: Vec<Problem>) -> Vec<Problem> {
    let mut each: Vec<Problem> = Vec::new();
    for problem in problems {
        if !each.contains(&problem) {
            each.push(problem);
        }
    }
    each
}

impl CheckReport {
    /// Whether nothing is lost or changed.
    pub fn is_whole(&self) -> bool {
        self.integrity.is_whole()
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, head, streams, segments, bytes, .. } = self;
        let stopped = if self.clean { "clean stop" } else { "unclean stop" };
        writeln!(
            f,
            "journal {journal}: {} entries in {} blocks and {streams} streams, {segments} segments, {bytes} bytes, {stopped}",
            head.position, head.block
        )?;
        for problem in &self.mendable {
            writeln!(f, "repaired at the next start: {problem}")?;
        }
        if let Some(repair) = &self.repair {
            return write!(f, "{repair}");
        }
        if let Some(Recovery { affected: (first, last), recoverable, lost }) = &self.recovery {
            let affected = last.0 - first.0 + 1;
            write!(f, "affected: entries {first} to {last}; salvage recovers {recoverable} of {affected}")?;
            for (first, last) in lost {
                write!(f, "; lost or skipped: {first} to {last}")?;
            }
            writeln!(f)?;
        }
        write!(f, "{}", self.integrity)
    }
}
