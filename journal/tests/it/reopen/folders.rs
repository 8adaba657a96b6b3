//! Whose folder it is, who else has it open, and how much room it has.

use std::sync::Arc;

use bailiwick_journal::{
    AppendError, Journal, LocalJournal, OpenError, ProblemKind, ReadOnlyJournal, Room, append_blocking,
    blocks::MemoryStore,
    check, check_on,
    disk::{Disk, FaultyDisk, SimulatedDisk, Space},
    export,
    testing::{all, draft, draft_with_id},
};
use uuid::Uuid;

use crate::tools::{ID, Stopped, assert_holds, config, inline, open, reopened, segment, stopped, write};

use super::{kinds, refused};

#[test]
fn hostile_folders_are_refused_by_name() {
    let foreign = SimulatedDisk::new();
    foreign.create("holiday.jpg").unwrap();
    let error = open(&foreign, &MemoryStore::new()).err().unwrap();
    assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("holiday.jpg")), "{error}");
    assert_eq!(foreign.contents().len(), 1, "nothing is written into it");

    let Stopped { disk, store, .. } = stopped(3);
    let format = disk.contents()["FORMAT"].clone();
    let newer = String::from_utf8(format.clone()).unwrap().replace("format 2", "format 9");
    disk.damage("FORMAT", |bytes| *bytes = newer.into_bytes());
    let error = open(&disk, &store).err().unwrap();
    assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("format 9")), "{error}");
}

#[test]
fn a_format_file_that_is_missing_or_damaged_is_written_anew_where_head_and_log_agree() {
    let Stopped { disk, store, entries, .. } = stopped(3);
    let format = disk.contents()["FORMAT"].clone();
    for at in 0..=format.len() {
        let disk = disk.after_kill();
        if at == format.len() {
            disk.remove("FORMAT").unwrap();
        } else {
            disk.damage("FORMAT", |bytes| bytes[at] ^= 1);
        }
        let again = |disk: &SimulatedDisk| ReadOnlyJournal::open_on(Arc::new(disk.clone()));
        if format[..at].ends_with(b"format ") {
            // Another version's number: nobody may write over that.
            assert!(matches!(open(&disk, &store), Err(OpenError::Foreign { .. })));
            continue;
        }
        assert_holds(&again(&disk).unwrap(), &entries);
        let found = check_on(Arc::new(disk.clone())).unwrap();
        assert!(found.is_whole() && found.mendable.iter().any(|problem| problem.kind == ProblemKind::FormatDamaged));
        let (_, report) = reopened(&disk, &MemoryStore::durable(), &entries);
        assert!(report.format_rewritten && report.repaired(), "byte {at}: {report}");
        assert_eq!(disk.contents()["FORMAT"], format);
    }
}

#[test]
fn a_format_file_that_only_one_can_speak_for_is_not_guessed() {
    for other in ["head", "log"] {
        let Stopped { disk, store, .. } = stopped(3);
        disk.remove("FORMAT").unwrap();
        disk.remove(other).unwrap();
        let error = open(&disk, &store).err().unwrap();
        assert!(matches!(&error, OpenError::Foreign { problem, .. } if problem.contains("FORMAT")), "{error}");
    }
}

#[test]
fn neither_log_nor_head_file_and_a_store_that_cannot_be_read_is_no_new_journal() {
    let Stopped { disk, store, .. } = stopped(20);
    disk.remove("log").unwrap();
    disk.remove("head").unwrap();
    store.panic_on_open();
    assert_eq!(kinds(&refused(&disk, &store)), [ProblemKind::FileMissing, ProblemKind::LogCut]);
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
    assert!(matches!(LocalJournal::open(config(dir.path())), Err(OpenError::BeingRead { .. })), "readers hold it too");
    drop(reader);
    LocalJournal::open(config(dir.path())).unwrap();
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

pub(super) fn listing(dir: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>, std::time::SystemTime)> {
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
    let position = first.entries()[0].header.position;
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
    let room = Room { free_bytes: total / 20 - 1, reserved_bytes: total / 20 };
    assert_eq!((refused, journal.room()), (AppendError::NearlyFull(room), Some(room)));
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
