//! Documents of Gardener's machine controller: what is read of them, and that nothing else is dropped in silence.

use super::{Wish, examples, problems, read};
use bailiwick::manifest::{self, Known};

const CLASS: &str = "\
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineClass
metadata: {name: test-mc, namespace: default}
provider: Cloud
providerSpec: {ami: ami-123456, keyName: key}
secretRef: {namespace: default, name: test-secret}
";

const SET: &str = "\
---
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineSet
metadata: {name: test-set, labels: {a: b}}
spec:
  replicas: 3
  minReadySeconds: 200
  selector: {matchLabels: {test-label: test}}
  template:
    metadata: {labels: {test-label: test}}
    spec:
      class: {kind: AWSMachineClass, name: test-mc}
      drainTimeout: 10m
      maxEvictRetries: 30
      nodeConditions: 'DiskPressure, MemoryPressure,DiskPressure'
      nodeTemplate:
        metadata: {labels: {tier: front}, annotations: {owner: clerk}}
        spec: {taints: [{key: gpu, effect: NoSchedule}], podCIDR: 10.0.0.0/24}
";

/// The notes as `line:column field`.
fn notes(text: &str) -> Vec<String> {
    let manifest = read(text).unwrap_or_else(|error| panic!("{error}"));
    manifest.notes.iter().map(|note| format!("{}:{} {}", note.place.line, note.place.column, note.field)).collect()
}

#[test]
fn classes_and_sets_are_read_and_what_is_left_out_is_named() {
    let text = format!("{CLASS}{SET}");
    let mut documents = read(text.as_str()).expect("good").documents.into_iter().map(|document| document.wish);
    let Some(Wish::MachineClass { content, .. }) = documents.next() else { panic!("a class") };
    assert_eq!(
        (content.provider.as_str(), content.provider_spec.as_str()),
        ("cloud", r#"{"ami":"ami-123456","keyName":"key"}"#)
    );
    assert_eq!(content.secret.map(|name| name.to_string()).as_deref(), Some("test-secret"));
    let Some(Wish::MachineSet { spec, .. }) = documents.next() else { panic!("a set") };
    assert_eq!((spec.replicas, spec.template.provider.as_str()), (3, "cloud"));
    assert_eq!(spec.template.labels.keys().collect::<Vec<_>>(), ["test-label", "tier"]);
    assert_eq!(spec.template.taints[0].to_string(), "gpu=:NoSchedule");
    let patience = &spec.template.patience;
    assert_eq!((patience.drain_timeout_ms, patience.evictions_max), (Some(600_000), Some(30)));
    assert_eq!((patience.creation_timeout_ms, patience.health_timeout_ms), (None, None));
    let watched = ["DiskPressure".to_owned(), "MemoryPressure".to_owned()].into();
    assert_eq!(patience.node_conditions, Some(watched), "each once, without blanks");
    let expected = [
        "3:27 metadata.namespace",
        "6:13 secretRef.namespace",
        "10:18 metadata.labels",
        "13:3 spec.minReadySeconds",
        "14:3 spec.selector",
        "18:21 spec.template.spec.class.kind",
        "24:58 spec.template.spec.nodeTemplate.spec.podCIDR",
    ];
    assert_eq!(notes(&text), expected);
}

#[test]
fn a_secret_is_never_read_and_the_note_says_where_it_is_looked_for() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: test-secret}\ndata: {userData: aHVudGVyMg==}\n";
    let manifest = read(secret).expect("good");
    assert_eq!(manifest.documents.len(), 0);
    let note = manifest.notes[0].to_string();
    assert!(note.contains("BAILIWICK_SECRET_TEST_SECRET_FILE") && !note.contains("aHVudGVyMg"), "{note}");
}

#[test]
fn what_is_not_read_is_refused_with_why() {
    let cases = [
        (CLASS.replace("kind: MachineClass", "kind: MachineDeployment"), "missing-field 1:1 spec"),
        (CLASS.replace("kind: MachineClass", "kind: Scale"), "unsupported-kind 2:7 kind"),
        (CLASS.replace("v1alpha1", "v7"), "unsupported-version 1:13 apiVersion"),
        (
            format!("{CLASS}{}", SET.replace("name: test-mc", "name: other")),
            "dangling-reference 18:44 spec.template.spec.class.name",
        ),
        (
            SET.replace("class: {kind: AWSMachineClass, name: test-mc}", "a: b"),
            "missing-field 12:7 spec.template.spec.class",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(text), [expected]);
    }
}

#[test]
fn the_example_is_read() {
    let manifest = manifest::read(&[examples().join("gardener.yaml")], &Known::default()).expect("good");
    let kind = |document: &manifest::Document| match &document.wish {
        Wish::MachineClass { .. } => "class",
        Wish::Machine { .. } => "machine",
        Wish::MachineSet { .. } => "set",
        other => panic!("{other:?}"),
    };
    let kinds: Vec<&str> = manifest.documents.iter().map(kind).collect();
    assert_eq!(kinds, ["class", "machine", "set"]);
    assert!(!manifest.notes.is_empty());
}
