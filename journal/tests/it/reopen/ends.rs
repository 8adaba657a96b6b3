//! The ends of the log: rotations that were cut short, seals and the head file.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use bailiwick_journal::{
    LocalJournal, ProblemKind,
    blocks::MemoryStore,
    check, check_on, crash,
    disk::{Disk, SimulatedDisk},
};
use uuid::Uuid;

use crate::tools::{
    ID, Stopped, config, inline, open, reopened, segment, segments, stopped, without_checkpoint, write,
};

use super::{kinds, refused};

/// The disk as a kill at the first point of this name leaves it, while a journal of several segments is written.
fn killed_at(point: &'static str) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let left = Rc::new(RefCell::new(None));
    let hook = {
        let (disk, left) = (disk.clone(), left.clone());
        move |name: &'static str| {
            if name == point {
                left.borrow_mut().get_or_insert(disk.after_kill());
            }
        }
    };
    crash::with_hook(hook, || write(&open(&disk, &MemoryStore::new()).unwrap().0, 60));
    let left = left.borrow().clone();
    left.expect("the point is reached")
}

#[test]
fn a_rotation_that_was_cut_short_is_done_again() {
    let left = killed_at("after-new-segment");
    assert_eq!(segments(&left), [segment(1), segment(2)]);
    let (journal, report) = open(&left, &MemoryStore::new()).unwrap();
    assert_eq!((report.torn_cut, report.repaired()), (None, false));
    write(&journal, 30);
    assert!(check_on(Arc::new(left.after_kill())).unwrap().is_whole());
}

#[test]
fn a_sealed_segment_is_never_written_again() {
    let left = killed_at("after-seal");
    let before = left.contents();
    // With longer segments from now on, there would be room in it.
    let settings = bailiwick_journal::Settings { segment_bytes: 64 * 1024, ..inline() };
    let opened = LocalJournal::open_with(Arc::new(left.clone()), &MemoryStore::new(), ID, 0, settings);
    write(&opened.unwrap().0, 3);
    assert_eq!(left.contents()[&segment(1)], before[&segment(1)]);
    assert!(left.contents().contains_key(&segment(2)));
}

#[test]
fn a_segment_file_may_be_long_and_not_endless() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 5);
    journal.close().unwrap();
    let file = std::fs::File::options().write(true).open(dir.path().join(segment(1))).unwrap();
    file.set_len(3 * 1024 * 1024).unwrap();
    assert!(check(dir.path()).unwrap().is_whole());
    // Sparse, and not read: no segment that we write is so long.
    file.set_len(512 * 1024 * 1024 + 1).unwrap();
    let report = check(dir.path()).unwrap();
    assert_eq!(report.repair.as_ref().map(|repair| repair.blocks_from_store), Some(report.head.block), "{report}");
    std::fs::remove_dir_all(dir.path().join("sled")).unwrap();
    let report = check(dir.path()).unwrap();
    assert!(!report.is_whole() && report.head.block == 0, "{report}");
}

#[test]
fn another_journals_head_file_is_none() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 5);
    let Stopped { disk, store, entries, .. } = stopped(20);
    disk.damage("head", |bytes| *bytes = foreign.contents()["head"].clone());
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.head_rewritten && report.repaired());
}

#[test]
fn a_block_that_differs_is_refused() {
    let Stopped { disk, .. } = stopped(5);
    let other = stopped(5);
    without_checkpoint(&disk);
    let report = refused(&disk, &other.store);
    assert!(kinds(&report).contains(&ProblemKind::StoreDiffers));
}

#[test]
fn another_journals_log_is_refused() {
    let Stopped { disk, .. } = stopped(5);
    let other = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(other.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 5);
    let foreign = other.contents()[&segment(1)].clone();
    disk.damage(&segment(1), |bytes| *bytes = foreign);
    let report = refused(&disk, &MemoryStore::new());
    assert!(kinds(&report).contains(&ProblemKind::ForeignBlock));
}

#[test]
fn a_head_file_that_is_missing_or_damaged_is_written_anew_and_said() {
    for damage in [
        |disk: &SimulatedDisk| disk.remove("head").unwrap(),
        |disk: &SimulatedDisk| {
            disk.damage("head", |bytes| bytes.fill(7));
        },
    ] {
        let Stopped { disk, store, entries, .. } = stopped(20);
        damage(&disk);
        let (_, report) = reopened(&disk, &store, &entries);
        assert!(report.head_rewritten && report.repaired());
    }
}

#[test]
fn a_damaged_seal_is_mended_and_said() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.damage(&segment(1), |bytes| {
        let last = bytes.len() - 1;
        bytes[last - 100] ^= 1;
    });
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.damaged_log.is_some());
    assert_eq!(report.log_filled_blocks, 0);
}
