//! The opening table, row by row; and what opening leaves alone.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bailiwick_journal::{
    AppendError, Config, Journal, JournalNote, LocalJournal, OpenError, ProblemKind, ReadOnlyJournal, Version,
    append_blocking,
    blocks::{Blocks, MemoryStore, Store, StoreError},
    check, check_on, crash,
    disk::{Disk, FaultyDisk, SimulatedDisk, Space},
    export, import,
    testing::{all, draft, draft_with_id},
};
use uuid::Uuid;

use crate::tools::{
    ID, Stopped, assert_holds, config, frames, inline, open, reopened, segment, segments, stopped, write,
};

fn refused(disk: &SimulatedDisk, store: &dyn Store) -> bailiwick_journal::IntegrityReport {
    let before = disk.contents();
    let OpenError::Integrity { report, .. } = open(disk, store).expect_err("is refused") else {
        panic!("is refused for its history");
    };
    assert!(!report.is_whole());
    let (mut before, mut after) = (before, disk.contents());
    before.remove("lock");
    after.remove("lock");
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "a refusal changes no file");
    assert!(before == after, "a refusal changes nothing");
    *report
}

fn kinds(report: &bailiwick_journal::IntegrityReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn equal_after_a_clean_stop_goes() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    let (journal, report) = reopened(&disk, &store, &entries);
    assert!(report.clean && !report.created && !report.repaired());
    assert_eq!((report.epoch, report.caught_up_blocks), (2, 0));
    let note = journal.read_stream_back(&"node/journal".parse().unwrap()).next().unwrap().unwrap();
    assert!(matches!(
        JournalNote::decode(&note.events[0]),
        Ok(JournalNote::WriterOpened { epoch: 2, clean: true, caught_up_blocks: 0, .. })
    ));
}

#[test]
fn an_end_without_a_stop_is_not_clean_even_if_nothing_has_to_be_done() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 5);
    let entries = all(&journal);
    drop(journal);
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(!report.clean && !report.repaired() && report.torn_cut.is_none() && report.caught_up_blocks == 0);
}

#[test]
fn store_behind_is_caught_up_and_is_no_repair() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 60);
    let entries = all(&journal);
    let disk = disk.after_kill();
    let lagging = store.copy();
    lagging.damage(|blocks| {
        let last = *blocks.last_key_value().unwrap().0;
        blocks.retain(|number, _| *number <= last - 3);
    });
    let (_, report) = reopened(&disk, &lagging, &entries);
    assert_eq!(report.caught_up_blocks, 3);
    assert!(!report.repaired() && !report.clean);
}

#[test]
fn store_missing_a_synced_tail_is_rebuilt() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    store.damage(|blocks| drop(blocks.pop_last()));
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.store_rebuilt.is_some() && report.repaired());
}

#[test]
fn store_empty_is_rebuilt_from_the_log_alone() {
    let Stopped { disk, entries, .. } = stopped(60);
    let store = MemoryStore::durable();
    let (journal, report) = reopened(&disk, &store, &entries);
    assert!(report.store_rebuilt.is_some());
    drop(journal);
    let mut stored = 0;
    store.damage(|blocks| stored = blocks.len());
    assert_eq!(stored as u64, report.head.block + 1);
}

#[test]
fn store_with_a_damaged_block_is_rebuilt() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    store.damage(|blocks| blocks.get_mut(&7).unwrap()[200] ^= 1);
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.store_rebuilt.as_deref(), Some("block 7 is damaged"));
}

#[test]
fn store_with_a_hole_is_rebuilt() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    store.damage(|blocks| drop(blocks.remove(&7)));
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.store_rebuilt.is_some());
}

#[test]
fn store_that_panics_is_rebuilt() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    store.panic_on_open();
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.store_rebuilt.as_deref(), Some("it panicked"));
}

#[test]
fn store_that_refuses_to_open_is_rebuilt() {
    for action in ["open", "survey"] {
        let Stopped { disk, store, entries, .. } = stopped(60);
        store.fail_next(action);
        let (_, report) = reopened(&disk, &store, &entries);
        assert!(report.store_rebuilt.is_some(), "{action}");
    }
}

#[test]
fn store_that_cannot_be_filled_degrades_and_the_log_is_read() {
    let Stopped { disk, entries, .. } = stopped(60);
    let store = MemoryStore::durable();
    store.fail_next("put");
    let (journal, report) = reopened(&disk, &store, &entries);
    assert!(report.store_unavailable.is_some());
    write(&journal, 5);
    assert!(journal.stats().degraded.is_some());
}

#[test]
fn store_that_fails_after_an_acknowledgement_degrades_and_poisons_nothing() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 10);
    store.fail_next("put");
    write(&journal, 10);
    let stats = journal.stats();
    assert!(stats.degraded.is_some() && stats.failed.is_none());
    assert_eq!(all(&journal).len(), 21);
}

#[test]
fn torn_last_frame_is_cut_and_said() {
    let Stopped { disk, store, entries, .. } = stopped(3);
    disk.damage(&segment(1), |bytes| {
        let end = *frames(bytes).last().unwrap();
        let length = 128 + u32::from_le_bytes(bytes[end + 8..end + 12].try_into().unwrap()) as usize;
        bytes[end + length..end + length + 60].copy_from_slice(&[0xAB; 60]);
    });
    let (journal, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.torn_cut, Some(60));
    assert!(!report.clean && !report.repaired());
    drop(journal);
    let (_, report) = open(&disk, &store).unwrap();
    assert_eq!(report.torn_cut, None, "it is cut once");
}

#[test]
fn damage_inside_the_log_is_filled_from_the_store() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    assert!(segments(&disk).len() > 2);
    disk.damage(&segment(1), |bytes| bytes[400] ^= 4);
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.log_filled_blocks, 1);
    assert!(report.repaired());
    let aside = report.damaged_log.unwrap();
    assert!(!disk.list(&aside).unwrap().is_empty(), "the damaged log is kept aside");
    let without_store = MemoryStore::durable();
    let disk = disk.after_kill();
    open(&disk, &without_store).unwrap();
}

#[test]
fn a_log_written_anew_is_byte_for_byte_the_one_that_was_lost() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    let before = disk.contents();
    disk.damage(&segment(1), |bytes| bytes[400] ^= 4);
    let damaged = disk.contents();
    let (journal, report) = reopened(&disk, &store, &entries);
    let after = disk.contents();
    let aside = report.damaged_log.unwrap();
    let names: Vec<&String> = before.keys().filter(|name| name.starts_with("log/")).collect();
    let (last, sealed) = names.split_last().unwrap();
    assert!(sealed.len() > 1);
    for name in sealed {
        assert_eq!(after[*name], before[*name], "{name}");
    }
    let written = before[*last].iter().rposition(|byte| *byte != 0).unwrap();
    assert_eq!(after[*last][..=written], before[*last][..=written]);
    for name in &names {
        assert_eq!(after[&name.replacen("log", &aside, 1)], damaged[*name], "{name} is kept as it was");
    }
    journal.close().unwrap();
    // Another repair is put aside beside the first.
    disk.damage(&segment(1), |bytes| bytes[500] ^= 4);
    let (_, report) = open(&disk, &store).unwrap();
    assert_eq!((aside.as_str(), report.damaged_log.as_deref()), ("log.damaged-1", Some("log.damaged-2")));
}

#[test]
fn a_replacing_that_was_cut_short_is_ended_or_undone() {
    // Complete, and the old log is put aside: the new one takes its place.
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.rename("log", "log.new").unwrap();
    disk.create("log.damaged-1/0000000001.log").unwrap();
    reopened(&disk, &store, &entries);
    assert!(disk.list("log.new").unwrap().is_empty());
    // Begun, and the old log is still there: it counts, and the new one goes.
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.create("log.new/0000000001.log").unwrap();
    reopened(&disk, &store, &entries);
    assert!(disk.list("log.new").unwrap().is_empty());
    // A new one without anything put aside was never complete.
    let Stopped { disk, .. } = stopped(60);
    disk.rename("log", "log.new").unwrap();
    let OpenError::Integrity { .. } = open(&disk, &MemoryStore::durable()).err().unwrap() else { panic!("is refused") };
}

#[test]
fn everything_is_rebuilt_from_the_store_alone() {
    let Stopped { disk, store, entries, head, .. } = stopped(60);
    for name in segments(&disk) {
        disk.damage(&name, |bytes| bytes.fill(0xEE));
    }
    let (journal, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.log_filled_blocks, head.block);
    assert_eq!(report.head, head);
    journal.close().unwrap();
    let (_, report) = open(&disk, &MemoryStore::durable()).unwrap();
    assert!(report.log_filled_blocks == 0 && report.damaged_log.is_none(), "the log written anew is whole");
}

#[test]
fn a_segment_missing_in_the_middle_is_filled_from_the_store() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    disk.remove(&segment(2)).unwrap();
    let (_, report) = reopened(&disk, &store, &entries);
    assert!(report.log_filled_blocks > 0);
}

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
    let Stopped { disk, store, .. } = stopped(3);
    disk.remove("head").unwrap();
    disk.damage(&segment(1), |bytes| {
        let found = frames(bytes);
        bytes[found[2]..].fill(0);
    });
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
    assert!(!report.clean && report.log_filled_blocks == 0);
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

#[test]
fn hostile_folders_are_refused_by_name() {
    let foreign = SimulatedDisk::new();
    foreign.create("holiday.jpg").unwrap();
    let error = open(&foreign, &MemoryStore::new()).err().unwrap();
    assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("holiday.jpg")), "{error}");
    assert_eq!(foreign.contents().len(), 1, "nothing is written into it");

    let Stopped { disk, store, .. } = stopped(3);
    let format = disk.contents()["FORMAT"].clone();
    let newer = String::from_utf8(format.clone()).unwrap().replace("format 1", "format 9");
    disk.damage("FORMAT", |bytes| *bytes = newer.into_bytes());
    let error = open(&disk, &store).err().unwrap();
    assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("format 9")), "{error}");
    for at in 0..format.len() {
        disk.damage("FORMAT", |bytes| {
            bytes.clone_from(&format);
            bytes[at] ^= 1;
        });
        assert!(matches!(open(&disk, &store), Err(OpenError::Foreign { .. })));
    }
    disk.remove("FORMAT").unwrap();
    let error = open(&disk, &store).err().unwrap();
    assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("FORMAT")), "{error}");
}

#[test]
fn neither_log_nor_head_file_and_a_store_that_cannot_be_read_is_no_new_journal() {
    let Stopped { disk, store, .. } = stopped(20);
    disk.remove("log").unwrap();
    disk.remove("head").unwrap();
    store.panic_on_open();
    assert_eq!(kinds(&refused(&disk, &store)), [ProblemKind::FileMissing]);
}

#[test]
fn a_journal_whose_making_was_cut_short_in_its_store_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    journal.close().unwrap();
    for damaged in ["conf", "db"] {
        // As after a fault in the first writes of sled: there is FORMAT, a log without blocks, and a piece of sled.
        let half_made = tempfile::tempdir().unwrap();
        let disk = bailiwick_journal::disk::OsDisk::new(half_made.path());
        let copied = std::fs::read(dir.path().join("FORMAT")).unwrap();
        std::fs::write(half_made.path().join("FORMAT"), copied).unwrap();
        disk.create(&segment(1)).unwrap();
        std::fs::create_dir(half_made.path().join("sled")).unwrap();
        std::fs::write(half_made.path().join("sled").join(damaged), [0x11; 9]).unwrap();
        let (journal, report) = LocalJournal::open(config(half_made.path())).unwrap();
        assert!(report.head.block == 0, "{report}");
        write(&journal, 3);
        journal.close().unwrap();
        assert!(LocalJournal::open(config(half_made.path())).unwrap().1.clean);
    }
}

#[test]
fn the_log_is_there_before_the_store_is_touched() {
    let Stopped { disk, .. } = stopped(0);
    let half_made = SimulatedDisk::new();
    half_made.create("FORMAT").unwrap();
    half_made.damage("FORMAT", |bytes| *bytes = disk.contents()["FORMAT"].clone());
    let broken = MemoryStore::new();
    broken.panic_on_open();
    let (_, report) = open(&half_made, &broken).unwrap();
    assert_eq!((report.created, report.head.block), (false, 0));
    assert!(report.store_rebuilt.is_some());
}

#[test]
fn a_second_opening_is_refused_with_the_holders_process() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    let this = std::process::id().to_string();
    let second = LocalJournal::open(config(dir.path())).err().unwrap();
    assert!(matches!(&second, OpenError::InUse { holder, .. } if *holder == this), "{second}");
    let reader = ReadOnlyJournal::open(dir.path()).err().unwrap();
    assert!(matches!(&reader, OpenError::InUse { holder, .. } if *holder == this), "{reader}");
    journal.close().unwrap();
    let reader = ReadOnlyJournal::open(dir.path()).unwrap();
    assert_eq!(reader.head(), journal.head());
    assert!(matches!(LocalJournal::open(config(dir.path())), Err(OpenError::InUse { .. })), "readers hold it too");
}

#[test]
fn reading_a_stopped_journal_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 50);
    journal.close().unwrap();
    let before = listing(dir.path());
    let reader = ReadOnlyJournal::open(dir.path()).unwrap();
    assert_eq!(all(&reader), all(&journal));
    assert_eq!(append_blocking(&reader, vec![draft("m/0", 0, 9_999, &[1])]).unwrap_err(), AppendError::Closed);
    drop(reader);
    let report = check(dir.path()).unwrap();
    assert!(report.is_whole() && report.clean && report.mendable.is_empty(), "{report}");
    export(dir.path(), &mut Vec::new()).unwrap();
    let stat = bailiwick_journal::stat(dir.path()).unwrap();
    assert_eq!((stat.total.entries, stat.by_kind["machine"].entries), (51, 50));
    assert_eq!(listing(dir.path()), before);
}

fn listing(dir: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(listing(&path));
        } else {
            let changed = path.metadata().unwrap().modified().unwrap();
            found.push((path.clone(), std::fs::read(&path).unwrap(), changed));
        }
    }
    found.sort();
    found
}

#[test]
fn an_idle_journal_writes_nothing() {
    let disk = SimulatedDisk::new();
    let counting = FaultyDisk::new(Arc::new(disk), 0, bailiwick_journal::disk::Fault::Error);
    let store = MemoryStore::durable();
    let (journal, _) = LocalJournal::open_with(Arc::new(counting.clone()), &store, ID, 0, inline()).unwrap();
    write(&journal, 5);
    let operations = counting.operations();
    assert!(append_blocking(&journal, vec![draft("machine/0", 99, 9_999, &[1])]).is_err());
    assert_eq!(all(&journal).len(), 6);
    journal.stats();
    assert_eq!(counting.operations(), operations, "reads and refusals write nothing");
}

#[test]
fn command_ids_are_remembered_after_a_restart() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let id = Uuid::from_u128(77);
    let (journal, _) = open(&disk, &store).unwrap();
    let first = append_blocking(&journal, vec![draft_with_id("machine/0", 0, 50, &[1], id)]).unwrap();
    drop(journal);
    let (journal, _) = open(&disk, &store).unwrap();
    let again = append_blocking(&journal, vec![draft_with_id("machine/0", 1, 60, &[1], id)]).unwrap_err();
    let position = first.entries[0].header.position;
    assert_eq!(again, AppendError::Repeated { command_id: id, position, same_content: true });
}

#[test]
fn a_nearly_full_disk_takes_reports_only_and_recovers() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    let total = 1 << 30;
    disk.set_space(Space { free: total / 20 - 1, total });
    let mut version = 0;
    let refused = loop {
        match append_blocking(&journal, vec![draft("machine/0", version, 10, &[1])]) {
            Ok(_) => version += 1,
            Err(error) => break error,
        }
        assert!(version < 100, "it is noticed soon");
    };
    assert_eq!(refused, AppendError::NearlyFull { free_mib: 51, floor_mib: 51 });
    let (send, answers) = std::sync::mpsc::channel();
    let report = vec![draft("machine/0", version, 10, &[1])];
    journal.append(report, bailiwick_journal::Intake::Report, Box::new(move |answer| send.send(answer).unwrap()));
    assert!(answers.recv().unwrap().is_ok());
    disk.set_space(Space { free: total / 2, total });
    append_blocking(&journal, vec![draft("machine/0", version + 1, 10, &[1])]).unwrap();
}

#[test]
fn a_nearly_full_disk_keeps_its_room_for_reports_and_the_store_waits() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 5);
    let total = 1 << 30;
    disk.set_space(Space { free: total / 20 - 1, total });
    let (send, answers) = std::sync::mpsc::channel();
    let report = vec![draft("machine/9", 0, 9_999, &[1])];
    journal.append(report, bailiwick_journal::Intake::Report, Box::new(move |answer| send.send(answer).unwrap()));
    assert!(answers.recv().unwrap().is_ok());
    assert_eq!(journal.stats().store_behind, 1);
    assert_eq!((all(&journal).len(), journal.stats().store_misses), (7, 0));
    disk.set_space(Space { free: total / 2, total });
    append_blocking(&journal, vec![draft("machine/9", 1, 9_999, &[1])]).unwrap();
    assert_eq!((journal.stats().store_behind, journal.stats().degraded), (0, None));
}

#[test]
fn sled_is_rebuilt_when_its_folder_is_gone_or_nonsense() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 100);
    journal.close().unwrap();
    let mut entries = all(&journal);
    for nonsense in [false, true] {
        let sled = dir.path().join("sled");
        std::fs::remove_dir_all(&sled).unwrap();
        if nonsense {
            std::fs::create_dir(&sled).unwrap();
            std::fs::write(sled.join("db"), [0x5A; 70_000]).unwrap();
        }
        let (journal, report) = LocalJournal::open(config(dir.path())).unwrap();
        assert!(report.store_rebuilt.is_some(), "{report}");
        assert_holds(&journal, &entries);
        journal.close().unwrap();
        entries = all(&journal);
    }
    let (_, report) = LocalJournal::open(config(dir.path())).unwrap();
    assert!(report.clean, "{report}");
}

/// A store that changes when it is opened, as sled does: it counts, and can be copied.
#[derive(Clone, Debug, Default)]
struct Changing {
    blocks: MemoryStore,
    opened: Arc<AtomicU64>,
    copied: Arc<AtomicU64>,
}

impl Changing {
    fn holding(blocks: &MemoryStore) -> Self {
        Self { blocks: blocks.copy(), ..Self::default() }
    }

    fn counts(&self) -> (u64, u64) {
        (self.opened.load(Ordering::Relaxed), self.copied.load(Ordering::Relaxed))
    }
}

impl Store for Changing {
    fn open(&self) -> Result<Box<dyn Blocks>, StoreError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.blocks.open()
    }
    fn wipe(&self) -> Result<(), StoreError> {
        self.blocks.wipe()
    }
    fn exists(&self) -> bool {
        self.blocks.exists()
    }
    fn copy_aside(&self) -> Result<Option<Box<dyn Store>>, StoreError> {
        self.copied.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(self.blocks.copy())))
    }
}

#[test]
fn a_copy_of_the_store_is_looked_into_where_log_or_head_file_are_in_doubt() {
    let foreign = SimulatedDisk::new();
    let made = LocalJournal::open_with(Arc::new(foreign.clone()), &MemoryStore::new(), Uuid::from_u128(5), 0, inline());
    write(&made.unwrap().0, 60);
    let behind_the_end = |disk: &SimulatedDisk| {
        let name = segment(segments(disk).len() as u32 + 1);
        disk.create(&name).unwrap();
        disk.damage(&name, |bytes| *bytes = foreign.contents()[&segment(2)].clone());
    };
    let torn = |disk: &SimulatedDisk| {
        let last = segments(disk).pop().unwrap();
        disk.damage(&last, |bytes| {
            let last = *frames(bytes).last().unwrap();
            let end = last + 128 + u32::from_le_bytes(bytes[last + 8..last + 12].try_into().unwrap()) as usize;
            bytes[end..end + 9].fill(0xAB);
        });
    };
    type Damage<'a> = &'a dyn Fn(&SimulatedDisk);
    let cases: [(&str, Damage<'_>, u64); 7] = [
        ("nothing", &|_| (), 0),
        ("a torn write", &torn, 0),
        ("damage inside", &|disk| disk.damage(&segment(1), |bytes| bytes[400] ^= 4), 1),
        ("the last segment missing", &|disk| disk.remove(segments(disk).last().unwrap()).unwrap(), 1),
        ("no head file", &|disk| disk.remove("head").unwrap(), 1),
        ("a damaged head file", &|disk| disk.damage("head", |bytes| bytes.fill(7)), 1),
        ("a foreign segment", &behind_the_end, 1),
    ];
    for (what, damage, copies) in cases {
        let Stopped { disk, store, entries, .. } = stopped(60);
        damage(&disk);
        let store = Changing::holding(&store);
        reopened(&disk, &store, &entries);
        assert_eq!(store.counts(), (1, copies), "{what}");
    }
}

#[test]
fn a_refusal_does_not_open_the_store() {
    let Stopped { disk, store, .. } = stopped(60);
    disk.damage(&segment(1), |bytes| bytes[400] ^= 4);
    store.damage(|blocks| blocks.clear());
    store.damage(|blocks| drop(blocks.insert(1, vec![1])));
    let store = Changing::holding(&store);
    refused(&disk, &store);
    assert_eq!(store.counts(), (0, 1));
}

#[test]
fn a_refusal_leaves_sled_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    write(&journal, 200);
    drop(journal);
    // sled is behind after such an end, and what it does not have is cut from the log.
    std::fs::write(dir.path().join(segment(1)), b"").unwrap();
    std::fs::remove_dir_all(dir.path().join("sled")).unwrap();
    std::fs::create_dir(dir.path().join("sled")).unwrap();
    std::fs::write(dir.path().join("sled/db"), [0x5A; 70_000]).unwrap();
    let content = || -> Vec<_> {
        let files = listing(dir.path()).into_iter().filter(|file| !file.0.ends_with("lock"));
        files.map(|(path, bytes, _)| (path, bytes)).collect()
    };
    let before = content();
    let refused = LocalJournal::open(config(dir.path())).err().unwrap();
    assert!(matches!(refused, OpenError::Integrity { .. }), "{refused}");
    assert_eq!(content(), before);
}

#[test]
fn sled_makes_no_blob_files() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(dir.path())).unwrap();
    let mut version = 0;
    for round in 0..40 {
        let mut large = draft("machine/0", version, 10 + round, &[1; 200]);
        large.facts.bytes = vec![round as u8; 60_000];
        let more = draft("machine/1", round, 10 + round, &[round]);
        append_blocking(&journal, vec![large, more]).unwrap();
        version += 200;
    }
    journal.close().unwrap();
    let blobs = dir.path().join("sled/blobs");
    let count = std::fs::read_dir(&blobs).map_or(0, Iterator::count);
    assert_eq!(count, 0, "sled does not sync blob files");
    let (_, report) = LocalJournal::open(config(dir.path())).unwrap();
    assert!(report.clean, "{report}");
}

#[test]
fn export_and_import_keep_every_hash() {
    let from = tempfile::tempdir().unwrap();
    let (journal, _) = LocalJournal::open(config(from.path())).unwrap();
    write(&journal, 200);
    journal.close().unwrap();
    let mut lines = Vec::new();
    let exported = export(from.path(), &mut lines).unwrap();
    let to = tempfile::tempdir().unwrap();
    let target = to.path().join("copy");
    assert_eq!(import(&mut lines.as_slice(), &target).unwrap(), exported);
    let mut again = Vec::new();
    export(&target, &mut again).unwrap();
    assert_eq!(again, lines);
    let (copy, _) = LocalJournal::open(Config { id: None, ..config(&target) }).unwrap();
    assert_eq!(copy.id(), ID);
    assert_holds(&copy, &all(&journal));
    assert!(import(&mut lines.as_slice(), &target).is_err(), "a folder that is not empty is refused");
}

#[test]
fn hostile_exports_are_refused_with_their_line() {
    let Stopped { disk, .. } = stopped(10);
    let journal = ReadOnlyJournal::open_on(Arc::new(disk)).unwrap();
    let mut lines = Vec::new();
    journal.export(&mut lines).unwrap();
    let text = String::from_utf8(lines).unwrap();
    let attempt = |text: &str| {
        let disk = SimulatedDisk::new();
        let result = bailiwick_journal::import_on(&mut text.as_bytes(), Arc::new(disk.clone()));
        assert!(result.is_ok() || !disk.contents().contains_key("FORMAT"), "a failed import leaves no journal");
        result.map_err(|error| error.to_string())
    };
    attempt(&text).unwrap();
    let all_lines: Vec<&str> = text.lines().collect();
    for (number, line) in all_lines.iter().enumerate() {
        let mut without = all_lines.clone();
        without.remove(number);
        assert!(attempt(&without.join("\n")).is_err(), "without line {}", number + 1);
        for (from, to) in [("1", "2"), ("tested", "tasted"), ("\"", ""), ("{", "[")] {
            if line.contains(from) {
                let mut changed: Vec<String> = all_lines.iter().map(|line| (*line).to_owned()).collect();
                changed[number] = line.replacen(from, to, 1);
                assert!(attempt(&changed.join("\n")).is_err(), "line {} with {from:?} as {to:?}", number + 1);
            }
        }
    }
    assert!(attempt(&format!("{text}x\n")).is_err());
    assert!(attempt("").unwrap_err().starts_with("line 1:"));
}

#[test]
fn check_names_what_it_finds_and_changes_nothing() {
    let Stopped { disk, .. } = stopped(60);
    let whole = check_on(Arc::new(disk.clone())).unwrap();
    assert!(whole.is_whole() && whole.clean);
    disk.damage(&segment(2), |bytes| bytes[600] ^= 1);
    let before = disk.contents();
    let report = check_on(Arc::new(disk.clone())).unwrap();
    assert_eq!(report.integrity.problems.last().map(|problem| problem.file.clone()), Some(segment(2)));
    assert!(report.to_string().contains(&segment(2)));
    assert!(disk.contents() == before);
}
