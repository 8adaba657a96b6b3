//! A rollout of a running node, on the command line.

use serde_json::Value;

use super::support::{Lab, QUICK, Ran};

fn deployment(version: &str) -> String {
    format!(
        "apiVersion: bailiwick/v1\nkind: MachineDeployment\nmetadata: {{name: web}}\nspec:\n  replicas: 2\n  \
         template:\n    metadata: {{labels: {{version: {version}}}}}\n    spec: {{provider: local}}\n"
    )
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The versions of all machines, in order.
fn versions(lab: &Lab) -> Vec<String> {
    let machines = json(&lab.run(&["get", "machines", "-o", "json"]).code(0));
    let version = |row: &Value| row["labels"]["version"].as_str().unwrap_or_default().to_owned();
    let mut versions: Vec<String> = machines.as_array().into_iter().flatten().map(version).collect();
    versions.sort();
    versions
}

#[test]
fn a_deployment_is_rolled_paused_restarted_and_undone() {
    let lab = Lab::new();
    let (quick, first) = (lab.manifest("quick.yaml", QUICK), lab.manifest("v1.yaml", deployment("v1")));
    let node = lab.start(&["up", &quick, &first, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let status = json(&lab.run(&["rollout", "status", "web", "-o", "json"]).code(0));
    assert_eq!((&status["status"], &status["updatedMachines"]), (&"complete".into(), &2.into()));
    lab.run(&["rollout", "undo", "web"]).code(5).says("it has no earlier revision");
    lab.run(&["rollout", "pause", "shop"]).code(4);

    lab.run(&["rollout", "pause", "web"]).code(0);
    lab.run(&["rollout", "restart", "web"])
        .code(5)
        .says("its rollout is paused; resume it first")
        .says("run `bailiwick rollout resume web`, then retry");
    let why = json(&lab.run(&["why-not", "machine-deployment/web", "ready", "-o", "json"]).code(0));
    assert_eq!(why["holds"], true, "there is nothing to roll: {why}");
    // What a file says holds from when it is applied: this one says nothing of a pause.
    let second = lab.manifest("v2.yaml", deployment("v2"));
    let plan = json(&lab.run(&["plan", &second, "-o", "json"]).code(2));
    assert_eq!(plan["steps"][0]["fields"], serde_json::json!(["spec.template", "spec.paused"]), "{plan}");
    lab.run(&["apply", &second]).code(0);
    lab.run(&["rollout", "status", "web", "--wait", "--timeout", "60s"]).code(0);
    assert_eq!(versions(&lab), ["v2", "v2"]);

    lab.run(&["rollout", "restart", "web"]).code(0);
    lab.run(&["wait", "machine-deployment/web", "--timeout", "60s"]).code(0);
    let history = json(&lab.run(&["rollout", "history", "web", "-o", "json"]).code(0));
    let revisions: Vec<u64> =
        history.as_array().into_iter().flatten().filter_map(|row| row["revision"].as_u64()).collect();
    assert_eq!(revisions, [3, 2, 1]);
    assert!(history[0]["restarted"].is_string() && history[0]["current"] == true, "{history}");

    lab.run(&["rollout", "undo", "web", "--to", "7"]).code(5).says("it has no revision 7");
    lab.run(&["rollout", "undo", "web", "--to", "1"]).code(0);
    lab.run(&["rollout", "status", "machine-deployment/web", "--wait", "--timeout", "60s"]).code(0);
    assert_eq!(versions(&lab), ["v1", "v1"]);
    let described = json(&lab.run(&["describe", "machine-deployment/web", "-o", "json"]).code(0));
    assert_eq!((&described["ready"], &described["revision"]), (&true.into(), &4.into()));
    lab.run(&["why", "machine-deployment/web"]).code(0);
    let owned = described["revisions"][0]["set"].as_str().expect("a set").to_owned();
    let set = lab.manifest(
        "set.yaml",
        deployment("v1").replace("MachineDeployment", "MachineSet").replace("name: web", &format!("name: {owned}")),
    );
    lab.run(&["apply", &set])
        .code(5)
        .says("it belongs to machine deployment web; scale, change or delete that instead");
    let refused = lab.run(&["delete", &format!("machine-set/{owned}")]).code(5);
    refused.says("it belongs to machine deployment web").says("or delete the deployment");
    let metrics = lab.http("GET", "/v1/metrics", "").1;
    for line in
        ["replicas_wanted{deployment=\"web\"} 2", "available{deployment=\"web\"} 2", "frozen{deployment=\"web\"} 0"]
    {
        assert!(metrics.contains(&format!("bailiwick_machine_deployment_{line}")), "{metrics}");
    }
    let created = "{provider=\"local\",operation=\"create-machine\"";
    for line in [
        "entities{kind=\"machine\",status=\"ready\"} 2".to_owned(),
        "trouble 0".to_owned(),
        "decisions_total{kind=\"machine-deployment\",outcome=\"refused\",reason=\"unknown-revision\"} 1".to_owned(),
        format!("provider_call_duration_seconds_bucket{created},le=\"+Inf\"}} "),
        format!("provider_items_total{created}}} "),
    ] {
        assert!(metrics.contains(&format!("\nbailiwick_{line}")), "{line}: {metrics}");
    }

    lab.run(&["down", "--timeout", "60s"]).code(0);
    let of = |kind: &str| json(&lab.run(&["get", kind, "-o", "json"]).code(0));
    assert_eq!(
        [of("machine-deployments"), of("machine-sets"), of("machines")],
        [(); 3].map(|()| serde_json::json!([]))
    );
    node.signal(rustix::process::Signal::TERM);
    node.ended().code(0);
}
