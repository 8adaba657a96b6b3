//! An upgrade is rehearsed: another program replays the same journal, and what differs is told by entry.

use std::{path::Path, process::Command};

use serde_json::Value;

use super::support::{Lab, Ran};

/// A program of our own. Another process writes it: what another thread starts at the same moment would inherit the open file.
fn script(path: &Path, body: &str) {
    let mut install = Command::new("sh");
    install.args(["-c", "printf '%s' \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(path);
    assert!(install.arg(format!("#!/bin/sh\n{body}\n")).status().expect("sh").success());
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn another_release_is_compared_entry_by_entry() {
    let lab = Lab::new();
    let node = lab.stay();
    let this = env!("CARGO_BIN_EXE_bailiwick");
    let with = |program: &str| lab.run(&["audit", "replay", "--with", program, "-o", "json"]);
    // Given the same release, nothing differs, while the node runs and when it is stopped.
    let same = json(&with(this).code(0));
    assert_eq!((&same["differences"], &same["this"]), (&Value::Array(Vec::new()), &same["other"]));
    assert!(same["this"]["decisions"].as_u64() > Some(10), "{same}");
    node.stopped().code(0);
    let export = lab.data().with_file_name("x.ndjson");
    let export = export.to_str().expect("text");
    lab.run(&["journal", "export", export]).code(0);
    for journal in [lab.data().to_str().expect("text"), export] {
        lab.run(&["audit", "replay", journal, "--with", this]).code(0);
    }
    // Given one that lies about an entry, and about a decision,
    let place = tempfile::tempdir().expect("a directory");
    let liar = place.path().join("liar");
    let lie = "sed 's/\"divergences\": \\[\\]/\"divergences\": [{\"position\": 4, \"stream\": \"machine\\/clerk\", \"text\": \"a lie\"}]/'";
    script(&liar, &format!("{this} \"$@\" | {lie}\nexit 2"));
    let liar = liar.to_str().expect("text");
    let found = json(&with(liar).code(2));
    // then the entry is told, and what this release says of it.
    let told = serde_json::json!([{"entry": 4, "stream": "machine/clerk", "this": null, "other": "a lie"}]);
    assert_eq!(found["differences"], told);
    let shown = lab.run(&["audit", "replay", "--with", liar]).code(2);
    assert!(shown.out.lines().any(|line| line.starts_with("@4 machine/clerk  as recorded") && line.ends_with("a lie")));
    // Given one that cannot read it, its own words are told.
    let other = place.path().join("other");
    script(&other, "echo 'error[not-imported]: line 1 is newer' >&2\nexit 1");
    let refused = with(other.to_str().expect("text")).code(1);
    refused.says("not-replayed").says("line 1 is newer");
    script(&other, "echo surely");
    with(other.to_str().expect("text")).code(1).says("does not answer with a replay");
    with("/nowhere/bailiwick").code(66).says("there is no program at");
    lab.down();
}
