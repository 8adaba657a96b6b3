//! What chaos finds is a file that anybody can run.

use std::fs;

use bailiwick::agent::process::ProcessMark;
use serde_json::Value;

use super::support::{Lab, Ran, eventually, run_in};

/// Somebody makes an instance that bears a machine's name, and nobody removes it.
const PLANTED: &str = "until: 1h
manifest: |
  apiVersion: bailiwick/v1
  kind: Machine
  metadata: {name: web}
  spec: {provider: simulated}
events:
  - {at: 1m, kill: web}
  - {at: 5m, stray: {of: web, provider: simulated}}
";

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_find_is_saved_shrunk_and_run_again() {
    let lab = Lab::new();
    let (good, planted) = (PLANTED.rsplit_once("  - ").expect("a last event").0, lab.manifest("planted.yaml", PLANTED));
    let good = lab.manifest("good.yaml", good);
    let at = |name: &str| lab.data().with_file_name(name).to_str().expect("text").to_owned();
    let (finds, junit) = (at("finds"), at("junit.xml"));
    // Given a scenario after which a node settles, then nothing is saved
    let runs = json(&lab.run(&["chaos", "run", &good, "--seeds", "1..2", "--save", &finds, "-o", "json"]).code(0));
    assert_eq!((&runs["settled"], &runs["failed"]), (&2.into(), &Value::Array(Vec::new())));
    assert!(!fs::exists(&finds).expect("known"));
    // and another process leaves the same histories
    let again = json(&lab.run(&["chaos", "run", &good, "--seeds", "1..2", "-o", "json"]).code(0));
    assert_eq!(again, runs);
    let others = json(&lab.run(&["chaos", "run", &good, "--seeds", "3..4", "-o", "json"]).code(0));
    assert_ne!(others["history"], runs["history"]);
    // and one with a fault in it, then the run says so and saves what it takes to see it again
    let run = ["chaos", "run", &planted, "--seeds", "7", "--as-written", "--save", &finds, "--junit", &junit];
    let ran = lab.run(&run).code(3);
    ran.says("run it again with `bailiwick repro run");
    assert!(ran.out.contains("violated") && ran.out.contains("world/no-orphan-instance: instance"), "{}", ran.out);
    assert!(fs::read_to_string(&junit).expect("written").contains("failures=\"1\""));
    let find = format!("{finds}/seed-7.bwrepro");
    let again = json(&lab.run(&["repro", "run", &find, "-o", "json"]).code(0));
    assert_eq!((&again[0]["same"], &again[0]["now"]), (&true.into(), &again[0]["found"]));
    lab.run(&["repro", "run", &find, "--settled"]).code(3);
    let test = lab.run(&["repro", "to-test", &find]).code(0);
    assert!(test.out.contains("fn seed_7_settles() {") && test.out.contains(&find), "{}", test.out);
    // and what is left of it is the fault alone.
    let left = json(&lab.run(&["chaos", "shrink", &find, "-o", "json"]).code(0));
    assert_eq!((&left["events"], &left["documents"], &left["verdict"]), (&8.into(), &0.into(), &"violated".into()));
    let small = left["file"].as_str().expect("a file");
    lab.run(&["repro", "run", small]).code(0);
    lab.run(&["repro", "run", &planted]).code(65).says("is not a repro file");
}

#[test]
fn the_history_of_a_node_that_runs_is_gone_through_again_beside_it() {
    let lab = Lab::new();
    let machine = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: web}\nspec: {provider: local}\n";
    let node = lab.start(&["up", &lab.manifest("web.yaml", machine)]);
    node.says("ready; Ctrl-C stops the node");
    let finds = lab.data().with_file_name("finds").to_str().expect("text").to_owned();
    // when things go wrong in two places of it, then each run settles and there is nothing to save
    let wrong = ["chaos", "perturb", "--with", "power-cut,io-error", "--places", "2", "--save", &finds, "-o", "json"];
    let runs = json(&lab.run(&wrong).code(0));
    assert_eq!((&runs["settled"], &runs["failed"]), (&4.into(), &Value::Array(Vec::new())));
    assert_eq!(runs["places"].as_array().map(Vec::len), Some(2));
    assert!(runs["asked"].as_u64() > Some(0) && runs["crashes"].as_u64() > Some(0), "{runs}");
    assert!(!fs::exists(&finds).expect("known"));
    // and a sweep that saves what it finds is made beside the node too
    let sweep = ["chaos", "crash-sweep", "--to", "10", "--every", "5", "-o", "json"];
    let (by_node, here) = (lab.run(&sweep).code(0), lab.run(&[&sweep[..], &["--save", &finds]].concat()).code(0));
    assert_eq!(json(&by_node), json(&here));
    // and what is not there is told
    lab.run(&["chaos", "perturb", "--where", "no-such-thing"])
        .code(65)
        .says("no entry at which a node could start matches");
    lab.run(&["chaos", "perturb", "--with", "worse"]).code(64).says("stale, unobserved, intermediate");
    node.stopped().code(0);
}

#[test]
fn a_real_node_that_is_killed_and_stopped_ends_as_declared_with_nothing_left() {
    let lab = Lab::new();
    let dir = lab.data().to_str().expect("text").to_owned();
    // Given a node of its own, when it and its agents are killed and stopped for some seconds
    let live = json(&lab.run(&["chaos", "live", &dir, "--for", "8s", "--seed", "4", "-o", "json"]).code(0));
    // then something did go wrong, and every check holds
    assert!(live["faults"].as_array().is_some_and(|faults| faults.len() > 2), "{live}");
    let checks = live["checks"].as_array().expect("checks");
    assert!(checks.len() > 5 && checks.iter().all(|check| check["wrong"].is_null()), "{live}");
    // and what is there already is not touched.
    lab.run(&["chaos", "live", &dir]).code(64).says("is not empty");
    assert_eq!(lab.processes().len(), 0);
}

#[test]
fn whoever_torments_a_node_and_dies_leaves_it_whole() {
    let lab = Lab::new();
    let dir = lab.data().to_str().expect("text").to_owned();
    // Given a node that is stopped again and again
    let live = lab.start(&["chaos", "live", &dir, "--for", "5m", "--with", "pause"]);
    live.says_times("pause", 3);
    // when nobody is there any more who would let it go on
    live.kill();
    // then it goes on by itself, and nobody stands beside it
    let answers = || run_in(&lab.data().join("data"), &["status"]).code == Some(0);
    let is_guard = |process: &ProcessMark| process.has_argument("guard");
    eventually("the guard has ended", || !lab.processes().iter().any(is_guard));
    eventually("it answers", answers);
}
