//! What is different between two moments, asked of a running node, a stopped one, and an export.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use super::support::{Lab, QUICK, Ran, run_in};

const MACHINE: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: a}\nspec: {provider: local}\n";

#[track_caller]
fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_diff_names_the_entry_that_brought_each_difference_about_wherever_it_is_asked() {
    // given a machine that runs, and is held since an entry
    let lab = Lab::new();
    let (quick, file) = (lab.manifest("quick.yaml", QUICK), lab.manifest("it.yaml", MACHINE));
    let node = lab.start(&["up", &quick, &file, "--timeout", "60s"]);
    node.says("Ctrl-C stops the node");
    let before = format!("@{}", json(&lab.run(&["status", "-o", "json"]).code(0))["position"]);
    lab.run(&["hold", "machine/a", "--reason", "a look at its disk"]).code(0);

    // when the running node is asked
    let told = json(&lab.run(&["diff", &before, "machine/a", "-o", "json"]).code(2));

    // then the hold is told, and its entry leads to whoever asked for it
    let [machine] = told["changes"].as_array().map(Vec::as_slice).unwrap_or_default() else { panic!("{told}") };
    let held =
        machine["facts"].as_array().into_iter().flatten().find(|fact| fact["fact"] == "held").expect("it is held");
    assert_eq!((&held["from"], &held["to"]), (&Value::Null, &"a look at its disk".into()));
    let entry = format!("@{}", held["position"]);
    let why = lab.run(&["why", &entry]).code(0);
    assert!(why.out.contains("machine/a") && why.out.contains("a look at its disk"), "{}", why.out);
    let table = lab.run(&["diff", "-1h", &before]).code(2);
    assert!(table.out.contains("machine/a") && table.out.contains("appeared"), "{}", table.out);
    let same = lab.run(&["diff", &entry, &entry]).code(0);
    assert_eq!(same.out, format!("no differences between {entry} and {entry}\n"));
    lab.run(&["diff", &entry, &before]).code(64).says("is later than").says(&format!("diff {before} {entry}"));
    lab.run(&["diff", "2999-01-01T00:00:00Z"]).code(4).says("is in the future");
    lab.run(&["diff", "@999999"]).code(4).says("the journal ends before that");
    lab.run(&["diff", &before, "machine/b"]).code(4).says("machine/b not found");
    lab.run(&["diff", &before, "--kind", "volume"]).code(0);

    // and a stopped node and an export say the same
    node.signal(Signal::TERM);
    node.ended().code(0);
    let export = lab.manifest("journal.ndjson", "");
    std::fs::remove_file(&export).expect("it was made");
    lab.run(&["journal", "export", &export]).code(0);
    let line = ["diff", &before, &format!("@{}", told["to"]["position"]), "machine/a", "-o", "json"];
    assert_eq!(json(&lab.run(&line).code(2)), told);
    assert_eq!(json(&run_in(Path::new(&export), &line).code(2)), told);
}
