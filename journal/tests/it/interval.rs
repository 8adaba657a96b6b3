//! Index checkpoints that are made while a journal runs: when an opening after a kill or a power cut goes by one, what is
//! read before it and behind it, and what is done about whatever is found.

mod head;
mod inline;
mod left;
mod store;

use std::sync::Arc;

use bailiwick_journal::{
    Entry, Journal, JournalNote, LocalJournal, OpenError, OpenReport, Settings, Threads, VerificationProgress, Version,
    blocks::{MemoryStore, Store},
    check_on,
    disk::{Disk, SimulatedDisk},
    testing::all,
};

use crate::tools::{ID, assert_holds, frames, inline, segment, segments, until, write};

const FILE: &str = "index.checkpoint";
const TAKEN_UP: &str = "index.checkpoint.used";

fn settings() -> Settings {
    Settings { threads: Threads::Own, compress_when_idle: false, ..inline() }
}

fn open_with(
    disk: &SimulatedDisk,
    store: &dyn Store,
    settings: Settings,
) -> Result<(LocalJournal, OpenReport), OpenError> {
    LocalJournal::open_with(Arc::new(disk.clone()), store, ID, 0, settings)
}

fn open(disk: &SimulatedDisk, store: &dyn Store) -> Result<(LocalJournal, OpenReport), OpenError> {
    open_with(disk, store, settings())
}

/// A journal that runs and rests: everything is stored, and a checkpoint is there that knows most of the full segments.
struct Running {
    disk: SimulatedDisk,
    store: MemoryStore,
    entries: Vec<Arc<Entry>>,
    /// The journal, which nobody stops in order.
    journal: LocalJournal,
}

fn running_with(settings: Settings) -> Running {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, settings).unwrap();
    write(&journal, 200);
    rests(&journal, &disk);
    let entries = all(&journal);
    Running { disk, store, entries, journal }
}

fn running() -> Running {
    running_with(settings())
}

fn rests(journal: &LocalJournal, disk: &SimulatedDisk) {
    until("a checkpoint knows the full segments", || {
        let full = segments(disk).len() as u32 - 1;
        // No other one is due: that would be written in its own time.
        journal.stats().store_behind == 0 && known(disk) + (full / 4).max(1) > full
    });
}

/// How many segments the checkpoint knows.
fn known(disk: &SimulatedDisk) -> u32 {
    let contents = disk.contents();
    contents.get(FILE).map_or(0, |bytes| u32::from_le_bytes(bytes[112..116].try_into().unwrap()))
}

fn is_repaired(journal: &LocalJournal) -> bool {
    let notes = journal.read_stream(&"node/journal".parse().unwrap(), Version::ZERO);
    let mut notes = notes.map(|entry| JournalNote::decode(&entry.unwrap().events[0]).unwrap());
    notes.any(|note| matches!(note, JournalNote::HistoryRepaired { .. }))
}

#[test]
fn after_a_kill_it_is_gone_by_and_the_tail_is_read() {
    let Running { disk, store, mut entries, journal } = running();
    let (disk, store) = (disk.after_kill(), store.copy());
    drop(journal);
    for life in 0..3 {
        // when it is opened after an end without a stop
        let (journal, report) = open(&disk, &store).unwrap();
        // then it goes by the checkpoint, nothing counts as repaired, and everything is there
        assert!(report.by_checkpoint && !report.clean && !report.repaired(), "life {life}: {report}");
        assert_holds(&journal, &entries);
        for entry in &entries {
            let answered = journal.answered(&entry.header.meta.command_id).unwrap();
            assert_eq!(answered.position, entry.header.position);
        }
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
        assert!(!is_repaired(&journal), "life {life}");
        // and it goes on like any other
        write(&journal, 57);
        rests(&journal, &disk);
        entries = all(&journal);
        drop(journal);
        assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    }
    let (journal, _) = open(&disk, &store).unwrap();
    journal.close().unwrap();
    let (_, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint && report.clean, "{report}");
}

#[test]
fn after_a_power_cut_everything_acknowledged_is_there() {
    let Running { disk, store, entries, journal } = running();
    // What follows is not made durable in the store, and the cut falls anywhere.
    write(&journal, 15);
    let acknowledged = all(&journal);
    assert!(acknowledged.len() > entries.len());
    let mut gone_by = 0;
    for seed in 0..40 {
        let (disk, store) = (disk.after_power_cut(seed), store.copy());
        let (journal, report) = open(&disk, &store).unwrap();
        gone_by += u32::from(report.by_checkpoint);
        assert_holds(&journal, &acknowledged);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done, "seed {seed}");
        assert_holds(&journal, &acknowledged);
    }
    assert!(gone_by > 30, "{gone_by}");
}

#[test]
fn one_that_was_taken_up_is_not_gone_by_again_before_everything_was_read() {
    let Running { disk, store, entries, .. } = running();
    let (disk, store) = (disk.after_kill(), store.copy());
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint, "{report}");
    let names = disk.list("").unwrap();
    assert!(names.iter().any(|name| name == FILE) != names.iter().any(|name| name == TAKEN_UP), "{names:?}");
    journal.wait_for_verification();
    drop(journal);
    assert!(disk.contents().contains_key(FILE), "everything was read");
    // given a writer that ended before
    disk.rename(FILE, TAKEN_UP).unwrap();
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(!report.by_checkpoint && report.checkpoint_ignored.is_none(), "{report}");
    assert!(!disk.contents().contains_key(TAKEN_UP));
    assert_holds(&journal, &entries);
    // and once all was read, the next one comes by itself
    rests(&journal, &disk);
}

#[test]
fn it_is_written_again_only_for_new_full_segments() {
    let Running { disk, journal, .. } = running();
    let before = disk.stamp(FILE).unwrap();
    // when some entries come that fill no segment, and the journal is asked to look for work
    write(&journal, 2);
    until("they are stored", || journal.stats().store_behind == 0);
    journal.compress_log();
    journal.close().unwrap();
    // then only the stop in order wrote another one
    assert_ne!(disk.stamp(FILE).unwrap(), before);
    let disk = disk.after_kill();
    let Running { disk: other, journal, .. } = running();
    let before = other.stamp(FILE).unwrap();
    write(&journal, 2);
    until("they are stored", || journal.stats().store_behind == 0);
    drop(journal);
    assert_eq!(other.stamp(FILE).unwrap(), before);
    drop(disk);
}

#[test]
fn segments_that_were_touched_or_compressed_are_read_again_and_the_rest_is_gone_by() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    let (touched, other) = (disk.after_kill(), store.copy());
    touched.damage(&segment(2), |_| ());
    let (journal, report) = open(&touched, &other).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    assert!(!is_repaired(&journal));
    // and where they are compressed behind the commits
    let Running { disk, store, entries, journal } = running_with(Settings { compress_when_idle: true, ..settings() });
    until("all are compressed", || journal.stats().segments_to_compress == 0);
    drop(journal);
    assert!(segments(&disk).iter().any(|name| name.ends_with(".zst")));
    let (journal, report) = open(&disk.after_kill(), &store.copy()).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn damage_to_the_log_that_a_file_tells_of_is_repaired_before_anything_goes_on() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    type Change = fn(&SimulatedDisk);
    let last = segments(&disk).len() as u32;
    let changes: [(&str, Change); 6] = [
        ("deleted", |disk| disk.remove(&segment(2)).unwrap()),
        ("flipped", |disk| disk.damage(&segment(2), |bytes| bytes[400] ^= 1)),
        ("cut", |disk| disk.damage(&segment(3), |bytes| bytes.truncate(1_000))),
        ("renamed", |disk| disk.rename(&segment(2), &segment(3)).unwrap()),
        ("another one's", |disk| {
            let other = disk.contents()[&segment(3)].clone();
            disk.damage(&segment(2), |bytes| *bytes = other);
        }),
        ("all of it cut", |disk| {
            for name in segments(disk).iter().skip(3) {
                disk.remove(name).unwrap();
            }
        }),
    ];
    for (how, change) in changes {
        let (disk, store) = (disk.after_kill(), store.copy());
        change(&disk);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.repaired() && !report.by_checkpoint && report.checkpoint_ignored.is_some(), "{how}: {report}");
        assert_holds(&journal, &entries);
    }
    // The last segment, by the medium itself: it is read in any case, its mark included.
    for behind_mark in [false, true] {
        let (disk, store) = (disk.after_kill(), store.copy());
        disk.rot(&segment(last), |bytes| {
            let at = if behind_mark { frames(bytes)[0] + 150 } else { 20 };
            bytes[at] ^= 1;
        });
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.repaired() && !report.by_checkpoint, "{report}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn a_bit_that_rots_in_a_segment_that_is_gone_by_is_found_behind_the_opening() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    for number in 1..=known(&disk) {
        let (disk, store) = (disk.after_kill(), store.copy());
        let middle = disk.contents()[&segment(number)].len() / 2;
        disk.rot(&segment(number), |bytes| bytes[middle] ^= 4);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.by_checkpoint, "{report}");
        assert_holds(&journal, &entries);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done, "segment {number}");
        journal.close().unwrap();
        assert!(is_repaired(&journal) && check_on(Arc::new(disk)).unwrap().is_whole(), "segment {number}");
    }
}

#[test]
fn a_seal_that_rots_in_a_segment_that_is_gone_by_is_found_behind_the_opening() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    disk.rot(&segment(2), |bytes| {
        let last = *frames(bytes).last().unwrap();
        let length = u32::from_le_bytes(bytes[last + 8..last + 12].try_into().unwrap()) as usize;
        bytes[last + 128 + length..].fill(0);
    });
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "its blocks are whole: {report}");
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    assert_holds(&journal, &entries);
    journal.close().unwrap();
    let report = check_on(Arc::new(disk)).unwrap();
    assert!(is_repaired(&journal) && report.is_whole() && report.mendable.is_empty(), "{report}");
}

#[test]
fn a_checkpoint_of_another_history_is_left_aside() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    // One that ends with a full segment, and, of a stop in order, one that ends inside of one.
    let inside = {
        let (disk, store) = (disk.after_kill(), store.copy());
        open(&disk, &store).unwrap().0.close().unwrap();
        let (journal, _) = open(&disk, &store).unwrap();
        journal.wait_for_verification();
        write(&journal, 2);
        drop(journal);
        (disk, store)
    };
    for (disk, store) in [(disk.after_kill(), store.copy()), inside] {
        disk.rot(FILE, |bytes| {
            // The chain value of its last block.
            bytes[90] ^= 1;
            let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..]);
            bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        });
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(!report.by_checkpoint && report.checkpoint_ignored.is_some() && !report.repaired(), "{report}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn one_that_ends_behind_the_full_segments_is_not_grown_from() {
    let Running { disk, store, journal, .. } = running();
    journal.close().unwrap();
    // given the checkpoint of a stop in order, which ends inside the last segment, and full segments that are then compressed
    let compressing = Settings { compress_when_idle: true, ..settings() };
    let (journal, _) = open_with(&disk, &store, compressing).unwrap();
    journal.wait_for_verification();
    let before = disk.stamp(FILE).unwrap();
    write(&journal, 1);
    until("all are compressed", || journal.stats().segments_to_compress == 0);
    until("a new one is written", || disk.stamp(FILE).unwrap() != before);
    let entries = all(&journal);
    drop(journal);
    // then the next one is right all the same
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
}

#[test]
fn segments_that_moved_to_an_archive_are_gone_by_there() {
    let place = tempfile::tempdir().unwrap();
    let settings = || Settings { log_archive: Some(place.path().join("archive")), ..settings() };
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, settings()).unwrap();
    write(&journal, 200);
    until("segments have moved and a checkpoint knows them", || journal.stats().store_behind == 0 && known(&disk) > 3);
    let entries = all(&journal);
    drop(journal);
    assert!(std::fs::read_dir(place.path().join("archive")).unwrap().count() > 3);
    let (journal, report) = open_with(&disk.after_kill(), &store.copy(), settings()).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    assert!(!is_repaired(&journal));
}
