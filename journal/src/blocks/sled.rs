//! sled 0.34.7 as the block store.
//!
//! One tree; the key is the block's number and the part's, big endian. Parts are at most 32 KiB and segments 2 MiB, so
//! that no node is large enough for a blob file: sled never syncs those. sled's own `flush` ends in `sync_file_range`;
//! a checkpoint therefore ends in `fdatasync` of sled's file through a handle of our own.

use std::{
    fs::{self, DirBuilder, File},
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, SyncSender},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{BlockReader, Blocks, Store, StoreError};
use crate::{
    crash,
    disk::{Stamp, stamp_of},
    frame::{self, HEADER_BYTES},
};

const PART_BYTES: usize = 32 * 1024;
const SEGMENT_BYTES: usize = 2 * 1024 * 1024;
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// The most room that is made for a block because its header says how long it is: a full group.
const ROOM_BYTES_MAX: usize = 640 * 1024;
const LOCK_ATTEMPTS_MAX: u32 = 100;
const LOCK_RETRY: Duration = Duration::from_millis(10);
const TREE: &str = "blocks";

/// A folder with a sled database.
#[derive(Clone, Debug)]
pub struct SledStore {
    dir: PathBuf,
}

impl SledStore {
    /// Uses a folder; nothing is touched yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.dir.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        self.dir.with_file_name(name)
    }

    /// Where its content is: in the copy that was to take its place, if a crash came in between. The folder itself is then
    /// the old one, or a part of it, or gone.
    pub(crate) fn whole(&self) -> PathBuf {
        let ready = self.beside(".new");
        if ready.exists() { ready } else { self.dir.clone() }
    }

    /// The same content in another folder, which is made.
    pub(crate) fn copy_to(&self, dir: PathBuf) -> Result<Self, StoreError> {
        let copy = Self::new(dir);
        copy.wipe()?;
        copy_folder(&self.whole(), &copy.dir).map_err(failed("copy"))?;
        Ok(copy)
    }
}

impl Store for SledStore {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        remove_unfinished_snapshots(&self.dir).map_err(failed("open"))?;
        let config = sled::Config::new()
            .path(&self.dir)
            .segment_size(SEGMENT_BYTES)
            .cache_capacity(CACHE_BYTES)
            .flush_every_ms(None);
        let database = open_patiently(&config).map_err(failed("open"))?;
        let tree = database.open_tree(TREE).map_err(failed("open"))?;
        let file = File::options().read(true).write(true).open(self.dir.join("db")).map_err(failed("open"))?;
        Ok(Box::new(SledBlocks { database, tree, file, dir: self.dir.clone(), is_begun: false }))
    }

    fn wipe(&self) -> Result<(), StoreError> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("wipe")(error)),
            _ => Ok(()),
        }
    }

    /// sled writes snapshots of its page table when it is opened, and never syncs them; without them it reads everything.
    fn forget_shortcuts(&self) -> Result<(), StoreError> {
        remove_snapshots(&self.dir, "").map_err(failed("tidy"))
    }

    fn exists(&self) -> bool {
        self.whole().exists()
    }

    /// sled rewrites what it opens, and shreds what it takes for a torn end.
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(Some(Box::new(self.copy_to(self.beside(".aside"))?)))
    }

    /// The copy has its last name only once all of it is durable.
    fn adopt_copy(&self) -> Result<(), StoreError> {
        let (copy, ready) = (self.beside(".aside"), self.beside(".new"));
        sync_folder(&copy).and_then(|()| fs::rename(&copy, &ready)).map_err(failed("adopt a copy"))?;
        sync_parent(&self.dir).map_err(failed("adopt a copy"))?;
        crash::point("between-copy-adopted");
        self.finish_adopting()
    }

    fn finish_adopting(&self) -> Result<(), StoreError> {
        let ready = self.beside(".new");
        if !ready.exists() {
            return Ok(());
        }
        self.wipe()?;
        fs::rename(&ready, &self.dir).and_then(|()| sync_parent(&self.dir)).map_err(failed("adopt a copy"))
    }

    fn for_later(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.clone()))
    }

    fn stamps(&self) -> Option<Vec<(String, Stamp)>> {
        let mut stamps = Vec::new();
        stamp_files(&self.dir, "", &mut stamps)?;
        stamps.sort_by(|a, b| a.0.cmp(&b.0));
        Some(stamps)
    }

    fn wants_own_thread(&self) -> bool {
        true
    }
}

/// sled locks its file as well, and a child process that is just being started may hold that lock for a moment after
/// sled was closed. Nobody else does: whoever gets here has the journal's own lock.
fn open_patiently(config: &sled::Config) -> sled::Result<sled::Db> {
    let mut attempt = 1;
    loop {
        match config.open() {
            Err(sled::Error::Io(error)) if attempt < LOCK_ATTEMPTS_MAX && is_about_the_lock(&error) => {
                std::thread::sleep(LOCK_RETRY);
                attempt += 1;
            }
            other => return other,
        }
    }
}

fn is_about_the_lock(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.to_string().contains("could not acquire lock")
}

fn sync_folder(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folder(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(dir)?.sync_all()
}

fn sync_parent(dir: &Path) -> std::io::Result<()> {
    match dir.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// None if something cannot be looked at.
fn stamp_files(dir: &Path, prefix: &str, to: &mut Vec<(String, Stamp)>) -> Option<()> {
    for entry in fs::read_dir(dir).ok()? {
        let entry = entry.ok()?;
        let name = format!("{prefix}{}", entry.file_name().to_str()?);
        if entry.file_type().ok()?.is_dir() {
            stamp_files(&entry.path(), &format!("{name}/"), to)?;
        } else {
            to.push((name, stamp_of(&entry.path()).ok()??));
        }
    }
    Some(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A crash while sled writes its snapshot leaves a file that sled itself then refuses to open.
fn remove_unfinished_snapshots(dir: &Path) -> std::io::Result<()> {
    remove_snapshots(dir, ".generating")
}

fn remove_snapshots(dir: &Path, ending: &str) -> std::io::Result<()> {
    let listed = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        listed => listed?,
    };
    for entry in listed {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(ending) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn failed<E: std::fmt::Display>(action: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError { action, problem: error.to_string() }
}

#[derive(Debug)]
struct SledBlocks {
    database: sled::Db,
    tree: sled::Tree,
    file: File,
    dir: PathBuf,
    /// Whether the files that are only written once are durable.
    is_begun: bool,
}

impl Blocks for SledBlocks {
    fn put(&mut self, blocks: &[(u64, &[u8])]) -> Result<(), StoreError> {
        let mut batch = sled::Batch::default();
        for (number, frame) in blocks {
            for (part, bytes) in frame.chunks(PART_BYTES).enumerate() {
                batch.insert(&key(*number, part as u16), bytes);
            }
        }
        self.tree.apply_batch(batch).map_err(failed("put"))
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.database.flush().map_err(failed("checkpoint"))?;
        self.file.sync_data().map_err(failed("checkpoint"))?;
        if !self.is_begun {
            // sled never syncs what says how its file is to be read, nor its own name.
            let conf = File::open(self.dir.join("conf")).and_then(|conf| conf.sync_all());
            conf.and_then(|()| sync_parent(&self.dir)).map_err(failed("checkpoint"))?;
            self.is_begun = true;
        }
        // The names inside are few and change only when sled writes a snapshot, at opening.
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(failed("checkpoint"))
    }

    fn survey(&self, visit: &mut dyn FnMut(u64, &[u8])) -> Result<(), StoreError> {
        let mut whole: Option<(u64, u16, Vec<u8>)> = None;
        for pair in self.tree.iter() {
            let (found, bytes) = pair.map_err(failed("survey"))?;
            let Some((number, part)) = parts_of(&found) else {
                return Err(failed("survey")("a key is not one of ours"));
            };
            whole = match whole.take() {
                Some((open, last, mut frame)) if open == number && last.checked_add(1) == Some(part) => {
                    frame.extend_from_slice(&bytes);
                    Some((number, part, frame))
                }
                other => {
                    if let Some((done, _, frame)) = other {
                        visit(done, &frame);
                    }
                    Some((number, part, if part == 0 { bytes.to_vec() } else { Vec::new() }))
                }
            };
        }
        if let Some((done, _, frame)) = whole {
            visit(done, &frame);
        }
        Ok(())
    }

    fn reader(&self) -> Arc<dyn BlockReader> {
        Arc::new(SledReader::start(self.tree.clone()))
    }

    fn reopened(self: Box<Self>) -> Result<Box<dyn Blocks>, StoreError> {
        let store = SledStore::new(self.dir.clone());
        drop(self);
        store.open()
    }

    fn is_durable(&self) -> bool {
        true
    }
}

fn key(number: u64, part: u16) -> [u8; 10] {
    let mut key = [0; 10];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key[8..].copy_from_slice(&part.to_be_bytes());
    key
}

fn parts_of(key: &[u8]) -> Option<(u64, u16)> {
    let (number, part) = key.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*number), u16::from_be_bytes(part.try_into().ok()?)))
}

type Question = (Vec<u64>, SyncSender<Vec<Option<Vec<u8>>>>);

/// Asks sled on a thread of its own: whoever reads may be a runtime's thread, which sled must never hold up for good.
#[derive(Debug)]
struct SledReader {
    thread: Mutex<Option<(mpsc::Sender<Question>, JoinHandle<()>)>>,
}

impl SledReader {
    fn start(tree: sled::Tree) -> Self {
        let (ask, questions) = mpsc::channel::<Question>();
        let answer_all = move || {
            for (numbers, answer) in questions {
                let found = numbers.iter().map(|number| read_block(&tree, *number)).collect();
                // Whoever asked may be gone; that is its business.
                let _ = answer.send(found);
            }
        };
        let spawned = std::thread::Builder::new().name("journal-read".into()).spawn(answer_all);
        Self { thread: Mutex::new(spawned.ok().map(|thread| (ask, thread))) }
    }
}

impl BlockReader for SledReader {
    fn read(&self, numbers: &[u64]) -> Vec<Option<Vec<u8>>> {
        let ask = {
            let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
            thread.as_ref().map(|(ask, _)| ask.clone())
        };
        let (answer, answered) = mpsc::sync_channel(1);
        let asked = ask.is_some_and(|ask| ask.send((numbers.to_vec(), answer)).is_ok());
        let found = if asked { answered.recv().ok() } else { None };
        found.unwrap_or_else(|| vec![None; numbers.len()])
    }

    fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((ask, thread)) = thread {
            drop(ask);
            // It ends with the last question; a panic inside sled has been answered with "nothing found" already.
            let _ = thread.join();
        }
    }
}

impl Drop for SledReader {
    fn drop(&mut self) {
        self.stop();
    }
}

fn read_block(tree: &sled::Tree, number: u64) -> Option<Vec<u8>> {
    let first = tree.get(key(number, 0)).ok()??;
    let header = frame::peek(&first).ok()?;
    let length = HEADER_BYTES + header.records_bytes as usize;
    // It grows with the parts that are there, whatever length the first one promises.
    let mut bytes = Vec::with_capacity(length.min(ROOM_BYTES_MAX).max(first.len()));
    bytes.extend_from_slice(&first);
    let mut part = 1;
    while bytes.len() < length {
        bytes.extend_from_slice(&tree.get(key(number, part)).ok()??);
        part += 1;
    }
    Some(bytes)
}
