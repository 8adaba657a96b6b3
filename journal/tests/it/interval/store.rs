//! What the store is found to have, behind an opening after a crash.

use std::collections::BTreeMap;

use super::*;

#[test]
fn a_store_that_is_not_what_it_said_is_built_anew_behind_the_opening() {
    let Running { disk, store, entries, journal } = running();
    drop(journal);
    let tip = entries.len() as u64;
    let lose = |blocks: &mut BTreeMap<u64, Vec<u8>>, from: u64| blocks.retain(|number, _| *number < from);
    type Change<'c> = Box<dyn Fn(&MemoryStore) + 'c>;
    let changes: [(&str, Change<'_>); 5] = [
        ("gone", Box::new(|store| store.damage(BTreeMap::clear))),
        ("of yesterday", Box::new(|store| store.damage(|blocks| lose(blocks, 30)))),
        ("damaged in the middle", Box::new(|store| store.rot(|blocks| blocks.get_mut(&17).unwrap()[200] ^= 1))),
        ("damaged at the end", Box::new(|store| store.rot(|blocks| blocks.get_mut(&(tip - 1)).unwrap()[200] ^= 1))),
        ("panicking", Box::new(MemoryStore::panic_on_open)),
    ];
    for (how, change) in changes {
        let (disk, store) = (disk.after_kill(), store.copy());
        change(&store);
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.by_checkpoint, "{how}: {report}");
        assert_holds(&journal, &entries);
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done, "{how}");
        // and what is appended then finds its way into it
        write(&journal, 3);
        until("the store follows", || journal.stats().store_behind == 0);
        journal.close().unwrap();
        assert_holds(&journal, &entries);
        let (_, report) = open(&disk, &store).unwrap();
        assert!(report.clean && report.store_rebuilt.is_none(), "{how}: {report}");
    }
}

#[test]
fn what_the_store_has_beyond_its_mark_is_kept_and_what_it_lacks_is_put() {
    let Running { disk, store, journal, .. } = running_with(Settings { checkpoint_bytes: 1 << 20, ..settings() });
    write(&journal, 4);
    until("they are stored", || journal.stats().store_behind == 0);
    let entries = all(&journal);
    drop(journal);
    for lost in 0..4 {
        let (disk, store) = (disk.after_kill(), store.copy());
        store.damage(|blocks| blocks.retain(|number, _| *number + lost <= entries.len() as u64));
        let (journal, report) = open(&disk, &store).unwrap();
        assert!(report.by_checkpoint, "{report}");
        assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
        until("the store follows", || journal.stats().store_behind == 0);
        assert!(!is_repaired(&journal), "{lost} blocks that were never durable");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn a_store_that_knows_more_than_log_and_head_file_fails_the_journal() {
    let Running { disk, store, journal, .. } = running();
    // given a log and a head file that have both lost the last entries, which the store has
    let before = disk.after_kill();
    write(&journal, 3);
    until("they are stored", || journal.stats().store_behind == 0);
    drop(journal);
    let (journal, report) = open(&before, &store).unwrap();
    assert!(report.by_checkpoint, "{report}");
    journal.wait_for_verification();
    until("it is noticed", || journal.stats().failed.is_some());
    assert!(journal.close().is_err());
    drop(journal);
    // then nothing goes by the checkpoint any more, and what is lost is not passed over
    assert!(!before.contents().contains_key(FILE) && !before.contents().contains_key(TAKEN_UP));
    assert!(matches!(open(&before, &store), Err(OpenError::Integrity { .. })));
}

#[test]
fn without_threads_a_store_that_is_not_what_it_said_is_built_anew_at_once() {
    let settings = || Settings { threads: Threads::Inline, ..settings() };
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, settings()).unwrap();
    write(&journal, 200);
    let entries = all(&journal);
    let (disk, store) = (disk.after_kill(), store.copy());
    store.damage(|blocks| blocks.retain(|number, _| *number < 30));
    let (journal, report) = open_with(&disk, &store, settings()).unwrap();
    assert!(report.by_checkpoint, "{report}");
    assert_eq!(journal.stats().store_behind, 0);
    assert_holds(&journal, &entries);
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    assert!(is_repaired(&journal), "it is noted");
}
