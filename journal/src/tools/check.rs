//! Walks a stopped journal: every block, every entry, the chain, the head file. Reports; never repairs.

use std::{fmt, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, OpenError, Problem, ProblemKind,
    disk::{Disk, LockMode, OsDisk},
    format::{
        frame,
        head_file::{FoundHead, HEAD_FILE},
    },
    open::{self, format_file::FORMAT_FILE},
    tools::read_only::{Care, Each, Outlook, Repair, StoreSeen, inspect},
};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub journal: Uuid,
    /// The end of the chain as far as it holds, or will hold once the node has repaired it.
    pub head: Head,
    /// Of the last writer that appended.
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
    /// What was seen of the block store.
    pub store: StoreSeen,
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
    let looked = inspect(disk, journal, dir, Care::Every, each)?;
    let mut mendable = Vec::new();
    let (mut repair, mut integrity) = (None, IntegrityReport::default());
    let (scanned, found) = (&looked.scanned, looked.found);
    match looked.outlook()? {
        Outlook::Lost(report) => integrity = report,
        Outlook::Repair(found, _) => {
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
    let tip = scanned.tip;
    let found_head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
    Ok(CheckReport {
        journal,
        head: repair.as_ref().map_or(found_head, |repair| repair.head),
        epoch: scanned.epoch,
        streams: repair.as_ref().map_or_else(|| looked.index.stream_count(), |repair| repair.streams),
        segments: scanned.segments.len(),
        bytes: scanned.bytes,
        clean: matches!(found, FoundHead::Read { newest, .. } if newest.clean),
        mendable,
        integrity,
        repair,
        store: looked.store.clone(),
    })
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
        write!(f, "{}", self.integrity)
    }
}
