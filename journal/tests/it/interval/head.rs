//! A checkpoint beside the head file: which two are gone by, and which are not.

use bailiwick_journal::{OpenError, blocks::MemoryStore, disk::SimulatedDisk, testing::all};

use crate::tools::{assert_holds, frames, segments, until, write};

use super::{FILE, Running, known, open, rests, running};

#[test]
fn a_head_file_at_the_end_of_the_checkpoint_goes_and_one_before_it_does_not() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    let checkpoint = disk.contents()[FILE].clone();
    let block = u64::from_le_bytes(checkpoint[32..40].try_into().unwrap());
    for (newest, goes) in [(block, true), (block - 1, false)] {
        let (disk, store) = (disk.after_kill(), store.copy());
        disk.damage("head", |bytes| {
            for slot in [0, 4096] {
                let slot = &mut bytes[slot..slot + 128];
                slot[40..48].copy_from_slice(&checkpoint[40..48]);
                slot[48..56].copy_from_slice(&newest.to_le_bytes());
                slot[80..112].copy_from_slice(&checkpoint[80..112]);
                let sum = crc32c::crc32c_append(crc32c::crc32c(&slot[..12]), &slot[16..]);
                slot[12..16].copy_from_slice(&sum.to_le_bytes());
            }
        });
        if goes {
            let (journal, report) = open(&disk, &store).unwrap();
            assert!(report.by_checkpoint, "{report}");
            assert_holds(&journal, &entries);
        } else {
            // It names a chain value that the log does not have there.
            let refused = open(&disk, &store);
            assert!(matches!(refused, Err(OpenError::Integrity { .. })), "{refused:?}");
        }
    }
}

#[test]
fn neither_another_history_nor_damage_behind_the_head_file_is_gone_by() {
    let Running { disk: other, journal, .. } = running();
    drop(journal);
    let Running { disk, store, journal, .. } = running();
    // given the head file of another history with the same name
    let elsewhere = disk.after_kill();
    elsewhere.damage("head", |bytes| *bytes = other.contents()["head"].clone());
    let refused = open(&elsewhere, &store.copy());
    assert!(matches!(refused, Err(OpenError::Integrity { .. })), "{refused:?}");
    // given an earlier head file, which a power cut leaves, and damage behind what it knows, before the log's end
    let (early, before) = (disk.contents()["head"].clone(), known(&disk));
    write(&journal, 3);
    until("everything is stored", || journal.stats().store_behind == 0);
    let entries = all(&journal);
    drop(journal);
    assert_eq!(known(&disk), before);
    disk.damage("head", |bytes| *bytes = early);
    let last = segments(&disk).pop().unwrap();
    disk.rot(&last, |bytes| {
        let found = frames(bytes);
        bytes[found[found.len() - 2] + 140] ^= 1;
    });
    // then it is repaired from the store, or, where that has nothing, refused
    let refused = open(&disk.after_kill(), &MemoryStore::durable());
    assert!(matches!(refused, Err(OpenError::Integrity { .. })), "{refused:?}");
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(!report.by_checkpoint && report.repaired(), "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn a_head_file_that_says_less_of_the_store_or_is_of_an_earlier_writer_has_everything_read() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    // The epoch, and how far the store was durable; a writer before the first has the epoch 0.
    for (field, value) in [(64, 0u64), (72, 1)] {
        let (disk, store) = (disk.after_kill(), store.copy());
        disk.damage("head", |bytes| {
            for slot in [0, 4096] {
                let slot = &mut bytes[slot..slot + 128];
                slot[field..field + 8].copy_from_slice(&value.to_le_bytes());
                let sum = crc32c::crc32c_append(crc32c::crc32c(&slot[..12]), &slot[16..]);
                slot[12..16].copy_from_slice(&sum.to_le_bytes());
            }
        });
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(!report.by_checkpoint && report.checkpoint_ignored.is_some(), "byte {field}: {report}");
        assert!(!report.repaired(), "byte {field}: {report}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_the_head_file_is_left_aside() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 20);
    let early = disk.contents()["head"].clone();
    write(&journal, 200);
    rests(&journal, &disk);
    let entries = all(&journal);
    drop(journal);
    // given a head file of before the checkpoint
    disk.damage("head", |bytes| *bytes = early);
    let (journal, report) = open(&disk, &store).unwrap();
    assert!(!report.by_checkpoint && report.checkpoint_ignored.is_some(), "{report}");
    assert_holds(&journal, &entries);
    // and a checkpoint that is damaged, or another journal's
    rests(&journal, &disk);
    drop(journal);
    for byte in [20, 90, 200, 2_000] {
        let (disk, store) = (disk.after_kill(), store.copy());
        disk.rot(FILE, |bytes| bytes[byte] ^= 1);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(!report.by_checkpoint && report.checkpoint_ignored.is_some(), "byte {byte}: {report}");
        assert_holds(&journal, &entries);
    }
}
