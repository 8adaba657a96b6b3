//! The log is damaged or gone; the block store has what is missing.

use bailiwick_journal::{OpenError, blocks::MemoryStore, disk::Disk};

use crate::tools::{Stopped, open, reopened, segment, segments, stopped};

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
