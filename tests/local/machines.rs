//! Machines: made once, found again, lost, removed.

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use bailiwick::{
    actors::{
        machine::{InstanceConfig, StartParameters},
        ports::{CreateMachine, InstanceStatus, Lookup, MachineInstance, MachineProvider},
        vocab::{FaultCode, Timestamp, Uid},
    },
    agent::{
        agent_token,
        directory::Presence,
        files,
        process::{ProcessMark, processes_where},
    },
    providers::local::LocalProvider,
};
use rustix::process::Signal;

use crate::{
    node::Node,
    support::{Ground, NODE_KEY, agents_of, create, delete, effect, eventually, nonce, only, wish},
};

async fn look(provider: &LocalProvider, n: u128) -> Lookup<MachineInstance> {
    only(provider.lookup(vec![effect(n)]).await).unwrap().map(|found| found.instance)
}

async fn status(provider: &LocalProvider, n: u128) -> InstanceStatus {
    match look(provider, n).await {
        Lookup::Present(machine) => machine.status,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn creating_again_gives_the_same_machine() {
    let ground = Ground::new();
    let provider = ground.provider();
    let first = create(&provider, 1).await;
    assert_eq!((first.status, first.instance.0.as_str()), (InstanceStatus::Running, "local-00000000"));
    assert_eq!(create(&provider, 1).await, first);
    assert_eq!(look(&provider, 1).await, Lookup::Present(first));
}

#[tokio::test]
async fn a_machine_keeps_what_it_was_started_with() {
    let ground = Ground::new();
    let config = InstanceConfig { ca_certificate: Some("-----BEGIN CERTIFICATE-----".into()), ..Default::default() };
    let start = StartParameters { api_addresses: vec!["10.0.0.1:17070".into()], ..Default::default() };
    let wished = CreateMachine { config: Some(config.clone().into()), start: Some(start.into()), ..wish(1) };
    let made = only(ground.provider().create(vec![wished]).await).unwrap();
    assert_eq!(made.instance.nonce(), Some(nonce(1).as_str()));
    let tag = ground.machine(effect(1)).read_tag().unwrap().expect("a tag");
    assert_eq!(
        (tag.nonce, tag.config, tag.api_addresses),
        (Some(nonce(1)), Some(config), vec!["10.0.0.1:17070".into()])
    );
    assert_eq!(tag.jobs, ["host-units"], "what stands for no job at all");
    // What is there tells the nonce that it was started with, whatever is asked for.
    let other = CreateMachine { nonce: Some(nonce(2)), ..wish(1) };
    assert_eq!(only(ground.provider().create(vec![other]).await).unwrap(), made);
}

#[tokio::test]
async fn an_agent_leads_a_group_and_a_session_of_its_own() {
    let ground = Ground::new();
    create(&ground.provider(), 1).await;
    let agent = ground.agent(effect(1));
    let leads = processes_where(|pid, stat| pid == agent.pid && stat.group == pid && stat.session == pid).unwrap();
    assert_eq!(leads, [agent], "neither Ctrl-C at the node's terminal nor the node's end reaches it");
}

#[tokio::test]
async fn creating_at_the_same_time_gives_one_machine() {
    let ground = Ground::new();
    let (provider, other_node) = (ground.provider(), ground.provider());
    let wishes = || vec![wish(1), wish(2), wish(1)];
    let (one, two) = tokio::join!(provider.create(wishes()), provider.create(wishes()));
    let pids: Vec<String> =
        one.unwrap().into_iter().chain(two.unwrap()).map(|made| made.unwrap().instance.facts["pid"].clone()).collect();
    assert!(pids[0] == pids[2] && pids[0] == pids[3] && pids[0] == pids[5] && pids[1] == pids[4], "{pids:?}");
    assert_eq!(agents_of(&ground.machine(effect(1))).len(), 1);
    assert_eq!(create(&other_node, 2).await.facts["pid"], pids[1]);
}

#[tokio::test]
async fn many_machines_are_made_at_once_and_listed_in_order() {
    let ground = Ground::new();
    let provider = ground.provider();
    let made = provider.create((1..=12).map(wish).collect()).await.unwrap();
    let made: Vec<MachineInstance> = made.into_iter().map(|made| made.unwrap().instance).collect();
    let listing = provider.list().await.unwrap();
    assert_eq!((listing.complete, listing.as_of, listing.items), (true, Timestamp(1_000), made));
}

#[tokio::test]
async fn a_new_node_finds_what_runs() {
    let ground = Ground::new();
    let made = create(&ground.provider(), 1).await;
    let listing = ground.provider().list().await.unwrap();
    assert_eq!((listing.complete, listing.items), (true, vec![made.clone()]));
    assert_eq!(create(&ground.provider(), 1).await, made);
}

#[tokio::test]
async fn only_the_owner_reads_the_token() {
    let ground = Ground::new();
    create(&ground.provider(), 1).await;
    let machine = ground.machine(effect(1));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&machine.token()), mode(machine.path())), (0o600, 0o700));
    assert_eq!(fs::read_to_string(machine.token()).unwrap(), agent_token(&NODE_KEY, effect(1)));
}

#[tokio::test]
async fn a_machine_whose_agent_was_killed_is_stopped_and_stays_so() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    let agent = ground.agent(effect(1));
    ground.kill_agent(effect(1));
    assert_eq!(status(&provider, 1).await, InstanceStatus::Stopped);
    let listing = provider.list().await.unwrap();
    assert_eq!((listing.complete, listing.items[0].status), (true, InstanceStatus::Stopped));
    let again = only(provider.create(vec![wish(1)]).await).unwrap_err();
    assert_eq!(again.code, FaultCode::FailedPrecondition);
    eventually("no zombie is left", || !agent.is_known());
    delete(&provider, 1).await;
    create(&provider, 2).await;
}

#[tokio::test]
async fn an_agent_does_not_start_twice() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    let second = || {
        let mut agent = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        agent.arg("agent").arg("--dir").arg(ground.machine(effect(1)).path()).arg("--socket").arg(ground.socket());
        agent.arg("--effect").arg(effect(1).to_string()).output().unwrap()
    };
    let refused = second();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another agent runs"), "{refused:?}");
    ground.kill_agent(effect(1));
    let refused = second();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not started twice"), "{refused:?}");
    assert_eq!(refused.status.code(), Some(1));
}

#[tokio::test]
async fn a_pid_that_was_given_to_another_fools_nobody() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    ground.kill_agent(effect(1));
    let own = ProcessMark::of(std::process::id()).unwrap();
    files::replace_json(&ground.machine(effect(1)).process(), &own).unwrap();
    assert_eq!(status(&provider, 1).await, InstanceStatus::Stopped);
    // Not even if that process holds the lock: then nobody knows.
    let lock = ground.machine(effect(1)).try_lock().unwrap().unwrap();
    assert_eq!(look(&provider, 1).await, Lookup::Unknown);
    assert!(!provider.list().await.unwrap().complete);
    drop(lock);
    // And it is not killed either.
    delete(&provider, 1).await;
}

#[tokio::test]
async fn deleting_ends_workloads_and_all_they_started() {
    let ground = Ground::new();
    let provider = ground.provider();
    let node = Node::at(&ground.socket());
    node.wish(&[("tree", "trap '' TERM; sleep 600 & setsid sleep 600 & touch up; wait; wait; wait")], &[]);
    for agent_is_killed in [false, true] {
        let n = 1 + u128::from(agent_is_killed);
        create(&provider, n).await;
        let up = ground.machine(effect(n)).work().join("tree/up");
        eventually("the workload is up", || up.exists());
        let running = || ground.workloads(n);
        eventually("shell and both sleepers run", || running().len() == 3);
        let marks = running();
        if agent_is_killed {
            ground.kill_agent(effect(n));
            assert!(!running().is_empty(), "workloads outlive a killed agent until the machine is deleted");
        }
        delete(&provider, n).await;
        assert_eq!(running(), []);
        assert!(marks.iter().all(|mark| !mark.is_alive()));
        assert_eq!(look(&provider, n).await, Lookup::Absent);
        delete(&provider, n).await;
    }
    assert_eq!(fs::read_dir(ground.root().join("machines")).unwrap().count(), 0);
}

#[tokio::test]
async fn deleting_a_machine_of_a_copied_directory_leaves_the_originals_workloads_running() {
    let (original, copy) = (Ground::new(), Ground::new());
    let provider = original.provider();
    let node = Node::at(&original.socket());
    // Nothing in the process tells the directory but the ledger, as for a program that clears its environment.
    node.wish(&[("bare", "touch up; exec env -i sleep 600")], &[]);
    create(&provider, 1).await;
    let is_bare = || matches!(&original.workloads(1)[..], [one] if one.has_argument("600"));
    eventually("the workload is up", is_bare);
    let workload = original.workloads(1);

    let copied = Command::new("cp").arg("-a").arg(original.root()).arg(copy.root()).status().unwrap();
    assert!(copied.success());
    assert_eq!(copy.workloads(1), [], "the copy's ledger names the original's processes");
    delete(&copy.provider(), 1).await;
    assert_eq!(original.workloads(1), workload);

    delete(&provider, 1).await;
    assert_eq!(original.workloads(1), []);
}

#[tokio::test]
async fn an_agent_that_was_halted_is_ended_all_the_same() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    let agent = ground.agent(effect(1));
    agent.signal(Signal::STOP).unwrap();
    delete(&provider, 1).await;
    assert!(!agent.is_alive());
}

#[tokio::test]
async fn a_machine_that_was_never_started_is_finished_or_taken_back() {
    let ground = Ground::new();
    let provider = ground.provider();
    let broken = ground.provider_with(["/nowhere/agent"]);
    for n in [1, 2, 3] {
        let fault = only(broken.create(vec![wish(n)]).await).unwrap_err();
        assert_eq!(fault.code, FaultCode::NotFound, "{fault}");
        assert_eq!(ground.machine(effect(n)).presence().unwrap(), Presence::NeverStarted);
    }
    create(&provider, 1).await;
    assert_eq!(look(&provider, 2).await, Lookup::Absent);
    assert_eq!(ground.machine(effect(2)).presence().unwrap(), Presence::Absent);
    let listing = provider.list().await.unwrap();
    assert_eq!((listing.complete, listing.items.len()), (true, 1));
    assert_eq!(ground.machine(effect(3)).presence().unwrap(), Presence::Absent);
    create(&provider, 2).await;
}

#[tokio::test]
async fn an_agent_that_cannot_start_is_told() {
    let ground = Ground::new();
    let fault = only(ground.provider_with(["sh", "-c", "exit 3"]).create(vec![wish(1)]).await).unwrap_err();
    assert_eq!(fault.code, FaultCode::Internal);
    assert!(fault.text.contains("exit status: 3"), "{fault}");
    create(&ground.provider(), 1).await;
}

#[tokio::test]
async fn what_a_crash_left_is_swept() {
    let ground = Ground::new();
    let provider = ground.provider();
    let machines = ground.root().join("machines");
    for leftover in [".new-", ".trash-"] {
        for n in [1, 2] {
            fs::create_dir_all(machines.join(format!("{leftover}{}/volumes", effect(n)))).unwrap();
        }
    }
    delete(&provider, 1).await;
    assert_eq!(fs::read_dir(&machines).unwrap().count(), 2);
    assert!(provider.list().await.unwrap().complete);
    assert_eq!(fs::read_dir(&machines).unwrap().count(), 0);
}

#[tokio::test]
async fn hostile_content_makes_a_listing_partial_and_nothing_worse() {
    let ground = Ground::new();
    let provider = ground.provider();
    let made = create(&provider, 1).await;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "1").unwrap();
    let machines = ground.root().join("machines");
    let place = |n: u128| machines.join(effect(n).to_string());
    fs::create_dir(machines.join("lost+found")).unwrap();
    assert!(provider.list().await.unwrap().complete, "foreign names are none of ours");

    type Spoil<'a> = (u128, &'a dyn Fn(&std::path::Path));
    let spoils: [Spoil<'_>; 5] = [
        (2, &|place| fs::write(place, "a file").unwrap()),
        (3, &|place| symlink(outside.path(), place).unwrap()),
        (4, &|place| {
            fs::create_dir(place).unwrap();
            fs::write(place.join("process.json"), "{\"pid\": -1").unwrap();
        }),
        (5, &|place| {
            fs::create_dir(place).unwrap();
            File::create(place.join("process.json")).unwrap().set_len(1 << 40).unwrap();
        }),
        (6, &|place| {
            fs::create_dir(place).unwrap();
            fs::copy(ground.machine(effect(1)).process(), place.join("process.json")).unwrap();
            fs::copy(ground.machine(effect(1)).tag(), place.join("machine.json")).unwrap();
        }),
    ];
    for (n, spoil) in spoils {
        spoil(&place(n));
        let listing = provider.list().await.unwrap();
        assert_eq!((listing.complete, listing.items), (false, vec![made.clone()]), "case {n}");
        only(provider.lookup(vec![effect(n)]).await).unwrap_err();
        delete(&provider, n).await;
        assert!(provider.list().await.unwrap().complete, "case {n}");
    }
    assert!(outside.path().join("precious").exists());
    assert!(ground.agent(effect(1)).is_alive());
}

#[tokio::test]
async fn an_id_is_not_used_for_two_machines() {
    let ground = Ground::new();
    let provider = ground.provider();
    create(&provider, 1).await;
    let other = CreateMachine { uid: Uid(uuid::Uuid::from_u128(9)), ..wish(1) };
    assert_eq!(only(provider.create(vec![other]).await).unwrap_err().code, FaultCode::AlreadyExists);
}

#[tokio::test]
async fn a_dropped_call_still_counts() {
    let ground = Ground::new();
    let provider = ground.provider();
    {
        let mut call = std::pin::pin!(provider.create(vec![wish(1)]));
        let polled = tokio::time::timeout(std::time::Duration::ZERO, &mut call).await;
        assert!(polled.is_err());
    }
    assert_eq!(look(&provider, 1).await, Lookup::Unknown);
    loop {
        match look(&provider, 1).await {
            Lookup::Unknown => tokio::task::yield_now().await,
            Lookup::Present(machine) => break assert_eq!(machine.status, InstanceStatus::Running),
            Lookup::Absent => panic!("the call was still under way"),
        }
    }
}
