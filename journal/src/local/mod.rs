//! The journal of one node: commit log and block store in one folder.

mod after_open;
mod start;
mod threads;

use std::{
    fmt, io,
    ops::ControlFlow,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Appended, Config, Done, Draft, Entries, EntryView, Filter, Head, Headers, Intake, Journal,
    OpenError, OpenReport, Position, ReadError, Room, Settings, StreamId, Subscription, Threads,
    VerificationProgress as Progress, Version,
    background::{Ending, verify::Verification},
    blocks::{MemoryStore, SledStore, Store},
    checkpoint::{self, Files},
    commit::{
        request::Request,
        status::{WriterStatus, answer},
    },
    core::{
        Core,
        reading::{self, Direction, Scan, StreamScan},
    },
    disk::{Disk, Lock, OsDisk, SimulatedDisk, crash, free_space::SpaceWatch},
    format::{clean_stop, head_file::HeadFile},
    index::{self, Index},
    local::threads::Workers,
    log::segment_file::SegmentFile,
    open,
};

/// How the journal is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Groups that became durable since opening.
    pub groups: u64,
    /// Appends that wait.
    pub waiting: usize,
    /// Blocks that are durable and not yet in the block store.
    pub store_behind: u64,
    /// Segments of the log since the first entry, the one that is written to included.
    pub segments: u32,
    /// Full segments of the log that are still to be compressed.
    pub segments_to_compress: u32,
    /// Reads that the block store should have answered and the log did.
    pub store_misses: u64,
    /// How far the reading behind an opening by a checkpoint is.
    pub verification: Progress,
    /// What has failed without failing the journal: the block store or the head file.
    pub degraded: Option<String>,
    /// Why nothing more is taken.
    pub failed: Option<AppendError>,
}

/// Says that the journal did not end in order; nothing acknowledged is lost by it.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    /// The log had failed before.
    #[error("the journal failed before it was closed")]
    Failed { source: AppendError },
    /// The mark of a clean stop could not be written.
    #[error("cannot write the mark of a clean stop")]
    Io { source: io::Error },
}

/// How long a stop in order waits for what is still being read behind an opening by a checkpoint. Without it the next
/// opening reads everything.
const READING_AT_CLOSE: Duration = Duration::from_secs(2);

/// The journal of one node.
///
/// Dropped without [`LocalJournal::close`], it ends as after a crash, except that its threads are waited for: what was
/// acknowledged is there, what waited is answered with [`AppendError::Closed`].
pub struct LocalJournal {
    core: Arc<Core>,
    status: Arc<WriterStatus>,
    workers: Workers,
    store_trouble: Arc<Mutex<Option<String>>>,
    head_file: Arc<HeadFile>,
    closed: AtomicBool,
    lock: Mutex<Option<Lock>>,
    settings: Settings,
    disk: Arc<dyn Disk>,
    folder: Arc<dyn Disk>,
    epoch: u64,
    /// The reading behind an opening by a checkpoint.
    verification: Verification,
    /// The store's place, if a checkpoint is to be left at a stop in order.
    place: Option<Box<dyn Store>>,
}

impl LocalJournal {
    /// Opens or makes the journal in a folder, with sled as its block store, and appends a note of the opening.
    ///
    /// # Errors
    /// See [`OpenError`]; after [`OpenError::Integrity`] and [`OpenError::Foreign`] no entry has been touched.
    pub fn open(config: Config) -> Result<(Self, OpenReport), OpenError> {
        let disk = OsDisk::new(&config.dir);
        disk.make_root().map_err(open::io_error(&disk, "make"))?;
        let store = SledStore::new(config.dir.join("sled"));
        let id = match config.id {
            Some(id) => id,
            None => id_by_chance().map_err(open::io_error(&disk, "find an id for"))?,
        };
        Self::open_with(Arc::new(disk), &store, id, config.now_ms, config.settings)
    }

    /// Where the journal stood when this block was its last, from 1; none if there is no such block.
    ///
    /// # Errors
    /// If the block cannot be read, or does not match its chain value.
    pub fn head_after(&self, block: u64) -> Result<Option<Head>, ReadError> {
        self.core.head_after(block)
    }

    /// Opens or makes a journal in memory that works on the calling thread only. `id` is that of a new journal.
    ///
    /// # Errors
    /// As [`LocalJournal::open`].
    pub fn simulated(disk: &SimulatedDisk, id: Uuid, now_ms: u64) -> Result<(Self, OpenReport), OpenError> {
        let settings = Settings { threads: Threads::Inline, segment_bytes: 1024 * 1024, ..Settings::default() };
        Self::open_with(Arc::new(disk.clone()), &MemoryStore::new(), id, now_ms, settings)
    }

    /// Opens or makes a journal on any disk, with any block store. `id` is that of a new journal, `now_ms` the time of
    /// the opening note.
    ///
    /// # Errors
    /// As [`LocalJournal::open`].
    pub fn open_with(
        disk: Arc<dyn Disk>,
        store: &dyn Store,
        id: Uuid,
        now_ms: u64,
        settings: Settings,
    ) -> Result<(Self, OpenReport), OpenError> {
        start::start(disk, store, id, now_ms, settings)
    }

    /// Takes nothing more, answers all that waits, brings the block store up to date and writes the mark of a clean
    /// stop. Reads still work afterwards, from the log as far as it has everything. A second call does nothing.
    ///
    /// # Errors
    /// If the mark could not be written; the next opening then checks what is there, as after a crash.
    pub fn close(&self) -> Result<(), CloseError> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        crash::point("before-close");
        let read = self.verification.end(READING_AT_CLOSE);
        self.workers.end(Ending::InOrder);
        let outcome = match self.status.failure() {
            Some(source) => Err(CloseError::Failed { source }),
            None => {
                if read == Progress::Done {
                    self.leave_checkpoint();
                }
                if let Err(error) = clean_stop::write(&*self.folder, &self.head_file.record()) {
                    tracing::warn!(%error, "cannot mark the stop as clean; the next start checks the journal as after a crash");
                }
                crash::point("after-stop-marked");
                self.head_file.finish().map_err(|source| CloseError::Io { source })
            }
        };
        crash::point("after-close");
        lock(&self.lock).take();
        outcome
    }

    /// Writes the index down for the next opening. Whatever goes wrong with that, only costs time there.
    fn leave_checkpoint(&self) {
        let Some(store) = self.place.as_ref().and_then(|place| place.stamps()) else { return };
        let state = self.core.state();
        // Where the store alone has the older history, only what is said of the store's files is gone by.
        let here =
            |segments: Option<_>| segments.map_or_else(|| SegmentFile::all(&*self.folder), |found| Ok(Some(found)));
        let written = SegmentFile::all(&*self.disk).and_then(here).and_then(|segments| match segments {
            Some(segments) => {
                let files = Files { segments, store };
                checkpoint::write(&*self.disk, self.core.journal, state.head, self.epoch, &files, &state.index)
            }
            None => Ok(false),
        });
        if let Err(error) = written {
            tracing::warn!(%error, "no index checkpoint was written; the next start reads the whole log");
        }
    }

    /// Waits until everything that an opening by a checkpoint left to be read has been read; answers at once after any
    /// other opening. For tests, and for callers that want to know before they go on.
    pub fn wait_for_verification(&self) -> Progress {
        self.verification.wait()
    }

    /// Lets the block store give back what it had read into memory, soon. Worth asking for once after a large read, such
    /// as the one that a node is rebuilt with: sled keeps all that it has read, up to the size of the journal.
    pub fn give_memory_back(&self) {
        self.workers.give_memory_back();
    }

    /// Compresses the full segments of the log now, which is otherwise done when nothing else is to be done. Returns at
    /// once if the journal has threads of its own.
    pub fn compress_log(&self) {
        self.workers.compress();
    }

    /// What is left on its disk, and how much of that it keeps; none if the disk does not say. New work is refused while
    /// the room [is short](Room::is_short).
    pub fn room(&self) -> Option<Room> {
        let space = SpaceWatch::new(self.settings.space_floor_bytes);
        space.room(&*self.disk, SpaceWatch::promised(self.core.lag_bytes()))
    }

    /// Whether the folder that it was opened in is still there.
    ///
    /// # Errors
    /// If it was removed, whatever is at its path by now.
    pub fn is_there(&self) -> io::Result<()> {
        self.disk.is_there()
    }

    /// How the journal is doing.
    pub fn stats(&self) -> Stats {
        let store_trouble = lock(&self.store_trouble).clone().map(|problem| format!("block store: {problem}"));
        let head_troubles = self.status.head_trouble.load(Ordering::Relaxed);
        let head_trouble = (head_troubles > 0).then(|| "the head file cannot be written".to_owned());
        let stored = self.core.stored();
        let store_behind = self.core.state().head.block.saturating_sub(stored);
        Stats {
            groups: self.status.groups.load(Ordering::Relaxed),
            waiting: self.workers.waiting(),
            store_behind,
            segments: self.core.segments(),
            segments_to_compress: self.core.segments_to_pack(),
            store_misses: self.core.store_misses(),
            verification: self.verification.progress(),
            degraded: store_trouble.or(head_trouble),
            failed: self.status.failure(),
        }
    }

    /// Asks the index. Where that cannot be read the journal has failed: whatever is decided by the answer is not taken.
    fn ask<T>(&self, ask: impl FnOnce(&Index) -> T) -> T {
        let state = self.core.state();
        let answer = ask(&state.index);
        let is_readable = state.is_readable();
        drop(state);
        if is_readable.is_err() && self.status.failure().is_none() {
            checkpoint::give_up(&*self.disk);
            self.status.fail(index::UNREADABLE.into());
        }
        answer
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// The folder, with what of the log is elsewhere.
    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The settings it was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Drop for LocalJournal {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.verification.end(Duration::ZERO);
            self.workers.end(Ending::AtOnce);
        }
    }
}

impl Journal for LocalJournal {
    fn id(&self) -> Uuid {
        self.core.journal
    }

    fn head(&self) -> Head {
        self.core.state().head
    }

    fn append(&self, drafts: Vec<Draft>, intake: Intake, done: Done) {
        if let Some(failure) = self.status.failure() {
            return answer(done, Err(failure));
        }
        if drafts.is_empty() {
            return answer(done, Ok(Appended::of(Vec::new())));
        }
        let request = match Request::new(drafts, intake, self.status.keep(), done) {
            Ok(request) => request,
            Err((error, done)) => return answer(done, Err(error)),
        };
        self.workers.submit(request, &self.status);
        if self.settings.threads == Threads::Inline {
            self.verification.step();
        }
    }

    fn version(&self, stream: &StreamId) -> Version {
        self.ask(|index| index.version(stream))
    }

    fn answered(&self, command_id: &Uuid) -> Option<Answered> {
        self.ask(|index| index.answered(command_id))
    }

    fn streams(&self, prefix: &str) -> Vec<StreamId> {
        self.ask(|index| index.streams(prefix))
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

    fn on_append(&self, notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription {
        let number = self.status.notices.add(notice.into());
        let status = Arc::downgrade(&self.status);
        let end = move || {
            if let Some(status) = status.upgrade() {
                status.notices.remove(number);
            }
        };
        Subscription(Some(Box::new(end)))
    }
}

impl fmt::Debug for LocalJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalJournal").field("core", &self.core).finish_non_exhaustive()
    }
}

fn id_by_chance() -> io::Result<Uuid> {
    let mut bytes = [0; 16];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
