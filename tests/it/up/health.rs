//! Machines whose agents fall silent for good are given up and replaced; one at a time.

use bailiwick::agent::process::ProcessMark;
use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, eventually};

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn describe(lab: &Lab, machine: &str) -> Value {
    json(&lab.run(&["describe", machine, "-o", "json"]).code(0))
}

#[test]
#[ignore = "takes long"]
fn a_machine_that_hangs_is_replaced_when_its_time_is_over() {
    let lab = Lab::new();
    let health = "  health: {creationTimeout: 20s, healthTimeout: 4s}\n  storage:";
    let quick = lab.manifest("quick.yaml", QUICK.replace("  storage:", health));
    let file = lab
        .manifest("it.yaml", "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a}\nspec: {provider: local}\n");
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let before = describe(&lab, "machine/a");
    assert_eq!((&before["phase"], &before["health"]), (&"Running".into(), &"well".into()), "{before}");
    let why = json(&lab.run(&["why-not", "machine/a", "replaced", "-o", "json"]).code(0));
    assert_eq!(why["unmet"]["because"], "it is healthy");
    let pid = before["facts"]["pid"].as_str().and_then(|pid| pid.parse().ok()).expect("a process");
    let agent = ProcessMark::of(pid).expect("it runs");
    assert!(agent.signal(Signal::STOP).expect("it is ours"));
    eventually("it is suspect", || describe(&lab, "machine/a")["health"] == "suspect");
    assert_eq!(describe(&lab, "machine/a")["phase"], "Unknown");
    eventually("another one runs", || {
        let now = describe(&lab, "machine/a");
        now["effect"].is_string() && now["effect"] != before["effect"] && now["health"] == "well"
    });
    assert!(!agent.is_alive(), "the one that hung is gone");
    let history = describe(&lab, "machine/a")["history"].to_string();
    assert!(history.contains("it did not become healthy in time and the replacement budget allows it"), "{history}");
    node.signal(Signal::TERM);
    node.ended().code(0);
}
