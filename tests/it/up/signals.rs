//! Ctrl-C, SIGTERM, and two nodes on one directory.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use bailiwick::{config::journal_dir, journal::ReadOnlyJournal};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{
    observe::{nothing_made, settled},
    support::{Lab, Running, eventually},
};

#[test]
fn sigterm_stops_in_order_and_machines_keep_running() {
    let lab = Lab::new();
    let node = lab.stay();
    node.signal(Signal::TERM);
    node.ended().code(0).says("stopped; machines keep running");
    let before = settled(&lab);
    assert!(!lab.data().join("node.sock").exists());
    lab.up().says("journal: clean");
    assert_eq!(settled(&lab), before);
}

#[test]
fn ctrl_c_reaches_the_node_and_no_machine() {
    let lab = Lab::new();
    let args = lab.up_args();
    let mut command = lab.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    // A terminal sends it to the whole group in the foreground.
    let node = Running::of(command.process_group(0));
    node.says("ready; Ctrl-C stops the node");
    let group = Pid::from_raw(node.pid().try_into().expect("a pid")).expect("a pid");
    kill_process_group(group, Signal::INT).expect("it is ours");
    node.ended().code(0);
    let before = settled(&lab);
    assert_eq!(before.machines.len(), 3);
    lab.up().says("journal: clean");
    assert_eq!(settled(&lab), before);
}

#[test]
fn ctrl_c_in_the_middle_stops_in_order_too() {
    let lab = Lab::new();
    let args = lab.up_args();
    let node = lab.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    node.says("machine/clerk is creating");
    node.signal(Signal::INT);
    node.ended().code(0);
    lab.up().says("journal: clean");
    settled(&lab);
}

#[test]
fn a_node_whose_directory_is_removed_ends_and_says_so() {
    // given a node that runs
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    // when somebody removes its data directory, though it may still be writing there
    eventually("it is removed", || fs::remove_dir_all(lab.data()).is_ok() || !lab.data().exists());
    // then it ends by itself, and tells what to do next
    node.ended().code(74).says("was removed, so the node ended").says("restore a backup");
    // What sled made there once more while it was closed is no journal.
    let _ = fs::remove_dir_all(lab.data());
}

#[test]
fn a_signal_while_it_starts_is_heard() {
    let lab = Lab::new();
    lab.run(&["down"]).code(4);
    assert!(!lab.data().exists(), "nothing is made to be taken down");
    for args in [&["serve"][..], &["up"], &["up", "--once"]] {
        let lab = Lab::new();
        let node = lab.start(args);
        node.says("journal: new journal");
        node.signal(Signal::TERM);
        node.ended().code(0);
        lab.run(&["up", "--once"]).code(0).says("journal: clean");
    }
}

#[test]
fn a_second_node_is_refused_with_the_holder() {
    let lab = Lab::new();
    let node = lab.stay();
    for args in [&["serve"][..], &["up"], &["up", "--once"]] {
        let refused = lab.run(args).code(5);
        refused.says(&node.pid().to_string());
    }
    node.signal(Signal::TERM);
    node.ended().code(0);
    settled(&lab);
}

#[test]
#[ignore = "takes long"]
fn everything_goes_beside_a_running_node_that_runs_on() {
    let lab = Lab::new();
    let node = lab.stay();
    lab.run(&["down"]).code(0).says("everything is gone; the node is still running");
    nothing_made(&lab);
    lab.run(&["wait"]).code(0);
    // What is on its way out already is waited for too.
    lab.run(&["apply", &lab.up_args()[1], "--wait"]).code(0);
    lab.run(&["wait", "attachment/clerk:ledger", "--for", "attached"]).code(0);
    lab.run(&["delete", "--all"]).code(0);
    lab.run(&["down"]).code(0).says("everything is gone");
    nothing_made(&lab);
    let (args, all) = (lab.up_args(), ["delete", "--all", "--wait"]);
    for going in [&["delete", "-f", &args[1], "--wait"][..], &all] {
        lab.run(&["apply", &args[1], "--wait"]).code(0);
        lab.run(going).code(0);
        nothing_made(&lab);
        lab.run(going).code(0).says("nothing to delete");
    }
    lab.run(&["delete", "--all", "machine/clerk"]).code(64);
    lab.run(&["delete"]).code(64);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// Whether the thread of a process's node has waited for something that often.
fn has_waited(pid: u32, times: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.into_iter().any(|task| {
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let status = read("status");
        let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        read("comm").trim() == "bailiwick-node" && waits.and_then(|waits| waits.trim().parse().ok()) > Some(times)
    })
}

#[test]
fn a_start_waits_for_whoever_reads_the_journal() {
    let lab = Lab::new();
    let serve = || lab.start(&["serve"]);
    let node = serve();
    node.says("listening on");
    node.signal(Signal::TERM);
    node.ended().code(0);
    let reader = ReadOnlyJournal::open(&journal_dir(lab.data())).expect("readable");
    let mut node = serve();
    eventually("it has waited a while", || has_waited(node.pid(), 10) || node.is_over());
    assert!(!node.is_over(), "it waits");
    drop(reader);
    node.says("listening on");
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// An allocator reads this when its process begins, so the node begins once more.
#[test]
fn a_node_has_its_allocator_give_back_what_is_free() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    let environment = fs::read(format!("/proc/{}/environ", node.pid())).expect("its environment");
    let has = |text: &str| environment.split(|byte| *byte == 0).any(|one| one == text.as_bytes());
    for setting in ["MIMALLOC_PURGE_DELAY=0", "MIMALLOC_ARENA_EAGER_COMMIT=0", "MIMALLOC_PAGE_RECLAIM_ON_FREE=-1"] {
        assert!(has(setting), "pages stay with the node: {setting}");
    }
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// With less address space than it reserves, threads do not start, or an allocation ends the process, in the middle of its work.
#[test]
fn a_node_with_a_limit_of_memory_that_is_too_small_does_not_start_and_says_what_is_enough() {
    let lab = Lab::new();
    let serve = lab.command(&["serve"]);
    // In KiB. A binary that is not optimised has 180 MiB, which have to fit before it can say anything.
    for limit in ["300000", "1600000"] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v $0 && exec \"$@\"", limit]).arg(serve.get_program()).args(serve.get_args());
        limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = Running::of(&mut limited).ended().code(71);
        ran.says("error[memory-limit]").says("to 4096 MiB");
        assert!(!ran.err.contains("free space"), "{ran:?}");
    }
    assert!(!lab.data().exists(), "nothing was made");
}

/// A control group with a limit of memory, which is removed with the value.
struct Group(PathBuf);

impl Group {
    /// None where nobody may make one; that is said.
    fn of_mib(mib: u64) -> Option<Self> {
        let name = format!("bailiwick-test-{}", std::process::id());
        // Version 1, and version 2 where its controller of memory may be used below the root.
        for (root, file) in [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")] {
            let group = Self(Path::new(root).join(&name));
            let is_made = fs::create_dir(&group.0).is_ok() && group.0.join("cgroup.procs").exists();
            if is_made && fs::write(group.0.join(file), (mib << 20).to_string()).is_ok() {
                return Some(group);
            }
        }
        let told = "NOT TESTED FOR REAL: no control group with a limit of memory can be made here\n";
        std::io::Write::write_all(&mut std::io::stderr().lock(), told.as_bytes()).expect("told");
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It is busy for as long as the last process is being cleared away.
        eventually("the group is removed", || fs::remove_dir(&self.0).is_ok() || !self.0.exists());
    }
}

/// What MemoryMax of a systemd unit and --memory of a container are to the process.
#[test]
fn a_node_in_a_control_group_with_too_little_memory_does_not_start_and_says_what_is_enough() {
    let lab = Lab::new();
    let serve = lab.command(&["serve"]);
    let Some(group) = Group::of_mib(32) else { return };
    let mut limited = Command::new("sh");
    limited.args(["-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\""]).arg(&group.0);
    limited.arg(serve.get_program()).args(serve.get_args());
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = Running::of(&mut limited).ended().code(71);
    ran.says("error[memory-limit]: memory is limited to 32 MiB by").says(&group.0.display().to_string());
    ran.says("raise it to 64 MiB or more");
    assert!(!lab.data().exists(), "nothing was made");
}
