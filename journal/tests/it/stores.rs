//! The conformance suite on every combination of threads and stores.

use std::sync::Arc;

use bailiwick_journal::{
    Config, Journal, LocalJournal, Settings, Threads, append_blocking,
    blocks::MemoryStore,
    disk::SimulatedDisk,
    testing::{draft, journal_conformance},
};
use uuid::Uuid;

use crate::tools;

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

#[test]
fn nothing_is_acknowledged_once_somebody_has_removed_the_files() {
    // given a journal that is written into
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(tools::config(dir.path())).unwrap();
    tools::write(&journal, 3);
    // when its files are removed
    std::fs::remove_dir_all(dir.path()).unwrap();
    // then it says so instead of writing where nobody will ever read
    let refused = append_blocking(&journal, vec![draft("machine/0", 0, 9_000, &[1])]).unwrap_err();
    assert!(format!("{refused:?}").contains("removed while it was in use"), "{refused:?}");
    assert_eq!(journal.head().position.0, 4, "three and the note of the opening");
}

#[test]
fn what_is_put_where_a_removed_journal_was_is_not_written_into() {
    // given a journal whose folder somebody removed, and another one that was made at the same path
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (first, _) = LocalJournal::open(tools::config(&path)).unwrap();
    tools::write(&first, 30);
    std::fs::remove_dir_all(&path).unwrap();
    let (second, _) = LocalJournal::open(tools::config(&path)).unwrap();
    tools::write(&second, 3);
    // when both are closed, the removed one last
    second.close().unwrap();
    let _ = first.close();
    // then the other one is as it was left
    let (second, report) = LocalJournal::open(tools::config(&path)).unwrap();
    assert!(report.clean, "{report:?}");
    assert_eq!(second.head().position.0, 5, "three and the notes of both openings");
}
