//! sled 0.34.7 as the block store.
//!
//! One tree; the key is the block's number and the part's, big endian.
//!
//! sled's own `flush` ends in `sync_file_range`, which makes neither the length of the file durable nor what the disk
//! itself still holds back. Yet sled counts on it: each segment of its file names how far the log before it is durable,
//! recovery believes that, and a segment whose pages have all been written elsewhere by then is overwritten. So after a
//! power cut pages were gone that a checkpoint had made durable long before: the old ones were overwritten, the new ones
//! not there yet. Therefore every flush is followed by `fdatasync` through a handle of our own before anything else is
//! put, and so little is put between two of them that sled cannot get past a whole segment meanwhile: what a segment
//! names as durable then is.
//!
//! sled puts a node that is longer than a quarter of a segment into a blob file, which it never syncs: after a power cut
//! what was durable by its word could be gone. A leaf is split when it is met with more than 16 items, so it holds 17 at
//! most; with segments of 2 MiB and parts of 2 KiB the longest leaf stays far below the quarter. Stores from before have
//! parts of 28 or 32 KiB, of which 16 may be too long, and are gone on with as they are: how long a part is, only its own
//! bytes say. So a checkpoint syncs what blob files there are, before it says anything.
//!
//! sled's cache has 256 shards, each of which keeps at least the page that it met last, and looks at what it keeps only
//! after 64 accesses. Leaves of long parts are written with few accesses: sled would keep all of a journal of 100 MB in
//! memory. So parts are short, also because 256 leaves of the longest ones stay whatever happens, and sled is made to look.

mod folder;
mod reader;
mod watch;

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{BlockReader, Blocks, Store, StoreError};
use crate::disk::{Stamp, crash};
use folder::Blobs;
use reader::SledReader;
use watch::Watch;

const PART_BYTES: usize = 2 * 1024;
/// About what a leaf holds that was filled from front to back.
const LEAF_BYTES: usize = 8 * PART_BYTES;
const SEGMENT_BYTES: usize = 2 * 1024 * 1024;
/// What sled may keep of what it wrote or read last. Everything that is asked often is in memory elsewhere, and what a node
/// rebuilds is read once, from front to back.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// sled looks at what a shard of its cache keeps only after so many accesses to it. Source: sled 0.34, `lru.rs`.
const ACCESSES_UNTIL_EVICTION: usize = 65;
/// After so many bytes that were put, sled is made to look.
const PUT_UNTIL_EVICTION: usize = 1024 * 1024;
/// So many parts are put between two syncs. For each, sled writes the part itself, every tenth time its leaf anew, every
/// eighth time two halves of one, and moves a page out of a segment that it wants to empty: at most 64 KiB in all, and
/// all of them together less than a segment.
const PARTS_UNTIL_SYNC: usize = 32;
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

    fn open_sled(&self) -> Result<SledBlocks, StoreError> {
        folder::remove_unfinished_snapshots(&self.dir).map_err(failed("open"))?;
        // After a kill, sled reads what no disk has yet, and overwrites what that took the place of.
        folder::sync_file(&self.dir.join("db")).map_err(failed("open"))?;
        let config = sled::Config::new()
            .path(&self.dir)
            .segment_size(SEGMENT_BYTES)
            .cache_capacity(CACHE_BYTES)
            .flush_every_ms(None);
        let database = open_patiently(&config).map_err(failed("open"))?;
        let tree = database.open_tree(TREE).map_err(failed("open"))?;
        let watch = Arc::new(Watch::start(database.clone()).map_err(failed("open"))?);
        let file = File::options().read(true).write(true).open(self.dir.join("db")).map_err(failed("open"))?;
        Ok(SledBlocks {
            watch,
            database,
            tree,
            file,
            dir: self.dir.clone(),
            part_bytes: PART_BYTES,
            is_begun: false,
            is_stuck: false,
            blobs: Blobs::default(),
            recent: Recent::default(),
            turn: Arc::default(),
        })
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
        folder::copy_folder(&self.whole(), &copy.dir).map_err(failed("copy"))?;
        Ok(copy)
    }
}

impl Store for SledStore {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        Ok(Box::new(self.open_sled()?))
    }

    fn wipe(&self) -> Result<(), StoreError> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("wipe")(error)),
            _ => Ok(()),
        }
    }

    /// sled writes snapshots of its page table when it is opened, and never syncs them; without them it reads everything.
    fn forget_shortcuts(&self) -> Result<(), StoreError> {
        folder::remove_snapshots(&self.dir, "").map_err(failed("tidy"))
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
        folder::sync_folder(&copy).and_then(|()| fs::rename(&copy, &ready)).map_err(failed("adopt a copy"))?;
        folder::sync_parent(&self.dir).map_err(failed("adopt a copy"))?;
        crash::point("between-copy-adopted");
        self.finish_adopting()
    }

    fn finish_adopting(&self) -> Result<(), StoreError> {
        let ready = self.beside(".new");
        if !ready.exists() {
            return Ok(());
        }
        self.wipe()?;
        fs::rename(&ready, &self.dir).and_then(|()| folder::sync_parent(&self.dir)).map_err(failed("adopt a copy"))
    }

    fn for_later(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.clone()))
    }

    fn stamps(&self) -> Option<Vec<(String, Stamp)>> {
        let mut stamps = Vec::new();
        folder::stamp_files(&self.dir, "", &mut stamps)?;
        stamps.sort_by(|a, b| a.0.cmp(&b.0));
        Some(stamps)
    }

    fn wants_own_thread(&self) -> bool {
        true
    }
}

/// sled locks its file as well, and a child process that is just being started may hold that lock for a moment after
/// sled was closed. Nobody else does: a caller here has the journal's own lock.
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

fn failed<E: std::fmt::Display>(action: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError { action, problem: in_plain_words(error.to_string()) }
}

/// What sled says of damage is for its own developers: "at file offset None backtrace ()".
fn in_plain_words(problem: String) -> String {
    let is_damage =
        ["corrupted data at file offset", "corruption encountered"].iter().any(|words| problem.contains(words));
    if is_damage { "its data is corrupted".to_owned() } else { problem }
}

#[derive(Debug)]
struct SledBlocks {
    watch: Arc<Watch>,
    database: sled::Db,
    tree: sled::Tree,
    file: File,
    dir: PathBuf,
    /// Whether the files that are only written once are durable.
    is_begun: bool,
    /// Something failed inside of sled that sled does not know of, such as the writing of a blob file: it would wait for ever
    /// for what holds the buffer that this was meant for.
    is_stuck: bool,
    blobs: Blobs,
    part_bytes: usize,
    recent: Recent,
    /// Who reads a page that sled has not written yet makes it flush: not between a flush and the sync behind it.
    turn: Arc<Mutex<()>>,
}

/// What was put since sled was last made to look at its cache.
#[derive(Debug, Default)]
struct Recent {
    bytes: usize,
    /// One for about each page that was written.
    keys: Vec<[u8; 10]>,
    bytes_since_key: usize,
}

impl Recent {
    fn add(&mut self, key: [u8; 10], bytes: usize) {
        self.bytes += bytes;
        self.bytes_since_key += bytes;
        if self.bytes_since_key >= LEAF_BYTES {
            self.bytes_since_key = 0;
            self.keys.push(key);
        }
    }
}

impl SledBlocks {
    /// Makes sled look at what its cache keeps, from time to time.
    fn let_go_of_pages(&mut self) -> sled::Result<()> {
        if self.recent.bytes < PUT_UNTIL_EVICTION {
            return Ok(());
        }
        for key in std::mem::take(&mut self.recent).keys {
            for _ in 0..ACCESSES_UNTIL_EVICTION {
                self.tree.contains_key(key)?;
            }
        }
        Ok(())
    }

    /// Puts some parts, and makes them durable.
    fn put_parts(&mut self, parts: &[Part<'_>]) -> sled::Result<()> {
        let mut batch = sled::Batch::default();
        for (key, bytes) in parts {
            batch.insert(key, *bytes);
            self.recent.add(*key, bytes.len());
        }
        {
            let turn = self.turn.clone();
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            self.tree.apply_batch(batch)?;
            self.database.flush()?;
            self.file.sync_data()?;
        }
        self.let_go_of_pages()
    }
}

/// A part of a block, under its key.
type Part<'a> = ([u8; 10], &'a [u8]);

/// Blocks in parts, as they are put together: each block at once. One of too many parts is put in several turns, its first
/// part last: until then nobody sees the others.
fn turns<'a>(blocks: &[(u64, &'a [u8])], part_bytes: usize) -> Vec<Vec<Part<'a>>> {
    let mut turns: Vec<Vec<Part<'a>>> = vec![Vec::new()];
    for (number, frame) in blocks {
        let parts = frame.chunks(part_bytes).enumerate().map(|(part, bytes)| (key(*number, part as u16), bytes));
        let mut parts: Vec<Part<'a>> = parts.collect();
        if parts.len() > PARTS_UNTIL_SYNC {
            parts.rotate_left(1);
            turns.extend(parts.chunks(PARTS_UNTIL_SYNC).map(<[Part<'a>]>::to_vec));
            turns.push(Vec::new());
            continue;
        }
        if turns.last().is_some_and(|turn| turn.len() + parts.len() > PARTS_UNTIL_SYNC) {
            turns.push(Vec::new());
        }
        if let Some(turn) = turns.last_mut() {
            turn.append(&mut parts);
        }
    }
    turns.retain(|turn| !turn.is_empty());
    turns
}

impl Blocks for SledBlocks {
    fn put(&mut self, blocks: &[(u64, &[u8])]) -> Result<(), StoreError> {
        let turns = turns(blocks, self.part_bytes);
        let put = self.watch.clone().during(|| turns.iter().try_for_each(|parts| self.put_parts(parts)));
        self.is_stuck |= put.is_err() && self.database.context.global_error().is_ok();
        put.map_err(failed("put"))
    }

    fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.watch.during(|| self.database.flush()).map_err(failed("checkpoint"))?;
        // First what sled's file points to.
        self.blobs.sync(&self.dir).map_err(failed("checkpoint"))?;
        self.file.sync_data().map_err(failed("checkpoint"))?;
        if !self.is_begun {
            // sled never syncs what says how its file is to be read, nor its own name.
            let conf = File::open(self.dir.join("conf")).and_then(|conf| conf.sync_all());
            conf.and_then(|()| folder::sync_parent(&self.dir)).map_err(failed("checkpoint"))?;
            self.is_begun = true;
        }
        // The names inside are few and change only when sled writes a snapshot, at opening.
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(failed("checkpoint"))
    }

    fn survey(&self, visit: &mut dyn FnMut(u64, &[u8])) -> Result<(), StoreError> {
        self.watch.during(|| survey(&self.tree, visit))
    }

    fn reader(&self) -> Arc<dyn BlockReader> {
        Arc::new(SledReader::start(self.tree.clone(), self.watch.clone(), self.turn.clone()))
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

impl Drop for SledBlocks {
    /// sled waits once more for what it has not written when it is let go of; with this there is nothing left to wait for.
    fn drop(&mut self) {
        if self.is_stuck {
            // So it is never let go of. Its folder is wiped before another one is opened there.
            std::mem::forget((self.database.clone(), self.tree.clone()));
        } else if let Err(error) = self.watch.during(|| self.database.flush()) {
            tracing::debug!(%error, "the block store is closed without its last writes");
        }
        self.watch.end();
    }
}

/// Shows every block that a tree has, put together. One without its first part was not put as a whole, and is not shown.
fn survey(tree: &sled::Tree, visit: &mut dyn FnMut(u64, &[u8])) -> Result<(), StoreError> {
    let mut whole: Option<(u64, u16, Vec<u8>)> = None;
    for pair in tree.iter() {
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
                (part == 0).then(|| (number, part, bytes.to_vec()))
            }
        };
    }
    if let Some((done, _, frame)) = whole {
        visit(done, &frame);
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::frame::{HEADER_BYTES, MAGIC};

    #[test]
    fn damage_is_told_in_plain_words() {
        let error = sled::Error::Corruption { at: None, bt: () };
        assert_eq!(failed("open")(error.clone()).problem, "its data is corrupted");
        assert_eq!(failed("open")(std::io::Error::from(error)).problem, "its data is corrupted");
        assert_eq!(failed("open")("no space left").problem, "no space left");
    }

    /// Blocks of sixteen whole parts: only their lengths are looked at here.
    fn blocks_of(numbers: std::ops::RangeInclusive<u64>, part_bytes: usize) -> Vec<(u64, Vec<u8>)> {
        let block = |number: u64| {
            let mut frame = vec![number as u8; 16 * part_bytes];
            let records_bytes = frame.len() - HEADER_BYTES;
            frame[..4].copy_from_slice(&MAGIC);
            frame[8..12].copy_from_slice(&(records_bytes as u32).to_le_bytes());
            (number, frame)
        };
        numbers.map(block).collect()
    }

    /// A few at a time, as the keeper does: sled takes those in an order of its own, and leaves grow in their middle.
    fn put(blocks: &mut SledBlocks, all: &[(u64, Vec<u8>)]) -> Result<(), StoreError> {
        all.chunks(4).try_for_each(|some| {
            let frames: Vec<(u64, &[u8])> = some.iter().map(|(number, frame)| (*number, &frame[..])).collect();
            blocks.put(&frames)
        })
    }

    fn holds(blocks: &SledBlocks, all: &[(u64, Vec<u8>)]) {
        let numbers: Vec<u64> = all.iter().map(|block| block.0).collect();
        let reader = blocks.reader();
        let read = reader.read(&numbers);
        reader.stop();
        assert!(read.into_iter().eq(all.iter().map(|block| Some(block.1.clone()))));
        let mut seen = Vec::new();
        blocks.survey(&mut |number, frame| seen.push((number, frame.to_vec()))).unwrap();
        assert!(seen == all);
    }

    #[test]
    fn blocks_are_put_a_few_parts_at_a_time_each_as_a_whole() {
        let frame = [0; 100];
        let keys = |lengths: &[usize]| -> Vec<Vec<(u64, u16)>> {
            let blocks: Vec<(u64, &[u8])> = (1..).zip(lengths.iter().map(|length| &frame[..*length])).collect();
            let turns = turns(&blocks, 1);
            turns.iter().map(|turn| turn.iter().filter_map(|(key, _)| parts_of(key)).collect()).collect()
        };
        assert!(keys(&[]).is_empty());
        assert_eq!(keys(&[2, 1]), [vec![(1, 0), (1, 1), (2, 0)]]);
        let lengths = |turns: Vec<Vec<(u64, u16)>>| turns.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(keys(&[20, 12, 1])), [32, 1]);
        assert_eq!(lengths(keys(&[20, 13, 32])), [20, 13, 32]);
        // when a block has too many parts, then its first one is put last
        let long = keys(&[3, 70, 3]);
        assert_eq!(lengths(long.clone()), [3, 32, 32, 6, 3]);
        assert_eq!((long[1][0], long[3][5]), ((2, 1), (2, 0)));
    }

    #[test]
    fn a_block_without_its_first_part_is_not_there_yet() {
        // given a block of too many parts, of which the last turn is missing
        let dir = tempfile::tempdir().unwrap();
        let mut blocks = SledStore::new(dir.path().join("sled")).open_sled().unwrap();
        let all = blocks_of(1..=6, PART_BYTES);
        blocks.part_bytes = PART_BYTES / 4;
        let pairs: Vec<(u64, &[u8])> = all.iter().map(|(number, frame)| (*number, &frame[..])).collect();
        let all_turns = turns(&pairs, blocks.part_bytes);
        for parts in &all_turns[..all_turns.len() - 1] {
            blocks.put_parts(parts).unwrap();
        }
        // then nobody sees it
        holds(&blocks, &all[..5]);
        assert_eq!(blocks.reader().read(&[6]), [None]);
        // and when the turn is there, then it is a block like any other
        blocks.put_parts(&all_turns[all_turns.len() - 1]).unwrap();
        holds(&blocks, &all);
    }

    #[test]
    fn sled_writes_less_than_a_segment_between_two_syncs() {
        let dir = tempfile::tempdir().unwrap();
        let mut blocks = SledStore::new(dir.path().join("sled")).open_sled().unwrap();
        let (mut longest, mut at) = (0, 0);
        let all = blocks_of(1..=1024, PART_BYTES);
        for pair in all.chunks(2) {
            let frames: Vec<(u64, &[u8])> = pair.iter().map(|(number, frame)| (*number, &frame[..])).collect();
            let turns = turns(&frames, PART_BYTES);
            assert_eq!(turns.len(), 1);
            blocks.put_parts(&turns[0]).unwrap();
            let now = blocks.database.context.pagecache.log.stable_offset();
            longest = longest.max(now - at);
            at = now;
        }
        let (at, longest) = (at as usize, longest as usize);
        let segments = blocks.database.size_on_disk().unwrap() as usize / SEGMENT_BYTES;
        assert!(at > (segments + 4) * SEGMENT_BYTES, "segments are used again: {at} bytes in {segments}");
        assert!(longest < SEGMENT_BYTES, "{longest} bytes");
    }

    fn blob_files(store: &SledStore) -> usize {
        fs::read_dir(store.dir.join("blobs")).unwrap().count()
    }

    #[test]
    fn leaves_full_of_whole_parts_make_no_blob_files() {
        let dir = tempfile::tempdir().unwrap();
        let store = SledStore::new(dir.path().join("sled"));
        let mut blocks = store.open_sled().unwrap();
        let all = blocks_of(1..=48, PART_BYTES);
        put(&mut blocks, &all).unwrap();
        assert_eq!(blob_files(&store), 0, "sled does not sync blob files");
        holds(&blocks, &all);
    }

    /// Of parts of 32 KiB only the longest leaves are too long, and of these nearly all.
    const LONG_PARTS: usize = 96 * 1024;

    #[test]
    fn a_blob_file_that_cannot_be_written_fails_the_store_and_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let store = SledStore::new(dir.path().join("sled"));
        let mut blocks = store.open_sled().unwrap();
        blocks.part_bytes = LONG_PARTS;
        fs::remove_dir_all(store.dir.join("blobs")).unwrap();
        fs::write(store.dir.join("blobs"), "no folder").unwrap();
        put(&mut blocks, &blocks_of(1..=16, LONG_PARTS)).expect_err("such stores have blob files");
        let (send, gone) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(blocks);
            send.send(()).unwrap();
        });
        gone.recv_timeout(Duration::from_secs(20)).expect("it is let go of");
        store.wipe().unwrap();
        drop(store.open_sled().expect("another one can be opened there"));
    }

    #[test]
    fn a_store_of_longer_parts_is_gone_on_with_and_its_blob_files_are_durable() {
        let dir = tempfile::tempdir().unwrap();
        let store = SledStore::new(dir.path().join("sled"));
        let mut blocks = store.open_sled().unwrap();
        blocks.part_bytes = 32 * 1024;
        let mut all = Vec::new();
        // Which leaves are too long, and when their files go again, is sled's.
        while blob_files(&store) == 0 {
            assert!(all.len() < 1_000, "such stores have blob files");
            all.extend(blocks_of(all.len() as u64 + 1..=all.len() as u64 + 4, 32 * 1024));
            put(&mut blocks, &all[all.len() - 4..]).unwrap();
            blocks.checkpoint().unwrap();
        }
        assert!(blocks.blobs.durable() >= blob_files(&store));
        drop(blocks);
        let mut blocks = store.open_sled().unwrap();
        let begun = all.len();
        all.extend(blocks_of(begun as u64 + 1..=begun as u64 + 4, PART_BYTES));
        put(&mut blocks, &all[begun..]).unwrap();
        blocks.checkpoint().unwrap();
        assert!(blocks.blobs.durable() >= blob_files(&store));
        holds(&blocks, &all);
    }
}
