//! What those write who come from other tools: lists of all, names alone, paths, a watch, the inside of a machine.

use std::fs;

use super::support::{Lab, Running};

const MACHINES: &str = "apiVersion: bailiwick/v1
kind: Machine
metadata: {name: web}
spec:
  provider: local
  workloads: [{name: bell, command: [sh, -c, 'echo \"ding $BELL\"; echo dong; exec sleep 600'], env: {BELL: loud}}]
---
apiVersion: bailiwick/v1
kind: Volume
metadata: {name: data}
spec: {provider: local, size: 64Mi}
";

/// A node with a machine and a volume that stays.
fn stay(lab: &Lab) -> Running {
    let file = lab.manifest("habits.yaml", MACHINES);
    let node = lab.start(&["up", &file, "--timeout", "60s"]);
    node.says("ready; Ctrl-C stops the node");
    node
}

#[test]
fn objects_are_asked_for_as_other_tools_ask() {
    let lab = Lab::new();
    let node = stay(&lab);
    let out = |args: &[&str]| lab.run(args).code(0).out;
    // Lists of several kinds, for people and for programs
    let all = out(&["get", "all"]);
    assert!(all.contains("machines\nNAME") && all.contains("\nvolumes\nNAME"), "{all}");
    let json: serde_json::Value = serde_json::from_str(&out(&["get", "m,v", "-o", "json"])).expect("JSON");
    assert_eq!((&json["machine"][0]["name"], &json["volume"][0]["size"]), (&"web".into(), &"64M".into()));
    // Only some of it
    assert_eq!(out(&["get", "machine/web", "volume/data", "-o", "name"]), "machine/web\nvolume/data\n");
    assert_eq!(out(&["get", "machine", "web", "-o", "jsonpath={.status}"]), "ready\n");
    assert_eq!(out(&["get", "m", "-o", "custom-columns=N:.name,P:.provider"]), "N    P\nweb  local\n");
    assert_eq!(out(&["describe", "data", "-o", "jsonpath={.spec.size}"]), "64M\n");
    // A kind and a name, as two words or as one
    for line in ["why machine web", "why machine web phase", "who machine web", "why-not machine web ready"] {
        let one = line.replacen(" web", "/web", 1);
        let [two, one] = [line, &one].map(|line| lab.run(&line.split(' ').collect::<Vec<_>>()).code(0).out);
        assert_eq!(two, one, "{line}");
    }
    assert!(out(&["log", "machine", "web"]).contains("machine/web"));
    out(&["hold", "machine", "web", "--reason", "repair"]);
    out(&["unhold", "machine", "web"]);
    lab.run(&["who", "machine/web", "volume/data"]).code(64);
    // A terminal's lines are not broken
    for list in ["log", "status", "schedule"] {
        let shown = Running::of(lab.command(&[list]).env("COLUMNS", "80")).ended().code(0).out;
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert!(shown.lines().count() <= out(&[list, "-o", "wide"]).lines().count(), "{list}");
    }
    assert_eq!(out(&["get", "m", "--field", "status=failed", "-o", "name"]), "");
    // A shell completes what the node has
    let data = lab.data().to_str().expect("text");
    let mut asks = lab.command(&["--", "bailiwick", "--data-dir", data, "logs", "w"]);
    asks.env("BAILIWICK_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "4");
    assert_eq!(Running::of(&mut asks).ended().code(0).out, "web");
    // What nothing has is an error
    lab.run(&["get", "m", "--sort-by", "stauts"]).code(64).says("did you mean status? fields are ");
    lab.run(&["get", "machine-sets", "--sort-by", "stauts"]).code(64).says("did you mean status? fields are ");
    lab.run(&["get", "m", "-o", "jsonpath={.items[*].stauts}"]).code(64).says("did you mean status?");
    lab.run(&["describe", "webb"]).code(4).says("did you mean machine/web?");
    lab.run(&["get", "machine/wep"]).code(4).says("did you mean web?");
    lab.run(&["status", "-o", "name"]).code(64);
    // A stopped node's journal answers the same, and it is said once that it does
    node.stopped().code(0);
    let ran = lab.run(&["get", "all", "--field", "name=data"]).code(0);
    assert!(ran.out.starts_with("volumes\nNAME") && !ran.out.contains("web"), "{}", ran.out);
    assert_eq!(ran.err.matches("no node is running").count(), 1, "{}", ran.err);
    assert!(lab.run(&["describe", "data"]).code(0).out.contains("volume/data"));
}

#[test]
fn a_watch_shows_what_changes_and_outlives_the_node() {
    let lab = Lab::new();
    let node = stay(&lab);
    let watch = lab.start(&["get", "volumes", "--watch"]);
    watch.prints("data  available");
    let names = lab.start(&["get", "all", "-w", "-o", "name"]);
    names.prints("machine/web\nvolume/data\n");
    let both = lab.start(&["get", "m,v", "-w"]);
    both.prints("volumes\nNAME");
    let objects = lab.start(&["get", "m,v", "-w", "-o", "json"]);
    objects.prints("\"entity\":\"volume/data\"");
    lab.run(&["protect", "volume/data"]).code(0);
    lab.run(&["unprotect", "volume/data"]).code(0);
    let more = lab.manifest("more.yaml", MACHINES.replace("name: data", "name: more"));
    lab.run(&["apply", &more]).code(0);
    watch.prints("more  available");
    names.prints("volume/more\n");
    both.prints("more  available");
    objects.prints("\"entity\":\"volume/more\"");
    for watch in [names, both, objects] {
        watch.kill();
    }
    lab.run(&["get", "m", "-w", "-o", "custom-columns=N:.name"]).code(64);
    node.stopped().code(0);
    watch.says("waiting for the node");
    let node = stay(&lab);
    lab.run(&["delete", "volume/more"]).code(0);
    watch.prints("more  gone");
    watch.kill();
    lab.run(&["get", "volumes", "-w", "--at", "@1"]).code(64);
    node.stopped().code(0);
}

#[test]
fn the_inside_of_a_local_machine_is_shown_and_entered() {
    let lab = Lab::new();
    let node = stay(&lab);
    let logs = lab.start(&["logs", "web", "--follow"]);
    logs.prints("ding loud\ndong\n");
    assert_eq!(lab.run(&["logs", "machine/web", "bell", "--tail", "1"]).code(0).out, "dong\n");
    lab.run(&["logs", "web", "ball"]).code(4).says("did you mean bell?");
    let ran = lab.run(&["exec", "web", "--", "sh", "-c", "echo $BELL $BAILIWICK_MACHINE; pwd; exit 7"]).code(7);
    assert!(ran.out.starts_with("loud web\n") && ran.out.ends_with("/work/bell\n"), "{}", ran.out);
    lab.run(&["exec", "web", "--", "no-such-program"]).code(4).says("no-such-program");
    lab.run(&["logs", "wep"]).code(4).says("did you mean machine/web?");
    lab.run(&["delete", "web", "--wait"]).code(64);
    lab.run(&["delete", "machine", "web", "--wait"]).code(0);
    logs.ended().code(0);
    node.stopped().code(0);
}

#[test]
fn an_object_is_edited_and_a_refused_text_is_kept() {
    let lab = Lab::new();
    let node = stay(&lab);
    let edit = |editor: &str, object: &str| {
        let mut command = lab.command(&["edit", object]);
        command.env("EDITOR", editor).env_remove("VISUAL").env("TMPDIR", lab.local().parent().expect("a folder"));
        Running::of(&mut command).ended()
    };
    edit("true", "machine/web").code(0).says("nothing was changed");
    edit("false", "machine/web").code(1).says("nothing was changed");
    let changed = edit("sed -i -e s/loud/soft/", "web").code(0);
    assert!(changed.out.contains("change"), "{}", changed.out);
    let env = lab.run(&["describe", "web", "-o", "jsonpath={.spec.workloads[0].env.BELL}"]).code(0).out;
    assert_eq!(env, "soft\n");
    let refused = edit("sed -i -e s/provider/provided/", "web").code(65);
    refused.says("the text is kept: `bailiwick apply ");
    let kept = refused.err.split("bailiwick apply ").nth(1).and_then(|rest| rest.split('`').next()).expect("a path");
    assert!(fs::read_to_string(kept).expect("the text").contains("provided"));
    edit("sed -i -e s/web/wep/", "web").code(65).says("does not declare machine/web");
    edit("true", "policy/default").code(0);
    node.stopped().code(0);
}

#[test]
fn nothing_begins_while_a_provider_is_held_and_all_of_it_once_it_is_not() {
    let lab = Lab::new();
    let serve = || {
        let node = lab.start(&["serve"]);
        node.says("listening");
        node
    };
    let node = serve();
    lab.run(&["hold", "provider", "locla", "--reason", "disks"]).code(4).says("no provider named locla; it has ");
    lab.run(&["hold", "provider/local", "--reason", "new disks"]).code(0);
    let file = lab.manifest("habits.yaml", MACHINES);
    lab.run(&["apply", &file]).code(0);
    // A node that is killed knows it afterwards
    node.kill();
    let node = serve();
    let out = |args: &[&str]| lab.run(args).code(0).out;
    let waits = out(&["why-not", "machine/web", "ready"]);
    assert!(waits.contains("provider local is held by uid:") && waits.contains(": new disks"), "{waits}");
    assert!(waits.contains("`bailiwick unhold provider/local`"), "{waits}");
    let status = out(&["status"]);
    assert!(status.contains("no call to it begins, 2 objects wait for it"), "{status}");
    let row = out(&["get", "provider", "local", "-o", "jsonpath={.status} {.held} {.waiting[*]}"]);
    assert_eq!(row, "held new disks machine/web volume/data\n");
    assert!(out(&["log", "provider", "local"]).contains("held, no call begins: new disks"));
    assert!(out(&["who", "provider/local"]).contains("uid:") && out(&["why", "provider/local"]).contains("new disks"));
    lab.run(&["delete", "provider/local"]).code(1).says("bailiwick unhold provider/local");
    let made = |kind: &str| fs::read_dir(lab.local().join(kind)).map_or(0, |all| all.flatten().count());
    assert_eq!((made("machines"), made("volumes")), (0, 0), "nothing was made");
    lab.run(&["unhold", "provider/local"]).code(0);
    lab.run(&["wait", "--timeout", "60s"]).code(0);
    assert_eq!(
        out(&["get", "machine/web", "volume/data", "--field", "status!=dying", "-o", "name"]),
        "machine/web\nvolume/data\n"
    );
    assert_eq!((made("machines"), made("volumes")), (1, 1));
    lab.run(&["down", "--timeout", "60s"]).code(0);
    node.stopped().code(0);
}
