//! Bad manifests: said with file, line, column and field; nothing is applied, and no data directory is touched.
use serde_json::Value;

use super::support::Lab;

const MACHINE: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: m}\nspec:\n  provider: local\n";
const VOLUME: &str =
    "apiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: v}\nspec: {provider: local, size: 64M}\n";

const DEPLOYMENT: &str = "\
apiVersion: bailiwick/v1
kind: MachineDeployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {app: web}
  strategy: {maxSurge: 1, maxUnavailable: 0}
  windows: [{days: [sat], from: '22:00', for: 4h}]
  template: {metadata: {labels: {app: web}}, spec: {provider: local}}
";

fn deployment(was: &str, is: &str) -> String {
    DEPLOYMENT.replace(was, is)
}

/// What is wrong: the manifest, the problem's code, and its `line:column: field` as it is printed.
fn bad() -> Vec<(String, &'static str, &'static str)> {
    vec![
        (format!("{MACHINE}  colour: red\n"), "unknown-field", ":6:3: spec.colour"),
        (VOLUME.replace("64M", "64 parsecs"), "bad-size", ":4:31: spec.size"),
        (format!("{MACHINE}---\n{MACHINE}"), "duplicate", ":9:18: metadata.name"),
        (
            "apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {machine: m, volume: v}\n".into(),
            "dangling-reference",
            ":3:17: spec.machine",
        ),
        (MACHINE.replace("{name: m}", "{name: ../../etc/passwd}"), "bad-name", ":3:18: metadata.name"),
        (MACHINE.replace("{name: m}", "{name: \"a\\u001b[2Jb\"}"), "bad-name", ":3:18: metadata.name"),
        (MACHINE.replace("Machine", "Machin"), "unsupported-kind", ":2:7: kind"),
        (MACHINE.replace("provider: local", "provider: [local]"), "wrong-type", ":5:13: spec.provider"),
        (format!("{MACHINE}  workloads: {}\n", "[".repeat(5_000)), "too-deep", ""),
        (deployment("maxSurge: 1", "maxSurge: 0"), "conflict", ":7:24: spec.strategy.maxSurge"),
        (deployment("selector: {app: web}", "selector: {app: shop}"), "conflict", ":6:13: spec.selector"),
        (deployment("days: [sat]", "days: []"), "conflict", ":8:20: spec.windows[0].days"),
        (format!("{DEPLOYMENT}---\n{}", deployment("name: web", "name: shop")), "conflict", ":3:18: spec.selector"),
        ("kind: [".into(), "bad-yaml", ""),
        (String::new(), "empty", ""),
    ]
}

#[test]
fn every_problem_has_its_place() {
    for (text, code, place) in bad() {
        let lab = Lab::new();
        let file = lab.manifest("bad.yaml", &text);
        for args in [&["up", &file, "--once"][..], &["plan", &file]] {
            let ran = lab.run(args).code(65);
            ran.says("error[invalid-manifest]").says("nothing was applied").says(&format!("bad.yaml{place}"));
            assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
            assert_eq!(ran.out, "");
        }
        let ran = lab.run(&["up", &file, "--once", "-o", "json"]).code(65);
        let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
        let problems = error["error"]["details"]["problems"].as_array().expect("problems").clone();
        assert!(problems.iter().any(|problem| problem["code"] == code), "{code}: {}", ran.err);
        assert!(!lab.data().exists(), "{code}: the data directory was touched");
    }
}

#[test]
fn nonsense_is_refused_at_once_whatever_its_size() {
    let lab = Lab::new();
    let noise: Vec<u8> = (0..10_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, text) in [
        ("noise.yaml", noise),
        ("braces.yaml", b"{".repeat(10_000_000)),
        ("lines.yaml", b"a: b\n".repeat(2_000_000)),
        ("aliases.yaml", aliases().into_bytes()),
    ] {
        let file = lab.manifest(name, text);
        let ran = lab.run(&["up", &file, "--once"]).code(65);
        ran.says("nothing was applied").says(name);
        assert!(ran.err.len() < 20_000, "{name}: the answer is as long as the question");
    }
    assert!(!lab.data().exists());
}

/// Each line ten times the one before.
fn aliases() -> String {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for n in 1..12 {
        let line = vec![format!("*a{}", n - 1); 10].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{line}]\n"));
    }
    text
}

#[test]
fn files_that_are_not_there_or_no_files() {
    let lab = Lab::new();
    let missing = lab.data().with_file_name("nowhere.yaml");
    let missing = missing.to_str().expect("text");
    lab.run(&["up", missing, "--once"]).code(66).says("nowhere.yaml");
    lab.run(&["plan", "/dev/full/x"]).code(66);
    assert!(!lab.data().exists());
}

#[test]
fn a_running_node_applies_nothing_of_it() {
    let lab = Lab::new();
    let node = lab.start(&["serve"]);
    node.says("listening on");
    let dangling = "apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {machine: m, volume: v}\n";
    let file = lab.manifest("bad.yaml", format!("{MACHINE}---\n{dangling}"));
    let ran = lab.run(&["apply", &file]).code(65);
    ran.says("bad.yaml:").says("spec.volume");
    let good = lab.manifest("good.yaml", MACHINE);
    lab.run(&["plan", &good]).code(2);
    node.signal(rustix::process::Signal::TERM);
    node.ended().code(0);
}
