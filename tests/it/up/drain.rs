//! Workloads end before their machine goes, and before the volumes that they use are detached.

use bailiwick::agent::process::{ProcessMark, processes_where};
use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, eventually};

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// A workload that says farewell into its volume when it is asked to stop, as late as it may.
const FAREWELL: &str = r#"apiVersion: bailiwick/v1
kind: Machine
metadata: {name: a}
spec:
  provider: local
  workloads:
    - name: w
      command: [sh, -c, "trap 'sleep 1; echo farewell > $BAILIWICK_VOLUME_V/last; exit 0' TERM; while :; do sleep 0.1; done"]
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: v}
spec: {provider: local, size: 8M}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: a, volume: v}
"#;

#[test]
#[ignore = "takes long"]
fn a_workload_ends_while_its_volume_is_still_attached() {
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", FAREWELL));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let removed = lab.run(&["remove", "machine/a", "-o", "json"]).code(0);
    assert_eq!(json(&removed)["blocked"][0]["by"], "its workloads", "{removed:?}");
    eventually("it has gone", || json(&lab.run(&["get", "machines", "-o", "json"]).code(0)) == Value::Array(vec![]));
    let order = happened(&lab);
    let place = |words: &str| place(&order, words);
    let ended = place("drained: all workloads stopped");
    assert!(ended < place("no longer reserves an attachment for volume v"), "{order:?}");
    assert!(
        place("no longer reserves an attachment for volume v") < place("requested the deletion of its instance"),
        "{order:?}"
    );
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn force_does_not_wait_for_workloads() {
    let lab = Lab::new();
    let clings = FAREWELL.replace("sleep 1; echo farewell > $BAILIWICK_VOLUME_V/last; exit 0", "");
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", clings));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    lab.run(&["remove", "machine/a", "--force", "--wait", "--timeout", "60s"]).code(0);
    let log = lab.run(&["log", "machine/a", "--limit", "50"]);
    assert!(log.out.contains("without waiting") || log.out.contains("removed"), "{}", log.out);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// Two machines of one application, each with a workload that runs for ever.
fn shop(min_available: u32) -> String {
    let machine = |name: &str| {
        format!(
            "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {name}}}\nspec: {{provider: local, workloads: [{{name: w, \
             command: [sleep, '600']}}]}}\n---\n"
        )
    };
    let application =
        "apiVersion: bailiwick/v1\nkind: Application\nmetadata: {name: shop}\nspec: {machines: [a, b], minAvailable: ";
    format!("{}{}{application}{min_available}}}\n", machine("a"), machine("b"))
}

/// A node that runs both, and asks for evictions again soon.
fn with_budget(lab: &Lab, min_available: u32, drain_timeout: &str) -> super::support::Running {
    let health = format!("  health: {{evictionRetry: 300ms, drainTimeout: {drain_timeout}}}\n  storage:");
    let quick = lab.manifest("quick.yaml", QUICK.replace("  storage:", &health));
    let file = lab.manifest("it.yaml", shop(min_available));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    node
}

fn describe(lab: &Lab, machine: &str) -> Value {
    json(&lab.run(&["describe", machine, "-o", "json"]).code(0))
}

/// The processes of a machine's workload that run in its directory.
fn running(lab: &Lab, machine: &Value, workload: &str) -> usize {
    let effect = machine["effect"].as_str().expect("an instance").to_owned();
    let works = lab.local().join("machines").join(effect).join("work").join(workload);
    let is_its = |pid: u32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|home| home == works);
    processes_where(|pid, _| is_its(pid)).expect("a list of processes").len()
}

/// Whether a process is stopped, as by SIGSTOP.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is there");
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

/// How often the workloads of machine a were refused to end, by what `describe` says.
fn refusals(lab: &Lab) -> u32 {
    let detail = describe(lab, "machine/a")["detail"].to_string();
    let told = detail
        .split_once("; refused ")
        .filter(|(before, _)| before.contains("application shop needs 1 of its other machines healthy, and has 0"));
    told.and_then(|(_, rest)| rest.split_once(' ')?.0.parse().ok()).unwrap_or(0)
}

/// Everything that happened to machine a, in words.
fn happened(lab: &Lab) -> Vec<String> {
    let lines = json(&lab.run(&["log", "machine/a", "--limit", "500", "-o", "json"]).code(0));
    let lines = lines.as_array().expect("lines").iter();
    let texts = lines.flat_map(|line| line["happened"].as_array().cloned().unwrap_or_default());
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Where the first of this kind stands in it.
#[track_caller]
fn place(order: &[String], words: &str) -> usize {
    order.iter().position(|text| text.contains(words)).unwrap_or_else(|| panic!("{words}: {order:?}"))
}

/// The one thing of this kind that happened to machine a.
#[track_caller]
fn only(lab: &Lab, words: &str) -> String {
    let all = happened(lab);
    let found: Vec<&String> = all.iter().filter(|text| text.contains(words)).collect();
    let [one] = found[..] else { panic!("{words} happened {} times: {all:?}", found.len()) };
    one.clone()
}

#[test]
#[ignore = "takes long"]
fn workloads_go_on_until_their_disruption_budget_has_room() {
    let lab = Lab::new();
    let node = with_budget(&lab, 1, "60s");
    let (a, b) = (describe(&lab, "machine/a"), describe(&lab, "machine/b"));
    let pid = b["facts"]["pid"].as_str().and_then(|pid| pid.parse().ok()).expect("a process");
    let other = ProcessMark::of(pid).expect("it runs");
    assert!(other.signal(Signal::STOP).expect("it is ours"));
    eventually("the other one is silent", || describe(&lab, "machine/b")["status"] == "stale");
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("it was refused, and asked for again", || 2 <= refusals(&lab));
    assert_eq!(running(&lab, &a, "w"), 1, "its workload goes on");
    assert!(other.signal(Signal::CONT).expect("it is ours"));
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    let log = lab.run(&["log", "machine/a", "--limit", "100"]).code(0).out;
    assert!(
        log.contains("enough of the other machines are healthy") && log.contains("all its workloads stopped"),
        "{log}"
    );
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn a_budget_that_never_has_room_holds_nobody_longer_than_the_drain_may_take() {
    let lab = Lab::new();
    let node = with_budget(&lab, 2, "3s");
    let a = describe(&lab, "machine/a");
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("it was refused", || describe(&lab, "machine/a")["detail"].to_string().contains("needs 2"));
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    let log = lab.run(&["log", "machine/a", "--limit", "100"]).code(0).out;
    assert!(log.contains("drain timed out"), "{log}");
    eventually("nothing is left of it", || running(&lab, &a, "w") == 0);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn a_budget_that_never_has_room_is_lowered_while_its_machine_waits() {
    // given a machine that waits for what could never happen
    let lab = Lab::new();
    let node = with_budget(&lab, 2, "1h");
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("it was refused", || describe(&lab, "machine/a")["detail"].to_string().contains("needs 2"));
    // when the advice is followed, with the same machines though one of them is leaving
    let lowered = shop(1);
    let application = lowered.rsplit("---\n").next().expect("the application");
    let file = lab.manifest("lowered.yaml", application);
    lab.run(&["apply", &file]).code(0);
    // then it ends at once, and why tells of the change
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    let why = lab.run(&["why", "machine/a"]).code(0).out;
    assert!(why.contains("application/shop: declaration changed") && !why.contains("drain timed out"), "{why}");
    // and nobody else may name a machine that is gone
    lab.run(&["apply", &file]).code(65).says("machine `a` is neither declared here nor exists");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn a_drain_that_is_refused_goes_on_after_a_kill_with_the_deadline_it_had() {
    let lab = Lab::new();
    let node = with_budget(&lab, 1, "120s");
    let (a, b) = (describe(&lab, "machine/a"), describe(&lab, "machine/b"));
    let pid = b["facts"]["pid"].as_str().and_then(|pid| pid.parse().ok()).expect("a process");
    let other = ProcessMark::of(pid).expect("it runs");
    assert!(other.signal(Signal::STOP).expect("it is ours"));
    eventually("the other one is silent", || describe(&lab, "machine/b")["status"] == "stale");
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("it was refused", || 1 <= refusals(&lab));
    node.kill();
    let (before, began) = (refusals(&lab), only(&lab, "drain started"));
    let node = lab.start(&["serve"]);
    node.says("listening on");
    assert!(is_stopped(pid), "the node's end sets nobody free");
    eventually("it is refused again", || before < refusals(&lab));
    assert_eq!(running(&lab, &a, "w"), 1, "its workload goes on");
    // To the second, and without the date unless the day changes meanwhile.
    let time = began.rsplit_once('T').and_then(|(_, time)| time.split('.').next()).expect("a time");
    let keeps = || {
        let detail = describe(&lab, "machine/a")["detail"].to_string();
        detail.split_once("draining until ").is_some_and(|(_, deadline)| deadline.contains(time))
    };
    eventually("it is refused with the deadline that it had", keeps);
    assert!(other.signal(Signal::CONT).expect("it is ours"));
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    assert_eq!(only(&lab, "drain started"), began, "the drain began once");
    only(&lab, "stopping workload w");
    only(&lab, "drained: all workloads stopped");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn an_eviction_that_is_under_way_is_finished_after_a_kill_and_not_begun_again() {
    let lab = Lab::new();
    let said = lab.manifest("said", "");
    let words =
        format!("trap 'echo end >> {said}; sleep 3; exit 0' TERM; echo begin >> {said}; while :; do sleep 0.1; done");
    let slow = shop(1).replacen("[sleep, '600']", &format!("[sh, -c, \"{words}\"]"), 1);
    let health = "  health: {evictionRetry: 300ms, drainTimeout: 120s}\n  storage:";
    let quick = lab.manifest("quick.yaml", QUICK.replace("  storage:", health));
    let node = lab.start(&["up", &quick, &lab.manifest("it.yaml", slow), "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let has_said = |text: &str| std::fs::read_to_string(&said).is_ok_and(|all| all == text);
    eventually("its workload runs", || has_said("begin\n"));
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("its workload is told to end", || has_said("begin\nend\n"));
    node.kill();
    let began = only(&lab, "drain started");
    let node = lab.start(&["serve"]);
    node.says("listening on");
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    assert!(has_said("begin\nend\n"), "it was told once, and not started again");
    assert_eq!(only(&lab, "drain started"), began, "the drain began once");
    only(&lab, "stopping workload w");
    only(&lab, "drained: all workloads stopped");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// Two workloads with a volume each, which write down what they are told of; the first takes its time to end.
const TURNS: &str = r#"apiVersion: bailiwick/v1
kind: Machine
metadata: {name: a}
spec:
  provider: local
  workloads:
    - name: db
      volumes: [data]
      command: [sh, -c, "trap 'sleep 3; exit 0' TERM; echo \"db ${BAILIWICK_VOLUME_DATA:-none} ${BAILIWICK_VOLUME_LOGS:-no}\" >> SAID; while :; do sleep 0.1; done"]
    - name: web
      volumes: [logs]
      command: [sh, -c, "echo \"web ${BAILIWICK_VOLUME_LOGS:-none} ${BAILIWICK_VOLUME_DATA:-no}\" >> SAID; exec sleep 600"]
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: data}
spec: {provider: local, size: 8M}
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: logs}
spec: {provider: local, size: 8M}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: a, volume: data}
---
apiVersion: bailiwick/v1
kind: VolumeAttachment
spec: {machine: a, volume: logs}
"#;

#[test]
#[ignore = "takes long"]
fn workloads_with_volumes_end_one_after_the_other_and_a_kill_in_the_middle_changes_nothing() {
    let lab = Lab::new();
    let said = lab.manifest("said", "");
    let quick = lab.manifest("quick.yaml", QUICK);
    let node = lab.start(&["up", &quick, &lab.manifest("it.yaml", TURNS.replace("SAID", &said)), "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let lines = || std::fs::read_to_string(&said).unwrap_or_default();
    let is_told = |workload: &str| {
        lines().lines().any(|line| line.starts_with(&format!("{workload} /")) && line.ends_with(" no"))
    };
    eventually("both run, and are told of their own volume alone", || is_told("db") && is_told("web"));
    let began = lines();
    let a = describe(&lab, "machine/a");
    lab.run(&["remove", "machine/a"]).code(0);
    eventually("it is the first one's turn", || detail(&lab).contains("workload db has until"));
    assert!(detail(&lab).contains("next: web"), "{}", detail(&lab));
    node.kill();
    assert!(running(&lab, &a, "web") == 1, "its turn has not come");
    let node = lab.start(&["serve"]);
    node.says("listening on");
    eventually("it has gone", || describe(&lab, "machine/a")["life"] == "removed");
    assert_eq!(lines(), began, "nobody was started again because a volume of another one had left");
    let order = happened(&lab);
    let place = |words: &str| place(&order, words);
    let steps = [
        "in this order: db, web",
        "stopping workload db",
        "workload db stopped; detaching its volumes: data",
        "no longer reserves an attachment for volume data",
        "workload db stopped, and its volumes detached",
        "stopping workload web",
        "workload web stopped; detaching its volumes: logs",
        "no longer reserves an attachment for volume logs",
        "workload web stopped, and its volumes detached",
        "drained: all workloads stopped",
        "requested the deletion of its instance",
    ];
    let places = steps.map(place);
    assert!(places.is_sorted(), "{order:?}");
    only(&lab, "in this order");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// What `describe` says of machine a.
fn detail(lab: &Lab) -> String {
    describe(lab, "machine/a")["detail"].to_string()
}
