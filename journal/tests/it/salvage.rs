//! What is whole in a journal that does not open comes into a new one, and the rest is named.

use std::sync::Arc;

use bailiwick_journal::{
    EntryKind, IntegrityReport, Journal, MissingEvents, OpenError, Position, ReadOnlyJournal, Recovery, SALVAGE_STREAM,
    Salvaged, Settings,
    blocks::{MemoryStore, Store},
    check_on,
    disk::{Disk, SimulatedDisk},
    salvage_on,
    testing::all,
};

use crate::tools::{Stopped, frames, open, segment, segments, stopped, write};

/// Salvages into a new disk, and demands that the old one is not touched and the new journal is whole.
fn salvaged(disk: &SimulatedDisk, store: &MemoryStore) -> (Salvaged, SimulatedDisk) {
    let before = disk.contents();
    let to = SimulatedDisk::new();
    let report = salvage_on(Arc::new(disk.clone()), store, Arc::new(to.clone())).unwrap();
    assert_eq!(disk.contents(), before, "the old folder is only read");
    let checked = check_on(Arc::new(to.clone())).unwrap();
    assert!(checked.is_whole() && checked.mendable.is_empty(), "{checked}");
    assert_eq!(checked.head, report.head);
    (report, to)
}

/// Damages a byte of each of these blocks in the log.
fn damage_blocks(disk: &SimulatedDisk, wanted: &[u64]) {
    for name in segments(disk) {
        disk.damage(&name, |bytes| {
            for at in frames(&bytes.clone()) {
                let number = u64::from_le_bytes(bytes[at + 32..at + 40].try_into().unwrap());
                if wanted.contains(&number) {
                    bytes[at + 130] ^= 0xFF;
                }
            }
        });
    }
}

fn refused(disk: &SimulatedDisk, store: &MemoryStore) -> IntegrityReport {
    let error = open(disk, store).expect_err("a journal that lost history does not open");
    assert!(error.to_string().contains("journal salvage"), "{error}");
    match error {
        OpenError::Integrity { report, .. } => *report,
        other => panic!("{other}"),
    }
}

#[test]
fn a_whole_journal_is_copied_as_it_is() {
    let Stopped { disk, store, head, entries } = stopped(60);
    let (report, to) = salvaged(&disk, &store);
    assert_eq!((report.head, report.entries, report.unchanged), (head, 61, Position(61)));
    assert!(report.lost.is_empty() && report.missing.is_empty() && report.cut.is_none());
    let (journal, _) = open(&to, &MemoryStore::new()).unwrap();
    assert_eq!(all(&journal)[..61], entries);
}

#[test]
fn what_the_log_lost_comes_from_the_store() {
    let Stopped { disk, store, head, .. } = stopped(60);
    damage_blocks(&disk, &[20, 21, 40]);
    let (report, _) = salvaged(&disk, &store);
    assert_eq!((report.head, report.from_store, report.from_log), (head, 3, 58));
}

#[test]
fn what_both_lost_leaves_notes_and_takes_its_streams_with_it() {
    let Stopped { disk, entries, .. } = stopped(60);
    // Block 9 is an entry of one of five streams; the store is gone as well.
    damage_blocks(&disk, &[9]);
    let store = MemoryStore::durable();
    let refusal = refused(&disk, &store);
    let (report, to) = salvaged(&disk, &store);
    let lost = &entries[8];
    assert!(lost.header.events > 0, "the lost entry had events");
    assert_eq!(report.unchanged, Position(8));
    assert_eq!(report.lost[0], (Position(9), Position(9)));
    assert_eq!(report.missing.len(), 1, "{:?}", report.missing);
    let (missing, stream) = (&report.missing[0], &lost.header.stream);
    assert_eq!((&missing.stream, missing.first), (stream, lost.header.first_version));
    assert!(missing.to_string().contains("(at least "), "the entry in the damaged block is missing as well: {missing}");
    let told = refusal.missing.iter().find(|told| told.stream == *stream);
    assert_eq!(told, Some(missing), "a check says the same");
    let read = ReadOnlyJournal::open_on(Arc::new(to.clone())).unwrap();
    let found = all(&read);
    assert_eq!(found.len(), entries.len(), "every entry keeps its position");
    for (found, old) in found.iter().zip(&entries) {
        let gone = old.header.stream == *stream && old.header.first_version >= lost.header.first_version;
        if gone {
            assert_eq!(found.header.stream.as_str(), SALVAGE_STREAM);
            assert_eq!(found.header.meta.kind, EntryKind::Note);
        } else {
            assert_eq!(found, old);
        }
    }
    drop(read);
    let (journal, report) = open(&to, &MemoryStore::new()).unwrap();
    assert!(!report.created && !report.repaired());
    assert_eq!(journal.version(stream).0, lost.header.first_version.0 - 1);
}

#[test]
fn what_is_missing_at_the_end_is_named() {
    let Stopped { disk, head, .. } = stopped(60);
    let last = segments(&disk).pop().unwrap();
    disk.remove(&last).unwrap();
    let store = MemoryStore::durable();
    refused(&disk, &store);
    let (report, _) = salvaged(&disk, &store);
    let (first, to) = report.cut.unwrap();
    assert_eq!((first, to), (report.head.position.next(), head.position));
    assert_eq!(report.unchanged, report.head.position);
}

#[test]
fn of_two_histories_the_one_that_goes_on_is_taken() {
    let Stopped { disk, store, head, .. } = stopped(30);
    // The store holds another block 10, sound in itself, as after a mix-up of folders.
    let other = stopped(30);
    let mut theirs = other.store.open().unwrap();
    let bytes = theirs.reader().read(&[10]).pop().unwrap().unwrap();
    let mut ours = store.open().unwrap();
    ours.put(&[(10, &bytes)]).unwrap();
    drop((ours, theirs.checkpoint()));
    let (report, _) = salvaged(&disk, &store);
    assert_eq!((report.head, report.unchanged), (head, head.position));
}

#[test]
fn without_format_and_head_the_blocks_say_whose_they_are() {
    let Stopped { disk, head, .. } = stopped(30);
    for name in ["FORMAT", "head"] {
        disk.remove(name).unwrap();
    }
    let (report, to) = salvaged(&disk, &MemoryStore::durable());
    assert_eq!(report.head.hash, head.hash);
    open(&to, &MemoryStore::new()).unwrap();
}

#[test]
fn the_new_folder_has_to_be_empty_and_the_old_one_a_journal() {
    let Stopped { disk, store, .. } = stopped(5);
    let full = stopped(5).disk;
    assert!(salvage_on(Arc::new(disk), &store, Arc::new(full)).is_err());
    let nothing = SimulatedDisk::new();
    assert!(salvage_on(Arc::new(nothing), &MemoryStore::new(), Arc::new(SimulatedDisk::new())).is_err());
}

#[test]
fn a_real_folder_with_sled_is_salvaged() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    let (journal, _) = bailiwick_journal::LocalJournal::open(crate::tools::config(&old)).unwrap();
    write(&journal, 300);
    let head = journal.head();
    journal.close().unwrap();
    drop(journal);
    // The whole log is gone; sled has everything.
    let first = [segment(1), segment(1) + ".zst"].map(|name| old.join(name));
    std::fs::remove_file(first.iter().find(|path| path.exists()).unwrap()).unwrap();
    let files = |dir: &std::path::Path| {
        let mut found: Vec<_> = std::fs::read_dir(dir.join("sled")).unwrap().map(|f| f.unwrap().path()).collect();
        found.sort();
        found
            .into_iter()
            .filter(|path| path.is_file())
            .map(|path| (std::fs::read(&path).unwrap(), path))
            .collect::<Vec<_>>()
    };
    let before = files(&old);
    // A wrong name first: what that leaves, or an attempt that was killed while it copied sled, is in nobody's way.
    bailiwick_journal::salvage(&dir.path().join("odl"), &new).expect_err("there is no journal");
    std::fs::create_dir(new.join("sled.salvage")).unwrap();
    std::fs::write(new.join("sled.salvage/db"), "a half").unwrap();
    let report = bailiwick_journal::salvage(&old, &new).unwrap();
    assert_eq!(files(&old), before, "the old sled is only read");
    assert_eq!((report.head, report.from_log > 0), (head, true));
    assert!(report.from_store > 0 && !new.join("sled.salvage").exists());
    let settings = Settings::default();
    let again = bailiwick_journal::Config { settings, ..crate::tools::config(&new) };
    assert_eq!(bailiwick_journal::LocalJournal::open(again).unwrap().1.head, head);
}

/// What a check says that salvage recovers and loses.
#[track_caller]
fn assert_foretold(recovery: Option<&Recovery>, salvaged: &Salvaged, missing: &[MissingEvents]) {
    let Some(Recovery { affected: (first, last), recoverable, lost }) = recovery else {
        panic!("nothing is said of what can be recovered: {salvaged}");
    };
    assert_eq!(*first, salvaged.unchanged.next());
    assert_eq!(*recoverable, salvaged.entries - salvaged.unchanged.0);
    let entries = |ranges: &[(Position, Position)]| -> Vec<u64> {
        ranges.iter().flat_map(|(first, last)| first.0..=last.0).collect()
    };
    let left_out: Vec<(Position, Position)> = salvaged.lost.iter().copied().chain(salvaged.cut).collect();
    assert_eq!(entries(lost), entries(&left_out));
    assert_eq!(recoverable + entries(lost).len() as u64, last.0 - first.0 + 1);
    assert_eq!(missing, salvaged.missing);
}

#[test]
fn a_check_goes_on_behind_damage_and_says_what_salvage_recovers() {
    for (what, blocks, is_cut) in [
        ("one block", &[9][..], false),
        ("the first, some in the middle, and the last", &[1, 9, 10, 30, 61], false),
        ("the end is cut", &[], true),
        ("a block and the end", &[20], true),
    ] {
        let Stopped { disk, .. } = stopped(60);
        damage_blocks(&disk, blocks);
        if is_cut {
            disk.remove(&segments(&disk).pop().unwrap()).unwrap();
        }
        let found = check_on(Arc::new(disk.clone())).unwrap();
        let (salvaged, _) = salvaged(&disk, &MemoryStore::durable());
        println!("{what}: {found}");
        assert!(!found.is_whole());
        assert_foretold(found.recovery.as_ref(), &salvaged, &found.integrity.missing);
        let told: std::collections::BTreeSet<String> =
            found.integrity.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), found.integrity.problems.len(), "each damage is told once: {found}");
    }
}

#[test]
fn a_check_counts_the_writers_behind_damage() {
    let Stopped { disk, store, .. } = stopped(20);
    let (journal, second) = open(&disk, &store).unwrap();
    write(&journal, 5);
    journal.close().unwrap();
    damage_blocks(&disk, &[9]);
    assert_eq!(check_on(Arc::new(disk)).unwrap().epoch, second.epoch);
}

#[test]
fn a_check_of_a_running_journal_goes_on_behind_damage_and_says_what_sled_has() {
    // Given a running journal whose log loses two blocks
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 60);
    damage_blocks(&disk, &[9, 10]);
    // Then, if the store has them, the next start repairs it
    let found = journal.check(|| ()).unwrap();
    let repair = found.repair.clone().unwrap_or_else(|| panic!("the store has the blocks: {found:?}"));
    assert!(found.is_whole() && found.recovery.is_none(), "{found}");
    assert_eq!((repair.blocks_from_store, found.mendable[0].blocks), (2, Some((9, 10))));
    assert_eq!((repair.head, found.epoch), (journal.head(), 1));
    drop(journal);
    let (journal, report) = open(&disk, &store).unwrap();
    assert_eq!(report.log_filled_blocks, 2);

    // And if the store has lost one of them as well, it says what salvage recovers.
    damage_blocks(&disk, &[9, 10, 40]);
    store.rot(|blocks| drop(blocks.remove(&10)));
    let found = journal.check(|| ()).unwrap();
    assert!(!found.is_whole() && found.repair.is_none(), "{found}");
    assert_eq!(found.integrity.problems.iter().map(|problem| problem.blocks).collect::<Vec<_>>(), [Some((10, 10))]);
    drop(journal);
    let (salvaged, _) = salvaged(&disk, &store);
    assert_foretold(found.recovery.as_ref(), &salvaged, &found.integrity.missing);
}

#[test]
fn a_check_of_a_running_journal_promises_what_the_next_start_does() {
    // Given a running journal whose log and store have each lost another block
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 60);
    damage_blocks(&disk, &[9]);
    store.rot(|blocks| drop(blocks.remove(&40)));
    let found = journal.check(|| ()).unwrap();
    drop(journal);
    // Then it says that the next start repairs it, and that does
    assert_eq!(found.repair.map(|repair| repair.blocks_from_store), Some(1));
    let (journal, report) = open(&disk, &store).unwrap();
    assert_eq!((report.log_filled_blocks, report.store_rebuilt.is_some()), (1, true), "{report}");
    assert_eq!(all(&journal).len(), 62);
}
