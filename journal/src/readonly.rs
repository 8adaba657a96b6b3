//! The journal of a stopped node, read from its log; nothing is written, and sled is not opened.

use std::{fmt, ops::ControlFlow, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Done, Draft, Entries, EntryView, Filter, Head, Headers, Intake, IntegrityReport, Journal,
    OpenError, Position, ReadError, StreamId, Subscription, Version,
    core::{Core, State},
    disk::{Disk, Lock, LockMode, OsDisk},
    frame::FrameHeader,
    head::{self, FoundHead},
    index::Index,
    open,
    reading::{self, Direction, Scan, StreamScan},
    repair,
    scan::{self, Scanned},
    shared::answer,
};

/// A stopped node's journal. Appends are refused with [`AppendError::Closed`].
pub struct ReadOnlyJournal {
    pub(crate) core: Core,
    pub(crate) scanned: Scanned,
    _lock: Lock,
}

impl ReadOnlyJournal {
    /// Reads the log in a folder. A write that was torn by a crash and never acknowledged is passed over.
    ///
    /// # Errors
    /// If a node has it open, if it is no journal, or if history is missing or was changed.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let journal = Self::open_on(Arc::new(OsDisk::new(dir)))?;
        journal.core.read_ahead(true);
        Ok(journal)
    }

    /// As [`ReadOnlyJournal::open`], on any disk.
    ///
    /// # Errors
    /// As [`ReadOnlyJournal::open`].
    pub fn open_on(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        let journal = open::existing_id(&*disk)?;
        let lock = open::take_lock(&*disk, LockMode::Shared)?;
        let mut index = Index::default();
        let mut visit = |header: &FrameHeader, records: &[u8], place| index.add_found(header, records, place);
        let (scanned, found) = read(&*disk, journal, &mut visit)?;
        let report = problems(journal, &disk, &scanned, &index, found);
        if !report.is_whole() {
            return Err(OpenError::Integrity { path: disk.path(), report: Box::new(report) });
        }
        let tip = scanned.tip;
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        Ok(Self { core: Core::new(journal, disk, State::new(index, head)), scanned, _lock: lock })
    }
}

pub(crate) fn read(
    disk: &dyn Disk,
    journal: Uuid,
    visit: &mut scan::Visit<'_>,
) -> Result<(Scanned, FoundHead), OpenError> {
    let found = head::read(disk).map_err(open::io_error(disk, "read the head of"))?;
    let scanned = scan::scan(disk, journal, visit).map_err(open::io_error(disk, "read the log in"))?;
    Ok((scanned, found))
}

/// What is wrong with log and head, a torn end left aside: history that differs, or blocks that are known and not there.
pub(crate) fn problems(
    journal: Uuid,
    disk: &Arc<dyn Disk>,
    scanned: &Scanned,
    index: &Index,
    found: FoundHead,
) -> IntegrityReport {
    let survey = open::Survey::default();
    let mut differing = open::differences(journal, scanned, found);
    differing.extend(open::unknown_end(scanned, found));
    let lost = open::required(scanned, &survey, found) > scanned.tip.block;
    if differing.is_empty() && !lost {
        return IntegrityReport::default();
    }
    let mut report = repair::missing(journal, disk, scanned, &survey, index, found);
    report.problems.splice(0..0, differing);
    if lost {
        let unreadable = scanned.faults.iter().filter(|fault| !fault.differs);
        report.problems.extend(unreadable.map(|fault| fault.problem.clone()));
    }
    report
}

impl Journal for ReadOnlyJournal {
    fn id(&self) -> Uuid {
        self.core.journal
    }

    fn head(&self) -> Head {
        self.core.state().head
    }

    fn append(&self, _drafts: Vec<Draft>, _intake: Intake, done: Done) {
        answer(done, Err(AppendError::Closed));
    }

    fn version(&self, stream: &StreamId) -> Version {
        self.core.state().index.version(stream)
    }

    fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.core.state().index.answered(command_id)
    }

    fn streams(&self, prefix: &str) -> Vec<StreamId> {
        self.core.state().index.streams(prefix)
    }

    fn read_stream(&self, stream: &StreamId, from: Version) -> Entries<'_> {
        Box::new(StreamScan::new(&self.core, stream, from, Direction::Forward))
    }

    fn read_stream_back(&self, stream: &StreamId) -> Entries<'_> {
        Box::new(StreamScan::new(&self.core, stream, Version::ZERO, Direction::Back))
    }

    fn read(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        Box::new(Scan::new(&self.core, from, to, filter, Direction::Forward))
    }

    fn read_back(&self, from: Position, to: Position, filter: &Filter) -> Entries<'_> {
        Box::new(Scan::new(&self.core, from, to, filter, Direction::Back))
    }

    fn pass(
        &self,
        from: Position,
        to: Position,
        filter: &Filter,
        visit: &mut dyn FnMut(&EntryView<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        reading::pass(&self.core, from, to, filter, visit)
    }

    fn read_headers(&self, from: Position, to: Position, filter: &Filter) -> Headers<'_> {
        Box::new(Scan::new(&self.core, from, to, filter, Direction::Forward))
    }

    /// Is never called: a stopped journal does not grow.
    fn on_append(&self, _notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription {
        Subscription(None)
    }
}

impl fmt::Debug for ReadOnlyJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyJournal").field("core", &self.core).finish_non_exhaustive()
    }
}
