//! `examples/verify.py` checks an export without any code of ours.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::Arc,
};

use bailiwick_journal::{Draft, ReadOnlyJournal, append_blocking, blocks::MemoryStore, testing::draft};

use crate::tools::{Stopped, open, stopped};

/// Runs the script on these lines; none without Python.
fn verified(lines: &str) -> Option<Output> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/verify.py");
    let spawned =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        assert!(
            std::env::var_os("BAILIWICK_CI").is_none(),
            "CI has no python3, so nobody but us has checked an export"
        );
        say_skipped();
        return None;
    };
    // A script that has seen enough reads no further.
    drop(child.stdin.take().unwrap().write_all(lines.as_bytes()));
    Some(child.wait_with_output().unwrap())
}

#[expect(clippy::print_stderr, reason = "a check that did not happen must be seen")]
fn say_skipped() {
    eprintln!("SKIPPED: there is no python3 here, so examples/verify.py was not run on an export");
}

fn export() -> String {
    let Stopped { disk, .. } = stopped(20);
    let (journal, _) = open(&disk, &MemoryStore::new()).unwrap();
    // Blocks of one and of several BLAKE3 chunks, an uneven number of them.
    for (number, bytes) in [700, 1_024, 5_000, 60_000].into_iter().enumerate() {
        let mut large: Draft = draft(&format!("volume/{number}"), 0, 10_000, &[1, 2]);
        large.facts.bytes = (0..bytes).map(|at| (at % 251) as u8).collect();
        append_blocking(&journal, vec![large, draft(&format!("machine/x{number}"), 0, 10_000, &[])]).unwrap();
    }
    journal.close().unwrap();
    drop(journal);
    let mut lines = Vec::new();
    ReadOnlyJournal::open_on(Arc::new(disk)).unwrap().export(&mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn an_export_passes() {
    let lines = export();
    let Some(output) = verified(&lines) else { return };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("30 entries in 26 blocks of journal"), "{said}");
}

#[test]
fn whatever_is_changed_is_found() {
    let export = export();
    let lines: Vec<&str> = export.lines().collect();
    let entry = lines.iter().position(|line| line.contains("\"volume/0\"")).unwrap();
    let block = lines.iter().rposition(|line| line.starts_with("{\"block\"")).unwrap();
    let changed = |at: usize, from: &str, to: &str| {
        assert!(lines[at].contains(from), "{}", lines[at]);
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        changed[at] = changed[at].replacen(from, to, 1);
        changed.join("\n")
    };
    let without = |range: std::ops::Range<usize>| {
        let kept = lines.iter().enumerate().filter(|(at, _)| !range.contains(at));
        kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
    };
    let cases = [
        ("an event", changed(entry, "\"hex\":\"0100", "\"hex\":\"0200")),
        ("a name", changed(entry, "\"principal\":\"test\"", "\"principal\":\"nobody\"")),
        ("a time", changed(entry, "\"time_ms\":10000", "\"time_ms\":10001")),
        ("an outcome", changed(entry, "\"outcome\":\"done\"", "\"outcome\":\"refused\"")),
        ("an epoch", changed(block, "\"epoch\":2", "\"epoch\":1")),
        ("a block", without(block..lines.len() - 1)),
        ("an entry", without(entry..entry + 1)),
        ("the end", without(lines.len() - 1..lines.len())),
        ("the journal's id", changed(0, "b417", "b418")),
    ];
    for (what, lines) in cases {
        let Some(output) = verified(&lines) else { return };
        assert_eq!(output.status.code(), Some(6), "{what}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
