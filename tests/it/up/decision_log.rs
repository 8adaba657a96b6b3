//! The node's log tells of decisions, each once, as the journal has them.

use serde_json::Value;

use super::support::{Lab, QUICK, eventually};

#[test]
fn the_log_has_every_decision_with_its_position_if_somebody_asks_for_it() {
    // Given a node whose log is asked for decisions, as JSON
    let lab = Lab::new();
    let node = lab.start(&["serve", "--log-level", "bailiwick::decisions=info", "--log-format", "json"]);
    node.says("listening on ");
    // When something is declared, and something is refused
    let policy = lab.manifest("policy.yaml", QUICK);
    lab.run(&["apply", &policy]).code(0);
    let machine = lab.manifest(
        "web.yaml",
        "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: web}\nspec: {provider: local}\n",
    );
    lab.run(&["apply", &machine]).code(0);
    lab.run(&["wait", "machine/web", "--timeout", "60s"]).code(0);
    lab.run(&["hold", "machine/web", "--reason", "a look", "--until", "2001-01-01T00:00:00Z"]);
    // Then each entry is told once, with what the journal says of it
    let told = |text: &str| -> Vec<Value> {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["target"] == "bailiwick::decisions").map(|line| line["fields"].clone()).collect()
    };
    let journal: Vec<Value> = serde_json::from_str(&lab.run(&["log", "-o", "json"]).code(0).out).expect("JSON");
    let last = journal.last().expect("entries")["position"].clone();
    eventually("the log has got there", || told(&node.said()).iter().any(|line| line["position"] == last));
    let told = told(&node.stopped().err);
    let first = told[0]["position"].as_u64().expect("a position");
    let positions: Vec<u64> = told.iter().filter_map(|line| line["position"].as_u64()).collect();
    assert_eq!(
        positions,
        (first..first + positions.len() as u64).collect::<Vec<_>>(),
        "none is missing, none comes twice"
    );
    for entry in journal.iter().filter(|entry| entry["position"].as_u64() >= Some(first)) {
        let line = told.iter().find(|line| line["position"] == entry["position"]).unwrap_or_else(|| panic!("{entry}"));
        for field in ["stream", "outcome", "code", "principal", "cause"] {
            assert_eq!(line[field], entry[field], "{field} of {line}, {entry}");
        }
    }
}
