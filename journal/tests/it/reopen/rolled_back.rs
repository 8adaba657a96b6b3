//! Log and head file were put back together to an older state; the block store, or a checkpoint, knows of more.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use bailiwick_journal::{
    Config, Entry, Journal, LocalJournal, OpenError, Position, ProblemKind, ReadOnlyJournal, Settings, StoreSeen,
    Threads, append_blocking,
    blocks::MemoryStore,
    check,
    disk::{Disk, SimulatedDisk},
    testing::{all, draft},
};

use crate::tools::{ID, assert_holds, config, inline, open, reopened, segments, until, without_checkpoint, write};

use super::{folders::listing, kinds, refused};

/// Puts log and head file back as they were.
fn put_back(disk: &SimulatedDisk, older: &SimulatedDisk) {
    for name in segments(disk) {
        disk.remove(&name).unwrap();
    }
    let there = older.contents();
    for (name, content) in there.into_iter().filter(|(name, _)| name == "head" || name.starts_with("log/")) {
        disk.create(&name).unwrap();
        disk.damage(&name, |bytes| *bytes = content);
    }
}

/// Nobody has written down how far the journal came.
fn without_reached(disk: &SimulatedDisk) {
    disk.remove("reached").unwrap();
}

#[test]
fn after_a_kill_it_is_refused_by_what_was_reached_before_anything_is_written() {
    // given a journal that stopped in order, so that there is a checkpoint, and was killed in its next life
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 30);
    journal.close().unwrap();
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 5);
    let older = disk.after_kill();
    write(&journal, 30);
    let disk = disk.after_kill();
    // when log and head file are those of before, both behind the checkpoint
    put_back(&disk, &older);
    // then it is not opened by that checkpoint, whatever the store has, and no entry is written a second time
    for store in [store.copy(), MemoryStore::durable()] {
        let report = refused(&disk.after_kill(), &store);
        assert_eq!(kinds(&report)[0], ProblemKind::RolledBack, "{report}");
        assert_eq!(report.missing_positions, Some((Position(38), Position(67))), "{report}");
    }
    // and a file that a power cut has torn says nothing
    disk.damage("reached", |bytes| bytes[40] ^= 1);
    let report = refused(&without_checkpoint_of(&disk), &store);
    assert_eq!(report.problems[0].file, "sled", "{report}");
}

/// The same without its index checkpoint.
fn without_checkpoint_of(disk: &SimulatedDisk) -> SimulatedDisk {
    let copy = disk.after_kill();
    without_checkpoint(&copy);
    copy
}

#[test]
fn what_was_reached_is_written_down_while_the_store_waits_for_commits() {
    // given a journal whose store is brought up to it behind the commits
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let settings = Settings { threads: Threads::Own, ..inline() };
    let (journal, _) = LocalJournal::open_with(Arc::new(disk.clone()), &store, ID, 0, settings).unwrap();
    write(&journal, 5);
    let older = disk.after_kill();
    // when commits follow one another, it is killed, and log and head file are put back
    let seen = RefCell::new(BTreeMap::<u64, BTreeSet<Position>>::new());
    until("reached goes on while the store does not", || {
        write(&journal, 100);
        let mut stored = 0;
        store.damage(|blocks| stored = blocks.keys().next_back().copied().unwrap_or_default());
        let killed = disk.after_kill();
        put_back(&killed, &older);
        let Err(OpenError::Integrity { report, .. }) = open(&killed, &MemoryStore::durable()) else { return false };
        let mut seen = seen.borrow_mut();
        let reached = seen.entry(stored).or_default();
        reached.extend(report.missing_positions.map(|(_, last)| last));
        // then the opening knows of more and more; if only what the store is about to have were told, of two ends at most
        reached.len() > 2
    });
}

#[test]
fn after_a_stop_in_order_the_store_has_all_and_nothing_is_lost() {
    for checkpoint in [true, false] {
        let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
        let (journal, _) = open(&disk, &store).unwrap();
        write(&journal, 30);
        let older = disk.after_kill();
        write(&journal, 30);
        journal.close().unwrap();
        let entries = all(&journal);
        put_back(&disk, &older);
        if !checkpoint {
            without_checkpoint(&disk);
        }
        let (_, report) = reopened(&disk, &store, &entries);
        assert_eq!(report.log_filled_blocks, 30, "{report}");
    }
}

#[test]
fn after_a_kill_the_store_may_lack_the_end_and_nobody_goes_on_short_of_it() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 30);
    let older = disk.after_kill();
    write(&journal, 30);
    let disk = disk.after_kill();
    put_back(&disk, &older);
    for lacking in [0, 5] {
        for checkpoint in [true, false] {
            let (disk, store) = (disk.after_kill(), store.copy());
            without_reached(&disk);
            if !checkpoint {
                without_checkpoint(&disk);
            }
            store.damage(|blocks| {
                let last = *blocks.last_key_value().unwrap().0;
                blocks.retain(|number, _| *number <= last - lacking);
            });
            let report = refused(&disk, &store);
            assert_eq!(kinds(&report)[0], ProblemKind::RolledBack, "{report}");
            assert_eq!(report.missing_positions, Some((Position(32), Position(61 - lacking))));
            // It stays refused, however often it is asked for.
            assert_eq!(refused(&disk, &store), report);
        }
    }
}

#[test]
fn a_checkpoint_knows_of_more_than_an_older_log_where_the_store_is_gone() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 5);
    let older = disk.after_kill();
    write(&journal, 100);
    let killed = disk.after_kill();
    assert!(killed.contents().contains_key("index.checkpoint"));
    put_back(&killed, &older);
    without_reached(&killed);
    let report = refused(&killed, &MemoryStore::durable());
    assert_eq!((kinds(&report)[0], report.problems[0].file.as_str()), (ProblemKind::RolledBack, "index.checkpoint"));
    assert!(report.missing_positions.unwrap().1 > Position(50), "{report}");
    // After a stop in order its mark says as much, even without the checkpoint.
    journal.close().unwrap();
    put_back(&disk, &older);
    without_checkpoint(&disk);
    let report = refused(&disk, &MemoryStore::durable());
    assert_eq!(report.missing_positions, Some((Position(7), journal.head().position)));
}

#[test]
fn a_mark_of_a_stop_says_nothing_once_somebody_writes_again() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    open(&disk, &store).unwrap().0.close().unwrap();
    assert!(disk.contents().contains_key("stopped"));
    let (journal, _) = open(&disk, &store).unwrap();
    assert!(!disk.contents().contains_key("stopped"), "before the first entry");
    write(&journal, 5);
    drop(journal);
    assert!(!disk.contents().contains_key("stopped"), "it did not stop in order");
}

/// A journal in a folder with `head` and `log` as they were after some of its entries.
fn rolled_back(dir: &Path, in_order: bool) -> Vec<Arc<Entry>> {
    let older = dir.join("older");
    let journal_dir = dir.join("journal");
    let (journal, _) = LocalJournal::open(config(&journal_dir)).unwrap();
    write(&journal, 40);
    std::fs::create_dir(&older).unwrap();
    for name in ["head", "log"] {
        copy(&journal_dir.join(name), &older.join(name));
    }
    write(&journal, 60);
    until("the store has all", || journal.stats().store_behind == 0);
    let entries = all(&journal);
    if in_order {
        journal.close().unwrap();
    }
    drop(journal);
    std::fs::remove_dir_all(journal_dir.join("log")).unwrap();
    for name in ["head", "log"] {
        copy(&older.join(name), &journal_dir.join(name));
    }
    entries
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        copy(&from.join(&name), &to.join(&name));
    }
}

fn copied_with_times(from: &Path, into: &Path) -> bool {
    drop(std::fs::remove_dir_all(into.join(from.file_name().unwrap())));
    Command::new("cp").arg("-a").arg(from).arg(into).status().unwrap().success()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    listing(dir).into_iter().map(|(path, ..)| path).filter(|path| !path.ends_with("lock")).collect()
}

#[test]
fn readers_show_what_the_node_will_repair_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let entries = rolled_back(dir.path(), true);
    let journal_dir = dir.path().join("journal");
    let before = files(&journal_dir);
    let found = check(&journal_dir).unwrap();
    let repair = found.repair.clone().expect("it will be repaired");
    assert!(found.is_whole() && found.head.position == Position(entries.len() as u64), "{found}");
    assert_eq!(found.mendable[0].kind, ProblemKind::RolledBack);
    assert_eq!(found.store, StoreSeen::Until(entries.len() as u64));
    assert!(repair.to_string().contains("the node will repair this from sled when it starts"), "{repair}");
    let reader = ReadOnlyJournal::open(&journal_dir).unwrap();
    assert_eq!(reader.repair(), Some(&repair));
    assert_eq!(all(&reader), entries);
    drop(reader);
    assert_eq!(files(&journal_dir), before, "nothing of it is left");
    let (journal, report) = LocalJournal::open(config(&journal_dir)).unwrap();
    assert_eq!((report.log_filled_blocks, report.head.position), (repair.blocks_from_store, found.head.position));
    assert_holds(&journal, &entries);
    journal.close().unwrap();
    assert!(check(&journal_dir).unwrap().repair.is_none());
}

#[test]
fn readers_refuse_what_the_node_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let entries = rolled_back(dir.path(), false);
    let journal_dir = dir.path().join("journal");
    let last = Position(entries.len() as u64);
    let found = check(&journal_dir).unwrap();
    assert!(!found.is_whole(), "{found}");
    assert_eq!(found.integrity.missing_positions.unwrap().1, last);
    for refused in [
        ReadOnlyJournal::open(&journal_dir).err(),
        LocalJournal::open(config(&journal_dir)).err(),
        LocalJournal::open(config(&journal_dir)).err(),
        ReadOnlyJournal::open(&journal_dir).err(),
    ] {
        let Some(OpenError::Integrity { report, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((report.problems[0].kind, report.missing_positions.unwrap().1), (ProblemKind::RolledBack, last));
    }
}

#[test]
fn a_log_put_back_behind_a_checkpoint_that_fits_is_seen_before_anything_is_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let journal_dir = dir.path().join("journal");
    let settings = Settings { segment_bytes: inline().segment_bytes, ..config(dir.path()).settings };
    let at = || Config { settings: settings.clone(), ..config(&journal_dir) };
    let (journal, _) = LocalJournal::open(at()).unwrap();
    write(&journal, 400);
    until("a checkpoint", || journal_dir.join("index.checkpoint").exists() && journal.stats().store_behind == 0);
    let older = dir.path().join("older");
    std::fs::create_dir(&older).unwrap();
    let kept = std::fs::read(journal_dir.join("index.checkpoint")).unwrap();
    copy(&journal_dir.join("head"), &older.join("head"));
    // With its times, as `cp -a` does: full segments are then gone by. The open journal may remove one meanwhile.
    until("a copy", || copied_with_times(&journal_dir.join("log"), &older));
    write(&journal, 5);
    until("the store has all", || journal.stats().store_behind == 0);
    let entries = all(&journal).len() as u64;
    drop(journal);
    std::fs::remove_dir_all(journal_dir.join("log")).unwrap();
    assert!(copied_with_times(&older.join("log"), &journal_dir));
    copy(&older.join("head"), &journal_dir.join("head"));
    std::fs::write(journal_dir.join("index.checkpoint"), kept).unwrap();
    let acknowledged = match LocalJournal::open(at()) {
        Ok((journal, _)) => {
            let head = journal.head();
            append_blocking(&journal, vec![draft("machine/9", 0, head.time_ms + 1, &[1])]).is_ok()
        }
        Err(_) => false,
    };
    assert!(!acknowledged, "the store has entries up to {entries}");
    let Err(OpenError::Integrity { .. }) = LocalJournal::open(at()) else { panic!("it stays refused") };
}
