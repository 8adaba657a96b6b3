//! Segments that have left the log's folder, for an archive or for good: every read still finds them, and whatever is
//! missing is said by name.

mod copies;
mod sled;

use std::{io::ErrorKind, path::Path, sync::Arc};

use bailiwick_journal::{
    Entry, Journal, LocalJournal, LogKeep, OpenError, OpenReport, ReadError, ReadOnlyJournal, Settings, Threads,
    VerificationProgress, Version,
    blocks::{MemoryStore, Store},
    check_on,
    disk::{Disk, Fault, FaultyDisk, SimulatedDisk},
    testing::all,
};

use crate::tools::{ID, assert_holds, inline, segment, write};

const BEGINS: &str = "log.begins";

fn keeping() -> Settings {
    Settings { log_keep: LogKeep::Checkpoint, ..inline() }
}

fn archiving(dir: &Path) -> Settings {
    Settings { log_archive: Some(dir.to_owned()), ..inline() }
}

fn open(disk: &SimulatedDisk, store: &dyn Store, settings: Settings) -> Result<(LocalJournal, OpenReport), OpenError> {
    LocalJournal::open_with(Arc::new(disk.clone()), store, ID, 0, settings)
}

struct Stopped {
    disk: SimulatedDisk,
    store: MemoryStore,
    entries: Vec<Arc<Entry>>,
}

fn stopped(settings: Settings) -> Stopped {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store, settings).unwrap();
    write(&journal, 200);
    journal.close().unwrap();
    Stopped { disk, store, entries: all(&journal) }
}

fn plain_segments(disk: &SimulatedDisk) -> usize {
    disk.list("log").unwrap().len()
}

#[test]
fn what_the_store_has_durably_leaves_the_log_and_is_read_all_the_same() {
    let Stopped { disk, store, mut entries } = stopped(keeping());
    for in_order in [true, false, true, true] {
        assert!(plain_segments(&disk) <= 2, "{:?}", disk.list("log"));
        assert!(!disk.contents().contains_key(&segment(1)));
        let (journal, report) = open(&disk, &store, keeping()).unwrap();
        assert!(!report.repaired(), "{report}");
        assert_holds(&journal, &entries);
        for stream in journal.streams("machine/") {
            let read: Vec<_> = journal.read_stream(&stream, Version(1)).map(Result::unwrap).collect();
            let own: Vec<_> = entries.iter().filter(|entry| entry.header.stream == stream).cloned().collect();
            assert_eq!(read, own);
        }
        write(&journal, 70);
        journal.give_memory_back();
        entries = all(&journal);
        if in_order {
            journal.close().unwrap();
        }
    }
    // A journal that is to keep everything again keeps what comes from now on.
    let (journal, _) = open(&disk, &store, inline()).unwrap();
    assert_holds(&journal, &entries);
    write(&journal, 200);
    let entries = all(&journal);
    journal.close().unwrap();
    assert!(plain_segments(&disk) > 4);
    let (journal, report) = open(&disk, &store, inline()).unwrap();
    assert!(report.clean, "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn by_default_everything_stays() {
    let Stopped { disk, .. } = stopped(inline());
    assert!(plain_segments(&disk) > 4 && disk.contents().contains_key(&segment(1)));
    assert!(!disk.contents().contains_key(BEGINS));
}

#[test]
fn while_nothing_has_left_the_log_no_file_tells_of_it() {
    let archive = tempfile::tempdir().unwrap();
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    for _ in 0..2 {
        let (journal, _) = open(&disk, &store, archiving(archive.path())).unwrap();
        write(&journal, 3);
        journal.close().unwrap();
        assert!(!disk.contents().contains_key(BEGINS));
    }
}

#[test]
fn a_failure_or_a_power_cut_at_any_operation_loses_nothing() {
    let mut fail_at = 0;
    loop {
        fail_at += 1;
        let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
        let faulty = FaultyDisk::new(Arc::new(disk.clone()), fail_at, Fault::Error);
        let mut entries = Vec::new();
        if let Ok((journal, _)) = LocalJournal::open_with(Arc::new(faulty.clone()), &store, ID, 0, keeping()) {
            for number in 0..60 {
                let draft = bailiwick_journal::testing::draft("machine/0", number, 1_000, &[number]);
                if bailiwick_journal::append_blocking(&journal, vec![draft]).is_err() {
                    break;
                }
            }
            entries = all(&journal);
            let _ = journal.close();
        }
        for cut in 0..3 {
            let (disk, store) = (disk.after_power_cut(cut), store.copy());
            let (journal, _) = open(&disk, &store, keeping()).unwrap_or_else(|error| panic!("{fail_at}: {error}"));
            assert_holds(&journal, &entries);
        }
        let (journal, _) = open(&disk.after_kill(), &store.copy(), keeping()).unwrap();
        assert_holds(&journal, &entries);
        if faulty.operations() < fail_at {
            break;
        }
    }
    assert!(fail_at > 100);
}

#[test]
fn what_only_the_store_had_and_lost_is_refused_and_named() {
    let Stopped { disk, store, .. } = stopped(keeping());
    let damages: [fn(&MemoryStore); 3] = [
        |store| store.damage(|blocks| drop(blocks.remove(&7))),
        |store| store.damage(|blocks| blocks.get_mut(&7).unwrap()[200] ^= 1),
        |store| store.damage(|blocks| drop(blocks.split_off(&9))),
    ];
    for damage in damages {
        let (disk, store) = (disk.after_kill(), store.copy());
        damage(&store);
        let before = disk.contents();
        let Err(OpenError::Integrity { report, .. }) = open(&disk, &store, keeping()) else { panic!("is refused") };
        assert!(!report.is_whole());
        let mut after = disk.contents();
        after.remove("lock");
        assert!(after.iter().all(|(name, bytes)| before.get(name) == Some(bytes)), "a refusal changes nothing");
    }
    let gone = open(&disk, &MemoryStore::durable(), keeping());
    assert!(matches!(gone, Err(OpenError::OnlyInStore { .. })), "{gone:?}");
}

#[test]
fn without_the_file_that_tells_what_left_the_log_is_made_whole_from_the_store() {
    let Stopped { disk, store, entries } = stopped(keeping());
    let damages: [fn(&SimulatedDisk); 2] =
        [|disk| disk.remove(BEGINS).unwrap(), |disk| disk.damage(BEGINS, |bytes| bytes[60] ^= 1)];
    for damage in damages {
        let (disk, store) = (disk.after_kill(), store.copy());
        damage(&disk);
        let (journal, report) = open(&disk, &store, inline()).unwrap();
        assert!(report.repaired() && report.log_filled_blocks > 0, "{report}");
        assert_holds(&journal, &entries);
        journal.close().unwrap();
        assert!(disk.contents().contains_key(&segment(1)) && !disk.contents().contains_key(BEGINS));
        assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    }
}

#[test]
fn readers_of_a_log_without_its_store_say_what_they_need() {
    let Stopped { disk, .. } = stopped(keeping());
    let read = ReadOnlyJournal::open_on(Arc::new(disk.clone()));
    assert!(matches!(read, Err(OpenError::OnlyInStore { .. })), "{read:?}");
    assert!(matches!(check_on(Arc::new(disk.clone())), Err(OpenError::OnlyInStore { .. })));
}

#[test]
fn archived_segments_are_found_by_the_same_reads() {
    let archive = tempfile::tempdir().unwrap();
    for threads in [Threads::Inline, Threads::Own] {
        let place = archive.path().join(format!("{threads:?}"));
        let settings = || Settings { threads, ..archiving(&place) };
        let Stopped { disk, store, mut entries } = stopped(settings());
        assert!(plain_segments(&disk) <= 2 && std::fs::read_dir(&place).unwrap().count() > 3);
        for in_order in [true, false, true, true] {
            let (journal, report) = open(&disk, &store, settings()).unwrap();
            assert!(!report.repaired(), "{report}");
            assert_holds(&journal, &entries);
            write(&journal, 50);
            journal.wait_for_verification();
            entries = all(&journal);
            if in_order {
                journal.close().unwrap();
            }
        }
        // Neither the setting nor the store is needed to read it.
        let report = check_on(Arc::new(disk.clone())).unwrap();
        assert!(report.is_whole(), "{report}");
        assert_holds(&ReadOnlyJournal::open_on(Arc::new(disk.clone())).unwrap(), &entries);
        let (journal, report) = open(&disk.after_kill(), &MemoryStore::durable(), inline()).unwrap();
        assert!(report.store_rebuilt.is_some(), "{report}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn without_the_file_that_tells_what_left_the_archive_that_is_named_tells_it() {
    let archive = tempfile::tempdir().unwrap();
    let Stopped { disk, store, entries } = stopped(archiving(archive.path()));
    disk.remove(BEGINS).unwrap();
    let (journal, report) = open(&disk, &store, archiving(archive.path())).unwrap();
    assert!(!report.repaired(), "{report}");
    assert_holds(&journal, &entries);
    assert!(disk.contents().contains_key(BEGINS), "it is written again");
    journal.close().unwrap();
    assert!(check_on(Arc::new(disk)).unwrap().is_whole());
}

#[test]
fn an_archive_that_is_gone_is_named_and_one_that_was_moved_is_found_again() {
    let place = tempfile::tempdir().unwrap();
    let (archive, moved) = (place.path().join("archive"), place.path().join("moved"));
    let Stopped { disk, store, entries } = stopped(archiving(&archive));
    let reader = ReadOnlyJournal::open_on(Arc::new(disk.clone())).unwrap();
    std::fs::rename(&archive, &moved).unwrap();
    // A reader that was there before.
    let failed = reader.read_stream(&"machine/0".parse().unwrap(), Version(1)).find_map(Result::err);
    assert!(
        matches!(&failed, Some(ReadError::Archive { archive: named, segment: 1 }) if named.ends_with("archive")),
        "{failed:?}"
    );
    drop(reader);
    for settings in [archiving(&archive), inline()] {
        let before = disk.contents();
        let error = open(&disk, &store, settings).unwrap_err();
        assert!(
            matches!(&error, OpenError::Archive { archive: named, segment: 1 } if named.ends_with("archive")),
            "{error}"
        );
        assert!(error.to_string().contains("archive"));
        assert!(!archive.exists() && disk.contents().keys().eq(before.keys()));
    }
    assert!(matches!(check_on(Arc::new(disk.clone())), Err(OpenError::Archive { .. })));
    // A place that cannot be looked at is another matter than one that is not there.
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = open(&disk, &store, archiving(&file.join("archive"))).unwrap_err();
    assert!(matches!(&error, OpenError::Io { source, .. } if source.kind() == ErrorKind::NotADirectory), "{error}");
    let (journal, _) = open(&disk, &store, archiving(&moved)).unwrap();
    assert_holds(&journal, &entries);
    journal.close().unwrap();
    assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole(), "its new place was written down");
    // One file of it is gone.
    let name = std::fs::read_dir(&moved).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    std::fs::remove_file(&name).unwrap();
    let error = open(&disk, &store, archiving(&moved)).unwrap_err();
    assert!(matches!(error, OpenError::Archive { .. }), "{error}");
}

#[test]
fn an_archived_segment_that_is_damaged_is_filled_from_the_store() {
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("archive");
    let Stopped { disk, store, entries } = stopped(archiving(&archive));
    let victim = std::fs::read_dir(&archive).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let mut bytes = std::fs::read(&victim).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&victim, bytes).unwrap();
    let (journal, report) = open(&disk, &store, archiving(&archive)).unwrap();
    assert!(report.repaired() && report.log_filled_blocks > 0, "{report}");
    assert_holds(&journal, &entries);
    journal.close().unwrap();
    assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    let (journal, report) = open(&disk, &store, Settings { threads: Threads::Own, ..archiving(&archive) }).unwrap();
    assert!(report.clean, "{report}");
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    assert_holds(&journal, &entries);
}
