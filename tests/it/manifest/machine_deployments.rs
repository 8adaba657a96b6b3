//! Machine deployments as they are declared.

use bailiwick::actors::{
    machine_deployment::{Amount, RollingUpdate, Strategy},
    vocab::Windows,
};

use super::{Wish, problems, read, wish};

const DEPLOYMENT: &str = "\
apiVersion: bailiwick/v1
kind: MachineDeployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {app: web}
  strategy: {maxSurge: 25%, maxUnavailable: 0}
  minReadySeconds: 30
  progressDeadline: 10m
  revisionHistoryLimit: 2
  template:
    metadata: {labels: {app: web, tier: front}}
    spec: {provider: cloud}
";

const GARDENER: &str = "\
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineClass
metadata: {name: small}
provider: Cloud
---
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineDeployment
metadata: {name: web}
spec:
  replicas: 3
  minReadySeconds: 200
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2}}
  rollbackTo: {revision: 1}
  template:
    metadata: {labels: {app: web}}
    spec: {class: {kind: MachineClass, name: small}}
";

#[test]
fn a_deployment_says_how_it_comes_from_one_template_to_the_next() {
    let Wish::MachineDeployment { name, spec } = wish(DEPLOYMENT) else { panic!("a machine deployment") };
    assert_eq!((name.as_str(), spec.replicas, spec.paused), ("web", 3, false));
    let update = RollingUpdate { max_surge: Amount::Percent(25), max_unavailable: Amount::Machines(0) };
    assert_eq!(spec.strategy, Strategy::RollingUpdate(update));
    assert_eq!((spec.min_ready_ms, spec.progress_deadline_ms, spec.history_limit), (30_000, Some(600_000), Some(2)));
    assert_eq!((spec.selector["app"].as_str(), spec.template.labels["tier"].as_str()), ("web", "front"));
}

#[test]
fn without_a_strategy_one_machine_more_is_made_at_a_time_and_none_is_missing() {
    let text = DEPLOYMENT.replace("  strategy: {maxSurge: 25%, maxUnavailable: 0}\n", "");
    let Wish::MachineDeployment { spec, .. } = wish(&text) else { panic!("a machine deployment") };
    let update = RollingUpdate { max_surge: Amount::Machines(1), max_unavailable: Amount::Machines(0) };
    assert_eq!(spec.strategy, Strategy::RollingUpdate(update));
}

#[test]
fn what_a_deployment_cannot_be_is_refused_where_it_stands() {
    let cases = [
        ("maxSurge: 25%, ", "maxSurge: 0, ", "conflict 7:24 spec.strategy.maxSurge"),
        ("maxSurge: 25%, ", "maxSurge: x%, ", "wrong-type 7:24 spec.strategy.maxSurge"),
        ("maxSurge: 25%, ", "maxSurge: -1, ", "wrong-type 7:24 spec.strategy.maxSurge"),
        ("maxSurge: 25%, ", "type: Recreate, ", "conflict 7:46 spec.strategy.maxUnavailable"),
        ("{maxSurge: 25%, maxUnavailable: 0}", "{type: Blue}", "wrong-type 7:20 spec.strategy.type"),
        ("selector: {app: web}", "selector: {app: shop}", "conflict 6:13 spec.selector"),
        ("selector: {app: web}", "selector: {matchLabels: {app: web}}", "wrong-type 6:27 spec.selector.matchLabels"),
        ("progressDeadline: 10m", "progressDeadline: 10", "bad-duration 9:21 spec.progressDeadline"),
        ("replicas: 3", "replicas: 100001", "too-many 5:13 spec.replicas"),
    ];
    for (was, is, expected) in cases {
        assert_eq!(problems(DEPLOYMENT.replace(was, is)), [expected], "{is}");
    }
    // All of them are told at once.
    let two = DEPLOYMENT.replace("maxSurge: 25%, ", "maxSurge: 0, ").replace("{app: web}\n", "{app: shop}\n");
    assert_eq!(problems(two), ["conflict 6:13 spec.selector", "conflict 7:24 spec.strategy.maxSurge"]);
}

#[test]
fn windows_are_read_and_those_that_never_open_or_overlap_are_refused() {
    let saying = |windows: &str| format!("{DEPLOYMENT}  windows: {windows}\n");
    let windows = "[{days: [sat, sun], from: 22:00, for: 4h}, {from: '09:30', for: 30m}]";
    let Wish::MachineDeployment { spec, .. } = wish(&saying(windows)) else { panic!("a machine deployment") };
    let windows = spec.windows.expect("it says some");
    assert_eq!((windows.0[0].from_minute, windows.0[0].for_ms, windows.0[0].days.len()), (1_320, 14_400_000, 2));
    assert_eq!((windows.0[1].from_minute, windows.0[1].for_ms, windows.0[1].days.len()), (570, 1_800_000, 7));
    let Wish::MachineDeployment { spec, .. } = wish(&saying("always")) else { panic!("a machine deployment") };
    assert_eq!(spec.windows, Some(Windows::default()));
    for (is, expected) in [
        ("[]", "conflict 14:12 spec.windows"),
        ("never", "wrong-type 14:12 spec.windows"),
        ("[{days: [], from: '22:00', for: 4h}]", "conflict 14:20 spec.windows[0].days"),
        ("[{days: [saturday], from: '22:00', for: 4h}]", "wrong-type 14:21 spec.windows[0].days[0]"),
        ("[{days: [sat, sat], from: '22:00', for: 4h}]", "duplicate 14:26 spec.windows[0].days[1]"),
        ("[{from: '24:00', for: 4h}]", "wrong-type 14:20 spec.windows[0].from"),
        ("[{from: 9:30, for: 4h}]", "wrong-type 14:20 spec.windows[0].from"),
        ("[{from: '22:00', for: 0}]", "bad-duration 14:34 spec.windows[0].for"),
        ("[{from: '22:00', for: 59s}]", "bad-duration 14:34 spec.windows[0].for"),
        ("[{from: '22:00', for: 4}]", "bad-duration 14:34 spec.windows[0].for"),
        ("[{from: '22:00'}]", "missing-field 14:13 spec.windows[0].for"),
        ("[{from: '22:00', for: 4h, zone: UTC}]", "unknown-field 14:38 spec.windows[0].zone"),
        ("[{from: '22:00', for: 25h}]", "conflict 14:13 spec.windows[0]"),
        ("[{days: [sun], from: '23:00', for: 2h}, {from: '00:00', for: 1h}]", "conflict 14:52 spec.windows[1]"),
    ] {
        assert_eq!(problems(saying(is)), [expected], "{is}");
    }
}

#[test]
fn two_deployments_that_claim_one_set_are_refused() {
    let other =
        DEPLOYMENT.replace("name: web}", "name: shop}").replace("selector: {app: web}", "selector: {tier: front}");
    let set = DEPLOYMENT.split("  selector").next().expect("a beginning").replace("MachineDeployment", "MachineSet");
    let set = set.replace("name: web", "name: old")
        + "  template: {metadata: {labels: {app: web, tier: front}}, spec: {provider: cloud}}\n";
    let both = format!("{DEPLOYMENT}---\n{other}");
    assert_eq!(problems(both), ["conflict 3:18 spec.selector"]);
    let apart = other.replace("{app: web, tier: front}", "{app: shop, tier: front}");
    let apart = format!("{}---\n{apart}", DEPLOYMENT.replace(", tier: front", ", tier: back"));
    assert!(read(apart.as_str()).is_ok(), "neither selects what the other has");
    assert_eq!(problems(format!("{apart}---\n{set}")), ["conflict 3:18 spec.selector"], "but both select the third");
}

#[test]
fn a_deployment_of_gardener_is_read_with_its_defaults() {
    let manifest = read(GARDENER).unwrap_or_else(|error| panic!("{error}"));
    let Wish::MachineDeployment { spec, .. } = &manifest.documents[1].wish else { panic!("a deployment") };
    let update = RollingUpdate { max_surge: Amount::Machines(2), max_unavailable: Amount::Machines(1) };
    assert_eq!(spec.strategy, Strategy::RollingUpdate(update));
    assert_eq!((spec.min_ready_ms, spec.progress_deadline_ms), (200_000, Some(600_000)));
    assert_eq!((spec.selector["app"].as_str(), spec.template.provider.as_str()), ("web", "cloud"));
    assert!(manifest.notes.iter().any(|note| note.field == "spec.rollbackTo"), "{:?}", manifest.notes);
    let wrong = GARDENER.replace("{matchLabels: {app: web}}", "{matchLabels: {app: shop}}");
    assert_eq!(problems(wrong), ["conflict 13:13 spec.selector"]);
}
