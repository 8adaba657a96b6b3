//! The agent: reports, follows, outlives its node.

use std::fs;

use bailiwick::{
    agent::agent_token,
    api::wire::agent::{LastExit, Report, WorkloadReport, WorkloadState},
};
use rustix::process::Signal;

use crate::{
    node::Node,
    support::{Ground, NODE_KEY, create, effect, eventually, nonce},
};

fn workload<'a>(report: &'a Report, name: &str) -> Option<&'a WorkloadReport> {
    report.workloads.iter().find(|workload| workload.name.as_str() == name)
}

fn is_running(report: &Report, name: &str) -> bool {
    workload(report, name).is_some_and(|workload| workload.state == WorkloadState::Running)
}

fn health(report: &Report, kind: &str) -> Option<bool> {
    report.conditions.iter().find(|condition| condition.kind == kind)?.healthy
}

#[tokio::test]
async fn an_agent_reports_with_its_token() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    create(&ground.provider(), 1).await;
    eventually("two reports", || node.heard().len() >= 2);
    let heard = node.heard();
    assert!(heard[0].head.starts_with("POST /v1/agents/web/report HTTP/1.1\r\n"), "{}", heard[0].head);
    let bearer = format!("authorization: Bearer {}\r\n", agent_token(&NODE_KEY, effect(1)));
    assert!(heard[0].head.contains(&bearer));
    let (first, second) = (&heard[0].report, &heard[1].report);
    assert_eq!((first.effect, first.sequence, second.sequence), (effect(1), 1, 2));
    assert_eq!(first.boot_id, second.boot_id);
    assert_eq!(first.nonce, Some(nonce(1)), "whose machine it is");
    let report = node.hears("all checks", |report| report.conditions.iter().all(|c| c.text != "not checked yet"));
    assert!(health(&report, "HostDiskPressure").is_some() && health(&report, "HostMemoryPressure").is_some());
    let log = fs::read_to_string(ground.machine(effect(1)).agent_log()).unwrap();
    assert!(!log.contains(&agent_token(&NODE_KEY, effect(1))), "no secret in the log");
}

/// One that ends on request, but takes longer than the agent gives to those that say nothing of it.
const SLOW: &str = "trap 'sleep 6; echo over > out; exit 0' TERM; echo up > out; while :; do sleep 0.1; done";

#[tokio::test]
async fn a_workload_has_the_grace_that_it_declares() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish_with_grace(&[("slow", SLOW)], Some(60_000));
    create(&ground.provider(), 1).await;
    let out = ground.machine(effect(1)).work().join("slow/out");
    let has_said = |text: &str| fs::read_to_string(&out).is_ok_and(|all| all == text);
    eventually("it runs", || has_said("up\n"));
    node.wish(&[], &[]);
    node.hears("it is gone", |report| report.workloads.is_empty());
    assert!(has_said("over\n"), "it was not killed before it had ended");
}

#[tokio::test]
async fn workloads_run_with_a_clean_environment_and_are_stopped_when_no_longer_wished_for() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("env", "grep NoNewPrivs /proc/self/status > rights; grep core /proc/self/limits >> rights; env > out; exec sleep 600")], &[]);
    create(&ground.provider(), 1).await;
    node.hears("it runs", |report| is_running(report, "env"));
    let out = ground.machine(effect(1)).work().join("env/out");
    eventually("it has written", || fs::read_to_string(&out).is_ok_and(|text| text.contains("PWD")));
    let mut variables: Vec<String> =
        fs::read_to_string(&out).unwrap().lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
    variables.retain(|name| !matches!(name.as_str(), "PWD" | "_" | "SHLVL" | "OLDPWD"));
    variables.sort();
    assert_eq!(variables, ["BAILIWICK_MACHINE", "BAILIWICK_MACHINE_DIR", "BAILIWICK_VOLUMES", "DECLARED", "PATH"]);
    let rights = fs::read_to_string(ground.machine(effect(1)).work().join("env/rights")).unwrap();
    let rights: Vec<&str> = rights.split_whitespace().collect();
    assert_eq!(rights, ["NoNewPrivs:", "1", "Max", "core", "file", "size", "0", "0", "bytes"]);
    assert_eq!(ground.workloads(1).len(), 1);
    node.wish(&[], &[]);
    node.hears("it is gone", |report| report.workloads.is_empty());
    assert_eq!(ground.workloads(1), []);
}

#[tokio::test]
async fn a_workload_that_ends_is_started_again_after_a_wait() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("fails", "echo out; echo err >&2; sleep 600 & exit 3")], &[]);
    create(&ground.provider(), 1).await;
    let report = node.hears("it backs off", |report| {
        workload(report, "fails").is_some_and(|workload| workload.state == WorkloadState::BackingOff)
    });
    assert_eq!(workload(&report, "fails").unwrap().last_exit, Some(LastExit::Code(3)));
    node.hears("it was started again", |report| workload(report, "fails").is_some_and(|w| w.restarts >= 2));
    assert!(ground.workloads(1).len() <= 2, "what a run left does not pile up");
    node.hears("it is in trouble", |report| health(report, "WorkloadRunning/fails") == Some(false));
    let log = fs::read_to_string(ground.machine(effect(1)).logs().join("fails.log")).unwrap();
    assert!(log.contains("out\nerr\n"), "{log}");
}

#[tokio::test]
async fn a_workload_that_cannot_start_is_told() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.say(r#"{"workloads": [{"name": "no", "command": ["/nowhere/x"]}, {"name": "empty", "command": []}], "interval_ms": 50}"#);
    create(&ground.provider(), 1).await;
    node.hears("both say why", |report| {
        let told = |workload: &WorkloadReport| matches!(workload.last_exit, Some(LastExit::NotStarted(_)));
        report.workloads.len() == 2 && report.workloads.iter().all(told)
    });
}

#[tokio::test]
async fn an_agent_outlives_its_node_and_finds_the_next_one() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("steady", "exec sleep 600")], &[]);
    create(&ground.provider(), 1).await;
    let boot = node.hears("it runs", |report| is_running(report, "steady")).boot_id;
    let running = ground.workloads(1);
    drop(node);
    let log = ground.machine(effect(1)).agent_log();
    eventually("the agent has noticed", || fs::read_to_string(&log).unwrap().contains("no answer from the node"));
    assert_eq!(ground.workloads(1), running);
    let node = Node::at(&ground.socket());
    node.say("nonsense");
    let report = node.hears("it reports again", |report| is_running(report, "steady"));
    assert_eq!((report.boot_id, workload(&report, "steady").unwrap().restarts), (boot, 0));
    assert_eq!(ground.workloads(1), running, "nonsense changes nothing");
    node.wish(&[], &[]);
    node.hears("it follows again", |report| report.workloads.is_empty());
}

#[tokio::test]
async fn a_terminated_agent_stops_its_workloads_first() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("neat", "trap 'echo bye > bye; exit 0' TERM; touch up; while :; do sleep 0.05; done")], &[]);
    create(&ground.provider(), 1).await;
    let work = ground.machine(effect(1)).work().join("neat");
    eventually("it is up", || work.join("up").exists());
    let agent = ground.agent(effect(1));
    agent.signal(Signal::TERM).unwrap();
    eventually("the agent has ended", || !agent.is_alive());
    assert!(work.join("bye").exists());
    assert_eq!(ground.workloads(1), []);
}

#[tokio::test]
async fn a_socket_with_a_long_path_is_reached() {
    let ground = Ground::deep();
    let node = Node::at(&ground.socket());
    create(&ground.provider(), 1).await;
    eventually("a report", || !node.heard().is_empty());
}

#[tokio::test]
async fn the_node_can_ask_an_agent_to_stop() {
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    create(&ground.provider(), 1).await;
    let agent = ground.agent(effect(1));
    node.say(r#"{"stop": true, "more": {"of": "the future"}}"#);
    eventually("the agent has ended", || !agent.is_known());
}
