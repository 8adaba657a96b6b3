//! Crashes, power cuts and failing disks, at every operation and every crash point, on the simulated disk.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
};

use bailiwick_journal::{
    AppendError, Entry, Journal, LocalJournal, OpenError, Settings, append_blocking,
    blocks::MemoryStore,
    crash,
    disk::{Disk, Fault, FaultyDisk, SimulatedDisk},
    testing::{all, draft},
};

use crate::tools::{ID, inline, open, write};

type Acknowledged = Vec<Arc<Entry>>;

/// Appends until the journal refuses, and notes what was acknowledged.
fn work(journal: &LocalJournal, rounds: u64, acknowledged: &mut Acknowledged) -> Result<(), AppendError> {
    for number in 0..rounds {
        let (one, two) = (format!("machine/{}", number % 3), format!("volume/{number}"));
        let expected = journal.version(&one.parse().unwrap()).0;
        let time_ms = journal.head().time_ms.max(1_000);
        let drafts = vec![draft(&one, expected, time_ms, &[number]), draft(&two, 0, time_ms, &[number; 20])];
        match append_blocking(journal, drafts) {
            Ok(appended) => acknowledged.extend_from_slice(appended.entries()),
            // Nothing was written, and it may be tried again.
            Err(AppendError::NearlyFull(_)) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens what a crash left and demands every acknowledged entry at its place, whatever stands behind them.
fn assert_found(disk: &SimulatedDisk, acknowledged: &[Arc<Entry>], context: &str) {
    let (journal, report) = match open(disk, &MemoryStore::new()) {
        Ok(opened) => opened,
        Err(error) => panic!("{context}: {error}"),
    };
    let found = all(&journal);
    for entry in acknowledged {
        let at = entry.header.position.0 as usize - 1;
        assert_eq!(found.get(at), Some(entry), "{context}: {report}");
    }
    write(&journal, 2);
}

#[test]
fn every_operation_may_fail_and_nothing_acknowledged_is_lost() {
    for fault in [Fault::Error, Fault::ShortWrite, Fault::Full] {
        let mut fail_at = 0;
        loop {
            fail_at += 1;
            let inner = SimulatedDisk::new();
            let faulty = FaultyDisk::new(Arc::new(inner.clone()), fail_at, fault);
            let mut acknowledged = Vec::new();
            let context = format!("{fault:?} at operation {fail_at}");
            let opened = LocalJournal::open_with(Arc::new(faulty.clone()), &MemoryStore::durable(), ID, 0, inline());
            if let Ok((journal, _)) = opened {
                let outcome = work(&journal, 12, &mut acknowledged);
                if let Err(error) = outcome {
                    assert!(matches!(error, AppendError::Unknown { .. }), "{context}: {error}");
                    let later = append_blocking(&journal, vec![draft("late/0", 0, 9_999, &[1])]);
                    assert!(matches!(later, Err(AppendError::Unknown { .. })), "{context}: a poisoned log stays so");
                    assert!(journal.close().is_err(), "{context}: no clean mark after a failure");
                }
                for entry in &acknowledged {
                    assert!(all(&journal).contains(entry), "{context}: what was acknowledged is still read");
                }
            }
            assert_found(&inner.after_kill(), &acknowledged, &context);
            assert_found(&inner.after_power_cut(fail_at), &acknowledged, &format!("{context}, power cut"));
            if faulty.operations() < fail_at {
                break;
            }
        }
        assert!(fail_at > 40, "there are many operations: {fail_at}");
    }
}

#[test]
fn every_operation_of_a_reopening_may_fail() {
    let mut fail_at = 0;
    loop {
        fail_at += 1;
        let (disk, store) = (SimulatedDisk::new(), MemoryStore::durable());
        let (journal, _) = open(&disk, &store).unwrap();
        write(&journal, 40);
        let acknowledged = all(&journal);
        drop(journal);
        disk.damage("log/0000000002.log", |bytes| bytes[900] ^= 1);
        let faulty = FaultyDisk::new(Arc::new(disk.clone()), fail_at, Fault::Error);
        let result = LocalJournal::open_with(Arc::new(faulty.clone()), &store, ID, 0, inline()).map(drop);
        assert!(result.is_ok() || matches!(result, Err(OpenError::Io { .. })), "{result:?}");
        for (disk, how) in [(disk.after_kill(), "kill"), (disk.after_power_cut(fail_at), "power cut")] {
            let (journal, _) = open(&disk, &store.copy()).unwrap_or_else(|error| panic!("{fail_at} {how}: {error}"));
            assert_eq!(&all(&journal)[..acknowledged.len()], &acknowledged[..], "operation {fail_at}, {how}");
        }
        if faulty.operations() < fail_at {
            break;
        }
    }
}

#[test]
fn every_crash_point_loses_nothing_acknowledged() {
    let disk = SimulatedDisk::new();
    let store = MemoryStore::durable();
    let acknowledged = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let hook = {
        let (disk, store, acknowledged, seen) = (disk.clone(), store.clone(), acknowledged.clone(), seen.clone());
        move |name: &'static str| {
            let number = seen.borrow().len() as u64;
            let left = [(disk.after_kill(), Some(store.copy())), (disk.after_power_cut(number), None)];
            seen.borrow_mut().push((name, left, Vec::clone(&acknowledged.borrow())));
        }
    };
    crash::with_hook(hook, || {
        for _ in 0..2 {
            let (journal, _) = open(&disk, &store).unwrap();
            for _ in 0..15 {
                let mut now = Vec::new();
                let time_ms = journal.head().time_ms.max(1_000);
                let expected = journal.version(&"machine/0".parse().unwrap()).0;
                let drafts = vec![draft("machine/0", expected, time_ms, &[1; 40])];
                now.extend_from_slice(append_blocking(&journal, drafts).unwrap().entries());
                acknowledged.borrow_mut().extend(now);
            }
            journal.close().unwrap();
        }
    });
    let seen = seen.borrow();
    let names: std::collections::BTreeSet<&str> = seen.iter().map(|(name, ..)| *name).collect();
    for name in [
        "before-append",
        "after-log-write",
        "after-sync",
        "after-acknowledge",
        "before-store",
        "before-checkpoint",
        "after-new-segment",
        "before-close",
        "after-close",
        "after-format",
        "after-head-begun",
    ] {
        assert!(names.contains(name), "{name} was reached: {names:?}");
    }
    for (number, (name, left, acknowledged)) in seen.iter().enumerate() {
        let context = format!("point {number}, {name}");
        let [(killed, store), (cut, _)] = left;
        let (journal, _) = open(killed, store.as_ref().unwrap()).unwrap_or_else(|error| panic!("{context}: {error}"));
        let found = all(&journal);
        for entry in acknowledged {
            assert_eq!(found.get(entry.header.position.0 as usize - 1), Some(entry), "{context}");
        }
        assert_found(cut, acknowledged, &format!("{context}, power cut"));
    }
    assert!(crash::count() > 0);
}

#[test]
fn power_cuts_lose_nothing_acknowledged() {
    for seed in 0..200 {
        let mut disk = SimulatedDisk::new();
        let mut acknowledged = Vec::new();
        for round in 0..3 {
            // Dies in the middle of a write, a sync or a rename, then the power goes.
            let fail_at = 20 + (seed * 7 + round * 13) % 60;
            let faulty = FaultyDisk::new(Arc::new(disk.clone()), fail_at, Fault::ShortWrite);
            let settings = Settings { segment_bytes: 4096 + seed * 64, ..inline() };
            let opened = LocalJournal::open_with(Arc::new(faulty), &MemoryStore::new(), ID, 0, settings);
            if let Ok((journal, _)) = opened {
                let mut now = Vec::new();
                let numbered = work_anywhere(&journal, &mut now);
                assert!(numbered.is_ok() || matches!(numbered, Err(AppendError::Unknown { .. })));
                acknowledged.extend(now);
            }
            disk = disk.after_power_cut(seed * 31 + round);
            assert_found(&disk, &acknowledged, &format!("seed {seed}, round {round}"));
            disk = disk.after_kill();
        }
    }
}

fn work_anywhere(journal: &LocalJournal, acknowledged: &mut Acknowledged) -> Result<(), AppendError> {
    for number in 0..25u64 {
        let stream = format!("machine/{}", number % 3);
        let expected = journal.version(&stream.parse().unwrap()).0;
        let time_ms = journal.head().time_ms.max(1_000);
        let events = vec![number; (number * 17 % 90) as usize];
        let appended = append_blocking(journal, vec![draft(&stream, expected, time_ms, &events)])?;
        acknowledged.extend_from_slice(appended.entries());
    }
    Ok(())
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_or_refused_never_misread() {
    let (disk, store) = (SimulatedDisk::new(), MemoryStore::new());
    let (journal, _) = open(&disk, &store).unwrap();
    write(&journal, 5);
    let before = journal.head();
    let earlier = disk.after_kill();
    write(&journal, 1);
    let entries = all(&journal);
    let name = "log/0000000001.log";
    let (old, new) = (earlier.contents()[name].clone(), disk.contents()[name].clone());
    let changed: Vec<usize> = (0..old.len()).filter(|at| old[*at] != new[*at]).collect();
    let (first, last) = (changed[0], changed[changed.len() - 1]);
    for cut in first..=last {
        // The head file still names the block before, as after a crash inside the write.
        let torn = earlier.after_kill();
        torn.damage(name, |bytes| bytes[first..cut].copy_from_slice(&new[first..cut]));
        let opened = catch_unwind(AssertUnwindSafe(|| open(&torn, &MemoryStore::new())));
        let (journal, report) = opened.expect("no panic reaches the caller").unwrap();
        assert_eq!(report.head, before);
        assert_eq!(report.torn_cut.is_some(), cut > first);
        assert_eq!(all(&journal)[..entries.len() - 1], entries[..entries.len() - 1]);
    }
    assert_eq!(disk.list("log").unwrap().len(), 1);
}
