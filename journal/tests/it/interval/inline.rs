//! Index checkpoints of a journal without threads of its own.

use bailiwick_journal::{append_blocking, testing::draft};

use super::*;

#[test]
fn without_threads_it_is_made_gone_by_and_read_behind_by_whoever_appends() {
    let settings = || Settings { threads: Threads::Inline, ..settings() };
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, settings()).unwrap();
    write(&journal, 200);
    let entries = all(&journal);
    let known = known(&disk);
    assert!(known > 3, "{known} segments");
    let (disk, store) = (disk.after_kill(), store.copy());
    // given a bit that rots where it is gone by
    disk.rot(&segment(known), |bytes| bytes[600] ^= 4);
    let (journal, report) = open_with(&disk, &store, settings()).unwrap();
    assert!(report.by_checkpoint && !report.repaired(), "{report}");
    assert_holds(&journal, &entries);
    // when only some appends came by, then not all was read, and nothing else goes by the checkpoint
    write(&journal, 2);
    assert_eq!(journal.stats().verification, VerificationProgress::Reading);
    assert!(disk.contents().contains_key(TAKEN_UP) && !disk.contents().contains_key(FILE));
    // when enough came by, then all was, and the bit is repaired
    write(&journal, u64::from(known) + 2);
    assert_eq!(journal.stats().verification, VerificationProgress::Done);
    assert!(is_repaired(&journal) && disk.contents().contains_key(FILE));
    journal.close().unwrap();
    assert!(check_on(Arc::new(disk.clone())).unwrap().is_whole());
    // and a stop in order reads what is left
    let (journal, report) = open_with(&disk, &store, settings()).unwrap();
    assert!(report.by_checkpoint && report.clean, "{report}");
    journal.close().unwrap();
    let (_, report) = open_with(&disk, &store, settings()).unwrap();
    assert!(report.by_checkpoint && report.clean, "{report}");
}

#[test]
fn no_other_is_made_before_everything_was_read() {
    let settings = || Settings { threads: Threads::Inline, ..settings() };
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
    let (journal, _) = open_with(&disk, &store, settings()).unwrap();
    write(&journal, 300);
    let known = u64::from(known(&disk));
    assert!(known > 6, "{known} segments");
    drop(journal);
    let (journal, report) = open_with(&disk, &store, settings()).unwrap();
    assert!(report.by_checkpoint, "{report}");
    // when each append fills a segment, and reads one of those before
    for number in 0..known / 2 {
        let mut large = draft("machine/large", 0, journal.head().time_ms + number, &[]);
        large.facts.bytes = vec![7; 9_000];
        append_blocking(&journal, vec![large]).unwrap();
        assert_eq!(journal.stats().verification, VerificationProgress::Reading);
        // then there is more than a quarter to tell, and it is not told yet
        assert!(!disk.contents().contains_key(FILE), "after {number} segments");
    }
    assert_eq!(journal.wait_for_verification(), VerificationProgress::Done);
    write(&journal, 60);
    assert!(u64::from(super::known(&disk)) > known + known / 2 - 2, "then it is");
}
