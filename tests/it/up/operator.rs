//! What operators do to machines of a running node, on the command line.

use bailiwick::agent::process::ProcessMark;
use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, Running, eventually};

const MACHINE: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a}\nspec: {provider: local}\n";

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// One machine that runs, and a node that serves.
fn one() -> (Lab, Running) {
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", MACHINE));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    (lab, node)
}

fn why_not(lab: &Lab, entity: &str, wanted: &str) -> Value {
    json(&lab.run(&["why-not", entity, wanted, "-o", "json"]).code(0))
}

fn describe(lab: &Lab) -> Value {
    json(&lab.run(&["describe", "machine/a", "-o", "json"]).code(0))
}

/// The id that the machine's instance was made under, and its process.
#[track_caller]
fn instance(lab: &Lab) -> (String, ProcessMark) {
    let seen = describe(lab);
    let pid = seen["facts"]["pid"].as_str().and_then(|pid| pid.parse().ok()).expect("a process");
    (seen["effect"].as_str().expect("an id").to_owned(), ProcessMark::of(pid).expect("it runs"))
}

#[test]
#[ignore = "takes long"]
fn a_held_machine_is_not_replaced_before_the_hold_ends() {
    let (lab, node) = one();
    let (before, agent) = instance(&lab);
    lab.run(&["hold", "machine/a"]).code(64);
    lab.run(&["hold", "machine/b", "--reason", "x"]).code(4);
    lab.run(&["hold", "machine/a", "--reason", ""]).code(64).says("--reason is empty");
    lab.run(&["hold", "machine/a", "--reason", "a\nb"]).code(64).says("control character");
    lab.run(&["hold", "machine/a", "--reason", "x", "--until", "@1"]).code(64).says("is not in the future");
    let held = lab.run(&["hold", "machine/a", "--reason", "looking at it", "--until", "2h", "-o", "json"]).code(0);
    assert_eq!(json(&held)["code"], "operator-holds");
    assert!(agent.signal(Signal::KILL).expect("it is ours"));
    eventually("what would have happened is noted", || describe(&lab)["heldBack"] == true);
    let seen = describe(&lab);
    assert_eq!((&seen["held"], &seen["status"]), (&"looking at it".into(), &"lost".into()));
    let status = lab.run(&["status"]).code(0);
    assert!(status.out.contains("holds back the replacement of its lost instance"), "{}", status.out);
    let why = json(&lab.run(&["why-not", "machine/a", "running", "-o", "json"]).code(0));
    assert_eq!(why["unmet"]["precondition"], "the end of its hold");
    assert_eq!(why["unmet"]["satisfiedBy"], "`bailiwick unhold machine/a`");
    assert!(why["unmet"]["nextLookMs"].is_u64(), "{why}");
    lab.run(&["remove", "machine/a"]).code(5).says("it is held (looking at it)");
    lab.run(&["unhold", "machine/a"]).code(0);
    lab.run(&["wait", "machine/a", "--timeout", "60s"]).code(0);
    assert_ne!(instance(&lab).0, before, "it was replaced");
    let why = json(&lab.run(&["why-not", "machine/a", "running", "-o", "json"]).code(0));
    assert_eq!((&why["holds"], &why["unmet"]), (&true.into(), &Value::Null));
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn an_instance_that_was_let_go_of_can_be_taken_back_and_is_never_harvested() {
    let (lab, node) = one();
    let (effect, agent) = instance(&lab);
    lab.run(&["disown", "machine/a"]).code(0);
    assert_eq!(describe(&lab)["status"], "disowned");
    let why = json(&lab.run(&["why-not", "machine/a", "running", "-o", "json"]).code(0));
    assert_eq!(why["unmet"]["because"], "its instance was disowned");
    let dry = || json(&lab.run(&["harvest", "--dry-run", "--mode", "all", "-o", "json"]).code(0));
    eventually("it is listed, and kept", || dry()["unknown"][0]["verdict"] == "kept");
    assert_eq!(dry()["inForce"], false);
    lab.run(&["harvest"]).code(64);
    lab.run(&["adopt", "machine/a", "--instance", "no-such"]).code(4);
    lab.run(&["adopt", "machine/a"]).code(0);
    lab.run(&["wait", "machine/a", "--timeout", "60s"]).code(0);
    assert_eq!(instance(&lab).0, effect, "it is the same one");
    lab.run(&["adopt", "machine/a", "--instance", &effect]).code(0);
    // Removed for good, with its instance left to itself.
    lab.run(&["remove", "machine/a", "--keep-instance", "--wait"]).code(0);
    assert!(agent.is_alive());
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn an_unknown_instance_is_stopped_when_the_policy_says_so_while_the_node_runs() {
    let (lab, node) = one();
    let (effect, agent) = instance(&lab);
    // Mode none: the machine goes, and its instance is left, known to nobody.
    let harvest = |mode: &str| {
        let text = QUICK.replace("  storage:", &format!("  harvest: {{mode: {mode}, grace: 1s}}\n  storage:"));
        let file = lab.manifest("harvest.yaml", text);
        lab.run(&["apply", &file]).code(0);
    };
    harvest("none");
    lab.run(&["remove", "machine/a", "--wait"]).code(0);
    let dry = || json(&lab.run(&["harvest", "--dry-run", "--mode", "all", "-o", "json"]).code(0));
    eventually("it would be stopped", || dry()["unknown"][0]["verdict"] == "stop");
    assert!(agent.is_alive());
    harvest("unknown");
    eventually("it is stopped", || !agent.is_alive());
    eventually("nothing is left of it", || !lab.local().join("machines").join(&effect).exists());
    eventually("nobody is unknown any more", || dry()["unknown"] == serde_json::json!([]));
    let log = lab.run(&["log", "--limit", "50"]).code(0);
    assert!(log.out.contains("stray-unknown") || log.out.contains("delete stray instance"), "{}", log.out);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
fn storage_can_be_asked_why_it_is_not_gone() {
    let (lab, node) = one();
    let volume = "apiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: v}\nspec: {provider: local, size: 1M}\n";
    let volume = lab.manifest("volume.yaml", volume);
    lab.run(&["apply", &volume]).code(0);
    lab.run(&["wait", "volume/v", "--timeout", "60s"]).code(0);
    lab.run(&["attach", "volume/w", "a"]).code(4).says("volume/w");
    lab.run(&["attach", "volume/v", "b"]).code(4).says("machine/b");
    let why = why_not(&lab, "volume/v", "removed");
    assert_eq!(why["unmet"]["because"], "no removal was requested");
    // The provider cannot let go of it and keep the data, so nothing is done, and it is said what would be.
    let refused = lab.run(&["release", "volume/v"]).code(5);
    refused.says("provider local cannot release volume/v without destroying").says("`bailiwick destroy volume/v`");
    assert_eq!(why_not(&lab, "volume/v", "removed")["unmet"]["because"], "no removal was requested");
    lab.run(&["why-not", "volume/v", "running"]).code(64).says("for a volume, ask about ready, attached, removed");
    lab.run(&["destroy", "volume/v"]).code(0);
    eventually("it has gone", || why_not(&lab, "volume/v", "removed")["holds"] == true);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// Two machines whose secret is missing, which wait an hour for their next attempt; and one that runs.
const WAITING: &str = "apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: default}\nspec: {machines: {retryFirst: 1h, retryMax: 1h}}\n\
    ---\napiVersion: bailiwick/v1\nkind: MachineClass\nmetadata: {name: small}\nspec: {provider: local, secret: nowhere}\n\
    ---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: b}\nspec: {class: small}\n\
    ---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: c}\nspec: {class: small}\n";

#[test]
fn all_that_failed_with_a_fault_is_tried_again_at_once() {
    let (lab, node) = one();
    let none = lab.run(&["retry", "--transient"]).code(0);
    assert_eq!(none.out, "nothing to retry: nothing failed with a transient fault\n");
    lab.run(&["apply", &lab.manifest("waiting.yaml", WAITING)]).code(0);
    let has_failed = |machine: &str| {
        json(&lab.run(&["describe", machine, "-o", "json"]).code(0))["effort"]["faultCode"] == "failed-precondition"
    };
    eventually("both have failed", || has_failed("machine/b") && has_failed("machine/c"));
    lab.run(&["retry"]).code(64);
    lab.run(&["retry", "machine/b", "--transient"]).code(64);
    lab.run(&["retry", "--fault", "unavialable"]).code(64).says("did you mean unavailable?");
    let told = |args: &[&str]| {
        let all = json(&lab.run(&[args, &["-o", "json"]].concat()).code(0));
        let one = |decided: &Value| format!("{}: {}", decided["entity"], decided["code"]).replace('"', "");
        all.as_array().expect("a list").iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(told(&["retry", "--fault", "unavailable"]), [""; 0]);
    let none = lab.run(&["retry", "--fault", "unavailable"]).code(0);
    assert_eq!(none.out, "nothing to retry: nothing failed with one of these faults\n");
    let both = ["machine/b: operator-retries", "machine/c: operator-retries"];
    assert_eq!(told(&["retry", "--fault", "failed-precondition"]), both);
    eventually("both have failed again", || has_failed("machine/b") && has_failed("machine/c"));
    assert_eq!(told(&["retry", "--transient"]), both);
    node.kill();
}

#[test]
fn a_set_that_is_held_keeps_its_number_until_the_hold_ends() {
    let lab = Lab::new();
    let set = |replicas: u32| {
        format!(
            "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: web}}\n\
             spec: {{replicas: {replicas}, template: {{spec: {{provider: local}}}}}}\n"
        )
    };
    let (quick, one) = (lab.manifest("quick.yaml", QUICK), lab.manifest("one.yaml", set(1)));
    let node = lab.start(&["up", &quick, &one, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    lab.run(&["hold", "volume/a", "--reason", "x"]).code(64).says("is not a machine or a machine set");
    lab.run(&["hold", "machine-set/web", "--reason", "audit"]).code(0);
    let two = lab.manifest("two.yaml", set(2));
    lab.run(&["apply", &two]).code(0);
    let told = why_not(&lab, "machine-set/web", "at-its-number");
    assert_eq!(told["unmet"]["because"], "it is held: audit");
    let status = lab.run(&["status"]).code(0);
    assert!(status.out.contains("held: audit"), "{}", status.out);
    lab.run(&["remove", "machine-set/web"]).code(5).says("it is held (audit)");
    lab.run(&["thaw", "machine/web-1"]).code(64).says("is not a machine set");
    let thawed = lab.run(&["thaw", "machine-set/web", "-o", "json"]).code(0);
    assert_eq!(json(&thawed)["code"], "not-frozen");
    lab.run(&["unhold", "machine-set/web"]).code(0);
    lab.run(&["wait", "machine-set/web", "--timeout", "60s"]).code(0);
    assert_eq!(json(&lab.run(&["get", "machines", "-o", "json"]).code(0)).as_array().map(Vec::len), Some(2));
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn what_is_protected_is_deleted_by_nobody_before_that_ends() {
    let (lab, node) = one();
    let (before, agent) = instance(&lab);
    let with = |protect: &str, text: &str| text.replace("{name: a}", &format!("{{name: a, protect: {protect}}}"));
    lab.run(&["apply", &lab.manifest("odd.yaml", with("perhaps", MACHINE))]).code(65).says("metadata.protect");
    let protected = lab.manifest("protected.yaml", with("true", MACHINE));
    let plan = lab.run(&["plan", &protected]).code(2);
    assert!(plan.out.contains("metadata.protect"), "{plan:?}");
    lab.run(&["apply", &protected]).code(0);
    assert_eq!(describe(&lab)["protected"], true);
    for delete in [&["delete", "machine/a"][..], &["delete", "machine/a", "--force"], &["down"]] {
        let refused = lab.run(delete).code(5);
        assert_eq!(refused.err.matches("machine/a: it is protected; run `bailiwick unprotect`").count(), 1);
        refused.says("next: `bailiwick unprotect` what is named above, then retry");
    }
    let told = why_not(&lab, "machine/a", "removed");
    assert_eq!(told["unmet"]["satisfiedBy"], "`bailiwick unprotect machine/a`, then `bailiwick delete machine/a`");
    // Its instance is gone, and what is left of it is kept as well.
    assert!(agent.signal(Signal::KILL).expect("it is ours"));
    eventually("it is lost", || describe(&lab)["status"] == "lost");
    assert_eq!(why_not(&lab, "machine/a", "running")["unmet"]["precondition"], "the end of its protection");
    let status = lab.run(&["status"]).code(0);
    assert!(status.out.contains("protected, so it is not replaced"), "{}", status.out);
    lab.run(&["retry", "machine/a"]).code(5).says("it is protected");
    assert!(lab.local().join("machines").join(&before).exists());
    // A manifest that says nothing of it leaves that as it is.
    lab.run(&["apply", &lab.manifest("same.yaml", MACHINE)]).code(0);
    assert_eq!(describe(&lab)["protected"], true);
    lab.run(&["unprotect", "policy/default"]).code(64).says("machine-set/NAME");
    let ended = lab.run(&["unprotect", "machine/a", "-o", "json"]).code(0);
    assert_eq!(json(&ended)["code"], "protection-asked");
    lab.run(&["wait", "machine/a", "--timeout", "60s"]).code(0);
    assert_ne!(instance(&lab).0, before, "it was replaced");
    lab.run(&["protect", "machine/a"]).code(0);
    let off = lab.manifest("off.yaml", with("false", MACHINE));
    lab.run(&["apply", &off]).code(0);
    // Kept to be looked at, it is out of service until somebody says otherwise.
    lab.run(&["keep", "machine/a", "--for", "2h"]).code(0);
    assert_eq!(describe(&lab)["status"], "kept");
    assert_eq!(why_not(&lab, "machine/a", "running")["unmet"]["precondition"], "the end of its time for diagnosis");
    lab.run(&["unkeep", "machine/a"]).code(0);
    lab.run(&["wait", "machine/a", "--timeout", "60s"]).code(0);
    lab.run(&["delete", "machine/a", "--wait"]).code(0);
    node.signal(Signal::TERM);
    node.ended().code(0);
}
