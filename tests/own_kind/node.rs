use std::{fs, path::PathBuf, process::Command};

use crate::{
    program::program,
    registered,
    support::{Lab, Ran, Running, eventually},
};

fn command(lab: &Lab, args: &[&str]) -> Command {
    let of_lab = lab.command(args);
    let mut command = Command::new(program());
    command.args(of_lab.get_args()).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn run(lab: &Lab, args: &[&str]) -> Ran {
    Running::of(&mut command(lab, args)).ended()
}

/// What the provider keeps: the text of each file.
fn addresses(lab: &Lab) -> Vec<String> {
    let files = fs::read_dir(lab.data().join("virtual-ips")).into_iter().flatten().flatten();
    files.map(|file| fs::read_to_string(file.path()).unwrap_or_default()).collect()
}

fn manifest() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/own_kind.yaml").to_str().expect("text").to_owned()
}

#[test]
fn a_program_with_a_kind_of_its_own_runs_it_and_the_other_program_says_what_is_missing() {
    registered();
    // given: a node of that program, with a machine that it points at
    let lab = Lab::new();
    let node = Running::of(&mut command(&lab, &["serve"]));
    node.says("listening");
    let planned = run(&lab, &["plan", &manifest()]).code(2);
    assert!(planned.out.contains("create  virtual-ip/front"), "{}", planned.out);
    run(&lab, &["apply", &manifest(), "--wait", "--timeout", "60s"]).code(0);
    assert!(run(&lab, &["plan", &manifest()]).code(0).out.contains("unchanged"));
    let list = run(&lab, &["get", "virtual-ips"]).code(0).out;
    assert!(list.contains("ADDRESS") && list.contains("ready") && list.contains("10.0.0."), "{list}");
    assert_eq!(addresses(&lab).len(), 1);
    // when: the node is killed, and the machine goes
    drop(node.kill());
    let node = Running::of(&mut command(&lab, &["serve"]));
    node.says("listening");
    let first = addresses(&lab)[0].trim_end().rsplit(' ').next().map(str::to_owned).expect("a machine");
    run(&lab, &["delete", &format!("machine/{first}")]).code(0);
    eventually("it points at the other machine", || {
        addresses(&lab).iter().all(|text| !text.ends_with(&format!(" {first}\n"))) && addresses(&lab).len() == 1
    });
    run(&lab, &["wait", "virtual-ip/front", "--for", "ready", "--timeout", "60s"]).code(0);
    // then: everything about it is told
    let why = run(&lab, &["why", "virtual-ip/front"]).code(0).out;
    assert!(why.contains("ordered by supervisor/virtual-ip") && why.contains(&format!("machine/{first}")), "{why}");
    let described = run(&lab, &["describe", "virtual-ip/front"]).code(0).out;
    assert!(described.contains("spec.label") && described.contains("waiting since"), "{described}");
    assert!(run(&lab, &["why-not", "virtual-ip/front", "ready"]).code(0).out.contains("nothing is missing"));
    let before = run(&lab, &["get", "virtual-ip", "--at", "@8"]).code(0).out;
    assert!(before.contains("waiting") || before.contains("creating"), "{before}");
    let replayed = run(&lab, &["audit", "replay"]).code(0).out;
    assert!(replayed.contains("the same throughout") && replayed.contains("skipped        0"), "{replayed}");
    // when: the program that does not know the kind reads the journal of the stopped node
    node.signal(rustix::process::Signal::TERM);
    drop(node.ended().code(0));
    let stranger = |args: &[&str]| lab.run(args);
    let status = stranger(&["status"]).code(0).out;
    assert!(status.contains("kind/virtual-ip") && status.contains("run the program that registers it"), "{status}");
    assert!(stranger(&["journal", "check"]).code(0).out.contains("whole"));
    let log = stranger(&["log", "--kind", "virtual-ip"]).code(0).out;
    assert!(log.contains("virtual-ip/front") && log.contains("unknown to this version"), "{log}");
    assert!(stranger(&["log", "virtual-ip/front"]).code(0).out.contains("virtual-ip/front"));
    assert!(stranger(&["why", "virtual-ip/front"]).code(0).out.contains("virtual-ip/front"));
    stranger(&["get", "virtual-ip"]).code(4).says("which this program does not know");
    stranger(&["get", "virtual-op"]).code(64).says("unknown kind");
    stranger(&["log", "virtual-op/front"]).code(64).says("unknown kind");
    stranger(&["log", "--follow", "--kind", "virtual-op"]).code(64).says("unknown kind");
    stranger(&["log", "--kind", "virtual-ip", "--outcome", "refused"]).code(0).says("no decision matches");
    let replayed = stranger(&["audit", "replay"]).code(0).out;
    assert!(replayed.contains("unknown kinds") && replayed.contains("supervisor/virtual-ip, virtual-ip"), "{replayed}");
    // and its node leaves them alone
    let node = lab.start(&["serve"]);
    node.says("does not know kind virtual-ip");
    assert_eq!(addresses(&lab).len(), 1);
    node.signal(rustix::process::Signal::TERM);
    drop(node.ended().code(0));
    // then: the export has all of it, and what is removed leaves nothing
    let export = stranger(&["journal", "export", "-"]).code(0).out;
    assert!(export.contains("virtual-ip/front"));
    let node = Running::of(&mut command(&lab, &["serve"]));
    node.says("listening");
    run(&lab, &["down", "--timeout", "60s"]).code(0);
    assert_eq!(addresses(&lab), Vec::<String>::new());
    node.signal(rustix::process::Signal::TERM);
    drop(node.ended().code(0));
}
