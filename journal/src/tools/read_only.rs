//! The journal of a stopped node, read from its log; nothing of it is changed, and sled itself is not opened. Where sled
//! may know more than the log, a copy of it is made, read, and removed.

mod inspect;

use std::{
    fmt, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Done, Draft, Entries, EntryView, Filter, Head, Headers, Intake, Journal, OpenError,
    Position, ReadError, StreamId, Subscription, Version,
    blocks::{Blocks, SledStore, Store, StoreError},
    commit::status::answer,
    core::{
        Core, State,
        reading::{self, Direction, Scan, StreamScan},
    },
    disk::{Disk, Lock, LockMode, OsDisk, SimulatedDisk},
    index::Index,
    log::archive::{self, ArchiveError, ArchiveOverlay},
    open::{self, store_copies::COPY},
};
pub(crate) use inspect::{Care, Each, Inspection, Outlook, inspect};
pub use inspect::{Repair, StoreSeen};

/// A stopped node's journal. Appends are refused with [`AppendError::Closed`].
pub struct ReadOnlyJournal {
    pub(crate) core: Core,
    pub(crate) segments: usize,
    pub(crate) file_bytes: u64,
    repair: Option<Repair>,
    /// Removed behind the core, which reads from them.
    _copy: Option<Mutex<Inspection>>,
    _scratch: Option<Scratch>,
    _lock: Lock,
}

impl ReadOnlyJournal {
    /// Reads the journal in a folder as the node will see it when it starts. A write that was torn by a crash and never
    /// acknowledged is passed over. What the node will repair is read repaired, and [`ReadOnlyJournal::repair`] tells so;
    /// for that, and where the node did not stop in order, a copy of the block store is made in the folder, and removed.
    ///
    /// # Errors
    /// If a node has it open, if it is no journal, or if history is missing or was changed.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let journal = Self::open_from(Arc::new(OsDisk::new(dir)), Some(dir))?;
        journal.core.read_ahead(true);
        Ok(journal)
    }

    /// As [`ReadOnlyJournal::open`], on any disk, without a block store.
    ///
    /// # Errors
    /// As [`ReadOnlyJournal::open`].
    pub fn open_on(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        Self::open_from(disk, None)
    }

    /// What the node will repair when it starts, if anything.
    pub fn repair(&self) -> Option<&Repair> {
        self.repair.as_ref()
    }

    /// Where the journal stood when this block was its last, from 1; none if there is no such block.
    ///
    /// # Errors
    /// If the block cannot be read, or does not match its chain value.
    pub fn head_after(&self, block: u64) -> Result<Option<Head>, ReadError> {
        self.core.head_after(block)
    }

    fn open_from(disk: Arc<dyn Disk>, dir: Option<&Path>) -> Result<Self, OpenError> {
        let (journal, _) = open::existing_id(&*disk)?;
        let lock = open::take_lock(&*disk, LockMode::Shared)?;
        let path = disk.path();
        let looked = inspect(disk, journal, dir, Care::Ahead, Index::add_found)?;
        let (repair, wanted) = match looked.outlook()? {
            Outlook::Whole => return Ok(Self::as_found(looked, journal, lock)),
            Outlook::Repair(repair, wanted) => (repair, wanted),
            Outlook::Lost(report) => return Err(OpenError::Integrity { path, report: Box::new(report) }),
        };
        let (scratch, disk) = Scratch::make(dir).map_err(open::io_error(&*looked.disk, "make a folder in"))?;
        looked.write_repaired(wanted, &*disk).map_err(open::io_error(&*looked.disk, "write a repaired log in"))?;
        drop(looked);
        let repaired = inspect(disk, journal, None, Care::Ahead, Index::add_found)?;
        let journal = Self::as_found(repaired, journal, lock);
        Ok(Self { repair: Some(repair), _scratch: scratch, ..journal })
    }

    fn as_found(mut looked: Inspection, journal: Uuid, lock: Lock) -> Self {
        let (index, scanned) = (std::mem::take(&mut looked.index), &looked.scanned);
        let tip = scanned.tip;
        let head = Head { position: tip.position, time_ms: scanned.time_ms, block: tip.block, hash: tip.hash };
        let core = Core::new(journal, looked.disk.clone(), State::new(index, head));
        let (segments, file_bytes) = (scanned.segments.len(), scanned.bytes);
        let reader = looked.only_copy().map(|blocks| blocks.reader());
        let copy = reader.is_some().then_some(looked);
        if reader.is_some() {
            // What was removed from the log is read where it is.
            drop(core.set_store(reader));
            core.set_stored(tip.block);
        }
        Self { core, segments, file_bytes, repair: None, _copy: copy.map(Mutex::new), _scratch: None, _lock: lock }
    }
}

/// Where a repaired log is written for a reader; removed when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    /// In memory for a journal that is in no folder.
    fn make(dir: Option<&Path>) -> io::Result<(Option<Self>, Arc<dyn Disk>)> {
        let Some(dir) = dir else { return Ok((None, Arc::new(SimulatedDisk::new()))) };
        let scratch = Self(dir.join(copy_name()));
        let disk = OsDisk::new(&scratch.0);
        disk.make_root()?;
        Ok((Some(scratch), Arc::new(disk)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a repaired copy of the log stays until the journal is opened");
        }
    }
}

/// A copy of the block store of a stopped journal, for as long as it is read: opening sled rewrites it.
pub(crate) struct CopyOfStore {
    /// Reads from it what was removed from the log.
    whole: Option<Arc<ArchiveOverlay>>,
    pub(crate) store: SledStore,
    /// Until somebody takes them.
    blocks: Option<Box<dyn Blocks>>,
}

impl CopyOfStore {
    /// A copy in the journal's folder `dir`, removed when it is dropped.
    pub(crate) fn make(sled: &SledStore, dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { whole: None, store: copy_store(sled, dir)?, blocks: None })
    }

    /// Ends all reading from it.
    fn let_go(&mut self) {
        if let Some(reader) = self.whole.as_ref().and_then(|whole| whole.set_source(None)) {
            reader.stop();
        }
        let blocks = self.blocks.take();
        let closed = open::on_its_own_thread(&self.store, || {
            drop(blocks);
            Ok(())
        });
        if let Err(problem) = closed {
            tracing::debug!(%problem, "a copy of the block store was not closed cleanly");
        }
    }
}

impl Drop for CopyOfStore {
    fn drop(&mut self) {
        self.let_go();
        if let Err(error) = self.store.wipe() {
            tracing::warn!(%error, "a copy of the block store stays until the journal is opened");
        }
    }
}

/// Copies the block store into the journal's folder `dir`.
fn copy_store(sled: &SledStore, dir: &Path) -> Result<SledStore, StoreError> {
    sled.copy_to(dir.join(copy_name()))
}

fn copy_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{COPY}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The log with what of it is elsewhere, for readers. What is in the block store alone is read from a copy of it, made in
/// the journal's folder `dir`.
pub(crate) fn attach(
    disk: Arc<dyn Disk>,
    journal: Uuid,
    dir: Option<&Path>,
) -> Result<(Arc<dyn Disk>, Option<CopyOfStore>), OpenError> {
    let found = archive::read(&*disk, journal).map_err(open::io_error(&*disk, "read where the log begins in"))?;
    let Some(catalog) = found else { return Ok((disk, None)) };
    let whole = Arc::new(ArchiveOverlay::new(disk, journal, catalog));
    if let Some(ArchiveError::NotInArchive { path, segment }) = whole.missing() {
        return Err(OpenError::Archive { archive: path, segment });
    }
    if whole.catalog().removed.is_empty() {
        return Ok((whole, None));
    }
    let unusable = |problem: String| OpenError::OnlyInStore { path: whole.path(), problem };
    let Some(dir) = dir else { return Err(unusable("only the log was given".into())) };
    let sled = SledStore::new(dir.join("sled"));
    if !sled.exists() {
        return Err(unusable("it is missing".into()));
    }
    let store = copy_store(&sled, dir).map_err(|error| unusable(error.to_string()))?;
    let mut copy = CopyOfStore { whole: Some(whole.clone()), store, blocks: None };
    let blocks = open::open_copy(&copy.store).map_err(unusable)?;
    whole.set_source(Some(blocks.reader()));
    copy.blocks = Some(blocks);
    Ok((whole, Some(copy)))
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
