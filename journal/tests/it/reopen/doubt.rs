//! Something is missing or differs: what is written anew because somebody vouches for it, and what is refused.

use std::sync::Arc;

use bailiwick_journal::{
    Journal, LocalJournal, OpenError, ProblemKind, ReadOnlyJournal, Version,
    blocks::MemoryStore,
    check_on,
    disk::{Disk, SimulatedDisk},
    testing::all,
};
use uuid::Uuid;

use crate::tools::{Stopped, frames, inline, open, reopened, segment, segments, stopped, write};

use super::{kinds, refused};

#[test]
fn damage_inside_the_log_without_a_store_is_refused() {
    let Stopped { disk, .. } = stopped(60);
    disk.damage(&segment(1), |bytes| bytes[400] ^= 4);
    let report = refused(&disk, &MemoryStore::durable());
    assert!(kinds(&report).contains(&ProblemKind::LogDamaged));
}

#[test]
fn damage_that_the_next_writer_would_hide_is_not_cut() {
    let Stopped { disk, .. } = stopped(3);
    disk.damage(&segment(1), |bytes| {
        let last = *frames(bytes).last().unwrap();
        bytes[last + 130] ^= 1;
    });
    let report = refused(&disk, &MemoryStore::durable());
    assert!(kinds(&report).contains(&ProblemKind::LogCut), "the head file knows the block: {report}");
}

#[test]
fn head_file_ahead_of_the_log_is_refused() {
    let Stopped { disk, head, .. } = stopped(3);
    disk.damage(&segment(1), |bytes| {
        let last = *frames(bytes).last().unwrap();
        bytes[last..].fill(0);
    });
    let report = refused(&disk, &MemoryStore::new());
    assert_eq!(kinds(&report), [ProblemKind::LogCut]);
    assert_eq!(report.missing_positions, Some((head.position, head.position)));
    assert!(report.to_string().contains("salvage"));
}

#[test]
fn store_ahead_of_the_log_is_refused_and_names_what_is_missing() {
    let Stopped { disk, store, entries, .. } = stopped(3);
    disk.remove("head").unwrap();
    disk.damage(&segment(1), |bytes| {
        let found = frames(bytes);
        bytes[found[2]..].fill(0);
    });
    // The mark of the last stop vouches for the store; without it nobody does.
    reopened(&disk.after_kill(), &store.copy(), &entries);
    disk.remove("stopped").unwrap();
    let report = refused(&disk, &store);
    assert_eq!(kinds(&report), [ProblemKind::LogCut]);
    let streams: Vec<&str> = report.missing.iter().map(|missing| missing.stream.as_str()).collect();
    assert_eq!(streams, ["machine/1", "machine/2"]);
    assert_eq!((report.missing[1].first, report.missing[1].last), (Version(1), Version(2)));
}

#[test]
fn the_whole_log_missing_is_written_anew_where_the_head_file_vouches_for_the_store() {
    let Stopped { disk, store, entries, head } = stopped(60);
    disk.remove("log").unwrap();
    refused(&disk, &MemoryStore::durable());
    let without_head = disk.after_kill();
    without_head.remove("head").unwrap();
    reopened(&without_head.after_kill(), &store.copy(), &entries);
    without_head.remove("stopped").unwrap();
    refused(&without_head, &store.copy());
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!((report.log_filled_blocks, report.head), (head.block, head));
    assert!(report.repaired());
}

#[test]
fn an_older_log_put_back_is_brought_up_where_the_head_file_vouches_for_the_store() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 3);
    let older = disk.contents()[&segment(1)].clone();
    write(&journal, 3);
    journal.close().unwrap();
    let entries = all(&journal);
    disk.damage(&segment(1), |bytes| *bytes = older);
    refused(&disk, &MemoryStore::new());
    let behind = store.copy();
    behind.damage(|blocks| drop(blocks.pop_last()));
    refused(&disk, &behind);
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.log_filled_blocks, 3);
    assert!(report.damaged_log.is_some(), "the older log is kept aside");
}

#[test]
fn a_store_that_ends_in_another_block_than_the_head_file_says_fills_nothing() {
    let Stopped { disk, store, .. } = stopped(60);
    let other = SimulatedDisk::new();
    let other_store = MemoryStore::durable();
    let (journal, _) = open(&other, &other_store).unwrap();
    write(&journal, 60);
    journal.close().unwrap();
    assert_ne!(journal.head().hash, open(&disk.after_kill(), &store).unwrap().0.head().hash);
    disk.remove("log").unwrap();
    refused(&disk, &other_store);
}

#[test]
fn swapped_and_foreign_segments_are_written_anew_where_the_head_file_vouches_for_the_store() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 60);
    let damages: [&dyn Fn(&SimulatedDisk); 3] = [
        &|disk| {
            let (one, two) = (disk.contents()[&segment(1)].clone(), disk.contents()[&segment(2)].clone());
            disk.damage(&segment(1), |bytes| *bytes = two);
            disk.damage(&segment(2), |bytes| *bytes = one);
        },
        &|disk| disk.damage(&segment(2), |bytes| *bytes = foreign.contents()[&segment(2)].clone()),
        &|disk| {
            let last = segments(disk).pop().unwrap();
            disk.damage(&last, |bytes| *bytes = foreign.contents()[&segment(2)].clone());
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let Stopped { disk, store, entries, .. } = stopped(60);
        damage(&disk);
        if number == 0 {
            // All blocks are still there, in another order.
            let (_, report) = reopened(&disk.after_kill(), &MemoryStore::durable(), &entries);
            assert!(report.damaged_log.is_some() && report.log_filled_blocks == 0);
        } else {
            refused(&disk, &MemoryStore::durable());
        }
        let (_, report) = reopened(&disk, &store, &entries);
        assert!(report.damaged_log.is_some(), "damage {number}");
    }
}

#[test]
fn a_head_file_of_another_history_is_refused_whatever_the_store_has() {
    let same_id = stopped(60).disk;
    let Stopped { disk, store, .. } = stopped(60);
    disk.damage("head", |bytes| *bytes = same_id.contents()["head"].clone());
    for store in [&MemoryStore::durable(), &store] {
        assert_eq!(kinds(&refused(&disk, store)), [ProblemKind::HeadDiffers]);
    }
    let report = check_on(Arc::new(disk)).unwrap();
    assert_eq!(kinds(&report.integrity), [ProblemKind::HeadDiffers]);
}

#[test]
fn a_head_file_of_another_journal_is_as_good_as_a_damaged_one() {
    let other = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(other.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    let (journal, _) = made.unwrap();
    write(&journal, 60);
    journal.close().unwrap();
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.damage("head", |bytes| *bytes = other.contents()["head"].clone());
    let report = check_on(Arc::new(disk.clone())).unwrap();
    let mendable: Vec<ProblemKind> = report.mendable.iter().map(|problem| problem.kind).collect();
    assert_eq!((report.is_whole(), mendable), (true, vec![ProblemKind::HeadDamaged]));
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.head_rewritten && report.log_filled_blocks == 0, "{report}");
}

#[test]
fn a_foreign_segment_is_refused_where_no_head_file_says_that_the_store_is_right() {
    let foreign = stopped(60).disk;
    let Stopped { disk, store, .. } = stopped(60);
    disk.damage(&segment(2), |bytes| *bytes = foreign.contents()[&segment(2)].clone());
    disk.remove("head").unwrap();
    let report = refused(&disk, &store);
    assert_eq!(kinds(&report), [ProblemKind::ChainBroken, ProblemKind::ChainBroken]);
}

#[test]
fn a_segment_without_its_seal_is_written_anew() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.damage(&segment(2), |bytes| {
        let last = *frames(bytes).last().unwrap();
        let seal = last + 128 + u32::from_le_bytes(bytes[last + 8..last + 12].try_into().unwrap()) as usize;
        bytes[seal..].fill(0);
    });
    assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.damaged_log.is_some(), "{report}");
}

#[test]
fn a_block_of_a_newer_format_is_refused_as_such() {
    let Stopped { disk, store, .. } = stopped(60);
    disk.damage(&segment(2), |bytes| {
        let at = frames(bytes)[3];
        bytes[at + 4] = 2;
        let end = at + 128 + u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[at..at + 12]), &bytes[at + 16..end]);
        bytes[at + 12..at + 16].copy_from_slice(&sum.to_le_bytes());
    });
    let before = disk.contents();
    let refused = open(&disk, &store);
    let Err(OpenError::Foreign { problem, .. }) = &refused else { panic!("{refused:?}") };
    assert!(problem.contains("has format 2, which is newer"), "{problem}");
    let mut after = disk.contents();
    after.remove("lock");
    assert!(after.iter().all(|(name, bytes)| before.get(name) == Some(bytes)), "a refusal changes nothing");
}

#[test]
fn a_foreign_segment_behind_the_last_one_is_put_aside() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 60);
    let Stopped { disk, store, entries, .. } = stopped(60);
    let behind = segment(segments(&disk).len() as u32 + 1);
    disk.create(&behind).unwrap();
    disk.damage(&behind, |bytes| *bytes = foreign.contents()[&segment(2)].clone());
    let (_, report) = reopened(&disk, &store, &entries);
    let aside = report.damaged_log.unwrap();
    assert!(disk.list(&aside).unwrap().iter().any(|name| behind.ends_with(name)));
    assert!(report.clean && report.log_filled_blocks == 0);
}

#[test]
fn blocks_behind_damage_show_that_something_is_missing_without_head_file_and_store() {
    for zeros in [false, true] {
        let Stopped { disk, .. } = stopped(12);
        disk.remove("head").unwrap();
        disk.damage(&segment(1), |bytes| {
            let third = frames(bytes)[2];
            if zeros { bytes[third..third + 150].fill(0) } else { bytes[third + 140] ^= 1 }
        });
        let report = refused(&disk, &MemoryStore::durable());
        assert!(kinds(&report).contains(&ProblemKind::LogDamaged));
    }
}

#[test]
fn the_beginning_of_a_later_segment_shows_that_one_is_missing_without_head_file_and_store() {
    let Stopped { disk, .. } = stopped(60);
    disk.remove("head").unwrap();
    let last = segments(&disk).pop().unwrap();
    // Nothing of the last two segments is left but the mark that begins the last one.
    disk.damage(&last, |bytes| bytes.truncate(128));
    let before = segments(&disk).iter().rev().nth(1).unwrap().clone();
    disk.remove(&before).unwrap();
    let report = refused(&disk, &MemoryStore::durable());
    assert_eq!(kinds(&report), [ProblemKind::LogCut]);
    assert!(!check_on(Arc::new(disk)).unwrap().is_whole());
}

#[test]
fn a_damaged_end_without_a_head_file_is_refused_even_where_the_store_has_some_of_it() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    let (last, head) = (segments(&disk).pop().unwrap(), disk.contents()["head"].clone());
    let segment = disk.contents()[&last].clone();
    disk.damage(&last, |bytes| bytes.clone_from(&head));
    disk.damage("head", |bytes| *bytes = segment);
    let behind = store.copy();
    behind.damage(|blocks| drop(blocks.pop_last()));
    let without_head = disk.after_kill();
    without_head.remove("head").unwrap();
    for disk in [&disk, &without_head] {
        for store in [&MemoryStore::new(), &behind] {
            let report = refused(disk, store);
            let named = [ProblemKind::HeadDamaged, ProblemKind::SegmentBeginDamaged];
            assert!(named.iter().all(|kind| kinds(&report).contains(kind)), "{report}");
        }
    }
    assert!(!check_on(Arc::new(disk.clone())).unwrap().is_whole());
    assert!(ReadOnlyJournal::open_on(Arc::new(disk.clone())).is_err());
    // With the head file put back, it is known what there was.
    disk.damage("head", |bytes| *bytes = head);
    reopened(&disk, &store, &entries);
}
