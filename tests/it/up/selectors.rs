//! Machines and their sets are selected by labels: of a running node and of a stopped node's journal alike.

use rustix::process::Signal;
use serde_json::Value;

use super::support::Lab;

const MACHINES: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: front, labels: {tier: front, app.io/note: 'a&b=c d#%20+ü'}}\nspec: {provider: local}\n\
                        ---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: back, labels: {tier: back}}\nspec: {provider: local}\n\
                        ---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: bare}\nspec: {provider: local}\n";

/// Selectors, and whom each means.
const ASKED: [(&str, &[&str]); 8] = [
    ("tier=front", &["front"]),
    ("tier", &["back", "front"]),
    ("!tier", &["bare"]),
    ("tier!=front", &["back", "bare"]),
    ("tier,tier!=front", &["back"]),
    ("app.io/note=a&b=c d#%20+ü", &["front"]),
    ("app.io/note=a", &[]),
    ("tier==back", &["back"]),
];

fn selected(lab: &Lab, selector: &str) -> Vec<String> {
    listed(lab, &["machines", "--selector", selector])
}

fn listed(lab: &Lab, args: &[&str]) -> Vec<String> {
    let ran = lab.run(&[&["get", "-o", "json"], args].concat()).code(0);
    let rows: Value = serde_json::from_str(&ran.out).expect("JSON");
    let names = rows.as_array().expect("a list").iter().map(|row| row["name"].as_str().expect("a name").to_owned());
    names.collect()
}

#[test]
fn labels_and_names_select_the_same_of_a_running_node_and_of_its_journal() {
    // Given three machines with and without labels
    let lab = Lab::new();
    let node = lab.start(&["up", &lab.manifest("machines.yaml", MACHINES)]);
    node.says("Ctrl-C stops the node");
    // (also for who waits for them)
    lab.run(&["wait", "machines", "-l", "tier", "--timeout", "60s"]).code(0);
    lab.run(&["delete", "machines", "-l", ""]).code(64).says("selects nothing");
    lab.run(&["delete", "machines", "-l", "tier=none"]).code(4).says("the selector matches no machines");
    // When they are selected while the node runs, and after it has stopped
    for (selector, wanted) in ASKED {
        assert_eq!(selected(&lab, selector), wanted, "{selector}");
    }
    node.signal(Signal::TERM);
    node.ended().code(0);
    // Then both say the same
    for (selector, wanted) in ASKED {
        assert_eq!(selected(&lab, selector), wanted, "{selector}, of the journal");
    }
    // and names select like labels; one that is not there is an error and not an empty list
    assert_eq!(listed(&lab, &["machines", "front", "back"]), ["back", "front"]);
    assert_eq!(listed(&lab, &["machine/front", "back"]), ["back", "front"]);
    lab.run(&["get", "machines", "front", "nope"]).code(4).says("machine/nope not found");
    lab.down();
}

const SET: &str = "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {name: web}\n\
                   spec: {replicas: 0, template: {metadata: {labels: {tier: front}}, spec: {provider: local}}}\n";

#[test]
fn sets_are_selected_by_the_labels_of_their_machines() {
    let lab = Lab::new();
    let (set, other) =
        (lab.manifest("set.yaml", SET), lab.manifest("other.yaml", SET.replace("front", "back").replace("web", "db")));
    lab.run(&["up", &set, &other, "--once"]).code(0);
    assert_eq!(listed(&lab, &["machine-sets", "-l", "tier=front"]), ["web"]);
    assert_eq!(listed(&lab, &["machine-sets", "-l", "tier"]), ["db", "web"]);
    assert_eq!(listed(&lab, &["machine-deployments", "-l", "tier"]), Vec::<String>::new());
    assert_eq!(lab.run(&["get", "all", "-l", "tier=back", "-o", "name"]).code(0).out, "machine-set/db\n");
}

#[test]
fn what_has_no_labels_and_what_is_no_selector_is_a_wrong_command_line() {
    let lab = Lab::new();
    lab.run(&["get", "volumes", "-l", "tier=front"]).code(64).says("a volume has no labels");
    lab.run(&["get", "machines", "-l", "=front"]).code(64).says("selects nothing: write KEY=VALUE");
}
