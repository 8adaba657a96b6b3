//! Workloads end before their machine goes, and before the volumes that they use are detached.

use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, eventually};

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// A workload that says farewell into its volume when it is asked to end, as late as it may.
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
fn a_workload_ends_while_its_volume_is_still_attached() {
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", FAREWELL));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("everything is so");
    let removed = lab.run(&["remove", "machine/a", "-o", "json"]).code(0);
    assert_eq!(json(&removed)["blocked"][0]["by"], "the workloads of machine/a", "{removed:?}");
    eventually("it has gone", || json(&lab.run(&["get", "machines", "-o", "json"]).code(0)) == Value::Array(vec![]));
    let order: Vec<String> = json(&lab.run(&["log", "--limit", "100", "-o", "json"]).code(0))
        .as_array()
        .expect("lines")
        .iter()
        .flat_map(|line| line["happened"].as_array().cloned().unwrap_or_default())
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect();
    let place = |words: &str| order.iter().position(|text| text.contains(words)).unwrap_or_else(|| panic!("{words}"));
    let ended = place("its workloads have ended");
    assert!(ended < place("it let go of volume v"), "{order:?}");
    assert!(place("it let go of volume v") < place("its instance is to go"), "{order:?}");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
fn force_does_not_wait_for_workloads() {
    let lab = Lab::new();
    let clings = FAREWELL.replace("sleep 1; echo farewell > $BAILIWICK_VOLUME_V/last; exit 0", "");
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", clings));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("everything is so");
    lab.run(&["remove", "machine/a", "--force", "--wait", "--timeout", "60s"]).code(0);
    let log = lab.run(&["log", "machine/a", "--limit", "50"]);
    assert!(log.out.contains("not to wait") || log.out.contains("removed"), "{}", log.out);
    node.signal(Signal::TERM);
    node.ended().code(0);
}
