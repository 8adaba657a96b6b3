//! The journal of a stopped node, read from its log; nothing is written, and sled is not opened. Where the log does not
//! have everything any more, a copy of sled is made, read, and removed.

use std::{
    fmt,
    ops::ControlFlow,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Done, Draft, Entries, EntryView, Filter, Head, Headers, Intake, IntegrityReport, Journal,
    OpenError, Position, ReadError, StreamId, Subscription, Version,
    blocks::{Blocks, SledStore, Store},
    core::{Core, State},
    disk::{Disk, Lock, LockMode, OsDisk},
    elsewhere::{self, ElsewhereError, Whole},
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
    /// Removed behind the core, which reads from it.
    _copy: Option<CopyOfStore>,
    _lock: Lock,
}

impl ReadOnlyJournal {
    /// Reads the log in a folder. A write that was torn by a crash and never acknowledged is passed over.
    ///
    /// # Errors
    /// If a node has it open, if it is no journal, or if history is missing or was changed.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let journal = Self::open_from(Arc::new(OsDisk::new(dir)), Some(dir))?;
        journal.core.read_ahead(true);
        Ok(journal)
    }

    /// As [`ReadOnlyJournal::open`], on any disk.
    ///
    /// # Errors
    /// As [`ReadOnlyJournal::open`].
    pub fn open_on(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        Self::open_from(disk, None)
    }

    fn open_from(disk: Arc<dyn Disk>, dir: Option<&Path>) -> Result<Self, OpenError> {
        let (journal, _) = open::existing_id(&*disk)?;
        let lock = open::take_lock(&*disk, LockMode::Shared)?;
        let (disk, copy) = attach(disk, journal, dir)?;
        let mut index = Index::default();
        let mut visit = |header: &FrameHeader, records: &[u8], place| index.add_found(header, records, place);
        let (scanned, found) = read(&*disk, journal, &mut visit)?;
        let report = problems(journal, &disk, &scanned, &index, found);
        if !report.is_whole() {
            return Err(OpenError::Integrity { path: disk.path(), report: Box::new(report) });
        }
        let tip = scanned.tip;
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        let core = Core::new(journal, disk, State::new(index, head));
        if let Some(copy) = &copy {
            // What was removed from the log is read where it is.
            drop(core.set_store(copy.blocks().as_ref().map(|blocks| blocks.reader())));
            core.set_stored(tip.block);
        }
        Ok(Self { core, scanned, _copy: copy, _lock: lock })
    }
}

/// A copy of the block store of a stopped journal, for as long as it is read: opening sled rewrites it.
pub(crate) struct CopyOfStore {
    whole: Arc<Whole>,
    store: SledStore,
    blocks: Mutex<Option<Box<dyn Blocks>>>,
}

impl CopyOfStore {
    fn blocks(&self) -> MutexGuard<'_, Option<Box<dyn Blocks>>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CopyOfStore {
    fn drop(&mut self) {
        if let Some(reader) = self.whole.set_source(None) {
            reader.stop();
        }
        drop(self.blocks().take());
        if let Err(error) = self.store.wipe() {
            tracing::warn!(%error, "a copy of the block store stays until the journal is opened");
        }
    }
}

/// What the names of such copies begin with.
const COPY: &str = "sled.read-";

/// Removes copies that readers left which did not come to their end. There are none now: the lock is exclusive.
pub(crate) fn remove_copies(disk: &dyn Disk) -> std::io::Result<()> {
    for name in disk.list("")?.iter().filter(|name| name.starts_with(COPY)) {
        disk.remove(name)?;
    }
    Ok(())
}

/// The log with what of it is elsewhere, for readers. What is in the block store alone is read from a copy of it, made in
/// the journal's folder `dir`.
pub(crate) fn attach(
    disk: Arc<dyn Disk>,
    journal: Uuid,
    dir: Option<&Path>,
) -> Result<(Arc<dyn Disk>, Option<CopyOfStore>), OpenError> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let found = elsewhere::read(&*disk, journal).map_err(open::io_error(&*disk, "read where the log begins in"))?;
    let Some(begins) = found else { return Ok((disk, None)) };
    let whole = Arc::new(Whole::new(disk, journal, begins));
    if let Some(ElsewhereError::NotInArchive { path, segment }) = whole.missing() {
        return Err(OpenError::Archive { archive: path, segment });
    }
    if whole.begins().removed.is_empty() {
        return Ok((whole, None));
    }
    let unusable = |problem: String| OpenError::OnlyInStore { path: whole.path(), problem };
    let Some(dir) = dir else { return Err(unusable("only the log was given".into())) };
    let name = format!("{COPY}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let sled = SledStore::new(dir.join("sled"));
    if !sled.exists() {
        return Err(unusable("it is missing".into()));
    }
    let store = sled.copy_to(dir.join(name)).map_err(|error| unusable(error.to_string()))?;
    let copy = CopyOfStore { whole: whole.clone(), store, blocks: Mutex::default() };
    let blocks = open::open_copy(&copy.store).map_err(unusable)?;
    whole.set_source(Some(blocks.reader()));
    *copy.blocks() = Some(blocks);
    Ok((whole, Some(copy)))
}

pub(crate) fn read(
    disk: &dyn Disk,
    journal: Uuid,
    visit: &mut scan::Visit<'_>,
) -> Result<(Scanned, FoundHead), OpenError> {
    let found = head::read_of(disk, journal).map_err(open::io_error(disk, "read the head of"))?;
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
    let mut differing = open::differences(scanned, found);
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
