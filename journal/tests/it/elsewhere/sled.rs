//! sled with the only copy of older history, in real folders.

use std::path::Path;

use bailiwick_journal::{
    Config, LocalJournal, LogKeep, OpenError, ReadOnlyJournal, check, export, salvage, stat, testing::all,
};

use crate::tools::{assert_holds, config, until, write};

use super::BEGINS;

fn keeping(dir: &Path) -> Config {
    let mut config = config(dir);
    config.settings.log_keep = LogKeep::Checkpoint;
    config
}

#[test]
fn sled_alone_has_the_older_history_and_every_command_reads_it() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("journal");
    let keep = || keeping(&dir);
    let mut entries = Vec::new();
    // given lives that end in order or not
    for in_order in [true, false, true] {
        let (journal, report) = LocalJournal::open(keep()).unwrap();
        assert!(!report.repaired() && report.store_unavailable.is_none(), "{report}");
        assert_holds(&journal, &entries);
        write(&journal, 900);
        journal.give_memory_back();
        assert_holds(&journal, &entries);
        entries = all(&journal);
        if in_order {
            journal.close().unwrap();
        }
    }
    assert!(std::fs::read_dir(dir.join("log")).unwrap().count() <= 2);
    // when a stopped one is looked at
    let journal = ReadOnlyJournal::open(&dir).unwrap();
    assert_holds(&journal, &entries);
    let read = all(&journal);
    drop(journal);
    let report = check(&dir).unwrap();
    assert!(report.is_whole(), "{report}");
    assert_eq!(stat(&dir).unwrap().total.entries, read.len() as u64);
    let mut lines = Vec::new();
    assert_eq!(export(&dir, &mut lines).unwrap().entries, read.len() as u64);
    let salvaged = salvage(&dir, &place.path().join("salvaged")).unwrap();
    assert_eq!((salvaged.entries, salvaged.lost.len()), (read.len() as u64, 0));
    // then nothing of that stays, and without sled it is said what is missing
    let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("sled.")), "{names:?}");
    std::fs::rename(dir.join("sled"), place.path().join("sled")).unwrap();
    assert!(matches!(check(&dir), Err(OpenError::OnlyInStore { .. })));
    assert!(matches!(LocalJournal::open(keep()), Err(OpenError::OnlyInStore { .. })));
    std::fs::rename(place.path().join("sled"), dir.join("sled")).unwrap();
    let (journal, report) = LocalJournal::open(keep()).unwrap();
    assert!(report.clean, "{report}");
    assert_holds(&journal, &entries);
}

#[test]
fn a_log_that_was_made_whole_from_sled_lets_go_of_it() {
    for in_order in [true, false] {
        // given a journal whose older history sled alone has
        let place = tempfile::tempdir().unwrap();
        let keep = || keeping(place.path());
        let (journal, _) = LocalJournal::open(keep()).unwrap();
        write(&journal, 900);
        let entries = all(&journal);
        until("older history has left the log", || place.path().join(BEGINS).exists());
        if in_order {
            journal.close().unwrap();
        }
        drop(journal);
        // when what is left of the log is damaged
        let last =
            std::fs::read_dir(place.path().join("log")).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
        let mut bytes = std::fs::read(&last).unwrap();
        bytes[300] ^= 1;
        std::fs::write(&last, bytes).unwrap();
        // then it is written anew, and sled is opened again as it was
        let (journal, report) = LocalJournal::open(keep()).unwrap();
        assert!(report.repaired() && report.log_filled_blocks > 0, "{report}");
        assert_eq!((&report.store_rebuilt, &report.store_unavailable), (&None, &None), "in order: {in_order}");
        assert_holds(&journal, &entries);
    }
}

/// A kill while a copy takes sled's place leaves the copy beside what is left of the old one, which is being removed.
#[test]
fn a_copy_of_sled_that_was_taking_its_place_is_what_is_read() {
    for left_of_the_old_one in [true, false] {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("journal");
        let keep = || keeping(&dir);
        let (journal, _) = LocalJournal::open(keep()).unwrap();
        write(&journal, 900);
        let entries = all(&journal);
        journal.close().unwrap();
        drop(journal);
        std::fs::rename(dir.join("sled"), dir.join("sled.new")).unwrap();
        if left_of_the_old_one {
            std::fs::create_dir(dir.join("sled")).unwrap();
        }
        assert_holds(&ReadOnlyJournal::open(&dir).unwrap(), &entries);
        let report = check(&dir).unwrap();
        assert!(report.is_whole(), "{report}");
        let salvaged = salvage(&dir, &place.path().join("salvaged")).unwrap();
        assert_eq!((salvaged.entries, salvaged.lost.len()), (entries.len() as u64, 0));
        let (journal, report) = LocalJournal::open(keep()).unwrap();
        assert!(!report.repaired() && !dir.join("sled.new").exists(), "{report}");
        assert_holds(&journal, &entries);
    }
}

#[test]
fn a_damaged_sled_that_alone_has_the_older_history_is_refused_and_left_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let made = place.path().join("journal");
    let (journal, _) = LocalJournal::open(keeping(&made)).unwrap();
    write(&journal, 900);
    let entries = all(&journal);
    journal.close().unwrap();
    drop(journal);
    let whole = std::fs::read(made.join("sled/db")).unwrap();
    for (number, at) in [whole.len() / 3, whole.len() / 2, whole.len() - 3_000].into_iter().enumerate() {
        // given a sled that was cut, or a bit of which was changed; a journal that opens with it has its own from then on
        let dir = place.path().join(number.to_string());
        copy(&made, &dir);
        let mut bytes = whole.clone();
        if number % 2 == 0 {
            bytes.truncate(at)
        } else {
            bytes[at] ^= 1
        }
        std::fs::write(dir.join("sled/db"), &bytes).unwrap();
        // when the journal is opened
        match LocalJournal::open(keeping(&dir)) {
            // then it has all of it, or it is refused, and sled is what it was
            Ok((journal, _)) => assert_holds(&journal, &entries),
            Err(OpenError::Integrity { .. } | OpenError::OnlyInStore { .. }) => {
                assert!(std::fs::read(dir.join("sled/db")).unwrap() == bytes, "cut or changed at {at}");
                let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
                assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("sled.")), "{names:?}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    let (journal, _) = LocalJournal::open(keeping(&made)).unwrap();
    assert_holds(&journal, &entries);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
