//! The command line itself: long paths, stopped nodes, usage errors, completion, colours, JSON, closed pipes.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::Signal;
use serde_json::Value;

use super::{
    observe::{nothing_left, settled},
    support::{Lab, Running},
};

#[test]
#[ignore = "takes long"]
fn a_data_directory_with_a_very_long_path() {
    let place: PathBuf = ["d".repeat(100), "e".repeat(100), "data".into()].iter().collect();
    let lab = Lab::below(&place);
    lab.up();
    let first = settled(&lab);
    let node = lab.stay();
    lab.run(&["plan", &lab.up_args()[1]]).code(0);
    lab.run(&["wait", "--for", "ready"]).code(0);
    lab.run(&["serve"]).code(5);
    node.signal(Signal::TERM);
    node.ended().code(0);
    assert_eq!(settled(&lab), first);
    lab.down();
    nothing_left(&lab);
}

#[test]
fn a_stopped_node_can_be_asked() {
    let lab = Lab::new();
    lab.run(&["status"]).code(4).says("error[no-journal]: there is no journal in");
    assert!(!lab.data().exists(), "asking makes nothing");
    fs::create_dir_all(lab.data().join("journal")).expect("a folder");
    lab.run(&["journal", "check"]).code(4).says("error[no-journal]");
    fs::remove_dir_all(lab.data()).expect("removed");
    lab.up();
    let args = lab.up_args();
    lab.run(&["plan", &args[1], &args[2]]).code(0);
    let status = lab.run(&["status", "-o", "json"]).code(0);
    serde_json::from_str::<Value>(&status.out).expect("JSON");
    lab.run(&["journal", "check"]).code(0);
    lab.run(&["journal", "stat"]).code(0);
    lab.run(&["log", "--limit", "0"]).code(64).says("--limit 0 would show nothing");
    lab.run(&["log", "--since", "@2", "--until", "@1"]).code(64).says("error[reversed]");
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policy.yaml");
    lab.run(&["audit", "replay", policy.to_str().expect("text")]).code(65).says("audit backtest --policy");
    let before = settled(&lab);
    lab.up().says("journal: clean");
    assert_eq!(settled(&lab), before);
}

#[test]
fn nobody_waits_for_a_node_that_does_not_run() {
    let lab = Lab::new();
    lab.up();
    for args in [
        &["wait"][..],
        &["wait", "machine/a"],
        &["wait", "--for", "removed", "machine/a"],
        &["wait", "--for", "stale", "machine/a"],
    ] {
        let ran = lab.run(args).code(69);
        ran.says("error[not-running]");
        assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 2), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_directory_that_cannot_be_used_is_told_as_that() {
    let lab = Lab::new();
    let file = lab.manifest("file", "no directory");
    lab.run(&["status", "--data-dir", &file]).code(65).says("error[not-an-export]").says("is not a complete export");
    for args in [&["serve"][..], &["hold", "machine/a", "--reason", "x"]] {
        let ran = lab.run(&[args, &["--data-dir", &file]].concat()).code(78);
        ran.says("error[no-directory]").says("is not a directory");
    }
    lab.run(&["wait", "--data-dir", &file]).code(69).says("is a file, and this needs a running node");
    lab.run(&["serve", "--data-dir", "/proc"]).code(78).says("choose a writable directory");
    for args in [&["status"][..], &["journal", "check"]] {
        let ran = lab.run(&[args, &["--data-dir", "/proc"]].concat()).code(4);
        ran.says("there is no journal in /proc").says("start a node in a new one");
    }
}

#[test]
#[ignore = "takes long"]
fn a_node_that_cannot_be_reached_is_told_as_that() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    lab.run(&["serve"]).code(5).says("is already running in this data directory").says("`bailiwick apply FILE`");
    fs::remove_file(lab.data().join("node.sock")).expect("removed");
    let new = lab.data().with_file_name("new");
    let new = new.to_str().expect("text");
    for args in [
        &["status"][..],
        &["delete", "machine/a"],
        &["backup", new],
        &["journal", "check"],
        &["wait"],
        &["down"],
        &["serve"],
    ] {
        lab.run(args).code(69).says("error[socket-gone]").says(&format!("kill {}", node.pid()));
    }
    assert!(!Path::new(new).exists(), "a backup that failed leaves nothing");
    node.signal(Signal::TERM);
    node.ended().code(0);
    lab.run(&["status"]).code(0);
    lab.run(&["log", "machine/nobody"]).code(4).says("machine/nobody not found");
    lab.run(&["log", "supervisor/nobody"])
        .code(4)
        .says("the supervisors are supervisor/machine-sets, supervisor/machines,");
    lab.run(&["log", "--since", "5m"]).code(64).says("did you mean -5m?");
    let pools = lab.run(&["pool", "list"]).code(0).out;
    assert!(!pools.contains("ebs") && !pools.contains("simulated"), "{pools}");
    lab.run(&["completion", "tcsh"]).code(64).says("next: did you mean zsh?");
    lab.run(&["get", "machins"]).code(64).says("did you mean machines?");
    lab.run(&["gett"]).code(64).says("next: did you mean get?");
    let hold = ["hold", "machine/clerk", "--reason", "x", "--until"];
    lab.run(&[&hold[..], &["-2h"]].concat()).code(64).says("\"-2h\" is not in the future");
}

#[test]
fn decisions_are_followed_as_they_are_made_and_explained_both_ways() {
    let lab = Lab::new();
    let node = lab.stay();
    let follow = lab.start(&["log", "machine/clerk", "-f", "--reason", "operator-holds"]);
    let hold = |reason: &str| {
        lab.run(&["hold", "machine/clerk", "--reason", reason]).code(0);
        follow.prints(reason);
        lab.run(&["unhold", "machine/clerk"]).code(0);
    };
    hold("first");
    hold("second");
    node.stopped().code(0);
    follow.says("waiting for the node");
    let node = lab.start(&["serve"]);
    node.says("listening on");
    hold("third");
    let told = follow.kill().out;
    let holds: Vec<&str> = told.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(holds.len(), 3, "none is left out, and none comes twice: {told}");

    let about = format!("@{}", holds[0]);
    let ends = lab.run(&["log", "--caused-by", &about]).code(0).out;
    assert!(ends.contains("operator-releases") || ends.contains("ended the hold"), "{ends}");
    let tells = |args: &[&str], words: &str| {
        let told = lab.run(args).code(0).out;
        assert!(told.contains(words), "{args:?}: {words:?} in {told}");
    };
    tells(&["why", &about, "--forward"], "requested by");
    tells(&["why", "machine/clerk", "hold"], "hold ended");
    tells(&["why", "machine/clerk", "hold"], "held: third");
    lab.run(&["why", "machine/clerk", "weather"]).code(64).says("use one of phase, status");
    lab.run(&["why", "@99999"]).code(4).says("entry 99999 does not exist");
    lab.run(&["log", "--cause-of", "@99999"]).code(4).says("entry 99999 does not exist");
    let requests = lab.run(&["log", "node/requests", "-o", "json"]).code(0).out;
    let requests: Value = serde_json::from_str(&requests).expect("JSON");
    tells(&["why", &format!("@{}", requests[0]["position"]), "--forward"], "machine/clerk: declared with");
    tells(&["why", "machine/clerk", "health"], "reported by agent:machine/clerk");
    node.signal(Signal::TERM);
    node.ended().code(0);
    tells(&["why", "machine/clerk", "health"], "reported by agent:machine/clerk");
}

#[test]
fn a_script_can_tell_what_failed() {
    let lab = Lab::new();
    lab.up();
    let file = lab.up_args()[1].clone();
    lab.run(&["apply", &file]).code(69);
    lab.run(&["hold", "machine/a", "--reason", "x"]).code(69);
    lab.run(&["apply", "/nowhere.yaml"]).code(66).says("error[unreadable]");
    lab.run(&["apply", &lab.manifest("bad.yaml", "kind: Machin\n")]).code(65).says("did you mean");
    lab.run(&["simulate", "/nowhere.yaml"]).code(66).says("error[unreadable]: cannot read /nowhere.yaml");
    fs::write(lab.data().join("providers.yaml"), "providers: 5\n").expect("written");
    lab.run(&["serve"]).code(78).says("error[bad-providers]");
}

#[test]
fn what_is_wrong_with_a_file_is_shown_in_lines_whoever_finds_it() {
    let lab = Lab::new();
    let node = lab.stay();
    // given what only the node can find, what a parser shows, and a policy that is none
    let dangling = "apiVersion: bailiwick/v1\nkind: Filesystem\nmetadata: {name: a}\nspec: {volume: nothing}\n";
    let applied = lab.run(&["apply", &lab.manifest("dangling.yaml", dangling)]).code(65);
    let simulated = lab.run(&["simulate", &lab.manifest("scenario.yaml", "kind: Scenario\n")]).code(65);
    let policy = "apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: default}\nspec: {nothing: 1}\n";
    let replayed = lab.run(&["audit", "backtest", "--policy", &lab.manifest("policy.yaml", policy)]).code(65);
    // then each is told as it is, and no line break as a letter
    applied
        .says("error[invalid-manifest]: the manifest does not fit what the node has; nothing was applied\n")
        .says("\n  4 | spec: {volume: nothing}\n");
    simulated.says("line 1 column 1: unknown field `kind`");
    replayed.says("error[invalid-manifest]: the policy is invalid\n").says("unknown field `nothing`");
    for ran in [&applied, &simulated, &replayed] {
        assert!(!ran.err.contains("\\n"), "{ran:?}");
    }
    node.kill();
}

#[test]
fn a_killed_nodes_directory_can_be_asked_too() {
    let lab = Lab::new();
    lab.stay().kill();
    lab.run(&["status"]).code(0);
    lab.run(&["plan", &lab.up_args()[1]]).code(0);
    lab.up();
    settled(&lab);
}

#[test]
fn usage_errors_are_64() {
    let lab = Lab::new();
    let empty: &[&str] = &[];
    for args in [
        empty,
        &["frobnicate"],
        &["up", "--frobnicate"],
        &["down", "nonsense"],
        &["down", "planet/mars"],
        &["apply"],
        &["status", "-o", "xml"],
        &["wait", "--timeout", "soon"],
        &["wait", "--for", "removed"],
        &["wait", "--for", "redy", "machine/m"],
        &["wait", "--for", "mounted", "machine/m"],
        &["completion", "cmd"],
        &["status", "--log-level", "a=b=c"],
    ] {
        let ran = lab.run(args).code(64);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{args:?}: {ran:?}");
        assert!(ran.err.starts_with("error[usage]: ") && ran.err.contains("  next: "), "{args:?}: {ran:?}");
        let ran = lab.run(&[args, &["--output=json"]].concat()).code(64);
        let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|_| panic!("{args:?}: no JSON: {}", ran.err));
        assert_eq!((&error["exit"], &error["error"]["code"]), (&64.into(), &"usage".into()), "{args:?}");
        assert!(error["error"]["next"].as_str().is_some_and(|next| !next.is_empty()), "{args:?}: {error}");
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lab.yaml");
    lab.run(&["down", manifest.to_str().expect("text")]).code(64).says("is a file, and `down` takes objects");
    assert!(!lab.data().exists());
    for args in [&["--help"][..], &["help", "up"], &["--version"]] {
        let ran = lab.run(args).code(0);
        assert!(!ran.out.is_empty() && ran.err.is_empty(), "{args:?}: {ran:?}");
    }
}

#[test]
fn completion_is_accepted_by_the_shell() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = lab.run(&["completion", shell]).code(0).out;
        assert!(script.contains("bailiwick") && script.contains("BAILIWICK_COMPLETE"), "{shell}");
        if shell != "bash" {
            continue;
        }
        let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().expect("bash");
        bash.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("read");
        assert!(bash.wait().expect("our child").success());
        // What the script then asks.
        let mut asks = lab.command(&["--", "bailiwick", "describe", "machine-s"]);
        asks.env("BAILIWICK_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
        assert_eq!(Running::of(&mut asks).ended().code(0).out, "machine-set/");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let lab = Lab::new();
    let plan = |variables: &[(&str, &str)]| {
        let lab_file = &lab.up_args()[1];
        let mut command = lab.command(&["plan", lab_file]);
        command.env("TERM", "xterm-256color").envs(variables.iter().copied());
        Running::of(&mut command).ended().code(2).out
    };
    assert!(!plan(&[]).contains('\u{1b}'), "a pipe has no colours");
    assert!(plan(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'), "unless they are forced");
    assert!(!plan(&[("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn json_is_json_and_errors_too() {
    let lab = Lab::new();
    lab.up();
    let file = lab.up_args()[1].clone();
    for args in [&["status"][..], &["plan", &file], &["journal", "check"], &["journal", "stat"]] {
        let ran = lab.run(&[args, &["-o", "json"]].concat()).code(0);
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"));
        assert_eq!(ran.err, "", "{args:?}");
    }
    let ran = lab.run(&["apply", &file, "-o", "json"]);
    let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert!(ran.code != Some(0) && error["error"]["next"].is_string(), "no node runs: {ran:?}");
    let args = lab.up_args();
    let ran = lab.run(&["up", &args[1], &args[2], "--once", "-o", "json"]).code(0);
    serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
}

#[test]
fn a_pipe_that_closes_early_is_no_error() {
    let lab = Lab::new();
    let file = lab.up_args()[1].clone();
    for args in [&["completion", "bash"][..], &["plan", &file], &["help"], &["plan", &file, "-o", "json"]] {
        let mut child = lab.command(args).spawn().expect("it starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        let status = child.wait().expect("our child");
        assert!(matches!(status.code(), Some(0 | 2)), "{args:?}: {status}: {err}");
        assert!(err.lines().all(|line| line.starts_with("note: ")), "{args:?}: {err}");
    }
    // Nobody reads what it says, and it does its work.
    let mut args = lab.up_args();
    args.push("--once".into());
    let mut child = lab.command(&args.iter().map(String::as_str).collect::<Vec<_>>()).spawn().expect("it starts");
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().expect("our child").code(), Some(0));
    settled(&lab);
}
