//! The index of a running journal looks in the checkpoint's file: what is left of it in memory, and what happens where that
//! file cannot be read back.

use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_journal::{AppendError, Filter, Position, ReadError, append_blocking, testing::draft};
use uuid::Uuid;

use super::*;

fn inline() -> Settings {
    Settings { threads: Threads::Inline, ..settings() }
}

/// A journal without threads of its own, which looks in its checkpoint.
fn looking() -> Running {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, inline()).unwrap();
    write(&journal, 200);
    assert!(known(&disk) > 3);
    let entries = all(&journal);
    Running { disk, store, entries, journal }
}

fn is_failed(journal: &LocalJournal) -> bool {
    matches!(&journal.stats().failed, Some(AppendError::Unknown { problem }) if problem.contains("index"))
}

/// What was acknowledged is there at the next opening, which reads everything.
fn assert_recovers(disk: &SimulatedDisk, store: &MemoryStore, entries: &[Arc<Entry>]) {
    let (disk, store) = (disk.after_kill(), store.copy());
    let (journal, report) = open_with(&disk, &store, inline()).unwrap();
    assert!(!report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, entries);
    write(&journal, 20);
    journal.close().unwrap();
    assert!(check_on(Arc::new(disk)).unwrap().is_whole());
}

#[test]
fn everything_is_found_through_the_file_even_once_that_has_no_name_any_more() {
    let Running { disk, store, entries, journal } = looking();
    disk.remove(FILE).unwrap();
    assert_holds(&journal, &entries);
    for entry in &entries {
        let header = &entry.header;
        let answered = journal.answered(&header.meta.command_id).unwrap();
        assert_eq!((answered.position, answered.command_hash), (header.position, header.meta.command_hash));
        let (stream, from) = (&header.stream, header.first_version);
        assert!(journal.read_stream(stream, from).map(Result::unwrap).any(|found| found == *entry));
        assert!(journal.version(stream) >= header.last_version());
    }
    // A command that is in the file is answered once.
    let old = &entries[20].header;
    let mut again = draft("machine/again", 0, journal.head().time_ms, &[1]);
    (again.meta.command_id, again.meta.command_hash) = (old.meta.command_id, [9; 16]);
    let refused = append_blocking(&journal, vec![again]).unwrap_err();
    let command_id = old.meta.command_id;
    assert_eq!(refused, AppendError::Repeated { command_id, position: old.position, same_content: false });
    let mut streams: Vec<_> = entries.iter().map(|entry| entry.header.stream.clone()).collect();
    streams.sort();
    streams.dedup();
    assert_eq!(journal.streams(""), streams);
    assert_eq!(journal.check(|| ()).unwrap().streams, streams.len());
    // and a stop in order writes all of it down
    let entries = all(&journal);
    journal.close().unwrap();
    let (journal, report) = open_with(&disk, &store, inline()).unwrap();
    assert!(report.by_checkpoint && report.clean, "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn where_the_file_is_lost_nothing_is_taken_and_no_read_says_that_nothing_is_there() {
    type Ask = fn(&LocalJournal, Uuid) -> bool;
    let unreadable =
        |error: &ReadError| matches!(error, ReadError::Unreadable { problem } if problem.contains("index"));
    let asked: [(&str, Ask); 6] = [
        ("read", |journal, _| journal.read(Position(1), Position(9), &Filter::all()).any(|entry| entry.is_err())),
        ("read back", |journal, _| {
            journal.read_back(Position(1), Position(9), &Filter::all()).any(|entry| entry.is_err())
        }),
        ("pass", |journal, _| {
            let mut seen = 0;
            let mut count = |_: &bailiwick_journal::EntryView<'_>| {
                seen += 1;
                std::ops::ControlFlow::Continue(())
            };
            journal.pass(Position(1), Position(9), &Filter::all(), &mut count).is_err()
        }),
        ("stream", |journal, _| {
            journal.read_stream(&"machine/1".parse().unwrap(), Version::ZERO).next().unwrap().is_err()
        }),
        ("check", |journal, _| journal.check(|| ()).is_err()),
        ("append", |journal, command_id| {
            // Only the file says that this was answered.
            let mut again = draft("machine/again", 0, journal.head().time_ms, &[1]);
            again.meta.command_id = command_id;
            matches!(append_blocking(journal, vec![again]), Err(AppendError::Unknown { .. }))
        }),
    ];
    for (what, ask) in asked {
        let Running { disk, store, entries, journal } = looking();
        disk.rot(FILE, Vec::clear);
        assert!(ask(&journal, entries[20].header.meta.command_id), "{what}");
        // then whatever is handed in after that fails the journal
        let refused = append_blocking(&journal, vec![draft("machine/new", 0, journal.head().time_ms, &[1])]);
        assert!(matches!(refused, Err(AppendError::Unknown { .. })), "{what}: {refused:?}");
        assert!(is_failed(&journal) && journal.close().is_err(), "{what}");
        assert_eq!(journal.head().position.0, entries.len() as u64, "{what}");
        let read: Result<Vec<_>, _> = journal.read(Position(1), Position(9), &Filter::all()).collect();
        assert!(unreadable(&read.unwrap_err()), "{what}");
        drop(journal);
        assert!(!disk.contents().contains_key(FILE), "{what}: no opening goes by it any more");
        assert_recovers(&disk, &store, &entries);
    }
}

#[test]
fn a_byte_of_the_file_that_changes_is_never_gone_by() {
    let length = looking().disk.contents()[FILE].len();
    for at in (0..length).step_by(length / 24) {
        let Running { disk, store, entries, journal } = looking();
        disk.rot(FILE, |bytes| bytes[at] ^= 1);
        for entry in &entries {
            let header = &entry.header;
            let answered = journal.answered(&header.meta.command_id).map(|answered| answered.position);
            assert!(answered == Some(header.position) || is_failed(&journal), "byte {at}");
            // A command that was answered is not taken again, whatever is read.
            let mut again = draft("machine/again", 0, journal.head().time_ms, &[1]);
            again.meta.command_id = header.meta.command_id;
            let refused = append_blocking(&journal, vec![again]).unwrap_err();
            assert!(matches!(refused, AppendError::Repeated { .. }) || is_failed(&journal), "byte {at}: {refused}");
        }
        assert_eq!(journal.head().position.0, entries.len() as u64);
        drop(journal);
        assert_recovers(&disk, &store, &entries);
    }
}

#[test]
fn readers_see_everything_while_one_checkpoint_after_the_other_is_taken_into_use() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for back in [false, true] {
            let (journal, ended) = (&journal, &ended);
            scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    let head = journal.head().position;
                    let all = Filter::all();
                    let read = if back {
                        journal.read_back(Position(1), head, &all)
                    } else {
                        journal.read(Position(1), head, &all)
                    };
                    assert_eq!(read.map(Result::unwrap).count() as u64, head.0);
                    let stream = "machine/3".parse().unwrap();
                    let version = journal.version(&stream);
                    let events: usize =
                        journal.read_stream(&stream, Version::ZERO).map(|entry| entry.unwrap().events.len()).sum();
                    assert!(events as u64 >= version.0);
                }
            });
        }
        write(&journal, 400);
        rests(&journal, &disk);
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(journal.stats().failed, None);
    let entries = all(&journal);
    drop(journal);
    let (journal, report) = open(&disk.after_kill(), &store.copy()).unwrap();
    assert!(report.by_checkpoint, "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn a_checkpoint_that_an_opening_went_by_is_looked_in_once_everything_was_read() {
    let Running { disk, store, journal, .. } = looking();
    drop(journal);
    let (journal, report) = open_with(&disk, &store, inline()).unwrap();
    assert!(report.by_checkpoint, "{report}");
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    let before = disk.stamp(FILE).unwrap();
    // when so much comes that the store is made durable, but no other checkpoint is due
    write(&journal, 12);
    assert_eq!(disk.stamp(FILE).unwrap(), before, "no other is written");
    let entries = all(&journal);
    // then it is the file that is asked
    disk.rot(FILE, Vec::clear);
    assert!(journal.read(Position(1), Position(9), &Filter::all()).any(|entry| entry.is_err()));
    drop(journal);
    assert_recovers(&disk, &store, &entries);
}
