//! Machines that die, and agents that fall silent.

use std::{fs, path::Path};

use rustix::process::Signal;

use bailiwick::{agent::process::ProcessMark, config::journal_dir};

use super::{
    observe::{intents, settled},
    support::{Lab, QUICK, Running, eventually, run_in as run},
};

#[track_caller]
fn signal(pid: u32, signal: Signal) {
    let agent = ProcessMark::of(pid).expect("it runs");
    assert!(agent.signal(signal).expect("it is ours"));
}

#[track_caller]
fn kill(pid: u32) {
    let agent = ProcessMark::of(pid).expect("it runs");
    assert!(agent.signal(Signal::KILL).expect("it is ours"));
    eventually("the agent is dead", || !agent.is_alive());
}

#[test]
fn a_machine_that_died_while_the_node_was_down_is_replaced() {
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    let (lost, pid) = before.machines["clerk"];
    kill(pid);
    lab.up();
    let after = settled(&lab);
    let (made, _) = after.machines["clerk"];
    assert_ne!(made, lost, "it has a new effect id");
    assert!(!lab.local().join("machines").join(lost.to_string()).exists());
    assert_eq!(after.volumes, before.volumes, "volumes stay");
    assert_eq!(after.attachments["clerk:ledger"], (made, before.volumes["ledger"]));
    assert_eq!(after.machines["idler"], before.machines["idler"], "others are left alone");
    let intents = intents(&lab);
    assert_eq!((intents["machine/clerk"], intents["volume-attachment/clerk:ledger"]), (2, 2));
    assert_eq!((intents["machine/idler"], intents["volume/ledger"]), (1, 1));
}

#[test]
fn all_machines_dead_at_once_are_replaced() {
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    before.machines.values().for_each(|(_, pid)| kill(*pid));
    lab.up();
    let after = settled(&lab);
    assert!(before.machines.iter().all(|(name, (effect, _))| after.machines[name].0 != *effect));
    assert_eq!(after.volumes, before.volumes);
}

#[test]
#[ignore = "takes long"]
fn a_machine_that_dies_while_the_node_runs_is_replaced() {
    let lab = Lab::new();
    let node = lab.stay();
    let directories = lab.local().join("machines");
    let pid_of = |machine: &str| {
        fs::read_dir(&directories).expect("readable").flatten().find_map(|entry| {
            let read = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
            let tag: serde_json::Value = serde_json::from_str(&read("machine.json")?).ok()?;
            let mark: ProcessMark = serde_json::from_str(&read("process.json")?).ok()?;
            (tag["machine"] == machine && mark.is_alive()).then_some(mark.pid)
        })
    };
    let first = pid_of("builder").expect("it runs");
    kill(first);
    node.says("machine/builder was replaced");
    eventually("another one runs", || pid_of("builder").is_some_and(|pid| pid != first));
    eventually("everything is ready again", || lab.run(&["wait", "--timeout", "1s"]).code == Some(0));
    let running = what_another_policy_would_have_done(&lab);
    node.signal(Signal::TERM);
    node.ended().code(0);
    assert_eq!(what_another_policy_would_have_done(&lab), running, "the stopped node's journal says the same");
    // From wherever this node could have crashed, in whatever state that left the world, it would have come here.
    let swept = lab.run(&["chaos", "crash-sweep", "-o", "json"]).code(0);
    let export = lab.manifest("journal.ndjson", "");
    lab.run(&["journal", "export", &export]).code(0);
    let of_export = lab.run(&["chaos", "crash-sweep", &export, "--every", "10", "-o", "json"]).code(0);
    assert!(of_export.out.contains("\"stuck\": 0"), "an export is as good: {of_export:?}");
    let swept: serde_json::Value = serde_json::from_str(&swept.out).expect("JSON");
    assert!(swept["converged"].as_u64() > Some(20) && swept["trials"].as_array().map(Vec::len) > Some(20), "{swept}");
    settled(&lab);
    assert_eq!(intents(&lab)["machine/builder"], 2);
}

/// With the settings that are in force nothing comes out differently; with others, each decision that does is named.
fn what_another_policy_would_have_done(lab: &Lab) -> serde_json::Value {
    let keep = QUICK.replacen("poll:", "whenLost: keep, poll:", 1);
    let (own, keep) = (lab.manifest("own.yaml", QUICK), lab.manifest("keep.yaml", keep));
    let backtest = |file: &str| -> serde_json::Value {
        let ran = lab.run(&["audit", "backtest", "--policy", file, "-o", "json"]);
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
    };
    assert_eq!(backtest(&own)["flips"].as_array().map(Vec::len), Some(0));
    let ran = lab.run(&["audit", "backtest", "--policy", &keep]).code(2);
    assert!(ran.out.contains("instance-gone-kept instead of instance-gone"), "{ran:?}");
    // What would only have been due at another time is told as moments, not as another decision.
    let later = lab.manifest("later.yaml", format!("{QUICK}  health: {{creationTimeout: 1h}}\n"));
    let ran = lab.run(&["audit", "backtest", "--policy", &later]).code(2);
    assert!(ran.out.contains("other events       0") && ran.out.contains("due at 20"), "{ran:?}");
    assert!(!ran.out.contains("the events differ"), "{ran:?}");
    backtest(&keep)["groups"].clone()
}

#[test]
fn machines_end_when_somebody_removes_everything() {
    let lab = Lab::new();
    lab.up();
    assert!(!lab.processes().is_empty());
    // Agents and workloads may be writing while we remove.
    eventually("it is removed", || fs::remove_dir_all(lab.data()).is_ok() || !lab.data().exists());
    eventually("nothing runs any more", || lab.processes().is_empty());
}

#[test]
fn a_node_whose_directory_was_removed_leaves_alone_what_is_put_in_its_place() {
    // given a node that has not noticed yet that its directory was removed
    let lab = Lab::new();
    let first = lab.start(&["serve"]);
    first.says("listening on");
    first.signal(Signal::STOP);
    let is_stopped = |task: fs::DirEntry| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|state| state.starts_with(" T"))
    };
    let tasks = || fs::read_dir(format!("/proc/{}/task", first.pid())).expect("it is there").flatten();
    eventually("none of its threads goes on", || tasks().all(is_stopped));
    fs::remove_dir_all(lab.data()).expect("removed");
    // when another one is made and started there, and the first one goes on and ends
    let second = lab.start(&["serve"]);
    second.says("listening on");
    first.signal(Signal::CONT);
    assert_ne!(first.ended().code, Some(0));
    // then the second one still answers at its socket, and its journal is as it left it
    assert!(lab.http("GET", "/v1/node", "").0.contains("200 OK"));
    second.signal(Signal::TERM);
    second.ended().code(0);
    let checked = lab.run(&["journal", "check"]).code(0);
    assert!(checked.out.contains("whole"), "{checked:?}");
}

#[test]
#[ignore = "takes long"]
fn a_silent_agent_is_stale_until_it_is_back() {
    let lab = Lab::new();
    lab.up();
    let (_, pid) = settled(&lab).machines["idler"];
    let node = lab.stay();
    signal(pid, Signal::STOP);
    node.says("machine/idler is stale");
    signal(pid, Signal::CONT);
    node.says_times("machine/idler is ready", 2);
    node.signal(Signal::INT);
    node.ended().code(0);
    assert_eq!(settled(&lab).machines["idler"].1, pid, "it is the same one");
}

#[test]
fn exported_lines_make_the_same_journal_again_and_changed_ones_none() {
    let lab = Lab::new();
    lab.up();
    lab.down();
    let (file, new) = (lab.data().with_file_name("lines"), lab.data().with_file_name("new"));
    let name = file.to_str().expect("text");
    lab.run(&["journal", "export", name]).code(0);
    let lines = fs::read_to_string(&file).expect("text");
    // Who asked is the user at the other end of the socket.
    let principal = format!("\"uid:{}\"", rustix::process::geteuid().as_raw());
    assert!(lines.contains(&principal), "{principal}");
    fs::write(&file, lines.replacen(&principal, "\"uid:1234\"", 1)).expect("written");
    let refused = run(&new, &["journal", "import", name]).code(6);
    assert!(
        refused.err.contains("do not give its hash") && refused.err.contains("export the journal again"),
        "{refused:?}"
    );
    // What was refused is in nobody's way; what was taken in is.
    fs::write(&file, &lines).expect("written");
    run(&new, &["journal", "import", name]).code(0);
    run(&new, &["journal", "import", name]).code(5);
    run(&new, &["audit", "replay"]).code(0);
    assert_eq!(run(&new, &["journal", "export", "-"]).code(0).out, lines);
}

/// The size of sled's segments, as the journal sets it.
const SEGMENT_BYTES: usize = 2 * 1024 * 1024;

/// Puts sled's first segment behind itself, and takes its snapshot away, as a restore of half a directory may: sled 0.34
/// panics on two segments with one number.
fn twin_the_first_segment(sled: &Path) {
    let mut bytes = fs::read(sled.join("db")).expect("readable");
    bytes.resize(SEGMENT_BYTES, 0);
    bytes.extend_from_within(..);
    fs::write(sled.join("db"), bytes).expect("written");
    for entry in fs::read_dir(sled).expect("readable").flatten() {
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            fs::remove_file(entry.path()).expect("removed");
        }
    }
}

#[test]
#[ignore = "takes long"]
fn a_panic_inside_of_sled_is_told_in_one_line_and_the_store_is_built_anew() {
    // given a store that sled panics on
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    twin_the_first_segment(&journal_dir(lab.data()).join("sled"));
    // when the node starts, where every panic has a stack trace
    let args = ["up", "--once", "--timeout", "60s"];
    let ran = Running::of(lab.command(&args).env("RUST_BACKTRACE", "full")).ended().code(0);
    // then that is one line, and everything is there
    let of_panic: Vec<&str> = ran.err.lines().filter(|line| line.contains("duplicate segment LSN")).collect();
    assert!(of_panic.len() == 1 && of_panic[0].contains("the block store failed inside sled"), "{}", ran.err);
    for raw in ["panicked at", "stack backtrace", "RUST_BACKTRACE", "rust_begin_unwind"] {
        assert!(!ran.err.contains(raw), "{raw}: {}", ran.err);
    }
    ran.says("REPAIRED: block store rebuilt from the log");
    assert_eq!(settled(&lab), before);
    lab.run(&["journal", "check"]).code(0);
    let again = lab.up();
    assert!(!again.err.contains("REPAIRED"), "it was repaired once: {}", again.err);
}

#[test]
fn a_journal_that_lost_history_is_salvaged_into_a_new_one() {
    let lab = Lab::new();
    lab.up();
    lab.down();
    // A copy without sled, and with a hole in the middle of its log.
    let damaged = lab.data().with_file_name("damaged");
    let (from, to) = (journal_dir(lab.data()), journal_dir(&damaged));
    fs::create_dir_all(to.join("log")).expect("made");
    for name in ["FORMAT", "head", "lock", "log/0000000001.log"] {
        fs::copy(from.join(name), to.join(name)).expect("copied");
    }
    let log = to.join("log/0000000001.log");
    let mut bytes = fs::read(&log).expect("readable");
    let written = bytes.iter().rposition(|byte| *byte != 0).expect("it is not empty");
    bytes[written / 2] ^= 0xFF;
    fs::write(&log, &bytes).expect("written");
    let refused = run(&damaged, &["status"]).code(6);
    assert!(refused.err.contains("journal salvage DIR --into NEWDIR"), "{refused:?}");
    let new = lab.data().with_file_name("new");
    let (old, into) = (damaged.to_str().expect("text"), new.to_str().expect("text"));
    let salvaged = run(&damaged, &["journal", "salvage", old, "--into", into]).code(0);
    // Which entries a block holds differs from run to run, and so does whether events of a stream are missing then.
    assert!(salvaged.out.contains("lost or skipped  entr"), "{salvaged:?}");
    assert_eq!(fs::read(&log).expect("readable"), bytes, "the old one is only read");
    run(&new, &["journal", "check"]).code(0);
    run(&new, &["status"]).code(0);
    run(&damaged, &["journal", "salvage", old, "--into", into]).code(5);
}
