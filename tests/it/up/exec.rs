//! Machines and volumes of a provider that is a program of somebody else's.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bailiwick::agent::process::{ProcessMark, processes_where};
use rustix::process::Signal;

use super::{
    observe::intents,
    support::{Lab, QUICK, Running, eventually},
};

/// A lab whose machines are `sleep`s of the sample provider; they are killed when it goes.
struct SampleLab {
    lab: Lab,
    manifest: String,
    quick: String,
    provider: String,
}

/// Whether there is Python 3 to run the sample with. If not, that is said; where `BAILIWICK_CI` is set, it is a failure.
pub fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !found {
        assert!(std::env::var_os("BAILIWICK_CI").is_none(), "what needs Python cannot be tested here: no python3");
        writeln!(std::io::stderr().lock(), "NOT TESTED FOR REAL: this needs python3").unwrap();
    }
    found
}

impl SampleLab {
    /// None where there is no Python; where `BAILIWICK_CI` is set, that is a failure.
    fn new() -> Option<Self> {
        if !has_python() {
            return None;
        }
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let lab = Lab::new();
        let text = |path: PathBuf| path.to_str().expect("text").to_owned();
        let provider = format!("sample=python3 '{}'", text(examples.join("provider.py")));
        let (manifest, quick) = (text(examples.join("provider.yaml")), lab.manifest("quick.yaml", QUICK));
        Some(Self { lab, manifest, quick, provider })
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let with = ["up", &self.manifest, &self.quick, "--provider", &self.provider, "--timeout", "60s"];
        [with.as_slice(), more].concat()
    }

    #[track_caller]
    fn up(&self) {
        self.lab.run(&self.args(&["--once"])).code(0);
    }

    fn state(&self) -> PathBuf {
        self.lab.data().join("exec/sample/state")
    }

    /// What is there: the effect ids of each kind.
    fn things(&self) -> BTreeMap<String, Vec<String>> {
        let mut things: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in fs::read_dir(self.state()).expect("its directory").flatten() {
            let Ok(text) = fs::read(entry.path().join("thing.json")) else { continue };
            let thing: serde_json::Value = serde_json::from_slice(&text).expect("what it wrote");
            let kind = thing["kind"].as_str().expect("a kind").to_owned();
            things.entry(kind).or_default().push(entry.file_name().to_string_lossy().into_owned());
        }
        things.values_mut().for_each(|ids| ids.sort());
        things
    }

    /// The machines' processes.
    fn sleeps(&self) -> Vec<ProcessMark> {
        let state = self.state();
        let is_home = |pid: u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|home| home.starts_with(&state));
        processes_where(|pid, _| is_home(pid)).expect("a list of processes")
    }

    /// The provider's process.
    fn provider(&self) -> ProcessMark {
        let mark = fs::read(self.lab.data().join("exec/sample/process.json")).expect("it is noted");
        serde_json::from_slice(&mark).expect("what was noted")
    }

    #[track_caller]
    fn stay(&self) -> Running {
        let node = self.lab.start(&self.args(&[]));
        node.says("ready; Ctrl-C stops the node");
        node
    }
}

impl Drop for SampleLab {
    fn drop(&mut self) {
        for sleep in self.sleeps() {
            let _ = sleep.signal(Signal::KILL);
        }
    }
}

#[test]
fn a_manifest_becomes_real_is_found_again_and_goes() {
    let Some(sample) = SampleLab::new() else { return };
    sample.up();
    let (things, sleeps) = (sample.things(), sample.sleeps());
    let counts: Vec<_> = things.iter().map(|(kind, ids)| (kind.as_str(), ids.len())).collect();
    assert_eq!(counts, [("attachment", 1), ("machine", 2), ("volume", 1)]);
    assert_eq!(sleeps.len(), 2, "two machines run although their provider has ended");
    assert!(!sample.lab.data().join("exec/sample/process.json").exists(), "the provider has ended in order");
    let disk = sample.state().join(&things["volume"][0]).join("disk");
    assert_eq!(fs::metadata(disk).expect("a disk").len(), 16 << 20);

    sample.up();
    assert_eq!((sample.things(), sample.sleeps()), (things, sleeps), "the same again makes nothing anew");
    assert!(intents(&sample.lab).values().all(|intents| *intents == 1));

    // No agent runs inside, so none is said to have reported.
    let why = sample.lab.run(&["why", "machine/napper", "health"]).code(0).out;
    let told = ["machine/napper: provider sample reported: running", "reported by provider:sample"];
    assert!(told.iter().all(|told| why.contains(told)) && !why.contains("agent"), "{why}");

    // It need not be named again: its machines are still there.
    sample.lab.run(&["down", "--timeout", "60s"]).code(0);
    assert_eq!((sample.things().len(), sample.sleeps().len()), (0, 0));
}

/// Nobody told the node: it has no agents there, and the first list comes when the journal was read long ago.
#[test]
#[ignore = "takes long"]
fn machines_that_died_while_no_node_was_there_are_replaced_before_all_is_so() {
    let Some(sample) = SampleLab::new() else { return };
    sample.up();
    let (before, sleeps) = (sample.things()["machine"].clone(), sample.sleeps());
    for sleep in &sleeps {
        assert!(sleep.signal(Signal::KILL).expect("it is ours"));
    }
    eventually("all are dead", || sleeps.iter().all(|sleep| !sleep.is_alive()));
    sample.up();
    assert_eq!(sample.sleeps().len(), 2, "two machines run again");
    assert!(sample.things()["machine"].iter().all(|effect| !before.contains(effect)), "they are others");
}

#[test]
#[ignore = "takes long"]
fn a_provider_that_is_killed_comes_back_and_the_node_goes_on() {
    let Some(sample) = SampleLab::new() else { return };
    let node = sample.stay();
    let first = sample.provider();
    assert!(first.signal(Signal::KILL).expect("it is ours"));
    node.says("restarting it");
    let third = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: third}\nspec: {provider: sample}\n";
    let third = sample.lab.manifest("third.yaml", third);
    sample.lab.run(&["apply", &third, "--wait", "--timeout", "60s"]).code(0);
    assert_eq!(sample.sleeps().len(), 3);
    let second = sample.provider();
    assert_ne!(first, second);
    node.signal(Signal::TERM);
    node.ended().code(0);
    assert!(!second.is_alive(), "it has ended with the node");
    assert!(intents(&sample.lab).values().all(|intents| *intents == 1), "nothing was made twice");
}

#[test]
fn what_waits_for_the_budget_of_its_provider_says_so() {
    let Some(sample) = SampleLab::new() else { return };
    let (_, command) = sample.provider.split_once('=').expect("as it was made");
    let words = bailiwick::providers::exec::command_words(command).expect("words");
    fs::create_dir_all(sample.lab.data()).expect("a directory");
    let file = format!("providers: {{sample: {{command: {words:?}, budget: {{perSecond: 0.02, burst: 1}}}}}}");
    fs::write(sample.lab.data().join("providers.yaml"), file).expect("written");
    fs::set_permissions(sample.lab.data(), fs::Permissions::from_mode(0o700)).expect("its owner's");
    let node = sample.lab.start(&["up", &sample.manifest, &sample.quick, "--timeout", "60s"]);
    node.says("machine/sleeper is creating");
    let waits = "waits for the budget of provider sample (0.02 calls a second, 1 at once); next call in ";
    eventually("status says what it waits for", || sample.lab.run(&["status"]).out.contains(waits));
    let why_not = sample.lab.run(&["why-not", "machine/sleeper", "ready"]).code(0);
    assert!(why_not.out.contains("a larger `budget` of sample in providers.yaml"), "{why_not:?}");
    let (_, metrics) = sample.lab.http("GET", "/v1/metrics", "");
    assert!(metrics.contains("bailiwick_provider_calls_total{provider=\"sample\"}"), "{metrics}");
    assert!(sample.things().is_empty(), "nothing went out before its time");
    node.kill();
}

#[test]
fn a_killed_node_finds_everything_again() {
    let Some(sample) = SampleLab::new() else { return };
    let node = sample.lab.start(&sample.args(&[]));
    node.says("machine/sleeper is creating");
    node.kill();
    sample.up();
    assert_eq!(sample.sleeps().len(), 2);
    let before = sample.sleeps();
    let node = sample.stay();
    let provider = sample.provider();
    node.kill();
    eventually("the provider ends with the node", || !provider.is_alive());
    sample.up();
    assert_eq!(sample.sleeps(), before);
    assert!(intents(&sample.lab).values().all(|intents| *intents == 1), "{:?}", intents(&sample.lab));
}

#[test]
#[ignore = "takes long"]
fn a_machine_that_dies_is_replaced() {
    let Some(sample) = SampleLab::new() else { return };
    let node = sample.stay();
    let before = sample.sleeps();
    assert!(before[0].signal(Signal::KILL).expect("it is ours"));
    eventually("another one runs in its place", || {
        let after = sample.sleeps();
        after.len() == 2 && after.contains(&before[1]) && !after.contains(&before[0])
    });
    sample.lab.run(&["wait", "--timeout", "60s"]).code(0);
    sample.lab.run(&["pool", "create", "gold", "exec", "provider=smaple"]).code(5).says("did you mean sample?");
    // A node from its backup has the provider as well; without it, it says so.
    let copy = sample.lab.data().with_file_name("copy");
    sample.lab.run(&["backup", copy.to_str().expect("text")]).code(0);
    assert!(copy.join("exec/sample/command.json").exists());
    node.signal(Signal::TERM);
    node.ended().code(0);
    fs::remove_dir_all(copy.join("exec")).expect("removed");
    let without = sample.lab.start(&["serve", "--data-dir", copy.to_str().expect("text")]);
    without.says("has no provider sample, and creates and removes nothing of it (3 objects)");
    without.signal(Signal::TERM);
    without.ended().code(0);
    assert_eq!(sample.things()["machine"].len(), 2, "what was left of it is gone");
}

const SET: &str = "apiVersion: bailiwick/v1
kind: MachineSet
metadata: {name: naps}
spec:
  replicas: 1
  template:
    spec:
      provider: sample
      storage: {scratch: {volume: 'fast,1M,2', persistent: false}}
";

/// The volumes come with the instance that the provider creates, with the next one if that dies, and go with the set; the
/// node asks for no volume.
#[test]
#[ignore = "takes long"]
fn volumes_and_network_come_with_an_instance() {
    let Some(sample) = SampleLab::new() else { return };
    let node = sample.stay();
    let lab = &sample.lab;
    lab.run(&["pool", "create", "fast", "external", "provider=sample", "tier=gold"]).code(0);
    let set = lab.manifest("set.yaml", SET);
    lab.run(&["apply", &set, "--wait", "--timeout", "60s"]).code(0);
    let volume = |of: &str| -> serde_json::Value {
        let ran = lab.run(&["get", "volume", "naps-1-scratch-1", "-o", "json"]).code(0);
        let read: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        read.pointer(of).unwrap_or_else(|| panic!("no {of}: {read:#}")).clone()
    };
    assert_eq!((volume("/0/ready"), volume("/0/attachedTo")), (true.into(), "naps-1".into()));
    let told = |args: &[&str], words: &[&str]| {
        let out = lab.run(args).code(0).out;
        words.iter().for_each(|words| assert!(out.contains(words), "{args:?} does not say {words:?}: {out}"));
    };
    let because = "because it was created with the instance of its machine";
    told(&["why", "volume/naps-1-scratch-1"], &["came with instance sleep-", because]);
    let beside = "network devices: lo; volumes naps-1-scratch-0, naps-1-scratch-1 came with it";
    told(&["log", "machine/naps-1"], &[beside]);
    assert_eq!(sample.things()["volume"].len(), 1, "that of the manifest alone");

    let created = volume("/0/volumeId");
    let its = |mark: &ProcessMark| {
        let home = fs::read_link(format!("/proc/{}/cwd", mark.pid)).unwrap_or_default();
        home.join("naps-1-scratch-0").exists()
    };
    let asleep = sample.sleeps().into_iter().find(its).expect("its process");
    assert!(asleep.signal(Signal::KILL).expect("it is ours"));
    eventually("its volumes come with the next instance", || {
        volume("/0/ready") == true && volume("/0/volumeId") != created
    });
    lab.run(&["delete", "machine-set/naps", "--wait", "--timeout", "60s"]).code(0);
    lab.run(&["get", "volume", "naps-1-scratch-1"]).code(4);
    lab.run(&["audit", "replay"]).code(0);
    node.signal(Signal::TERM);
    node.ended().code(0);
}

/// The provider does what is asked, and dies before it says so: once for each thing that it makes.
#[test]
#[ignore = "takes long"]
fn what_was_made_and_never_told_is_adopted() {
    let Some(mut sample) = SampleLab::new() else { return };
    let (_, command) = sample.provider.split_once('=').expect("as it was made");
    let words = bailiwick::providers::exec::command_words(command).expect("words");
    let text = fs::read_to_string(&words[1]).expect("the sample");
    let die = [
        "done = guarded(serve, *asked[\"op\"].partition(\"-\"), asked)",
        "mark = os.path.join(STATE, \"died-at-\" + asked[\"op\"])",
        "if asked[\"op\"][:2] in (\"cr\", \"at\") and not os.path.exists(mark):",
        "    os.mkdir(mark)",
        "    os._exit(9)",
        "if \"op\" in asked:",
    ];
    let answers = "        if \"op\" in asked:\n";
    assert!(text.contains(answers), "the sample has changed");
    let dies: String = die.iter().map(|line| format!("        {line}\n")).collect();
    let dying = sample.lab.manifest("dying.py", text.replace(answers, &dies));
    sample.provider = format!("sample=python3 '{dying}'");
    sample.up();
    let deaths = fs::read_dir(sample.state()).expect("its directory").flatten();
    let deaths = deaths.filter(|entry| entry.file_name().to_string_lossy().starts_with("died-at-")).count();
    assert_eq!(deaths, 3, "creating machines, creating volumes, attaching");
    assert_eq!(sample.sleeps().len(), 2);
    assert!(intents(&sample.lab).values().all(|intents| *intents == 1), "{:?}", intents(&sample.lab));
}

#[test]
#[ignore = "takes long"]
fn providers_stand_in_a_file_too() {
    let Some(sample) = SampleLab::new() else { return };
    fs::create_dir_all(sample.lab.data()).expect("a directory");
    let (_, command) = sample.provider.split_once('=').expect("as it was made");
    let words = bailiwick::providers::exec::command_words(command).expect("words");
    let file = serde_json::json!({"providers": {"sample": {"command": words}}});
    fs::write(sample.lab.data().join("providers.yaml"), file.to_string()).expect("written");
    let args = ["up", &sample.manifest, &sample.quick, "--timeout", "60s", "--once"];
    sample.lab.run(&args).code(0);
    assert_eq!(sample.sleeps().len(), 2);
    sample.lab.run(&["down", "--timeout", "60s"]).code(0);
    assert!(sample.sleeps().is_empty());
}

#[test]
fn a_provider_that_is_broken_holds_up_nobody_else() {
    let lab = Lab::new();
    let machine = |name: &str, provider: &str| {
        format!("apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: {name}}}\nspec: {{provider: {provider}}}\n")
    };
    let mixed = lab.manifest("mixed.yaml", [machine("good", "local"), machine("bad", "broken")].join("---\n"));
    let quick = lab.manifest("quick.yaml", QUICK);
    let node = lab.start(&["up", &mixed, &quick, "--provider", "broken=echo I am no provider"]);
    node.says("machine/good is ready");
    eventually("it is told what is wrong with the other", || {
        let told = lab.run(&["describe", "machine/bad", "-o", "json"]).code(0);
        told.out.contains("not a JSON object") || told.out.contains("process ended")
    });
    node.signal(Signal::TERM);
    node.ended().code(0);
}

#[test]
fn a_provider_that_was_forgotten_is_named() {
    let Some(sample) = SampleLab::new() else { return };
    let ran = sample.lab.run(&["up", &sample.manifest, "--once", "--timeout", "60s"]).code(5);
    ran.says("names provider sample, which this node does not have");
}

#[test]
#[ignore = "takes long"]
fn a_good_provider_is_judged_good_and_a_bad_one_is_not() {
    let Some(sample) = SampleLab::new() else { return };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let file = examples.join("provider.py");
    let file = file.to_str().expect("text");
    let ran = sample.lab.run(&["provider", "check", "python3", "-o", "json", "--only", "process/", "--", file]).code(0);
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("json");
    assert_eq!((&report["score"], &report["failed"]), (&100.into(), &0.into()));
    let ran = sample.lab.run(&["provider", "check", "false", "--only", "process/"]).code(3);
    assert!(ran.out.contains("score 0 of 100"), "{}", ran.out);
    sample.lab.run(&["provider", "check", "false", "--only", "no such check"]).code(64);
    // What cannot be started is no bad provider: it is said once, with what helps.
    let plain = sample.lab.manifest("plain.py", "#!/usr/bin/env python3\n");
    let ran = sample.lab.run(&["provider", "check", &plain]).code(1);
    assert!(ran.err.contains("chmod +x") && ran.err.contains("python3 -- "), "{}", ran.err);
    let ran = sample.lab.run(&["provider", "check", "./nobody-is-there"]).code(1);
    assert!(ran.err.contains("check the path"), "{}", ran.err);
}
