//! The conformance suite on every combination of threads and stores.

use std::sync::Arc;

use bailiwick_journal::{
    Config, Journal, LocalJournal, Settings, Threads, blocks::MemoryStore, disk::SimulatedDisk,
    testing::journal_conformance,
};
use uuid::Uuid;

#[test]
fn sled_on_a_real_disk_conforms() {
    let dirs = std::sync::Mutex::new(Vec::new());
    journal_conformance(|| {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { segment_bytes: 1 << 20, ..Settings::default() };
        let config = Config { dir: dir.path().join("journal"), settings, ..Config::default() };
        dirs.lock().unwrap().push(dir);
        Arc::new(LocalJournal::open(config).unwrap().0) as Arc<dyn Journal>
    });
}

#[test]
fn memory_inline_conforms() {
    journal_conformance(|| {
        Arc::new(LocalJournal::simulated(&SimulatedDisk::new(), Uuid::from_u128(1), 0).unwrap().0) as Arc<dyn Journal>
    });
}

#[test]
fn memory_with_threads_conforms() {
    journal_conformance(|| {
        let settings = Settings { threads: Threads::Own, segment_bytes: 64 * 1024, ..Settings::default() };
        let disk = Arc::new(SimulatedDisk::new());
        let opened = LocalJournal::open_with(disk, &MemoryStore::durable(), Uuid::from_u128(1), 0, settings);
        Arc::new(opened.unwrap().0) as Arc<dyn Journal>
    });
}
