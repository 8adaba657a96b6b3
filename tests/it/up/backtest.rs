//! The tour of `examples/zone-outage`: a policy that replaces a whole zone, and one that would not have.

use std::{fs, path::Path};

use serde_json::Value;

use super::support::{Lab, Ran, run_in};

const SCENARIO: &str = "examples/zone-outage/scenario.yaml";
const GUARD: &str = "examples/zone-outage/guard.yaml";

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
#[ignore = "takes long"]
fn a_guard_would_have_spared_a_zone_that_only_fell_silent() {
    // given the journal of a zone outage under a policy without a guard
    let lab = Lab::new();
    let export = lab.manifest("outage.ndjson", "");
    lab.run(&["simulate", SCENARIO, "--export", &export]).code(0);
    let log = ["log", "--reason", "given-up", "--limit", "1000", "-o", "json"];
    let deleted = run_in(Path::new(&export), &log).code(0);
    let deleted = json(&deleted).as_array().map_or(0, Vec::len);
    assert!(deleted > 60, "{deleted} machines were given up");
    // when it is decided again under one with a guard, then all of them would have been spared
    let backtest = |more: &[&str]| lab.run(&[&["audit", "backtest", &export, "--policy", GUARD][..], more].concat());
    let told = json(&backtest(&["-o", "json"]).code(2));
    assert_eq!(told["calls"]["delete"]["lost"].as_u64(), Some(deleted as u64), "{}", told["calls"]);
    assert_eq!(told["calls"]["delete"]["gained"], 0);
    assert_eq!(told["calls"].as_object().map(serde_json::Map::len), Some(1), "{}", told["calls"]);
    let shown = backtest(&[]).code(2);
    assert!(shown.out.contains("replacements-held instead of orders-follow, without delete"), "{shown:?}");
    assert!(shown.out.lines().count() < 80 && shown.out.contains("more differences"), "{shown:?}");
    // and conditions pass or fail by that
    let (markdown, junit) = (lab.manifest("comment.md", ""), lab.manifest("junit.xml", ""));
    backtest(&["--fail-on", "gained(delete) > 0"]).code(0);
    let files = ["--markdown", &markdown, "--junit", &junit];
    let gates = ["--fail-on", "gained(delete) > 0", "--fail-on", "lost(delete) > 10"];
    backtest(&[&gates[..], &files].concat()).code(3);
    let comment = fs::read_to_string(markdown).expect("written");
    assert!(comment.contains("| `gained(delete) > 0` | 0 | passes |"), "{comment}");
    assert!(comment.contains(&format!("| `lost(delete) > 10` | {deleted} | **fails** |")), "{comment}");
    let suite = fs::read_to_string(junit).expect("written");
    assert!(suite.contains("tests=\"2\" failures=\"1\""), "{suite}");
    // and the policy that was in force changes nothing
    let scenario = fs::read_to_string(SCENARIO).expect("the example");
    let own = scenario.replace("\n  ", "\n");
    let own = own.split_once("manifest: |\n").and_then(|(_, rest)| rest.split_once("\n---")).map(|(policy, _)| policy);
    let own = lab.manifest("own.yaml", own.expect("its policy comes first"));
    lab.run(&["audit", "backtest", &export, "--policy", &own]).code(0);
    for bad in ["delete > 0", "flip(destroy) > 0"] {
        backtest(&["--fail-on", bad]).code(64);
    }
}
