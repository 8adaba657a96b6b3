//! A writer in a process of its own, killed in the middle of its work, again and again.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use bailiwick_journal::{
    AppendError, Journal, LocalJournal, Position, ReadOnlyJournal, append_blocking,
    testing::{all, draft},
};

use crate::tools::config;

const CYCLES: u64 = 20;
const SHORT_DIR: &str = "BAILIWICK_TEST_SHORT_CHILD_DIR";
const DIR: &str = "BAILIWICK_TEST_CHILD_DIR";

/// Not a test of its own: the process that is killed. Says each acknowledgement on its standard output.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let (journal, _) = LocalJournal::open(config(Path::new(&dir))).unwrap();
    let journal = Arc::new(journal);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let journal = journal.clone();
            std::thread::spawn(move || {
                let stream = format!("machine/{writer}");
                let mut expected = journal.version(&stream.parse().unwrap()).0;
                loop {
                    match append_blocking(&*journal, vec![draft_by_chance(&stream, expected)]) {
                        Ok(appended) => {
                            let header = &appended.entries[0].header;
                            expected = header.last_version().0;
                            let line = format!("ack {} {stream} {expected}\n", header.position);
                            std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                        }
                        Err(AppendError::Overloaded { .. }) => (),
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        let _ = writer.join();
    }
}

/// Command ids must differ between processes, which the counting helper's do not.
fn draft_by_chance(stream: &str, expected: u64) -> bailiwick_journal::Draft {
    let mut draft = draft(stream, expected, 1_000, &[expected, expected]);
    draft.meta.command_id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, format!("{stream} {expected}").as_bytes());
    draft
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("journal");
    let mut acknowledged: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    for cycle in 0..CYCLES {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child_that_writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
            .env(DIR, &dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // How long it may work is counted in acknowledgements, a different number each time; what it says after the
        // kill was said, and counts as well.
        let enough = 1 + cycle * 97 % 500;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut heard = 0;
        while heard < enough {
            let line = lines.next().expect("the child works until it is killed");
            heard += u64::from(note(&line, &mut acknowledged));
        }
        child.kill().unwrap();
        for line in lines {
            note(&line, &mut acknowledged);
        }
        child.wait().unwrap();
        let journal = ReadOnlyJournal::open(&dir).unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        assert_all_there(&journal, &acknowledged);
    }
    let (journal, report) = LocalJournal::open(config(&dir)).unwrap();
    assert!(!report.repaired(), "a kill damages nothing: {report}");
    assert_all_there(&journal, &acknowledged);
    assert!(acknowledged.len() > 1_000);
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
        let line = format!("ack {} machine/0 {}\n", appended.entries[0].header.position, expected + 1);
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
