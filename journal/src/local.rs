//! The journal of one node: commit log and block store in one folder.

use std::{
    fmt, io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use uuid::Uuid;

use crate::{
    Answered, AppendError, Appended, Done, Draft, Entries, Filter, Head, Headers, Intake, Journal, OpenError,
    OpenReport, Position, QueueLimits, StreamId, Subscription, Version,
    blocks::{MemoryStore, SledStore, Store},
    commit::{Answers, Request, Shared, SpaceWatch, Writer, answer},
    core::Core,
    crash,
    disk::{Disk, Lock, OsDisk, SimulatedDisk},
    keeper::{self, Bell, Ending, Keeper},
    note,
    open::{self, Asked, Opened},
    queue::Queue,
    reading::{Direction, Scan, StreamScan},
};

/// Where a journal is and how it is run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The journal's folder; made, for its owner only, if it is missing.
    pub dir: PathBuf,
    /// The time of the opening note, in milliseconds since 1970; the last entry's time if that is later.
    pub now_ms: u64,
    /// The id of a new journal; none: by chance.
    pub id: Option<Uuid>,
    pub settings: Settings,
}

impl Default for Config {
    fn default() -> Self {
        Self { dir: PathBuf::from("journal"), now_ms: 0, id: None, settings: Settings::default() }
    }
}

/// What can be set about a journal that is running.
#[derive(Clone, Debug)]
pub struct Settings {
    pub threads: Threads,
    /// How long a segment of the log becomes, in bytes; one block is never split.
    pub segment_bytes: u64,
    /// After how many bytes the block store is made durable in the background.
    pub checkpoint_bytes: u64,
    pub queue: QueueLimits,
    /// Bytes of the disk that are kept free for reports; none: the smaller of 256 MiB and 5 %.
    pub space_floor_bytes: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: Threads::Own,
            segment_bytes: 16 * 1024 * 1024,
            checkpoint_bytes: 32 * 1024 * 1024,
            queue: QueueLimits::default(),
            space_floor_bytes: None,
        }
    }
}

/// On which threads the journal works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One to commit, one to bring blocks into the store.
    Own,
    /// None: an append does everything on the calling thread, its `done` included, before it returns.
    Inline,
}

/// How the journal is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Groups that became durable since opening.
    pub groups: u64,
    /// Appends that wait.
    pub waiting: usize,
    /// Blocks that are durable and not yet in the block store.
    pub store_behind: u64,
    /// Reads that the block store should have answered and the log did.
    pub store_misses: u64,
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

/// The journal of one node.
///
/// Dropped without [`LocalJournal::close`], it ends as after a crash, except that its threads are waited for: what was
/// acknowledged is there, what waited is answered with [`AppendError::Closed`].
pub struct LocalJournal {
    core: Arc<Core>,
    shared: Arc<Shared>,
    work: Work,
    store_trouble: Arc<Mutex<Option<String>>>,
    head_file: Arc<crate::head::HeadFile>,
    closed: AtomicBool,
    lock: Mutex<Option<Lock>>,
    settings: Settings,
}

enum Work {
    Inline(Box<Mutex<Option<(Writer, Keeper)>>>),
    Threads { queue: Arc<Queue>, bell: Arc<Bell>, handles: Mutex<Vec<JoinHandle<()>>> },
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
        crash::point("before-open");
        // A segment must hold its marks and a block; the upper bound keeps offsets within 32 bits.
        let segment_bytes = settings.segment_bytes.clamp(4096, 256 * 1024 * 1024);
        let asked = Asked { new_id: id, segment_bytes };
        let opened = open::open(disk, store, &asked)?;
        let Opened { core, disk, log, tip, head_file, blocks, lock, report } = opened;
        let shared = Arc::new(Shared::default());
        let mut writer = Writer {
            core: core.clone(),
            shared: shared.clone(),
            disk: disk.clone(),
            log,
            head_file: head_file.clone(),
            epoch: report.epoch,
            tip,
            space: SpaceWatch::new(settings.space_floor_bytes),
        };
        write_note(&mut writer, &report, now_ms, &*disk)?;
        if let Some(blocks) = &blocks {
            core.set_store(Some(blocks.reader()));
        }
        let store_trouble = Arc::new(Mutex::new(report.store_unavailable.clone()));
        let keeper =
            Keeper::new(core.clone(), head_file.clone(), blocks, settings.checkpoint_bytes, store_trouble.clone());
        let work = match settings.threads {
            Threads::Inline => Work::inline(writer, keeper),
            Threads::Own => Work::start(writer, keeper, &settings, &shared)
                .map_err(open::io_error(&*disk, "start the threads for"))?,
        };
        crash::point("after-open");
        let closed = AtomicBool::new(false);
        let lock = Mutex::new(Some(lock));
        Ok((Self { core, shared, work, store_trouble, head_file, closed, lock, settings }, report))
    }

    /// Takes nothing more, answers all that waits, brings the block store up to date and writes the mark of a clean
    /// stop. Reads still work afterwards, from the log. A second call does nothing.
    ///
    /// # Errors
    /// If the mark could not be written; the next opening then checks what is there, as after a crash.
    pub fn close(&self) -> Result<(), CloseError> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        crash::point("before-close");
        self.work.end(Ending::InOrder);
        let outcome = match self.shared.failure() {
            Some(source) => Err(CloseError::Failed { source }),
            None => self.head_file.finish().map_err(|source| CloseError::Io { source }),
        };
        crash::point("after-close");
        lock(&self.lock).take();
        outcome
    }

    /// How the journal is doing.
    pub fn stats(&self) -> Stats {
        let store_trouble = lock(&self.store_trouble).clone().map(|problem| format!("block store: {problem}"));
        let head_troubles = self.shared.head_trouble.load(Ordering::Relaxed);
        let head_trouble = (head_troubles > 0).then(|| "the head file cannot be written".to_owned());
        let stored = self.core.stored();
        Stats {
            groups: self.shared.groups.load(Ordering::Relaxed),
            waiting: self.work.waiting(),
            store_behind: self.core.state().head.block.saturating_sub(stored),
            store_misses: self.core.store_misses(),
            degraded: store_trouble.or(head_trouble),
            failed: self.shared.failure(),
        }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// The settings it was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn commit_inline(&self, place: &Mutex<Option<(Writer, Keeper)>>, request: Request) {
        let mut guard = lock(place);
        let answers: Answers = match guard.as_mut() {
            Some((writer, keeper)) => {
                let answers = writer.commit(vec![request]);
                if answers.head.is_some() {
                    keeper.catch_up();
                }
                answers
            }
            None => return request.refuse(AppendError::Closed),
        };
        // Released first: whoever is answered may append again.
        drop(guard);
        answers.give(&self.shared.notices);
    }
}

/// Appends the opening's note, before anybody else can.
fn write_note(writer: &mut Writer, report: &OpenReport, now_ms: u64, disk: &dyn Disk) -> Result<(), OpenError> {
    let core = writer.core.clone();
    let expected = core.state().index.version(&note::stream());
    let draft = note::writer_opened(core.journal, report, expected, now_ms.max(core.state().head.time_ms));
    let outcome = Arc::new(Mutex::new(None));
    let kept = outcome.clone();
    let done: Done = Box::new(move |answer| *lock(&kept) = Some(answer));
    match Request::new(vec![draft], Intake::Report, done) {
        Ok(request) => writer.commit(vec![request]).give(&writer.shared.notices),
        Err((error, done)) => answer(done, Err(error)),
    }
    let outcome = lock(&outcome).take();
    match outcome {
        // On a full disk the journal opens without the note: what runs still has to be reported.
        Some(Ok(_) | Err(AppendError::NearlyFull { .. })) => Ok(()),
        Some(Err(error)) => Err(open::io_error(disk, "append to")(io::Error::other(error))),
        None => Err(open::io_error(disk, "append to")(io::Error::other("no answer"))),
    }
}

impl Work {
    fn inline(writer: Writer, mut keeper: Keeper) -> Self {
        keeper.catch_up();
        Self::Inline(Box::new(Mutex::new(Some((writer, keeper)))))
    }

    fn start(writer: Writer, keeper: Keeper, settings: &Settings, shared: &Arc<Shared>) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(settings.queue));
        let bell = Arc::new(Bell::default());
        bell.ring();
        let keeping = {
            let bell = bell.clone();
            std::thread::Builder::new().name("journal-store".into()).spawn(move || keeper::run(keeper, &bell))?
        };
        let committing = {
            let (queue, bell, shared) = (queue.clone(), bell.clone(), shared.clone());
            let run = move || commit_thread(writer, &queue, &bell, &shared);
            std::thread::Builder::new().name("journal-commit".into()).spawn(run)
        };
        let committing = committing.inspect_err(|_| bell.end(Ending::AtOnce))?;
        Ok(Self::Threads { queue, bell, handles: Mutex::new(vec![committing, keeping]) })
    }

    fn waiting(&self) -> usize {
        match self {
            Self::Inline(_) => 0,
            Self::Threads { queue, .. } => queue.waiting(),
        }
    }

    fn end(&self, how: Ending) {
        match self {
            Self::Inline(place) => {
                let ended = lock(place).take();
                if let Some((_writer, mut keeper)) = ended
                    && how == Ending::InOrder
                {
                    keeper.catch_up();
                    keeper.checkpoint();
                }
            }
            Self::Threads { queue, bell, handles } => {
                match how {
                    Ending::InOrder => queue.close(),
                    Ending::AtOnce => {
                        let waiting = queue.abandon();
                        waiting.into_iter().for_each(|request| request.refuse(AppendError::Closed));
                    }
                }
                let mut handles = std::mem::take(&mut *lock(handles)).into_iter();
                let here = std::thread::current().id();
                let join = |handle: Option<JoinHandle<()>>| {
                    // The last owner may let go inside an answer, on the commit thread itself: nobody waits for himself.
                    if let Some(handle) = handle.filter(|handle| handle.thread().id() != here) {
                        let _ = handle.join();
                    }
                };
                join(handles.next());
                bell.end(how);
                join(handles.next());
            }
        }
    }
}

fn commit_thread(mut writer: Writer, queue: &Queue, bell: &Bell, shared: &Shared) {
    let run = std::panic::AssertUnwindSafe(|| {
        while let Some(requests) = queue.take() {
            let answers = writer.commit(requests);
            if answers.head.is_some() {
                bell.ring();
            }
            answers.give(&shared.notices);
        }
    });
    if std::panic::catch_unwind(run).is_err() {
        // Our own bug: nobody may wait for ever because of it.
        let error = shared.fail("the commit thread panicked".into());
        queue.abandon().into_iter().for_each(|request| request.refuse(error.clone()));
    }
}

impl Drop for LocalJournal {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.work.end(Ending::AtOnce);
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
        if let Some(failure) = self.shared.failure() {
            return answer(done, Err(failure));
        }
        if drafts.is_empty() {
            return answer(done, Ok(Appended { entries: Vec::new() }));
        }
        let request = match Request::new(drafts, intake, done) {
            Ok(request) => request,
            Err((error, done)) => return answer(done, Err(error)),
        };
        match &self.work {
            Work::Inline(place) => self.commit_inline(place, request),
            Work::Threads { queue, .. } => {
                if let Err((request, error)) = queue.push(request) {
                    // A queue that was closed because the log failed says so.
                    request.refuse(self.shared.failure().unwrap_or(error));
                }
            }
        }
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

    fn read_headers(&self, from: Position, to: Position, filter: &Filter) -> Headers<'_> {
        Box::new(Scan::new(&self.core, from, to, filter, Direction::Forward))
    }

    fn on_append(&self, notice: Box<dyn Fn(Head) + Send + Sync>) -> Subscription {
        let number = self.shared.notices.add(notice.into());
        let shared = Arc::downgrade(&self.shared);
        let end = move || {
            if let Some(shared) = shared.upgrade() {
                shared.notices.remove(number);
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
