//! Machine classes as they are declared, and the machines that are made from them.

use super::{MACHINE, Wish, problems, read, wish};

const CLASS: &str = "\
apiVersion: bailiwick/v1
kind: MachineClass
metadata: {name: small}
spec:
  provider: cloud
  providerSpec: {image: jammy, disks: [{gib: 50, encrypted: false}], zone: '1', none: ~}
  secret: boot
  credentials: cloud-key
  nodeTemplate: {capacity: {cpu: 2, gpu: 0, memory: 4Gi}, instanceType: large, region: eu, zone: a}
";

const MADE: &str = "---\napiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: web}\nspec: {class: small}\n";

#[test]
fn a_class_says_what_its_provider_has_to_know_and_names_its_secrets() {
    let Wish::MachineClass { name, content } = wish(CLASS) else { panic!("a class") };
    assert_eq!((name.as_str(), content.provider.as_str()), ("small", "cloud"));
    assert_eq!(
        content.provider_spec,
        r#"{"image":"jammy","disks":[{"gib":50,"encrypted":false}],"zone":"1","none":null}"#
    );
    assert_eq!(content.secrets().map(ToString::to_string).collect::<Vec<_>>(), ["boot", "cloud-key"]);
    let template = content.node_template.expect("a node template");
    assert_eq!((template.capacity["cpu"].as_str(), template.instance_type.as_str()), ("2", "large"));
}

#[test]
fn a_machine_of_a_class_has_its_provider() {
    let provider = |text: String| match read(text).expect("good").documents.pop().expect("one").wish {
        Wish::Machine { spec, .. } => spec.provider.to_string(),
        Wish::MachineSet { spec, .. } => spec.template.provider.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(provider(format!("{CLASS}{MADE}")), "cloud");
    let set = "---\napiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {name: webs}\nspec: {replicas: 2, template: {spec: {class: small}}}\n";
    assert_eq!(provider(format!("{CLASS}{set}")), "cloud");
    assert_eq!(provider(format!("{CLASS}{}", MADE.replace("{class", "{provider: cloud, class"))), "cloud");
}

#[test]
fn what_makes_no_sense_is_named_with_its_place() {
    let cases = [
        (CLASS.replace("  provider: cloud\n", ""), "missing-field 5:3 spec.provider"),
        (CLASS.replace("secret: boot", "secret: Boot"), "bad-name 7:11 spec.secret"),
        (CLASS.replace("memory: 4Gi", "ram: 4Gi"), "missing-field 5:3 spec"),
        (CLASS.replace("jammy", &"x".repeat(33_000)), "too-large 5:3 spec"),
        (format!("{CLASS}{}", MADE.replace("small", "smal")), "dangling-reference 14:15 spec.class"),
        (
            format!("{CLASS}{}", MADE.replace("{class", "{provider: local, class")),
            "dangling-reference 13:18 spec.provider",
        ),
        (MACHINE.replace("  provider: local\n", "  zone: a\n"), "missing-field 5:3 spec.provider"),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(text), [expected]);
    }
}
