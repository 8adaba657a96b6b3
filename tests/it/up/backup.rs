//! Copies of a journal: made while its node works, put back in its place, and set beside it.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::{
    observe::settled,
    support::{Lab, run_in},
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_running_node_is_backed_up_and_the_backup_takes_its_place() {
    // given a node at work
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    let node = lab.stay();
    // when it is checked, counted, exported and backed up
    let checked = json(&lab.run(&["journal", "check", "-o", "json"]).code(0).out);
    assert_eq!((&checked["whole"], &checked["running"]), (&true.into(), &true.into()), "{checked}");
    let counted = json(&lab.run(&["journal", "stat", "-o", "json"]).code(0).out);
    assert!(counted["total"]["entries"].as_u64() >= checked["position"].as_u64(), "{counted} {checked}");
    let (file, new) = (lab.data().with_file_name("lines"), lab.data().with_file_name("backup"));
    let (name, into) = (file.to_str().expect("text"), new.to_str().expect("text"));
    lab.run(&["journal", "export", name]).code(0).says("exported ");
    let backed_up = json(&lab.run(&["backup", into, "-o", "json"]).code(0).out);
    lab.run(&["backup", into]).code(5).says("is not empty");
    // then the export is whole, can be read by others and by every command that reads
    let position = backed_up["position"].to_string();
    let machine = ["machine/clerk", "--at", &format!("@{}", checked["position"])];
    for read in [&["log"][..], &["why"], &["describe"]] {
        let args = [read, &machine].concat();
        let here = lab.run(&[&args[..], &["-o", "json"]].concat()).code(0).out;
        assert_eq!(run_in(&file, &[&args[..], &["-o", "json"]].concat()).code(0).out, here, "{args:?}");
    }
    run_in(&new, &["audit", "replay", name]).code(0);
    let lines = fs::read_to_string(&file).expect("text");
    assert!(lines.contains(r#""json":{"Declare":"#), "bodies can be read");
    // and the backup is the journal up to where it says, and takes the place of what was lost
    node.signal(Signal::TERM);
    node.ended().code(0);
    let copy = json(&run_in(&new, &["journal", "check", "-o", "json"]).code(0).out);
    assert_eq!((copy["position"].to_string(), &copy["whole"]), (position, &true.into()));
    fs::remove_dir_all(lab.data().join("journal")).expect("lost");
    fs::remove_file(lab.data().join("node.key")).expect("lost");
    for part in ["journal", "node.key"] {
        fs::rename(new.join(part), lab.data().join(part)).expect("put back");
    }
    lab.up();
    assert_eq!(settled(&lab), before);
    lab.down();
}

#[test]
fn an_export_becomes_a_journal_of_its_own() {
    let lab = Lab::new();
    lab.up();
    lab.down();
    let (file, new) = (lab.data().with_file_name("lines"), lab.data().with_file_name("new"));
    let name = file.to_str().expect("text");
    lab.run(&["journal", "export", name]).code(0);
    // when it is imported with an identity of its own
    run_in(&new, &["journal", "import", "--as-new", name]).code(0);
    // then it has the same history, and one entry more that says so
    let old = json(&lab.run(&["journal", "check", "-o", "json"]).code(0).out);
    let own = json(&run_in(&new, &["journal", "check", "-o", "json"]).code(0).out);
    assert_eq!(own["position"].as_u64(), old["position"].as_u64().map(|position| position + 1));
    assert_ne!(own["journal"], old["journal"]);
    run_in(&new, &["audit", "replay"]).code(0);
    let last = run_in(&new, &["log", "--limit", "1", "-o", "json"]).code(0).out;
    assert!(last.contains("imported-as-new"), "{last}");
}

#[test]
#[ignore = "takes long"]
fn a_lost_key_without_a_backup_is_replaced_and_the_same_agents_go_on() {
    // Given machines that run, and a key that is gone
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    fs::remove_file(lab.data().join("node.key")).expect("lost");
    let args = lab.up_args();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    // when a node is started as ever, it refuses, and says what helps
    lab.run(&args).code(78).says("node-key-lost").says("--new-node-key");
    // then it goes on with a new key and the same machines, whose agents report
    args.extend(["--once", "--new-node-key"]);
    // and the start that was refused closed the journal in order.
    lab.run(&args).code(0).says("journal: clean");
    assert_eq!(settled(&lab), before);
    lab.down();
}

#[test]
#[ignore = "takes long"]
fn no_new_journal_takes_the_place_of_one_that_is_gone_while_its_machines_run() {
    // Given machines that run, and a journal that is gone
    let lab = Lab::new();
    lab.up();
    let before = settled(&lab);
    let (there, aside) = (lab.data().join("journal"), lab.data().join("journal-aside"));
    fs::rename(&there, &aside).expect("moved");
    // when a node is started, however often, then it refuses,
    for _ in 0..2 {
        lab.run(&["serve"]).code(6).says("error[journal-gone]").says("restore the journal");
    }
    // and goes on where it was once the journal is back.
    fs::remove_dir_all(&there).ok();
    fs::rename(&aside, &there).expect("moved back");
    lab.up().says("journal: clean");
    assert_eq!(settled(&lab), before);
    lab.down();
}
