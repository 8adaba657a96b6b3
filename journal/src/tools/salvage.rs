//! Takes out of a journal that does not open whatever can be proved to be whole, and makes a new journal of it.
//!
//! A block is proved by its own checksum and chain value, an entry by standing in such a block with the version that its
//! stream has come to. Everything before the first loss is taken over byte by byte, with the same chain. What is lost
//! behind that leaves its position behind: a note without events in the stream [`SALVAGE_STREAM`] stands where an entry
//! was, so that every later entry keeps its position and what refers to it (cause, view) stays true. An entry whose
//! stream lacks an earlier event could not be folded and is left out, and named. The journal keeps its id: decisions
//! depend on it, and so do the tags of what providers have made.
//!
//! A check follows the same blocks by the same rules and writes nothing: what it says can be recovered is what salvage
//! recovers.

mod sources;

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

use crate::{
    Body, Draft, Entry, EntryKind, Head, Meta, MissingEvents, OpenError, Outcome, Position, Settings, StreamId,
    Version,
    blocks::{SledStore, Store},
    disk::{Disk, LockMode, OsDisk},
    format::{
        frame::{self, FrameHeader, HEADER_BYTES},
        head_file::{self, FoundHead, HeadFile},
        head_record::HeadRecord,
        reached::REACHED_FILE,
        record,
    },
    log::commit_log::{Log, LogError, Tip},
    model::codec,
    open::{
        self,
        format_file::{self, FoundFormat},
    },
};
pub(crate) use sources::Found;
use sources::Sources;

/// The stream of the notes that stand in the place of lost entries.
pub const SALVAGE_STREAM: &str = "node/salvage";
/// Where the copy of the store is opened, inside the new folder: opening sled rewrites it.
const STORE_COPY: &str = "sled.salvage";
/// Notes in one block.
const NOTES_AT_ONCE: u64 = 1_000;

/// What was taken out of a damaged journal, and what was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    pub journal: Uuid,
    /// Blocks that came from the log, and those that came from the store.
    pub from_log: u64,
    pub from_store: u64,
    /// Entries that were taken over.
    pub entries: u64,
    /// The end of the new journal, notes included.
    pub head: Head,
    /// Up to this position the new journal is the old one, byte by byte.
    pub unchanged: Position,
    /// Positions whose entries are lost or were left out, first and last each; notes stand in their places.
    pub lost: Vec<(Position, Position)>,
    /// Entries behind the new journal's end that the head file knew of.
    pub cut: Option<(Position, Position)>,
    /// What is missing of which stream, as far as it is known.
    pub missing: Vec<MissingEvents>,
    /// Why the store was of no use, if it was not.
    pub store_trouble: Option<String>,
}

/// Why nothing was taken out.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The old folder is in use, or holds nothing of a journal.
    #[error("cannot read the old journal")]
    Source { source: OpenError },
    /// The new folder is in use or not empty.
    #[error("cannot make a journal in the new folder")]
    Target { source: OpenError },
    /// The old folder could not be read, or the new one not written.
    #[error("cannot copy to {path:?}")]
    Io { path: PathBuf, source: io::Error },
}

/// Makes a journal in a new or empty folder out of what is whole in an old one, which is only read.
///
/// # Errors
/// See [`SalvageError`]. That nothing was whole is no error: the new journal is then empty.
pub fn salvage(dir: &Path, into: &Path) -> Result<Salvaged, SalvageError> {
    let (from, to) = (OsDisk::new(dir), OsDisk::new(into));
    let io = |source| SalvageError::Io { path: into.to_owned(), source };
    to.make_root().map_err(io)?;
    let copy = into.join(STORE_COPY);
    let store = SledStore::new(&copy);
    // The lock keeps a node from starting while its sled is copied.
    let lock = open::take_lock(&from, LockMode::Shared).map_err(|source| SalvageError::Source { source })?;
    let old_store = SledStore::new(dir.join("sled")).whole();
    if old_store.is_dir() && what_is_in_the_way(&to).map_err(io)?.is_none() {
        // Nobody else is at it, and what an earlier attempt left of a copy is no copy.
        let _to_lock = open::take_lock(&to, LockMode::Exclusive).map_err(|source| SalvageError::Target { source })?;
        to.remove(STORE_COPY).and_then(|()| sources::copy_folder(&old_store, &copy)).map_err(io)?;
    }
    drop(lock);
    salvage_on(Arc::new(from), &store, Arc::new(to))
}

/// As [`salvage`], on any disks; `store` is a copy of the old journal's, which may be changed.
///
/// # Errors
/// As [`salvage`].
pub fn salvage_on(from: Arc<dyn Disk>, store: &dyn Store, to: Arc<dyn Disk>) -> Result<Salvaged, SalvageError> {
    let path = to.path();
    let failed = |source| SalvageError::Io { path: path.clone(), source };
    let target = |source| SalvageError::Target { source };
    let refuse_if_taken = || match what_is_in_the_way(&*to).map_err(failed)? {
        Some(other) => {
            let problem = format!("it is not empty: it holds {other:?}");
            Err(target(OpenError::Foreign { path: path.clone(), problem }))
        }
        None => Ok(()),
    };
    // Before anything is written there, and once nobody else can.
    refuse_if_taken()?;
    let _from_lock = open::take_lock(&*from, LockMode::Shared).map_err(|source| SalvageError::Source { source })?;
    let _to_lock = open::take_lock(&*to, LockMode::Exclusive).map_err(target)?;
    refuse_if_taken()?;
    let salvaged = take_over(&from, store, &to);
    // Without FORMAT it is no journal: the remains of a failure would only be in the way of the next attempt.
    let remains: &[&str] = if salvaged.is_err() { &[STORE_COPY, "log", "head", REACHED_FILE] } else { &[STORE_COPY] };
    let removed = remains.iter().try_for_each(|name| to.remove(name));
    let salvaged = salvaged?;
    removed.map_err(failed)?;
    format_file::write(&*to, salvaged.journal).map_err(failed)?;
    Ok(salvaged)
}

/// What a folder holds that is not left by an attempt that failed, if it holds any.
fn what_is_in_the_way(to: &dyn Disk) -> io::Result<Option<String>> {
    let names = to.list("")?;
    Ok(names.into_iter().find(|name| !["lock", STORE_COPY].contains(&name.as_str())))
}

/// Everything but FORMAT, which comes last.
fn take_over(from: &Arc<dyn Disk>, store: &dyn Store, to: &Arc<dyn Disk>) -> Result<Salvaged, SalvageError> {
    let failed = |source| SalvageError::Io { path: to.path(), source };
    let id = match format_file::read(&**from).map_err(failed)? {
        FoundFormat::Journal(id) => Some(id),
        FoundFormat::Missing | FoundFormat::Damaged(_) | FoundFormat::Refused(_) => None,
    };
    let sources = Sources::find(from, Some(store), id).map_err(failed)?;
    let Some(journal) = sources.journal else {
        let problem = "it contains no FORMAT file and no intact block".into();
        return Err(SalvageError::Source { source: OpenError::Foreign { path: from.path(), problem } });
    };
    let found_head = match head_file::read_of(&**from, journal) {
        Ok(FoundHead::Read { newest, .. }) => Some(newest),
        _ => None,
    };
    let salvage = Salvage::begin(to.clone(), journal).map_err(failed)?;
    salvage.run(&sources, found_head).map_err(failed)
}

/// What [`salvage`] would make of a journal, and the newest writer that it meets; nothing is written. The caller holds
/// the lock.
pub(crate) fn foresee(
    from: &Arc<dyn Disk>,
    store: Option<&dyn Store>,
    journal: Uuid,
    head: Option<HeadRecord>,
) -> io::Result<(Salvaged, u64)> {
    let sources = Sources::find(from, store, Some(journal))?;
    let mut salvage = Salvage::dry(journal);
    salvage.follow(&sources)?;
    let epoch = salvage.epoch;
    Ok((salvage.end(head)?, epoch))
}

/// The new journal.
struct Target {
    disk: Arc<dyn Disk>,
    log: Log,
}

/// Follows the sound blocks of a journal in their order, and decides of each entry whether it is taken.
pub(crate) struct Salvage {
    /// None: it is only asked what would become of it.
    to: Option<Target>,
    journal: Uuid,
    tip: Tip,
    /// The tip of the old journal's chain as far as it was followed.
    old_tip: Tip,
    epoch: u64,
    time_ms: u64,
    versions: BTreeMap<StreamId, Version>,
    missing: BTreeMap<StreamId, MissingEvents>,
    report: Salvaged,
}

impl Salvage {
    fn begin(disk: Arc<dyn Disk>, journal: Uuid) -> io::Result<Self> {
        let tip = Tip::genesis(journal);
        let log = Log::create(disk.clone(), journal, Settings::default().segment_bytes, 1, tip).map_err(io_of)?;
        Ok(Self { to: Some(Target { disk, log }), ..Self::dry(journal) })
    }

    /// One that writes nothing.
    pub(crate) fn dry(journal: Uuid) -> Self {
        let tip = Tip::genesis(journal);
        let report = Salvaged {
            journal,
            from_log: 0,
            from_store: 0,
            entries: 0,
            head: Head::default(),
            unchanged: Position::ZERO,
            lost: Vec::new(),
            cut: None,
            missing: Vec::new(),
            store_trouble: None,
        };
        let (versions, missing) = (BTreeMap::new(), BTreeMap::new());
        Self { to: None, journal, tip, old_tip: tip, epoch: 0, time_ms: 0, versions, missing, report }
    }

    fn run(mut self, sources: &Sources, head: Option<HeadRecord>) -> io::Result<Salvaged> {
        self.follow(sources)?;
        self.end(head)
    }

    fn follow(&mut self, sources: &Sources) -> io::Result<()> {
        let mut after = 0;
        while let Some(found) = sources.next(after, &self.old_tip)? {
            after = found.header.block;
            self.take(&found)?;
        }
        self.report.store_trouble.clone_from(&sources.store_trouble);
        Ok(())
    }

    /// The newest writer that was met.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Closes the new journal. `head` is what the old one's head file says.
    pub(crate) fn end(mut self, head: Option<HeadRecord>) -> io::Result<Salvaged> {
        if let Some(head) = head.filter(|head| head.head.position > self.tip.position) {
            self.report.cut = Some((self.tip.position.next(), head.head.position));
        }
        let Tip { block, position, hash } = self.tip;
        let head = Head { position, time_ms: self.time_ms, block, hash };
        if let Some(Target { disk, log }) = &self.to {
            log.sync()?;
            let record = HeadRecord {
                journal: self.journal,
                sequence: 0,
                head,
                epoch: self.epoch,
                store_synced: 0,
                clean: false,
            };
            HeadFile::begin(&**disk, record, false)?.finish()?;
        }
        self.report.head = head;
        self.report.missing = self.missing.into_values().collect();
        Ok(self.report)
    }

    /// Takes over one sound block. False, if it does not hold what its header says.
    pub(crate) fn take(&mut self, found: &Found) -> io::Result<bool> {
        let header = found.header;
        if header.first <= self.tip.position {
            // Another history of the same positions: what came first stays.
            return Ok(true);
        }
        let records = &found.bytes[HEADER_BYTES..];
        let Some(entries) = in_order(&header, records) else { return Ok(false) };
        self.fill(header.first, header.epoch)?;
        let chosen = self.choose(&entries);
        let whole = chosen.iter().all(|chosen| chosen.taken);
        self.epoch = self.epoch.max(header.epoch);
        if whole && header.previous == self.tip.hash && header.block == self.tip.block + 1 {
            self.append(&found.bytes, header.count)?;
            if self.report.lost.is_empty() {
                self.report.unchanged = self.tip.position;
            }
        } else {
            self.rewrite(&header, records, &chosen)?;
        }
        if found.from_store {
            self.report.from_store += 1;
        } else {
            self.report.from_log += 1;
        }
        let position = Position(header.first.0 + u64::from(header.count) - 1);
        self.old_tip = Tip { block: header.block, position, hash: header.hash };
        Ok(true)
    }

    /// Which entries of a block can be taken: those whose stream lacks nothing before them.
    fn choose(&mut self, entries: &[Entry]) -> Vec<Chosen> {
        let mut chosen = Vec::with_capacity(entries.len());
        for Entry { header, .. } in entries {
            let version = self.versions.entry(header.stream.clone()).or_default();
            let taken = header.first_version == version.next() && header.meta.time_ms >= self.time_ms;
            if taken {
                *version = header.last_version();
                self.time_ms = header.meta.time_ms;
                self.report.entries += 1;
            } else {
                let (stream, whole) = (header.stream.clone(), *version);
                let missing = self.missing.entry(stream.clone());
                let missing = missing.or_insert_with(|| MissingEvents::behind(stream, whole));
                missing.lose(u64::from(header.events), header.last_version());
            }
            chosen.push(Chosen { taken, time_ms: self.time_ms });
        }
        chosen
    }

    /// Notes in the places of all entries up to a position.
    fn fill(&mut self, until: Position, epoch: u64) -> io::Result<()> {
        while self.tip.position.next() < until {
            let first = self.tip.position.next();
            let count = (until.0 - first.0).min(NOTES_AT_ONCE);
            let mut frame = vec![0; HEADER_BYTES];
            for at in first.0..first.0 + count {
                self.put_note(Position(at), "lost", self.time_ms, &mut frame);
            }
            self.lose(first, Position(first.0 + count - 1));
            self.seal(frame, first, count as u32, epoch)?;
        }
        Ok(())
    }

    /// A block with notes in the places of what is left out.
    fn rewrite(&mut self, header: &FrameHeader, records: &[u8], chosen: &[Chosen]) -> io::Result<()> {
        let mut frame = vec![0; HEADER_BYTES];
        let mut rest = records;
        for (chosen, at) in chosen.iter().zip(header.first.0..) {
            let (bytes, behind) = rest.split_at(record::length(rest));
            rest = behind;
            if chosen.taken {
                frame.extend_from_slice(bytes);
            } else {
                self.lose(Position(at), Position(at));
                self.put_note(Position(at), "left-out", chosen.time_ms, &mut frame);
            }
        }
        self.seal(frame, header.first, header.count, header.epoch)
    }

    fn put_note(&self, at: Position, code: &str, time_ms: u64, to: &mut Vec<u8>) {
        let begin = to.len();
        let stream: StreamId = SALVAGE_STREAM.parse().expect("the stream of the notes has a valid name");
        let id = Uuid::new_v5(&self.journal, format!("{code}/{at}").as_bytes());
        let meta = Meta {
            kind: EntryKind::Note,
            outcome: Outcome::Nothing,
            code: code.into(),
            time_ms,
            command_id: id,
            command_hash: codec::digest(id.as_bytes()),
            cause: None,
            principal: "node".into(),
            policy: None,
            view: None,
            cites: Vec::new(),
        };
        let nothing = Body::default;
        let (command, facts, verdict) = (nothing(), nothing(), nothing());
        let draft = Draft { stream, expected: Version::ZERO, meta, command, facts, verdict, events: Vec::new() };
        record::encode(&draft, to);
        record::place(&mut to[begin..], at, Version(1));
    }

    fn lose(&mut self, first: Position, last: Position) {
        match self.report.lost.last_mut() {
            Some(range) if range.1.next() == first => range.1 = last,
            _ => self.report.lost.push((first, last)),
        }
    }

    fn seal(&mut self, mut frame: Vec<u8>, first: Position, count: u32, epoch: u64) -> io::Result<()> {
        let (journal, block, previous) = (self.journal, self.tip.block + 1, self.tip.hash);
        let header = FrameHeader { journal, block, first, epoch, count, records_bytes: 0, previous, hash: [0; 32] };
        frame::seal(&mut frame, &header);
        self.append(&frame, count)
    }

    fn append(&mut self, bytes: &[u8], count: u32) -> io::Result<()> {
        let (header, _) = frame::check(bytes).map_err(|_| io::Error::other("a checked block changed"))?;
        let position = Position(self.tip.position.0 + u64::from(count));
        self.tip = Tip { block: header.block, position, hash: header.hash };
        if let Some(Target { log, .. }) = &mut self.to {
            log.append(bytes, self.tip).map_err(io_of)?;
        }
        Ok(())
    }
}

/// What becomes of one entry, and the time of whatever stands in its place.
struct Chosen {
    taken: bool,
    time_ms: u64,
}

/// The entries of a sound block, if they are what its header says.
fn in_order(header: &FrameHeader, records: &[u8]) -> Option<Vec<Entry>> {
    let entries: Vec<Entry> = frame::records(records).map(|record| record?.entry()).collect::<Result<_, _>>().ok()?;
    let placed = entries.iter().zip(header.first.0..).all(|(entry, at)| entry.header.position == Position(at));
    (placed && entries.len() == header.count as usize && !entries.is_empty()).then_some(entries)
}

fn io_of(error: LogError) -> io::Error {
    match error {
        LogError::Full => io::ErrorKind::StorageFull.into(),
        LogError::Unclear(error) => error,
    }
}

impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, from_log, from_store, unchanged, .. } = self;
        write!(f, "recovered {entries} entries, {from_log} blocks from the log and {from_store} from sled; ")?;
        write!(f, "entries 1 to {unchanged} are unchanged")?;
        for (first, last) in self.lost.iter().take(10) {
            write!(f, "; lost or skipped: {first} to {last}")?;
        }
        if self.lost.len() > 10 {
            write!(f, "; and {} more gaps", self.lost.len() - 10)?;
        }
        if let Some((first, last)) = self.cut {
            write!(f, "; missing at the end: {first} to {last}")?;
        }
        if let Some(problem) = &self.store_trouble {
            write!(f, "; sled was unusable ({problem})")?;
        }
        Ok(())
    }
}
