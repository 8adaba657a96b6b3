//! Runs of scenarios in which something is wrong by design, what is left of them, and their files.

use std::path::Path;

use super::*;
use crate::chaos::{Repro, What};

const FLEET: &str = "apiVersion: bailiwick/v1
kind: Machine
metadata: {name: alpha}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Machine
metadata: {name: beta}
spec: {provider: simulated}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: data}
spec: {provider: simulated, size: 64M}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: alpha, volume: data}
";

fn path() -> &'static Path {
    Path::new("scenario.yaml")
}

/// A scenario with this among its events.
fn scenario(more: &str) -> ScenarioFile {
    let indented: String = FLEET.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!("until: 1h\nmanifest: |\n{indented}events:\n  - {{at: 1m, kill: alpha}}\n{more}");
    ScenarioFile::parse(path(), &text).expect("a scenario")
}

fn workers(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("some")
}

fn all(file: &ScenarioFile, seeds: RangeInclusive<u64>) -> Runs {
    run_all(file, path(), (seeds, true), workers(2), &|_, _| true).expect("it can be run")
}

#[test]
fn a_node_settles_after_bad_days() {
    let runs = all(&scenario(""), 1..=6);
    assert!(runs.failed.is_empty(), "{:?}", runs.failed);
    assert!(runs.sums.count() == 6 && runs.sums.crashes > 0, "{runs:?}");
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_one_another() {
    let one = |seed| run_once(&day(&scenario(""), path(), seed, true).expect("a day"), path()).expect("a run").journal;
    assert_eq!(one(3), one(3));
    assert_ne!(one(3), one(4));
}

/// Nobody knows the instance that bears a machine's name, and nobody is to remove it: an orphan.
const PLANTED: &str = "  - {at: 2m, stray: {of: beta, provider: simulated}}\n";

#[test]
fn a_planted_fault_is_found_shrunk_and_found_again_from_its_file() {
    // given a scenario with a fault in it, on a day on which much else goes wrong
    let file = scenario(PLANTED);
    let runs = all(&file, 2..=2);
    assert_eq!(runs.sums.violated, 1, "{runs:?}");
    let day = day(&file, path(), 2, true).expect("a day");
    // when it is shrunk
    let shrunk = shrink(&day, path(), &|_| true).expect("it can be run");
    // then nothing is left but what it takes
    let left = &shrunk.file;
    assert!(matches!(shrunk.run.verdict, Verdict::Violated { .. }), "{:?}", shrunk.run);
    // (and what ends the bad day: a calm, and six times at which what was given up is tried again)
    assert_eq!((left.events.len(), left.crashes.len(), left.documents().len()), (8, 0, 0), "{left:?}");
    assert!(shrunk.run.entries <= 10, "{:?}", shrunk.run);
    // and its file is small, and says the same wherever it is run
    let scratch = tempfile::tempdir().expect("a folder");
    let at = scratch.path().join("find.bwrepro");
    let run = shrunk.run;
    Repro::of_scenario(shrunk.file.clone(), run.verdict.clone(), run.journal.clone()).write(&at).expect("written");
    assert!(std::fs::metadata(&at).expect("it is there").len() < 2_000);
    let read = Repro::read(&at).expect("read");
    assert_eq!(read.what, What::Scenario(Box::new(shrunk.file)));
    assert_eq!(read.run(&at).expect("it can be run"), read.found);
}

#[test]
fn who_follows_a_run_can_end_it() {
    let ended = run_all(&scenario(""), path(), (1..=100, true), workers(1), &|done, _| done < 1);
    assert!(matches!(ended, Err(RunError::Cancelled)), "{ended:?}");
    let shrunk = shrink(&scenario(PLANTED), path(), &|_| false).expect("it can be run");
    assert_eq!((shrunk.runs, shrunk.file), (1, scenario(PLANTED)));
}

#[test]
fn a_scenario_is_written_as_it_was_read() {
    let faults = "faults: {simulated: {failPerMille: 300, latencyMs: [1, 2]}}\n";
    let more = format!("  - {{at: 2m, hold: {{of: alpha, reason: wait, for: 5m}}, disk: full}}\n{faults}");
    let file = scenario(&more);
    let again = ScenarioFile::parse(path(), &file.value().to_string()).expect("a scenario");
    assert_eq!(again, file);
    assert_eq!(file.value()["faults"]["simulated"], serde_json::json!({"failPerMille": 300, "latencyMs": [1, 2]}));
    assert_eq!(file.documents().len(), 4);
}

#[test]
fn what_is_no_find_is_told() {
    let scratch = tempfile::tempdir().expect("a folder");
    let at = scratch.path().join("find.bwrepro");
    for (text, words) in [
        ("", "it is empty"),
        ("{", "EOF"),
        ("{}", "no `bailiwickRepro`"),
        (r#"{"bailiwickRepro": 2}"#, "format 2"),
        (
            r#"{"bailiwickRepro": 1, "release": "x", "found": {"verdict": "settled"}}"#,
            "one of `scenario`, `crash` and `perturbed`",
        ),
        (r#"{"bailiwickRepro": 1, "release": "x", "found": {"verdict": "well"}}"#, "unknown variant"),
    ] {
        std::fs::write(&at, text).expect("written");
        let error = Repro::read(&at).expect_err(text).to_string();
        assert!(error.contains(words), "{text:?}: {error}");
    }
}
