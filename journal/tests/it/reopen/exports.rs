//! Exports, imports and the check of a closed journal.

use std::sync::Arc;

use bailiwick_journal::{
    Config, Journal, LocalJournal, ReadOnlyJournal, check_on,
    disk::{Fault, FaultyDisk, SimulatedDisk},
    export, import, import_on,
    testing::all,
};

use crate::tools::{ID, Stopped, assert_holds, config, segment, stopped, write};

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
fn an_import_that_failed_anywhere_leaves_nothing_in_the_way_of_the_next() {
    // given a complete export
    let Stopped { disk, .. } = stopped(10);
    let mut lines = Vec::new();
    ReadOnlyJournal::open_on(Arc::new(disk)).unwrap().export(&mut lines).unwrap();
    for fail_at in 1.. {
        // when one operation of its import fails
        let disk = SimulatedDisk::new();
        let faulty = FaultyDisk::new(Arc::new(disk.clone()), fail_at, Fault::Full);
        let failed = import_on(&mut lines.as_slice(), Arc::new(faulty.clone())).is_err();
        // then the next attempt goes through
        if failed {
            let names: Vec<String> = disk.contents().into_keys().collect();
            import_on(&mut lines.as_slice(), Arc::new(disk)).unwrap_or_else(|error| panic!("{names:?}: {error:?}"));
        }
        if faulty.operations() < fail_at {
            assert!(!failed && fail_at > 10, "all operations were tried: {fail_at}");
            break;
        }
    }
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
        let result = import_on(&mut text.as_bytes(), Arc::new(disk.clone()));
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
    // What a later format says beside its number is nothing we have to know.
    let later = text.replacen("\"bailiwick-journal\":2", "\"bailiwick-journal\":3,\"more\":[]", 1);
    assert!(attempt(&later).unwrap_err().contains("format 3, this version reads 2"));
}

#[test]
fn check_names_what_it_finds_and_changes_nothing() {
    let Stopped { disk, .. } = stopped(60);
    let whole = check_on(Arc::new(disk.clone())).unwrap();
    assert!(whole.is_whole() && whole.clean);
    let contents = disk.contents();
    let log = contents.iter().filter(|(name, _)| name.starts_with("log/"));
    assert_eq!(whole.bytes, log.map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    disk.damage(&segment(2), |bytes| bytes[600] ^= 1);
    let before = disk.contents();
    let report = check_on(Arc::new(disk.clone())).unwrap();
    assert_eq!(report.integrity.problems.last().map(|problem| problem.file.clone()), Some(segment(2)));
    assert!(report.to_string().contains(&segment(2)));
    assert!(disk.contents() == before);
}
