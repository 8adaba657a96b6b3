//! What a machine may wish for, and what is said about what makes no sense.

use bailiwick::actors::{
    machine::{Base, Constraints, Job, Placement, Spec, rules::TaintEffect},
    vocab::Zone,
};

use super::{Wish, problems, wish};

const WHOLE: &str = "\
apiVersion: bailiwick/v1
kind: Machine
metadata:
  name: web
  labels: {tier: front}
  annotations: {owner: clerk}
spec:
  provider: cloud
  tags: {cost: 7}
  taints: [{key: gpu, value: 'yes', effect: NoSchedule}]
  constraints: {arch: arm64, cores: 4, memory: 2G, rootDisk: 8G, instanceType: large, zones: [b, a], spaces: [inner]}
  placement: subnet=10.0.0.0/24
  base: ubuntu@22.04
  jobs: [manage-model]
  spread: tier
  class: small
---
apiVersion: bailiwick/v1
kind: MachineClass
metadata: {name: small}
spec: {provider: cloud}
";

fn spec(text: &str) -> Spec {
    let Wish::Machine { spec, .. } = wish(text) else { panic!("a machine") };
    (*spec).clone()
}

#[test]
fn a_workload_names_the_volumes_that_it_uses_once() {
    let with = |volumes: &str| {
        let workload = format!("workloads: [{{name: db, command: [db], volumes: {volumes}}}]");
        WHOLE.replace("jobs: [manage-model]", &workload)
    };
    let volumes = spec(&with("[logs, data]")).workloads.remove(0).volumes;
    assert_eq!(volumes.iter().map(|volume| volume.as_str()).collect::<Vec<_>>(), ["data", "logs"]);
    assert_eq!(problems(with("[data, data]")), ["duplicate 14:57 spec.workloads[0].volumes[1]"]);
    assert_eq!(problems(with("[Data]")), ["bad-name 14:51 spec.workloads[0].volumes[0]"]);
}

#[test]
fn a_workload_says_how_important_it_is_how_long_it_may_take_and_whose_it_is() {
    let with = |says: &str| {
        let application =
            "---\napiVersion: bailiwick/v1\nkind: Application\nmetadata: {name: shop}\nspec: {machines: [web]}\n";
        WHOLE.replace("jobs: [manage-model]", &format!("workloads: [{{name: db, command: [db], {says}}}]"))
            + application
    };
    let db = spec(&with("priority: -2, grace: 1m30s, application: shop")).workloads.remove(0);
    let application = db.application.as_ref().map(|name| name.as_str());
    assert_eq!((db.priority, db.grace_ms(), application), (-2, 90_000, Some("shop")));
    let plain = spec(&with("env: {}")).workloads.remove(0);
    assert_eq!((plain.priority, plain.grace_ms(), plain.application), (0, 5_000, None));
    assert_eq!(problems(with("priority: high")), ["wrong-type 14:51 spec.workloads[0].priority"]);
    assert_eq!(problems(with("grace: 90")), ["bad-duration 14:48 spec.workloads[0].grace"]);
    assert_eq!(problems(with("application: shp")), ["dangling-reference 14:54 spec.workloads[0].application"]);
}

#[test]
fn a_machine_says_what_it_wishes_for() {
    let spec = spec(WHOLE);
    let zones = [Zone("a".into()), Zone("b".into())].into();
    let constraints = Constraints {
        arch: Some("arm64".into()),
        cores: Some(4),
        memory: Some("2G".parse().unwrap()),
        root_disk: Some("8G".parse().unwrap()),
        instance_type: Some("large".into()),
        zones,
        spaces: ["inner".parse().unwrap()].into(),
    };
    assert_eq!(spec.constraints, constraints);
    assert_eq!(spec.placement, Some(Placement { key: "subnet".into(), value: "10.0.0.0/24".into() }));
    assert_eq!(spec.base, Some(Base { os: "ubuntu".into(), channel: "22.04/stable".into() }));
    assert_eq!(spec.jobs_in_force(), [Job::ManageModel].into());
    assert_eq!((spec.taints[0].key.as_str(), spec.taints[0].effect), ("gpu", TaintEffect::NoSchedule));
    assert_eq!(format!("{:?} {:?}", spec.tags, spec.annotations), r#"{"cost": "7"} {"owner": "clerk"}"#);
    assert_eq!(
        (spec.spread.as_deref(), spec.class.map(|class| class.to_string())),
        (Some("tier"), Some("small".into()))
    );
    assert_eq!((spec.zone, spec.parent, spec.set), (None, None, None));
}

#[test]
fn a_machine_may_be_waited_for_longer_than_others() {
    let patience = "patience: {creationTimeout: 1h, drainTimeout: 0, evictionsMax: 3, nodeConditions: []}";
    let patience = spec(&WHOLE.replace("spread: tier", patience)).patience;
    assert_eq!((patience.creation_timeout_ms, patience.health_timeout_ms), (Some(3_600_000), None));
    assert_eq!((patience.drain_timeout_ms, patience.evictions_max), (Some(0), Some(3)));
    assert_eq!(patience.node_conditions, Some([].into()), "only readiness counts");
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    let with = |line: &str| {
        format!("apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: m}}\nspec:\n  provider: x\n  {line}\n")
    };
    let cases = [
        ("taints: [{key: gpu, effect: NoShedule}]", "bad-text 6:31 spec.taints[0].effect"),
        ("taints: [{key: 'a b', effect: NoExecute}]", "bad-name 6:18 spec.taints[0].key"),
        ("constraints: {core: 4}", "unknown-field 6:17 spec.constraints.core"),
        ("constraints: {cores: many}", "wrong-type 6:24 spec.constraints.cores"),
        ("constraints: {memory: much}", "bad-size 6:25 spec.constraints.memory"),
        ("placement: b", "bad-text 6:14 spec.placement"),
        ("base: ubuntu", "bad-text 6:9 spec.base"),
        ("jobs: [host-unit]", "bad-text 6:10 spec.jobs[0]"),
        ("zone: ''", "bad-name 6:9 spec.zone"),
        ("spread: tier", "dangling-reference 6:11 spec.spread"),
        ("parent: nobody", "dangling-reference 6:11 spec.parent"),
        ("tags: {'a b': c}", "bad-name 6:10 spec.tags.a b"),
        ("patience: {drainTimeout: 10}", "bad-duration 6:28 spec.patience.drainTimeout"),
        ("patience: {healthTimeout: 0}", "bad-duration 6:29 spec.patience.healthTimeout"),
        ("patience: {retries: 3}", "unknown-field 6:14 spec.patience.retries"),
        ("patience: {nodeConditions: [A, A]}", "duplicate 6:34 spec.patience.nodeConditions[1]"),
    ];
    for (line, expected) in cases {
        assert_eq!(problems(with(line)), [expected], "{line}");
    }
}

#[test]
fn the_zone_is_said_once_and_is_among_the_allowed() {
    let with = |lines: &str| {
        format!("apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {{name: m}}\nspec: {{provider: x, {lines}}}\n")
    };
    assert_eq!(spec(&with("zone: a, placement: zone=a")).zone, Some(Zone("a".into())));
    assert_eq!(problems(with("zone: a, placement: zone=b")), ["bad-text 4:41 spec.placement"]);
    assert_eq!(problems(with("placement: zone=b, constraints: {zones: [a]}")), ["bad-text 4:53 spec.constraints"]);
}
