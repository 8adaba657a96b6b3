//! How much memory a node holds, whatever it was asked before.

use std::fs;

use rustix::process::Signal;

use super::support::Lab;

/// What a node may hold, and what each command that it remembers may add.
const RESIDENT_KIB_MAX: u64 = 64 * 1024;
const COMMAND_BYTES_MAX: u64 = 48;
/// What it holds at its start, as it is shipped, which is part of that. A development build, which is a larger program, holds
/// twice as much then, and is counted as if it held this.
const AT_START_KIB: u64 = 20 * 1024;
/// In so many requests, of so many commands each. A development build does them in about ten seconds.
const REQUESTS: u64 = 300;
const COMMANDS: u64 = 200;

/// What the kernel says of a process's memory, in KiB.
pub(super) fn kib(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("the field");
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
}

/// The same classes, with something else in each.
fn classes(revision: u64) -> String {
    let class = |number: u64| {
        format!(
            "apiVersion: bailiwick/v1\nkind: MachineClass\nmetadata: {{name: class-{number}}}\nspec: {{provider: local, \
             providerSpec: {{revision: {revision}}}}}\n"
        )
    };
    (0..COMMANDS).map(class).collect::<Vec<_>>().join("---\n")
}

#[test]
#[ignore = "takes long"]
fn a_node_that_took_many_commands_in_one_life_holds_little_memory() {
    // given a node
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    let at_start = kib(node.pid(), "VmRSS");
    // when it takes 60,000 commands, each of which it remembers
    for revision in 0..REQUESTS {
        let body = serde_json::json!({"files": [{"name": "classes.yaml", "text": classes(revision)}]}).to_string();
        let (head, answer) = lab.http("POST", "/v1/apply", &body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{answer}");
    }
    let stat: serde_json::Value = serde_json::from_str(&lab.run(&["journal", "stat", "-o", "json"]).out).expect("JSON");
    let entries = stat["total"]["entries"].as_u64().expect("a number");
    assert!(REQUESTS * COMMANDS <= entries, "each was an entry: {stat}");
    // then it holds what it said it would, at its largest, too
    let most = RESIDENT_KIB_MAX + REQUESTS * COMMANDS * COMMAND_BYTES_MAX / 1024;
    let found = ["VmHWM", "VmRSS", "RssAnon", "RssFile"].map(|field| (field, kib(node.pid(), field)));
    let held = found[0].1 - at_start + AT_START_KIB;
    assert!(held <= most, "{found:?} KiB, {at_start} at its start: counts as {held}, and {most} are allowed");
    node.signal(Signal::TERM);
    node.ended().code(0);
}
