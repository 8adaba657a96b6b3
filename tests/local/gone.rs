//! A machine whose directory is gone ends by itself, with all that it runs, and says why; one whose directory is only away
//! for a moment does not.

use std::{fs, fs::File, io::Read};

use bailiwick::agent::process::ProcessMark;

use crate::{
    node::Node,
    support::{Ground, agents_of, create, effect, eventually},
};

/// Two workloads: one that ends when it is asked to, and one that leaves its group, as a daemon does.
const WORKLOADS: &[(&str, &str)] =
    &[("steady", "exec sleep 600"), ("daemon", "setsid sleep 600 & touch left; exec sleep 600")];

/// The agent and the workloads of a machine, once all of them run.
fn running(ground: &Ground, n: u128) -> Vec<ProcessMark> {
    let left = ground.machine(effect(n)).work().join("daemon/left");
    eventually("all workloads run", || left.exists() && ground.workloads(n).len() == 3);
    let mut running = ground.workloads(n);
    running.push(ground.agent(effect(n)));
    running
}

fn all_ended(processes: &[ProcessMark]) -> bool {
    processes.iter().all(|process| !process.is_alive())
}

/// What an agent writes its log into, also when that file has no name any more.
fn output_of(agent: &ProcessMark) -> File {
    File::open(format!("/proc/{}/fd/2", agent.pid)).expect("its standard error")
}

#[tokio::test]
async fn agents_and_workloads_end_with_the_data_directory_and_say_why() {
    // Given two machines that run, and a node that is stopped
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(WORKLOADS, &[]);
    let provider = ground.provider();
    create(&provider, 1).await;
    create(&provider, 2).await;
    let (first, second) = (running(&ground, 1), running(&ground, 2));
    let mut output = output_of(first.last().expect("its agent"));
    drop(node);
    // When somebody removes the data directory; what still writes there may need a second go
    let data = ground.root().parent().expect("the data directory").to_owned();
    eventually("it is removed", || fs::remove_dir_all(&data).is_ok() || !data.exists());
    // Then everything ends, and the agent's last words tell why
    eventually("all has ended", || all_ended(&first) && all_ended(&second));
    let mut said = String::new();
    output.read_to_string(&mut said).expect("its log");
    let last: Vec<&str> = said.lines().filter(|line| line.contains("the machine's directory was removed")).collect();
    assert_eq!(last.len(), 1, "{said}");
    assert!(last[0].contains("the machine ends, and its workloads with it"), "{said}");
    assert!(!data.exists(), "nobody made anything there again");
}

#[tokio::test]
async fn a_later_attempt_at_the_same_path_keeps_no_agent_of_the_one_before() {
    // Given a machine that runs
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("steady", "exec sleep 600")], &[]);
    let provider = ground.provider();
    create(&provider, 1).await;
    node.hears("it runs", |report| !report.workloads.is_empty());
    let mut before = ground.workloads(1);
    before.push(ground.agent(effect(1)));
    // When its directory is removed, and made anew under the same id
    eventually("it is removed", || fs::remove_dir_all(ground.machine(effect(1)).path()).is_ok());
    create(&provider, 1).await;
    // Then those of before end, and those of now run on
    eventually("those of before have ended", || all_ended(&before));
    let now = ground.agent(effect(1));
    eventually("a workload runs", || !ground.workloads(1).is_empty());
    assert_eq!(agents_of(&ground.machine(effect(1))), [now]);
}

#[tokio::test]
#[ignore = "takes long"]
async fn a_directory_that_comes_back_keeps_its_machine_and_one_that_does_not_ends_it() {
    // Given a machine that runs
    let ground = Ground::new();
    let node = Node::at(&ground.socket());
    node.wish(&[("steady", "exec sleep 600")], &[]);
    create(&ground.provider(), 1).await;
    node.hears("it runs", |report| !report.workloads.is_empty());
    let workloads = ground.workloads(1);
    let agent = ground.agent(effect(1));
    let mut output = output_of(&agent);
    // When its directory is moved aside and back
    let (root, aside) = (ground.root(), ground.root().with_extension("aside"));
    fs::rename(&root, &aside).expect("moved");
    node.hears("a report meanwhile", |_| true);
    fs::rename(&aside, &root).expect("moved back");
    // Then the same goes on
    node.hears("a report after it", |report| report.workloads.iter().all(|workload| workload.restarts == 0));
    assert_eq!((ground.workloads(1), ground.agent(effect(1))), (workloads.clone(), agent.clone()));
    // When it is moved aside for good, then it ends, and says why
    fs::rename(&root, &aside).expect("moved");
    eventually("all has ended", || all_ended(&workloads) && !agent.is_alive());
    let mut said = String::new();
    output.read_to_string(&mut said).expect("its log");
    assert!(said.contains("the machine's directory was moved away and did not come back"), "{said}");
}
