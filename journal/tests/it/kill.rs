//! A writer in a process of its own, killed at every numbered point; the campaign `kill` does it at any moment.

use std::{collections::BTreeMap, io::Write, path::Path, process::Command};

use bailiwick_journal::{
    Journal, LocalJournal, Position, append_blocking,
    testing::{all, draft},
};

use crate::tools::config;

const SHORT_DIR: &str = "BAILIWICK_TEST_SHORT_CHILD_DIR";

/// Command ids must differ between processes, which the counting helper's do not.
fn draft_by_chance(stream: &str, expected: u64) -> bailiwick_journal::Draft {
    let mut draft = draft(stream, expected, 1_000, &[expected, expected]);
    draft.meta.command_id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, format!("{stream} {expected}").as_bytes());
    draft
}

/// Not a test of its own: a short life from opening to closing, which `BAILIWICK_CRASH_AT` ends somewhere.
#[test]
fn child_that_lives_shortly() {
    let Some(dir) = std::env::var_os(SHORT_DIR) else { return };
    let (journal, _) = LocalJournal::open(config(Path::new(&dir))).unwrap();
    for expected in 0..3 {
        let mut draft = draft_by_chance("machine/0", expected);
        draft.events.truncate(1);
        let appended = append_blocking(&journal, vec![draft]).unwrap();
        let line = format!("ack {} machine/0 {}\n", appended.entries()[0].header.position, expected + 1);
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
    journal.close().unwrap();
}

#[test]
fn killed_at_every_crash_point_it_opens_with_all_that_was_acknowledged() {
    let mut points = 0;
    loop {
        points += 1;
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("journal");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child_that_lives_shortly", "--exact", "--nocapture", "--test-threads=1"])
            .env(SHORT_DIR, &dir)
            .env("BAILIWICK_CRASH_AT", points.to_string())
            .output()
            .unwrap();
        let mut acknowledged = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            note(line, &mut acknowledged);
        }
        let (journal, report) = LocalJournal::open(config(&dir)).unwrap_or_else(|error| panic!("{points}: {error}"));
        assert!(!report.repaired(), "point {points}: a kill damages nothing: {report}");
        assert_all_there(&journal, &acknowledged);
        if output.status.success() {
            assert_eq!(acknowledged.len(), 3);
            break;
        }
    }
    assert!(points > 20, "there are many points: {points}");
}

fn note(line: &str, acknowledged: &mut BTreeMap<u64, (String, u64)>) -> bool {
    // The harness may have begun the line with the test's name; a line cut by the kill has too few words.
    let Some(at) = line.find("ack ") else { return false };
    let words: Vec<&str> = line[at..].split(' ').collect();
    let [_, position, stream, version] = words[..] else { return false };
    let (Ok(position), Ok(version)) = (position.parse(), version.parse()) else { return false };
    acknowledged.insert(position, (stream.to_owned(), version));
    true
}

fn assert_all_there(journal: &dyn Journal, acknowledged: &BTreeMap<u64, (String, u64)>) {
    let entries = all(journal);
    assert!(entries.iter().zip(1..).all(|(entry, position)| entry.header.position == Position(position)));
    for (position, (stream, version)) in acknowledged {
        let header = &entries[*position as usize - 1].header;
        assert_eq!((header.stream.as_str(), header.last_version().0), (stream.as_str(), *version));
    }
}
