//! The block store is behind, damaged or gone; the log is whole.

use bailiwick_journal::{Journal, JournalNote, WriterOpened, blocks::MemoryStore, disk::SimulatedDisk, testing::all};

use crate::tools::{Stopped, frames, open, reopened, segment, stopped, without_checkpoint, write};

#[test]
fn equal_after_a_clean_stop_goes() {
    let Stopped { disk, store, entries, .. } = stopped(60);
    let (journal, report) = reopened(&disk, &store, &entries);
    assert!(report.clean && !report.created && !report.repaired());
    assert_eq!((report.epoch, report.caught_up_blocks), (2, 0));
    let note = journal.read_stream_back(&"node/journal".parse().unwrap()).next().unwrap().unwrap();
    assert!(matches!(
        JournalNote::decode(&note.events[0]),
        Ok(JournalNote::WriterOpened(WriterOpened { epoch: 2, clean: true, caught_up_blocks: 0, .. }))
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
    without_checkpoint(&disk);
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
fn store_with_a_block_in_the_place_of_another_or_with_more_than_a_block_is_rebuilt() {
    type Damage = fn(&mut std::collections::BTreeMap<u64, Vec<u8>>);
    let damages: [Damage; 2] =
        [|blocks| drop(blocks.insert(7, blocks[&8].clone())), |blocks| blocks.get_mut(&7).unwrap().push(0)];
    for damage in damages {
        let Stopped { disk, store, entries, .. } = stopped(60);
        store.damage(damage);
        let (_, report) = reopened(&disk, &store, &entries);
        assert_eq!(report.store_rebuilt.as_deref(), Some("block 7 is damaged"));
    }
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
    without_checkpoint(&disk);
    let (_, report) = reopened(&disk, &store, &entries);
    assert_eq!(report.store_rebuilt.as_deref(), Some("it panicked"));
}

#[test]
fn store_that_refuses_to_open_is_rebuilt() {
    for action in ["open", "survey"] {
        let Stopped { disk, store, entries, .. } = stopped(60);
        store.fail_next(action);
        without_checkpoint(&disk);
        let (_, report) = reopened(&disk, &store, &entries);
        assert!(report.store_rebuilt.is_some(), "{action}");
    }
}

#[test]
fn store_that_was_rebuilt_is_not_called_durable_before_it_says_so() {
    for fails in [false, true] {
        let Stopped { disk, store, entries, .. } = stopped(60);
        store.damage(|blocks| drop(blocks.remove(&7)));
        if fails {
            store.fail_next("checkpoint");
        }
        let (journal, report) = reopened(&disk, &store, &entries);
        assert!(report.store_rebuilt.is_some() && report.store_unavailable.is_none(), "{report}");
        drop(journal);
        // The head file says up to which block the store is durable.
        let head = disk.contents()["head"].clone();
        let number = |slot: usize, at: usize| u64::from_le_bytes(head[slot + at..slot + at + 8].try_into().unwrap());
        let newest = if number(0, 32) > number(4096, 32) { 0 } else { 4096 };
        assert_eq!(number(newest, 72), if fails { 0 } else { report.head.block });
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
    assert!(report.clean && !report.repaired());
    drop(journal);
    let (_, report) = open(&disk, &store).unwrap();
    assert_eq!(report.torn_cut, None, "it is cut once");
}
