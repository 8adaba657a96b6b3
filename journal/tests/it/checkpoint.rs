//! Opening by the index checkpoint of a stop in order: when it is gone by, what is read behind it, and what is done
//! about whatever is found there.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_journal::{
    Entry, Journal, JournalNote, LocalJournal, OpenError, OpenReport, Settings, Threads, VerificationProgress, Version,
    append_blocking,
    blocks::{MemoryStore, Store},
    check_on,
    disk::{Disk, SimulatedDisk},
    testing::{all, draft_with_id},
};
use uuid::Uuid;

use crate::tools::{ID, assert_holds, frames, inline, segment, segments, write};

const FILE: &str = "index.checkpoint";

fn settings() -> Settings {
    // What is compressed is compressed where a test asks for it: on a busy machine a writer idles in between.
    Settings { threads: Threads::Own, compress_when_idle: false, ..inline() }
}

fn open(disk: &SimulatedDisk, store: &dyn Store) -> Result<(LocalJournal, OpenReport), OpenError> {
    LocalJournal::open_with(Arc::new(disk.clone()), store, ID, 0, settings())
}

struct Stopped {
    disk: SimulatedDisk,
    store: MemoryStore,
    entries: Vec<Arc<Entry>>,
}

/// A journal of several segments that was stopped in order by a writer that left a checkpoint.
fn stopped() -> Stopped {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 200);
    journal.close().unwrap();
    assert!(segments(&disk).len() > 4);
    Stopped { disk, store, entries: all(&journal) }
}

fn notes(journal: &LocalJournal) -> Vec<JournalNote> {
    let notes = journal.read_stream(&"node/journal".parse().unwrap(), Version::ZERO);
    notes.map(|entry| JournalNote::decode(&entry.unwrap().events[0]).unwrap()).collect()
}

#[test]
fn a_stop_in_order_leaves_what_the_next_opening_goes_by() {
    let Stopped { disk, store, mut entries } = stopped();
    // given three lives of a journal, each with some entries more
    for life in 0..3 {
        // when it is opened
        let (journal, report) = open(&disk, &store).unwrap();
        // then it goes by the checkpoint, and holds and knows the same
        assert!(report.by_checkpoint && report.clean && !report.repaired(), "life {life}: {report}");
        assert_eq!(report.checkpoint_ignored, None);
        assert_holds(&journal, &entries);
        let streams: BTreeSet<_> = entries.iter().map(|entry| entry.header.stream.clone()).collect();
        assert_eq!(journal.streams(""), streams.iter().cloned().collect::<Vec<_>>());
        assert_eq!(report.streams, streams.len());
        for entry in &entries {
            let (stream, position) = (&entry.header.stream, entry.header.position);
            let answered = journal.answered(&entry.header.meta.command_id).unwrap();
            assert_eq!((answered.position, answered.command_hash), (position, entry.header.meta.command_hash));
            let from = entry.header.first_version;
            let own =
                entries.iter().filter(|other| other.header.stream == *stream && other.header.last_version() >= from);
            let expected: Vec<_> = own.filter(|other| other.header.events > 0).collect();
            let notes_left_out = |entry: &Arc<Entry>| entry.header.position.0 <= entries.len() as u64;
            let read: Vec<_> = journal.read_stream(stream, from).map(Result::unwrap).filter(notes_left_out).collect();
            assert_eq!(read.iter().filter(|other| other.header.events > 0).collect::<Vec<_>>(), expected);
        }
        write(&journal, 37);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
        journal.close().unwrap();
        entries = all(&journal);
        assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    }
}

#[test]
fn whoever_wants_no_checkpoint_has_everything_read() {
    let Stopped { disk, store, entries } = stopped();
    assert!(disk.contents().contains_key(FILE));
    let without = Settings { index_checkpoint: false, ..settings() };
    let (journal, report) = LocalJournal::open_with(Arc::new(disk.clone()), &store, ID, 0, without).unwrap();
    assert!(!report.by_checkpoint && report.clean && !report.repaired(), "{report}");
    assert_eq!(report.checkpoint_ignored, None, "nobody asked for it");
    assert_holds(&journal, &entries);
}

#[test]
fn commands_of_before_are_refused_and_streams_of_before_are_checked() {
    let Stopped { disk, store, entries } = stopped();
    let (journal, _) = open(&disk, &store).unwrap();
    let known = &entries[50].header;
    let again = draft_with_id(known.stream.as_str(), 0, 2_000, &[1], known.meta.command_id);
    let at = journal.version(&known.stream);
    assert!(append_blocking(&journal, vec![again]).is_err(), "the stream is at {at}");
    let again = draft_with_id(known.stream.as_str(), at.0, 2_000, &[1], known.meta.command_id);
    let refused = append_blocking(&journal, vec![again]).unwrap_err();
    assert!(matches!(refused, bailiwick_journal::AppendError::Repeated { position, .. } if position == known.position));
}

#[test]
fn a_checkpoint_that_does_not_fit_is_left_aside_with_its_reason_and_everything_is_read() {
    type Change = (&'static str, fn(&SimulatedDisk, &MemoryStore, &Stopped));
    let changes: [Change; 7] = [
        ("missing", |disk, _, _| disk.remove(FILE).unwrap()),
        ("damaged", |disk, _, _| disk.damage(FILE, |bytes| bytes[300] ^= 1)),
        ("cut", |disk, _, _| disk.damage(FILE, |bytes| bytes.truncate(100))),
        ("empty", |disk, _, _| disk.damage(FILE, Vec::clear)),
        ("of a log that was written into", |disk, _, _| disk.damage(&segment(2), |_| ())),
        ("of a store that was written into", |_, store, _| store.damage(|_| ())),
        ("of an earlier stop", |disk, store, stopped| {
            let (journal, _) = open(disk, store).unwrap();
            journal.wait_for_verification();
            journal.close().unwrap();
            disk.damage(FILE, |bytes| bytes.clone_from(&stopped.disk.contents()[FILE]));
        }),
    ];
    for (how, change) in changes {
        let before = stopped();
        let (disk, store) = (before.disk.after_kill(), before.store.copy());
        change(&disk, &store, &before);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(!report.by_checkpoint && report.clean && !report.repaired(), "{how}: {report}");
        assert_eq!(report.checkpoint_ignored.is_none(), how == "missing", "{how}: {report}");
        assert_holds(&journal, &before.entries);
        assert_eq!(journal.stats().verification, VerificationProgress::Done, "{how}");
    }
}

#[test]
fn every_flipped_bit_of_a_checkpoint_is_seen() {
    let Stopped { disk, store, entries } = stopped();
    let bits = disk.contents()[FILE].len() * 8;
    for bit in (0..bits).step_by(997) {
        let (disk, store) = (disk.after_kill(), store.copy());
        disk.rot(FILE, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(!report.by_checkpoint, "bit {bit}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn it_serves_after_a_kill_in_the_next_life_too() {
    let Stopped { disk, store, .. } = stopped();
    for life in 0..3 {
        // given a writer that has read everything behind its opening, and is killed
        let (journal, _) = open(&disk, &store).unwrap();
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
        write(&journal, 3);
        let entries = all(&journal);
        drop(journal);
        // when the journal is opened, then it goes by what the last stop left, or by what came since
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.by_checkpoint && !report.clean && !report.repaired(), "life {life}: {report}");
        assert_holds(&journal, &entries);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    }
    assert!(check_on(Arc::new(disk)).unwrap().is_whole());
}

#[test]
fn a_log_that_was_cut_changed_or_swapped_is_repaired_or_refused_as_without_a_checkpoint() {
    let Stopped { disk, store, entries } = stopped();
    type Change = fn(&SimulatedDisk);
    let changes: [Change; 5] = [
        |disk| disk.remove(&segment(2)).unwrap(),
        |disk| disk.damage(&segment(2), |bytes| bytes[400] ^= 1),
        |disk| disk.damage(&segment(3), |bytes| bytes.truncate(1_000)),
        |disk| disk.rename(&segment(2), &segment(3)).unwrap(),
        |disk| {
            let other = disk.contents()[&segment(3)].clone();
            disk.damage(&segment(2), |bytes| *bytes = other);
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let (disk, store) = (disk.after_kill(), store.copy());
        change(&disk);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.repaired() && !report.by_checkpoint, "{number}: {report}");
        assert_holds(&journal, &entries);
        let (disk, store) = (disk.after_kill(), MemoryStore::durable());
        let before = disk.contents();
        drop(journal);
        change(&disk);
        if disk.contents() != before {
            let alone = open(&disk, &store);
            assert!(matches!(alone, Err(OpenError::Integrity { .. })), "{number}: the log alone is refused");
        }
    }
}

#[test]
fn a_bit_that_rots_in_any_full_segment_is_found_behind_the_opening_and_repaired() {
    let Stopped { disk, store, entries } = stopped();
    let full = segments(&disk).len() as u32 - 1;
    for number in 1..=full {
        let length = disk.contents()[&segment(number)].len();
        for at in (0..length).step_by(length / 7) {
            // given a bit that changed by itself: no length and no time tells of it
            let (disk, store) = (disk.after_kill(), store.copy());
            disk.rot(&segment(number), |bytes| bytes[at] ^= 4);
            // when the journal is opened
            let (journal, report) = open(&disk, &store).unwrap();
            // then nothing wrong is read at any time, and what was damaged is repaired and noted
            assert_holds(&journal, &entries);
            assert_eq!(journal.wait_for_verification(), VerificationProgress::Done, "segment {number} byte {at}");
            journal.close().unwrap();
            if report.by_checkpoint {
                let noted = notes(&journal).into_iter().any(|note| {
                    matches!(note, JournalNote::HistoryRepaired { log_filled_blocks: 1.., store_rebuilt: false })
                });
                assert!(noted, "segment {number} byte {at}: {:?}", notes(&journal));
            } else {
                assert!(report.repaired(), "segment {number} byte {at}: {report}");
            }
            assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole(), "segment {number} byte {at}");
            assert!(disk.list("").unwrap().iter().any(|name| name.starts_with("log.damaged-")), "the old one is kept");
        }
    }
}

#[test]
fn a_block_of_the_store_that_rots_is_never_read_and_the_store_is_built_anew() {
    let Stopped { disk, store, entries } = stopped();
    // The newest one lies in a segment that is read at the opening.
    for number in [1u64, 17, 90, entries.len() as u64] {
        let (disk, store) = (disk.after_kill(), store.copy());
        store.rot(|blocks| {
            blocks.get_mut(&number).unwrap()[200] ^= 1;
        });
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.by_checkpoint);
        assert_holds(&journal, &entries);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
        journal.close().unwrap();
        assert_holds(&journal, &entries);
        let repaired = JournalNote::HistoryRepaired { log_filled_blocks: 0, store_rebuilt: true };
        assert!(notes(&journal).contains(&repaired), "block {number}");
        let (_, report) = open(&disk, &store).unwrap();
        assert!(report.clean && report.store_rebuilt.is_none(), "{report}");
    }
}

#[test]
fn what_rots_in_log_and_store_fails_the_journal_and_the_next_opening_refuses() {
    let Stopped { disk, store, .. } = stopped();
    let bytes = disk.contents()[&segment(2)].clone();
    let at = frames(&bytes)[1];
    let block = u64::from_le_bytes(bytes[at + 32..at + 40].try_into().unwrap());
    disk.rot(&segment(2), |bytes| bytes[at + 150] ^= 1);
    store.rot(|blocks| blocks.get_mut(&block).unwrap().truncate(200));
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::GivenUp);
    assert!(journal.stats().failed.is_some());
    assert!(journal.close().is_err());
    drop(journal);
    assert!(!disk.contents().contains_key(FILE), "nothing goes by it any more");
    let Err(OpenError::Integrity { report, .. }) = open(&disk, &store) else { panic!("is refused") };
    assert!(report.problems.iter().any(|problem| problem.file == segment(2)), "{report}");
}

#[test]
fn a_store_that_does_not_open_later_is_built_anew() {
    let Stopped { disk, store, entries } = stopped();
    store.panic_on_open();
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint);
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    journal.close().unwrap();
    assert!(
        notes(&journal).iter().any(|note| matches!(note, JournalNote::HistoryRepaired { store_rebuilt: true, .. }))
    );
    assert_eq!(journal.stats().degraded, None);
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.clean, "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn compressed_segments_are_gone_by_and_restored_too() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    // given a journal whose full segments are compressed
    let inline = Settings { threads: Threads::Inline, ..settings() };
    let (journal, _) = LocalJournal::open_with(Arc::new(disk.clone()), &store, ID, 0, inline).unwrap();
    write(&journal, 200);
    journal.compress_log();
    journal.close().unwrap();
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint, "a journal without threads of its own leaves one too");
    journal.close().unwrap();
    let entries = all(&journal);
    let name = format!("{}.zst", segment(2));
    disk.rot(&name, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    // when one of them rots
    let (journal, report) = open(&disk, &store).unwrap();
    assert_holds(&journal, &entries);
    journal.wait_for_verification();
    journal.close().unwrap();
    // then it is made anew, uncompressed
    assert!(report.by_checkpoint || report.repaired(), "{report}");
    assert!(disk.contents().contains_key(&segment(2)) && !disk.contents().contains_key(&name));
    assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
}

#[test]
fn a_writer_that_is_cut_off_at_any_operation_of_its_stop_loses_nothing() {
    let mut fail_at = 1;
    loop {
        let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
        let (journal, _) = open(&disk, &store).unwrap();
        write(&journal, 60);
        journal.close().unwrap();
        drop(journal);
        for fault in [bailiwick_journal::disk::Fault::Error, bailiwick_journal::disk::Fault::ShortWrite] {
            let (disk, store) = (disk.after_kill(), store.copy());
            let faulty = bailiwick_journal::disk::FaultyDisk::new(Arc::new(disk.clone()), fail_at, fault);
            let mut entries = Vec::new();
            if let Ok((journal, _)) = LocalJournal::open_with(Arc::new(faulty.clone()), &store, ID, 0, settings()) {
                entries = all(&journal);
                let _ = journal.close();
            }
            for cut in 0..3 {
                let (disk, store) = (disk.after_power_cut(cut), store.copy());
                let (journal, _) = open(&disk, &store).unwrap();
                assert_holds(&journal, &entries);
                assert_ne!(journal.wait_for_verification(), VerificationProgress::GivenUp, "operation {fail_at}");
            }
            if faulty.operations() < fail_at {
                return;
            }
        }
        fail_at += 1;
    }
}

#[test]
fn sled_in_a_real_folder_is_gone_by_until_a_file_changes() {
    let dir = tempfile::tempdir().unwrap();
    let config = || crate::tools::config(dir.path());
    let (journal, _) = LocalJournal::open(config()).unwrap();
    write(&journal, 600);
    journal.close().unwrap();
    let entries = all(&journal);
    drop(journal);
    let (journal, report) = LocalJournal::open(config()).unwrap();
    assert!(report.by_checkpoint, "{report}");
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    journal.close().unwrap();
    drop(journal);
    let db = std::fs::File::options().write(true).open(dir.path().join("sled/db")).unwrap();
    db.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let (journal, report) = LocalJournal::open(config()).unwrap();
    assert!(!report.by_checkpoint && report.checkpoint_ignored.is_some() && report.clean, "{report}");
    assert_holds(&journal, &entries);
    assert_eq!(journal.id(), Uuid::from_u128(0xB417));
}
