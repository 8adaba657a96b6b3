//! Storage of a set's machines on a running node.

use serde_json::Value;

use super::support::{Lab, QUICK, Ran};

const WRITES: &str = r#"echo "$BAILIWICK_MACHINE" 1<> "$BAILIWICK_VOLUME_DATA_0" && exec sleep 86400"#;

fn deployment(version: &str, replicas: u32) -> String {
    let command = serde_json::json!(["sh", "-c", WRITES]);
    format!(
        "apiVersion: bailiwick/v1
kind: MachineDeployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  template:
    metadata: {{labels: {{version: {version}}}}}
    spec:
      provider: local
      storage:
        data: 'local,2M'
        scratch: {{volume: 'local,1M', persistent: false}}
      workloads: [{{name: writes, command: {command}}}]
"
    )
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[track_caller]
fn told(lab: &Lab, args: &[&str], text: &str) {
    let ran = lab.run(args).code(0);
    assert!(ran.out.contains(text), "{args:?} does not say {text:?}: {}", ran.out);
}

/// The volumes that exist, with their machines.
fn volumes(lab: &Lab) -> Vec<String> {
    let rows = json(&lab.run(&["get", "volumes", "-o", "json"]).code(0));
    let told = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
        format!("{} {}", text("name"), text("attachedTo"))
    };
    rows.as_array().into_iter().flatten().map(told).collect()
}

#[test]
#[ignore = "takes long"]
fn machines_of_a_deployment_come_and_go_with_their_storage() {
    let lab = Lab::new();
    let (quick, first) = (lab.manifest("quick.yaml", QUICK), lab.manifest("v1.yaml", deployment("v1", 2)));
    let node = lab.start(&["serve"]);
    node.says("listening");
    lab.run(&["apply", &quick]).code(0);
    let planned = json(&lab.run(&["plan", &first, "-o", "json"]).code(2));
    let brings = [
        "1 volume `data` of 2M from pool local; kept when the machine is removed",
        "1 volume `scratch` of 1M from pool local; removed with the machine",
    ];
    assert_eq!(planned["steps"][0]["brings"], serde_json::json!(brings), "{planned}");
    lab.run(&["apply", &first]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    let made =
        ["web-1-1-data-0 web-1-1", "web-1-1-scratch-0 web-1-1", "web-1-2-data-0 web-1-2", "web-1-2-scratch-0 web-1-2"];
    assert_eq!(volumes(&lab), made);
    let described = json(&lab.run(&["describe", "machine-set/web-1", "-o", "json"]).code(0));
    assert_eq!(described["storage"], serde_json::json!(brings), "{described}");
    told(&lab, &["why", "volume/web-1-1-data-0"], "a machine of a set asks for it");
    // What is as it was declared is not declared anew, and is nobody's to prune.
    let again = json(&lab.run(&["plan", &first, &quick, "--prune", "-o", "json"]).code(0));
    assert_eq!(again["changes"], false, "{again}");

    // Another template: other machines, with storage of their own.
    lab.run(&["apply", &lab.manifest("v2.yaml", deployment("v2", 1))]).code(0);
    lab.run(&["rollout", "status", "web", "--wait", "--timeout", "60s"]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    let left = ["web-1-1-data-0 -", "web-1-2-data-0 -", "web-2-1-data-0 web-2-1", "web-2-1-scratch-0 web-2-1"];
    assert_eq!(volumes(&lab), left);
    let kept = json(&lab.run(&["describe", "volume/web-1-1-data-0", "-o", "json"]).code(0));
    assert_eq!(kept["detail"], "kept: it was created for machine web-1-1, which was removed", "{kept}");
    told(&lab, &["why", "volume/web-1-1-data-0"], "its data is kept");
    told(&lab, &["log", "volume/web-1-1-scratch-0"], "provider confirmed its removal");
    told(&lab, &["why-not", "volume/web-1-1-data-0", "attached"], "no attachment of it is declared");

    // What stays is declared for its own sake from then on: whoever prunes gets rid of it.
    lab.run(&["delete", "machine-deployment/web", "--wait"]).code(0);
    assert_eq!(volumes(&lab), ["web-1-1-data-0 -", "web-1-2-data-0 -", "web-2-1-data-0 -"]);
    told(&lab, &["plan", &quick], "no longer declared; --prune deletes it");
    lab.run(&["apply", &quick, "--prune"]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    assert!(volumes(&lab).is_empty());
    node.signal(rustix::process::Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn down_leaves_nothing_of_what_was_to_stay() {
    let lab = Lab::new();
    let (quick, set) = (lab.manifest("quick.yaml", QUICK), lab.manifest("v1.yaml", deployment("v1", 2)));
    let node = lab.start(&["serve"]);
    node.says("listening");
    lab.run(&["apply", &quick, &set]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    lab.run(&["apply", &lab.manifest("less.yaml", deployment("v1", 1))]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    assert_eq!(volumes(&lab).len(), 3, "what stays of the one that went, and both of the other");
    lab.run(&["down", "--timeout", "60s"]).code(0);
    assert!(volumes(&lab).is_empty());
    node.signal(rustix::process::Signal::TERM);
    node.ended().code(0);
}

#[test]
fn what_the_machines_of_a_template_cannot_have_is_refused() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening");
    let refused = |was: &str, is: &str, says: &str| {
        let manifest = lab.manifest("bad.yaml", deployment("v1", 1).replace(was, is));
        lab.run(&["apply", &manifest]).code(5).says(says);
    };
    refused("'local,2M'", "{filesystem: 'local,2M'}", "needs a block device");
    refused("'local,2M'", "{filesystem: 'directory,2M', path: /srv}", "cannot be mounted at /srv");
    assert!(volumes(&lab).is_empty());
    node.signal(rustix::process::Signal::TERM);
    node.ended().code(0);
}
