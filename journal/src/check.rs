//! Walks a stopped journal: every block, every entry, the chain, the head file. Reports; never repairs.

use std::{fmt, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    Head, IntegrityReport, OpenError, Problem, ProblemKind,
    disk::{Disk, LockMode, OsDisk},
    format::FORMAT_FILE,
    frame::{self, FrameHeader},
    head::{FoundHead, HEAD_FILE},
    index::Index,
    open, readonly,
};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub journal: Uuid,
    /// The end of the chain as far as it holds.
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
    /// What is lost or was changed.
    pub integrity: IntegrityReport,
}

/// Checks the journal in a folder. Writes nothing. The block store is not opened, because opening sled rewrites it; it
/// is checked against the log at every start. Where the log does not have everything any more, a copy of the block store
/// is made in the folder, read, and removed.
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
    let (disk, _copy) = readonly::attach(disk, journal, dir)?;
    let mut index = Index::default();
    let mut visit = |header: &FrameHeader, records: &[u8], place| {
        for record in frame::records(records) {
            record?.entry()?;
        }
        index.add_found(header, records, place)
    };
    let (scanned, found) = readonly::read(&*disk, journal, &mut visit)?;
    let integrity = readonly::problems(journal, &disk, &scanned, &index, found);
    let mut mendable = Vec::new();
    if integrity.is_whole() {
        for fault in &scanned.faults {
            let mut problem = fault.problem.clone();
            let behind = scanned.end.is_none_or(|end| (fault.segment, fault.offset) >= end);
            if behind {
                problem.kind = ProblemKind::TornTail;
            }
            mendable.push(problem);
        }
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
    Ok(CheckReport {
        journal,
        head: Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash },
        epoch: scanned.epoch,
        streams: index.stream_count(),
        segments: scanned.segments.len(),
        bytes: scanned.bytes,
        clean: matches!(found, FoundHead::Read { newest, .. } if newest.clean),
        mendable,
        integrity,
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
        let stopped = if self.clean { "stopped in order" } else { "not stopped in order" };
        writeln!(
            f,
            "journal {journal}: {} entries in {} blocks and {streams} streams, {segments} segments, {bytes} bytes, {stopped}",
            head.position, head.block
        )?;
        for problem in &self.mendable {
            writeln!(f, "mended at the next start: {problem}")?;
        }
        write!(f, "{}", self.integrity)
    }
}
