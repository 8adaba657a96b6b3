//! What the tests share: journals on simulated disks, and what they held.

use std::{path::Path, sync::Arc, time::Duration};

use bailiwick_journal::{
    Config, Entry, Filter, Head, Journal, LocalJournal, OpenError, OpenReport, Position, Settings, Threads,
    append_blocking,
    blocks::{MemoryStore, Store},
    disk::{Disk, SimulatedDisk},
    testing::{all, draft},
};
use uuid::Uuid;

use crate::deadline::Deadline;

pub const ID: Uuid = Uuid::from_u128(0xB417);

/// Small segments, so that a short test has several.
pub fn inline() -> Settings {
    Settings { threads: Threads::Inline, segment_bytes: 8 * 1024, checkpoint_bytes: 4 * 1024, ..Settings::default() }
}

pub fn open(disk: &SimulatedDisk, store: &dyn Store) -> Result<(LocalJournal, OpenReport), OpenError> {
    LocalJournal::open_with(Arc::new(disk.clone()), store, ID, 0, inline())
}

/// Appends `count` entries over a few streams, one block each.
pub fn write(journal: &dyn Journal, count: u64) {
    for number in 0..count {
        let stream = format!("machine/{}", number % 5);
        let expected = journal.version(&stream.parse().unwrap()).0;
        let events: Vec<u64> = (0..number % 3).collect();
        let time_ms = journal.head().time_ms.max(1_000) + 1;
        append_blocking(journal, vec![draft(&stream, expected, time_ms, &events)]).unwrap();
    }
}

/// Has the next opening read everything before it goes on.
pub fn without_checkpoint(disk: &SimulatedDisk) {
    disk.remove("index.checkpoint").unwrap();
}

/// A journal with entries, stopped in order, and what it held.
pub struct Stopped {
    pub disk: SimulatedDisk,
    pub store: MemoryStore,
    pub head: Head,
    pub entries: Vec<Arc<Entry>>,
}

pub fn stopped(count: u64) -> Stopped {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, count);
    journal.close().unwrap();
    let (head, entries) = (journal.head(), all(&journal));
    Stopped { disk, store, head, entries }
}

/// Opens again and demands that everything is there, with one note more.
pub fn reopened(disk: &SimulatedDisk, store: &dyn Store, entries: &[Arc<Entry>]) -> (LocalJournal, OpenReport) {
    let (journal, report) = open(disk, store).unwrap();
    assert_holds(&journal, entries);
    assert_eq!(journal.head().position, Position(entries.len() as u64 + 1), "one note is added by opening");
    (journal, report)
}

pub fn assert_holds(journal: &dyn Journal, entries: &[Arc<Entry>]) {
    let to = Position(entries.len() as u64);
    let found: Vec<_> = journal.read(Position(1), to, &Filter::all()).map(Result::unwrap).collect();
    assert_eq!(found, entries);
}

pub fn segment(number: u32) -> String {
    format!("log/{number:010}.log")
}

pub fn segments(disk: &SimulatedDisk) -> Vec<String> {
    disk.list("log").unwrap().into_iter().map(|name| format!("log/{name}")).collect()
}

/// Where each block begins in a segment's bytes.
pub fn frames(bytes: &[u8]) -> Vec<usize> {
    let mut at = 128;
    let mut found = Vec::new();
    while bytes.get(at..at + 4) == Some(b"bwbk") {
        found.push(at);
        at += 128 + u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    found
}

/// Settings for a real folder that a test can afford.
pub fn config(dir: &Path) -> Config {
    let settings = Settings { segment_bytes: 64 * 1024, checkpoint_bytes: 128 * 1024, ..Settings::default() };
    Config { dir: dir.to_owned(), now_ms: 1, id: Some(ID), settings }
}

/// Far more than anything takes; whoever waits so long waits for what does not come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until it is so: nothing tells when another thread has come so far.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Deadline::within(PATIENCE);
    while !is_so() {
        assert!(!deadline.is_over(), "in vain: {what}");
        std::thread::yield_now();
    }
}
