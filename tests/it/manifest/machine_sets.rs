//! Machine sets as they are declared.

use bailiwick::actors::{
    machine,
    storage_rules::{ClaimForm, StorageClaim},
    vocab::SizeMib,
};

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
    let member = spec.member(&name, &"web-1".parse().unwrap());
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
            "dangling-reference 8:75 spec.template.spec.workloads[0].volumes[0]",
        ),
        ("provider: cloud, ", "", "missing-field 8:11 spec.template.spec.provider"),
    ];
    for (was, is, expected) in cases {
        assert_eq!(problems(SET.replace(was, is)), [expected], "{is}");
    }
}

fn storage(is: &str) -> Vec<StorageClaim> {
    let text = SET.replace("spread: tier", &format!("storage: {is}"));
    let Wish::MachineSet { spec, .. } = wish(&text) else { panic!("a machine set") };
    let machine::Spec { storage, .. } = &*spec.template;
    storage.clone()
}

#[test]
fn a_template_asks_for_storage_as_a_machine_does() {
    let asked =
        storage("{data: 'local,64M,2', files: {filesystem: 'tmpfs,16M', path: /srv}, disk: {filesystem: 'loop,32M'}}");
    let [data, files, disk] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((data.count, data.size, data.provider.as_str()), (2, SizeMib(64), "local"));
    assert_eq!(data.form, ClaimForm::Volume);
    assert_eq!(files.form, ClaimForm::Filesystem { path: Some("/srv".into()), is_inside: true });
    assert_eq!(disk.form, ClaimForm::OnVolume { path: None, is_inside: true });
}

#[test]
fn what_can_outlive_its_machine_does_unless_it_is_said_otherwise() {
    let stays = |is: &str| storage(is)[0].is_persistent;
    assert!(stays("{data: 'local,64M'}"));
    assert!(stays("{data: {volume: 'local,64M', persistent: true}}"));
    assert!(!stays("{data: {volume: 'local,64M', persistent: false}}"));
    // What is inside of the machine goes with it
    assert!(!stays("{data: {filesystem: 'tmpfs,64M'}}"));
}

#[test]
fn workloads_use_what_their_machine_asks_for() {
    let with = |storage: &str, used: &str| {
        let workloads = format!("workloads: [{{name: w, command: [w], volumes: [{used}]}}]");
        SET.replace("spread: tier", &format!("{workloads}, storage: {{{storage}}}"))
    };
    let Wish::MachineSet { spec, .. } = wish(&with("data: 'local,64M'", "data")) else { panic!("a machine set") };
    let member = spec.member(&"web".parse().unwrap(), &"web-3".parse().unwrap());
    assert_eq!(format!("{:?}", member.workloads[0].volumes), "{web-3-data-0}");
    let used = |storage: &str, used: &str| problems(with(storage, used));
    let at = |code: &str| format!("{code} 8:75 spec.template.spec.workloads[0].volumes[0]");
    assert_eq!(used("data: 'local,64M'", "logs"), [at("dangling-reference")]);
    assert_eq!(used("data: {filesystem: 'tmpfs,1M'}", "data"), [at("bad-text")]);
    // What it is, its pool says.
    assert_eq!(used("data: 'tmpfs,1M'", "data"), ["bad-pool 8:100 spec.template.spec.storage.data"]);
}

#[test]
fn storage_that_makes_no_sense_is_named_with_its_place() {
    let cases = [
        ("{data-1: 'local,64M'}", "bad-name 8:47 spec.template.spec.storage.data-1"),
        ("{data: 'local,64M,65'}", "too-many 8:45 spec.template.spec.storage.data"),
        ("{data: 'nowhere,64M'}", "dangling-reference 8:45 spec.template.spec.storage.data"),
        ("{data: {volume: 'tmpfs,64M'}}", "bad-pool 8:45 spec.template.spec.storage.data"),
        ("{data: {filesystem: 'tmpfs,64M', persistent: true}}", "bad-pool 8:45 spec.template.spec.storage.data"),
        ("{data: 'local,64M,x!'}", "bad-text 8:45 spec.template.spec.storage.data"),
        (
            "{a: {filesystem: 'tmpfs,1M', path: /srv}, b: {filesystem: 'tmpfs,1M', path: /srv/x}}",
            "duplicate 8:83 spec.template.spec.storage.b",
        ),
    ];
    for (is, expected) in cases {
        assert_eq!(problems(SET.replace("spread: tier", &format!("storage: {is}"))), [expected], "{is}");
    }
}
