//! How a process ends: asked first, then told, then killed; and never two at the same time.

use bailiwick::{actors::ports::MachineProvider, agent::process::ProcessMark};
use rustix::process::Signal;

use crate::support::{Ground, eventually, start, within};

/// Serves, and is stopped.
async fn stopped(ground: &Ground, script: &str) {
    let mut provider = ground.shell(script);
    within(provider.capabilities()).await.unwrap();
    provider.stop();
    assert!(provider.pid().is_none());
}

#[tokio::test]
async fn the_end_of_its_input_ends_it() {
    let ground = Ground::new();
    stopped(&ground, "trap 'touch DIR/terminated' TERM; read first; echo 'HELLO'; cat; touch DIR/ended").await;
    assert!(ground.exists("ended") && !ground.exists("terminated"));
    assert!(!ground.path().join("lab/process.json").exists(), "it is noted that nobody serves");
}

#[tokio::test]
async fn who_does_not_heed_that_is_terminated() {
    let ground = Ground::new();
    let script = "trap 'touch DIR/terminated; exit 0' TERM; read first; echo 'HELLO'; while :; do sleep 0.01; done";
    stopped(&ground, script).await;
    assert!(ground.exists("terminated"));
}

#[tokio::test]
async fn who_does_not_heed_that_either_is_killed_with_its_group() {
    let ground = Ground::new();
    let script = "trap '' TERM; read first; echo 'HELLO'; (trap '' TERM; sleep 600; : DIR) & while :; do sleep 1; done";
    stopped(&ground, script).await;
    eventually("nobody of the group is left", || ground.processes().is_empty());
}

#[tokio::test]
async fn what_it_leaves_behind_in_its_group_is_killed() {
    let ground = Ground::new();
    stopped(&ground, "read first; echo 'HELLO'; sh -c 'sleep 600; : DIR' >/dev/null 2>&1 & cat >/dev/null").await;
    eventually("nobody of the group is left", || ground.processes().is_empty());
}

#[tokio::test]
async fn what_lives_in_a_session_of_its_own_stays() {
    let ground = Ground::new();
    let script = "read first; cd DIR; setsid sh -c 'touch DIR/up; sleep 600; : DIR' </dev/null >/dev/null 2>&1 & echo 'HELLO'; cat";
    if std::process::Command::new("setsid").arg("true").status().is_err() {
        return crate::support::say_missing("setsid");
    }
    let mut provider = ground.shell(script);
    within(provider.capabilities()).await.unwrap();
    eventually("the machine runs", || ground.exists("up"));
    provider.stop();
    assert!(!ground.processes().is_empty(), "it has not ended with the provider");
}

#[tokio::test]
async fn a_stopped_process_is_ended_too() {
    let ground = Ground::new();
    let mut provider = ground.shell("read first; echo 'HELLO'; cat");
    within(provider.capabilities()).await.unwrap();
    let process = ProcessMark::of(provider.pid().unwrap()).unwrap();
    process.signal(Signal::STOP).unwrap();
    provider.stop();
    assert!(!process.is_alive());
}

#[tokio::test]
async fn calls_to_a_stopped_provider_have_not_happened() {
    let ground = Ground::new();
    let mut provider = ground.shell("read first; echo 'HELLO'; cat");
    provider.stop();
    let fault = crate::support::create(&provider, 1).await.unwrap_err();
    assert_eq!(fault.code.as_str(), "unavailable");
    assert_eq!(crate::support::lookup(&provider, 1).await.unwrap_err().code.as_str(), "unknown");
}

#[tokio::test]
async fn what_a_killed_node_left_running_is_ended_first() {
    let ground = Ground::new();
    let script = "trap '' TERM; read first; echo 'HELLO'; while :; do sleep 0.1; done; : DIR";
    let first = ground.shell(script);
    within(first.capabilities()).await.unwrap();
    let process = ProcessMark::of(first.pid().unwrap()).unwrap();
    // As if this process had been killed: nobody ends the provider.
    std::mem::forget(first);
    let second = start(ground.shell_config("read first; echo 'HELLO'; cat"));
    within(second.capabilities()).await.unwrap();
    assert!(!process.is_alive());
}
