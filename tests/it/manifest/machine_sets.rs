//! Machine sets as they are declared.

use super::{Wish, problems, wish};

const SET: &str = "\
apiVersion: bailiwick/v1
kind: MachineSet
metadata: {name: web}
spec:
  replicas: 3
  template:
    metadata: {labels: {tier: front}, annotations: {owner: clerk}}
    spec: {provider: cloud, spread: tier, constraints: {zones: [a, b]}}
  priorities: {web-2: -1}
";

#[test]
fn a_set_says_how_many_machines_of_which_kind() {
    let Wish::MachineSet { name, spec } = wish(SET) else { panic!("a machine set") };
    assert_eq!((name.as_str(), spec.replicas), ("web", 3));
    assert_eq!(format!("{:?}", spec.priorities), "{web-2: -1}");
    let member = spec.member(&name);
    assert_eq!((member.set.clone(), member.spread.as_deref()), (Some(name), Some("tier")));
    assert_eq!((member.labels["tier"].as_str(), member.annotations["owner"].as_str()), ("front", "clerk"));
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    let cases = [
        ("replicas: 3", "replicas: 100001", "too-many 5:13 spec.replicas"),
        ("replicas: 3", "replicas: -1", "wrong-type 5:13 spec.replicas"),
        ("spread: tier", "spread: tear", "dangling-reference 8:37 spec.template.spec.spread"),
        ("spread: tier", "parent: host", "unknown-field 8:37 spec.template.spec.parent"),
        ("{web-2: -1}", "{web-2: low}", "wrong-type 9:23 spec.priorities.web-2"),
        (
            "spread: tier",
            "workloads: [{name: w, command: [w], volumes: [v]}]",
            "unknown-field 8:40 spec.template.spec.workloads",
        ),
        ("provider: cloud, ", "", "missing-field 8:11 spec.template.spec.provider"),
    ];
    for (was, is, expected) in cases {
        assert_eq!(problems(SET.replace(was, is)), [expected], "{is}");
    }
}
