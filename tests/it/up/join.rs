//! An agent joins with the token that its machine was made with, and says what it is.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use bailiwick::{
    api::wire::agent::{Condition, Join, Joined, NodeInfo, Report},
    client::{Client, ClientError},
};
use hyper::Method;
use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, eventually};

const LABELLED: &str =
    "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a, labels: {tier: front}}\nspec: {provider: local}\n";

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn describe(lab: &Lab) -> Value {
    json(&lab.run(&["describe", "machine/a", "-o", "json"]).code(0))
}

fn effect(lab: &Lab) -> String {
    describe(lab)["effect"].as_str().expect("an instance").to_owned()
}

/// What the node keeps of a token.
fn kept(lab: &Lab) -> (PathBuf, Value) {
    let path = lab.data().join("enrolment").join(effect(lab));
    let text = fs::read(&path).expect("something is kept");
    (path, serde_json::from_slice(&text).expect("JSON"))
}

/// Asks to be let in as the agent of `a`; the answer is the code of the refusal, if it is refused.
fn join(lab: &Lab, effect: &str, token: &str) -> Option<String> {
    let (effect, token) = (effect.parse().expect("an effect"), token.to_owned());
    let join = Join { effect, nonce: None, token, node: NodeInfo::default() };
    let client = Client::new(lab.data().join("node.sock"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asked = client.send_json::<_, Joined>(Method::POST, "/v1/agents/a/join", &join, None);
    match runtime.block_on(asked) {
        Ok(_) => None,
        Err(ClientError::Refused { problem, .. }) => Some(problem.code),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn an_agent_joins_with_its_token_and_says_what_it_is() {
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", LABELLED));
    let tokens = lab.note_tokens();
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let agent = describe(&lab)["agent"].clone();
    assert_eq!((&agent["version"], &agent["labels"]["tier"]), (&env!("CARGO_PKG_VERSION").into(), &"front".into()));
    let (path, token) = kept(&lab);
    assert_eq!(agent["token"], token["id"]);
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    let machine = lab.local().join("machines").join(effect(&lab));
    assert!(machine.join("token").exists() && !machine.join("join-token").exists(), "it has joined");
    let secret = &tokens.noted()[&effect(&lab)];
    assert!(token["token"].is_null() && token["hash"].is_string(), "what was used is not kept: {token}");

    // Others do not get in, and hear why.
    assert_eq!(join(&lab, &effect(&lab), &format!("{secret}x")).as_deref(), Some("wrong-token"));
    assert_eq!(join(&lab, &uuid::Uuid::nil().to_string(), secret).as_deref(), Some("unknown-token"));
    assert_eq!(join(&lab, &effect(&lab), secret).as_deref(), Some("used-token"));

    // What is declared later stands in the file, beside what others have written.
    let told = machine.join("node.json");
    let read = || serde_json::from_slice::<Value>(&fs::read(&told).expect("it is there")).expect("JSON");
    assert!(read()["cores"].as_u64() > Some(0) && read()["labels"]["tier"] == "front", "{}", read());
    let other = lab.manifest("other.yaml", LABELLED.replace("front", "back"));
    lab.run(&["apply", &other]).code(0);
    eventually("the label has followed", || read()["labels"]["tier"] == "back");
    lab.run(&["remove", "machine/a", "--wait", "--timeout", "60s"]).code(0);
    assert!(!path.exists(), "what is gone joins no more");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
#[ignore = "takes long"]
fn an_agent_that_floods_is_recorded_from_time_to_time_and_the_node_goes_on() {
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", LABELLED));
    let tokens = lab.note_tokens();
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let machine = lab.local().join("machines").join(effect(&lab));
    let bearer = fs::read_to_string(machine.join("token")).expect("it has joined");
    let secret = tokens.noted()[&effect(&lab)].clone();
    let client = Client::new(lab.data().join("node.sock"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");

    let labels = |number: u64| {
        (0..10).map(|label| (format!("label-{label}"), format!("{number}-{}", "y".repeat(2_000)))).collect()
    };
    let (mut heard, mut put_off) = (0, 0);
    for sequence in 1..=200 {
        let condition = |number| Condition {
            kind: format!("WorkloadRunning/w{number}"),
            healthy: Some(sequence % 2 == 0),
            text: format!("{sequence} {}", "x".repeat(200)),
        };
        let report = Report {
            effect: effect(&lab).parse().expect("an effect"),
            boot_id: uuid::Uuid::from_u128(7),
            sequence,
            conditions: (0..100).map(condition).collect(),
            workloads: Vec::new(),
            nonce: None,
            devices: Vec::new(),
            node: Some(NodeInfo { labels: labels(sequence), ..NodeInfo::default() }),
        };
        let told = client.send_json::<_, Value>(Method::POST, "/v1/agents/a/report", &report, Some(bearer.trim()));
        match runtime.block_on(told) {
            Ok(_) => heard += 1,
            Err(ClientError::Refused { problem, .. }) if problem.code == "too-often" => put_off += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(heard >= 40 && put_off > 0, "{heard} reports are heard, {put_off} are put off");
    let mut refused = 0;
    for number in 0..40 {
        let labels = labels(number);
        let join = Join {
            effect: effect(&lab).parse().expect("an effect"),
            nonce: None,
            token: secret.clone(),
            node: NodeInfo { labels, ..NodeInfo::default() },
        };
        let asked = client.send_json::<_, Joined>(Method::POST, "/v1/agents/a/join", &join, None);
        match runtime.block_on(asked) {
            Ok(_) => (),
            Err(ClientError::Refused { problem, .. }) if problem.code == "used-token" => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let told =
        lab.run(&["log", "machine/a", "--principal", "agent:machine/a", "--limit", "1000", "-o", "json"]).code(0);
    let entries = json(&told).as_array().map_or(0, Vec::len);
    assert!((2..40).contains(&entries), "{entries} entries of 400 that an agent wanted");
    assert_eq!(refused, 40, "it has joined already");
    lab.run(&["hold", "machine/a", "--reason", "it floods"]).code(0);
    lab.run(&["unhold", "machine/a"]).code(0);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
fn who_comes_with_a_token_that_is_over_is_told_so() {
    let lab = Lab::new();
    let health = "  health: {creationTimeout: 3s}\n  storage:";
    let quick = lab.manifest("quick.yaml", QUICK.replace("  storage:", health));
    let file = lab.manifest("it.yaml", LABELLED);
    let tokens = lab.note_tokens();
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    let token = tokens.noted()[&effect(&lab)].clone();
    eventually("it is over", || join(&lab, &effect(&lab), &token).as_deref() == Some("expired-token"));
    node.signal(Signal::TERM);
    node.ended().code(0);
}
