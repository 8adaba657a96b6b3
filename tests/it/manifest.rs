//! Manifests: what is read, what is refused and in which words, and that no bytes at all make the reader stumble.

mod accounts;
mod claims;
mod documents;
mod gardener;
mod machine_classes;
mod machine_deployments;
mod machine_sets;
mod machines;
mod policies;
mod storage;

use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick::{
    actors::{policy, vocab::SizeMib},
    manifest::{self, Known, Manifest, ManifestError, Source, Wish},
};
use proptest::{collection::vec, prelude::*};

const MACHINE: &str = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: m}\nspec:\n  provider: local\n";
const VOLUME: &str =
    "apiVersion: bailiwick/v1\nkind: Volume\nmetadata: {name: v}\nspec: {provider: local, size: 64M}\n";

fn read(text: impl Into<Vec<u8>>) -> Result<Manifest, ManifestError> {
    manifest::parse(&[Source::new("lab.yaml", text)], &Known::default())
}

fn wish(text: &str) -> Wish {
    let manifest = read(text).unwrap_or_else(|error| panic!("{error}"));
    manifest.documents.into_iter().next().expect("one document").wish
}

/// The problems as `code line:column field`.
fn problems(text: impl Into<Vec<u8>>) -> Vec<String> {
    let error = read(text).expect_err("something is wrong");
    let short = |problem: &manifest::Problem| {
        let manifest::Place { line, column, .. } = problem.place;
        format!("{} {line}:{column} {}", problem.code.as_str(), problem.field).trim_end().to_owned()
    };
    error.problems.iter().map(short).collect()
}

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

#[test]
fn the_lab_is_three_machines_two_volumes_and_their_attachments() {
    let manifest = manifest::read(&[examples().join("lab.yaml")], &Known::default()).expect("a good manifest");
    let streams: Vec<String> = manifest.documents.iter().map(|document| document.wish.stream().to_string()).collect();
    assert_eq!(
        streams,
        [
            "volume/ledger",
            "volume/scratch",
            "machine/clerk",
            "machine/builder",
            "machine/idler",
            "volume-attachment/clerk:ledger",
            "volume-attachment/builder:scratch",
        ]
    );
}

#[test]
fn the_etcd_example_can_be_read() {
    let manifest = manifest::read(&[examples().join("etcd.yaml")], &Known::default()).expect("a good manifest");
    assert_eq!(manifest.documents.len(), 4);
}

#[test]
fn the_rollout_examples_can_be_read() {
    for example in ["rollout.yaml", "windows.yaml"] {
        let manifest = manifest::read(&[examples().join(example)], &Known::default()).expect("a good manifest");
        assert_eq!(manifest.documents.len(), 1, "{example}");
    }
}

#[test]
fn the_stateful_example_can_be_read() {
    let manifest = manifest::read(&[examples().join("stateful.yaml")], &Known::default()).expect("a good manifest");
    let [document] = &manifest.documents[..] else { panic!("one document") };
    let Wish::MachineDeployment { spec, .. } = &document.wish else { panic!("a deployment") };
    let names: Vec<&str> = spec.template.storage.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names, ["data", "scratch"]);
}

#[test]
fn the_policy_example_states_the_defaults() {
    let manifest = manifest::read(&[examples().join("policy.yaml")], &Known::default()).expect("a good manifest");
    let [document] = &manifest.documents[..] else { panic!("one document") };
    let Wish::Policy { name, document } = &document.wish else { panic!("a policy") };
    assert_eq!((name, &**document), (&policy::default_name(), &policy::Document::default()));
}

#[test]
fn a_machine_has_workloads_and_labels() {
    let text = "{apiVersion: bailiwick/v1, kind: Machine, metadata: {name: 0, labels: {tier: 1, on: true}}, spec: {provider: \
                local, workloads: [{name: w, command: [sleep, 10, '~'], env: {A: 1, B: ''}}]}}";
    let Wish::Machine { name, spec } = wish(text) else { panic!("a machine") };
    assert_eq!(name.as_str(), "0");
    assert_eq!(spec.workloads[0].command, ["sleep", "10", "~"]);
    assert_eq!(format!("{:?}", spec.workloads[0].env), r#"{"A": "1", "B": ""}"#);
    assert_eq!(format!("{:?}", spec.labels), r#"{"on": "true", "tier": "1"}"#);
}

#[test]
fn a_bare_size_means_mib() {
    let Wish::Volume { spec, .. } = wish(&VOLUME.replace("64M", "1536")) else { panic!("a volume") };
    assert_eq!(spec.size, SizeMib(1536));
}

#[test]
fn json_is_read_as_well() {
    let text = "{\n\t\"apiVersion\": \"bailiwick/v1\",\n\t\"kind\": \"Volume\",\n\t\"metadata\": {\"name\": \"v\"},\n\t\"spec\": \
                {\"provider\": \"local\", \"size\": 64}\n}\n";
    assert_eq!(wish(text), wish(VOLUME));
}

#[test]
fn a_byte_order_mark_and_dos_line_ends_do_no_harm() {
    let text = format!("\u{feff}{}", VOLUME.replace('\n', "\r\n"));
    assert_eq!(wish(&text), wish(VOLUME));
}

#[test]
fn absent_settings_keep_their_defaults() {
    let text = "apiVersion: bailiwick/v1\nkind: Policy\nmetadata: {name: p}\nspec:\n  machines: {retryMax: 1h30m, whenLost: keep}\n";
    let Wish::Policy { document, .. } = wish(text) else { panic!("a policy") };
    let machines =
        policy::Machines { retry_max_ms: 5_400_000, when_lost: policy::WhenLost::Keep, ..policy::Machines::default() };
    assert_eq!(*document, policy::Document { machines, ..policy::Document::default() });
}

#[test]
fn anchors_and_merge_keys_repeat_what_was_said() {
    let text = "apiVersion: bailiwick/v1\nkind: Machine\nmetadata: {name: m}\nspec:\n  provider: local\n  workloads:\n  - &one \
                {name: a, command: &c [sleep, '1']}\n  - {<<: *one, name: b}\n  - {name: c, command: *c}\n";
    let Wish::Machine { spec, .. } = wish(text) else { panic!("a machine") };
    let names: Vec<&str> = spec.workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(spec.workloads.iter().all(|workload| workload.command == ["sleep", "1"]));
}

#[test]
fn files_directories_and_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("b.yml"), VOLUME).expect("written");
    fs::write(folder.path().join("a.yaml"), MACHINE).expect("written");
    fs::write(folder.path().join("notes.txt"), "\0").expect("written");
    fs::write(folder.path().join(".hidden.yaml"), "\0").expect("written");
    let manifest = manifest::read(&[folder.path().to_owned()], &Known::default()).expect("a good manifest");
    let streams: Vec<String> = manifest.documents.iter().map(|document| document.wish.stream().to_string()).collect();
    assert_eq!(streams, ["machine/m", "volume/v"]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [folder.path().join("absent.yaml"), folder.path().to_owned()];
    let error = manifest::read(&paths, &Known::default()).expect_err("nothing there");
    let codes: Vec<&str> = error.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["empty", "unreadable"]);
    assert!(error.problems.iter().all(|problem| problem.place.line == 0));
}

#[test]
fn a_problem_is_shown_like_a_compiler_shows_it() {
    let text = VOLUME.replace("size: 64M", "size: 10Q").replace("{name: v}", "\n  nmae: v");
    let error = read(text).expect_err("wrong");
    assert_eq!(
        error.to_string(),
        r#"lab.yaml:4:3: metadata.nmae: unknown field `nmae` (unknown-field)
  4 |   nmae: v
    |   ^
  next: did you mean `name`?
lab.yaml:4:3: metadata.name: is missing (missing-field)
  4 |   nmae: v
    |   ^
  next: write `name: some-name`
lab.yaml:5:31: spec.size: "10Q" is not a size (bad-size)
  5 | spec: {provider: local, size: 10Q}
    |                               ^
  next: write a number of MiB, or a number with M, G, T or P: 64M, 1.5G, 4Gi"#
    );
}

#[test]
fn a_problem_has_a_json_form() {
    let error = read(VOLUME.replace("64M", "64X")).expect_err("wrong");
    assert_eq!(
        serde_json::to_value(&error).expect("json"),
        serde_json::json!({"more": false, "problems": [{
            "file": "lab.yaml", "line": 4, "column": 31, "field": "spec.size", "code": "bad-size",
            "message": "\"64X\" is not a size",
            "next": "write a number of MiB, or a number with M, G, T or P: 64M, 1.5G, 4Gi",
        }]})
    );
}

#[test]
fn every_mistake_has_its_code_and_place() {
    let workload = |line: &str| format!("{MACHINE}  workloads:\n  - {line}\n");
    let cases: Vec<(String, Vec<&str>)> = vec![
        ("".into(), vec!["empty 0:0"]),
        ("---\n---\n# nothing\n".into(), vec!["empty 0:0"]),
        ("hello".into(), vec!["wrong-type 1:1"]),
        ("[1, 2]".into(), vec!["wrong-type 1:1"]),
        ("a: [".into(), vec!["bad-yaml 1:4"]),
        (VOLUME.replace("v1", "v2"), vec!["unsupported-version 1:13 apiVersion"]),
        (VOLUME.replace("Volume", "Volumes"), vec!["unsupported-kind 2:7 kind"]),
        (VOLUME.replace("kind: Volume\n", ""), vec!["missing-field 1:1 kind"]),
        (VOLUME.replace("{name: v}", ""), vec!["missing-field 3:1 metadata"]),
        (VOLUME.replace("{name: v}", "{name: v, labels: {a: b}}"), vec!["unknown-field 3:21 metadata.labels"]),
        (VOLUME.replace("size: 64M", "sise: 64M"), vec!["missing-field 4:7 spec.size", "unknown-field 4:25 spec.sise"]),
        (VOLUME.replace("64M", "0"), vec!["bad-size 4:31 spec.size"]),
        (VOLUME.replace("64M", "99Y"), vec!["bad-size 4:31 spec.size"]),
        (VOLUME.replace("64M", "-1"), vec!["bad-size 4:31 spec.size"]),
        (VOLUME.replace("64M", "[64M]"), vec!["wrong-type 4:31 spec.size"]),
        (VOLUME.replace("name: v", "name: ../etc"), vec!["bad-name 3:18 metadata.name"]),
        (VOLUME.replace("name: v", "name: ''"), vec!["bad-name 3:18 metadata.name"]),
        (VOLUME.replace("name: v", r#"name: "a\0""#), vec!["bad-name 3:18 metadata.name"]),
        (VOLUME.replace("name: v", "name: dаta"), vec!["bad-name 3:18 metadata.name"]),
        (VOLUME.replace("name: v", r#"name: "\u202Eatad""#), vec!["bad-name 3:18 metadata.name"]),
        (VOLUME.replace("name: v", &format!("name: {}", "a".repeat(100_000))), vec!["bad-name 3:18 metadata.name"]),
        (format!("{VOLUME}---\n{VOLUME}"), vec!["duplicate 8:18 metadata.name"]),
        (VOLUME.replace("size: 64M", "size: 64M, size: 1G"), vec!["duplicate 4:36"]),
        (VOLUME.replace("64M", "!size 64M"), vec!["bad-yaml 4:37"]),
        (workload("{name: w, command: sleep 10}"), vec!["wrong-type 7:24 spec.workloads[0].command"]),
        (workload("{name: w, command: []}"), vec!["missing-field 7:24 spec.workloads[0].command"]),
        (workload(r#"{name: w, command: ["a", "b\0"]}"#), vec!["bad-text 7:30 spec.workloads[0].command[1]"]),
        (workload("{name: w, command: [a, null]}"), vec!["wrong-type 7:28 spec.workloads[0].command[1]"]),
        (workload("{name: w, command: [a], env: {1A: x}}"), vec!["bad-name 7:35 spec.workloads[0].env.1A"]),
        (workload("{name: w, command: [a]}\n  - {name: w, command: [b]}"), vec!["duplicate 8:5 spec.workloads[1]"]),
        (
            workload(&format!("{{name: w, command: [{}]}}", "a,".repeat(257))),
            vec!["too-many 7:24 spec.workloads[0].command"],
        ),
        (
            workload(&format!("{{name: w, command: [{}]}}", "a".repeat(4097))),
            vec!["too-large 7:25 spec.workloads[0].command[0]"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(text.clone()), expected, "{}", bailiwick::text::cut(&text, 400));
    }
}

#[test]
fn a_shell_line_as_command_is_answered_with_how_to_write_it() {
    let text = format!("{MACHINE}  workloads:\n  - {{name: w, command: 'echo \"hi\" > x'}}\n");
    let error = read(text).expect_err("wrong");
    let next = error.problems[0].next.as_deref().expect("a next step");
    assert!(next.ends_with(r#"write `command: ["sh", "-c", "echo \"hi\" > x"]`"#), "{next}");
}

#[test]
fn an_attachment_names_what_is_declared_or_known() {
    let text = "apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {machine: m, volume: vv}\n";
    assert_eq!(
        problems(format!("{text}---\n{VOLUME}")),
        ["dangling-reference 3:17 spec.machine", "dangling-reference 3:28 spec.volume"]
    );
    let known = Known {
        machines: Arc::new(["m".parse().expect("a name")].into()),
        volumes: Arc::new(["vv".parse().expect("a name")].into()),
        ..Known::default()
    };
    let manifest = manifest::parse(&[Source::new("a.yaml", text)], &known).expect("all known");
    assert_eq!(manifest.documents[0].wish.stream().as_str(), "volume-attachment/m:vv");
}

#[test]
fn an_attachment_is_called_what_it_binds() {
    let text = |name: &str| {
        format!(
            "{MACHINE}---\n{VOLUME}---\napiVersion: bailiwick/v1\nkind: VolumeAttachment\nmetadata: {{name: '{name}'}}\nspec: \
             {{machine: m, volume: v, readOnly: true}}\n"
        )
    };
    assert_eq!(read(text("m:v")).expect("good").documents.len(), 3);
    assert_eq!(problems(text("v:m")), ["bad-name 14:18 metadata.name"]);
}

#[test]
fn two_attachments_of_one_volume_are_left_for_the_volume_to_refuse() {
    let attachment = "apiVersion: bailiwick/v1\nkind: VolumeAttachment\nspec: {machine: m, volume: v}\n";
    let text = format!(
        "{MACHINE}---\n{}---\n{VOLUME}---\n{attachment}---\n{}",
        MACHINE.replace("name: m", "name: n"),
        attachment.replace("machine: m", "machine: n")
    );
    assert_eq!(read(text).expect("good").documents.len(), 5);
}

#[test]
fn a_broken_document_does_not_hide_the_next_one() {
    let text = format!("a: [1, 2\n---\n{}", VOLUME.replace("64M", "64Q"));
    assert_eq!(problems(text), ["bad-yaml 1:4", "bad-size 6:31 spec.size"]);
}

#[test]
fn control_characters_are_not_passed_on_to_the_terminal() {
    let text = VOLUME.replace("spec: {", "spec: {\"\x1b[2J\u{202e}\": 1, ").replace("64M", "\"6\u{200b}4\"");
    let error = manifest::parse(&[Source::new("a\x1bb", text)], &Known::default()).expect_err("wrong");
    let everything = format!("{error}\n{}", serde_json::to_string(&error).expect("json"));
    assert!(everything.chars().all(|letter| letter == '\n' || !bailiwick::text::is_hostile(letter)), "{everything:?}");
}

#[test]
#[ignore = "takes long"]
fn hostile_sizes_are_answered_at_once() {
    let laughs = |levels: usize| {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..levels {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            text += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        text
    };
    let cases: Vec<(&str, String, &str)> = vec![
        ("10 MB of nonsense", "x\u{7}{[&*".repeat(1_500_000), "too-large"),
        ("4 MB of nonsense", "{[&*x: ".repeat(590_000), "too-deep"),
        ("flow nesting", "[".repeat(4_000_000), "too-deep"),
        ("mapping nesting", "{a: ".repeat(1_000_000), "too-deep"),
        ("block nesting", (0..1_500).map(|level| format!("{}a:\n", " ".repeat(level))).collect(), "too-deep"),
        ("indicator nesting", "- ".repeat(2_000_000), "too-deep"),
        ("question nesting", "? ".repeat(2_000_000), "too-deep"),
        ("a billion laughs", laughs(10), "too-large"),
        ("an endless loop", "a: &a [*a]".into(), "bad-yaml"),
        ("one long list", "- a\n".repeat(1_000_000), "too-many"),
        ("one long flow list", format!("[{}]", "a,".repeat(2_000_000)), "too-many"),
        ("a mapping of doubles", "a: b\n".repeat(800_000), "too-many"),
        ("many documents", "---\n".repeat(1_000_000), "too-many"),
        ("many broken documents", "--- {\n".repeat(600_000), "bad-yaml"),
        ("one long line", "a".repeat(4_000_000), "wrong-type"),
        ("one long text", format!("\"{}\"", "\\n".repeat(2_000_000)), "wrong-type"),
        ("one long key", format!("{}: 1", "a".repeat(4_000_000)), "bad-yaml"),
        ("one long comment", format!("#{}", "a".repeat(4_000_000)), "empty"),
        ("many comments", "#\n".repeat(2_000_000), "empty"),
        ("many empty lines", "\n".repeat(4_000_000), "empty"),
        ("many directives", "%A b\n".repeat(800_000), "bad-yaml"),
        ("many tags", "!a ".repeat(1_300_000), "bad-yaml"),
        ("many anchors", (0..300_000).map(|number| format!("- &a{number} x\n")).collect(), "too-many"),
    ];
    let slow = if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(2) };
    let mut wrong = Vec::new();
    for (name, text, code) in cases {
        let begin = Instant::now();
        let found = problems(text);
        let took = begin.elapsed();
        println!("{name}: {took:?} {}", found[0]);
        if !found[0].starts_with(code) || took > slow {
            wrong.push(format!("{name}: {found:?} in {took:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn problems_are_shown_up_to_a_limit() {
    let text = format!("{VOLUME}---\n").replace("64M", "64Q").repeat(3_000);
    let error = read(text).expect_err("wrong");
    assert_eq!(error.problems.len(), manifest::limits::PROBLEMS_MAX);
    assert!(error.to_string().ends_with("showing the first 20; there may be more"));
}

#[test]
fn ten_thousand_documents_are_read() {
    let text: String =
        (0..10_000).map(|number| VOLUME.replace("name: v", &format!("name: v{number}")) + "---\n").collect();
    // The last separator begins one more document, which is empty and counted.
    assert_eq!(read(text.trim_end_matches("---\n")).expect("good").documents.len(), 10_000);
}

/// Edits that keep a text near enough to a manifest to get deep into the reader.
fn mutated(text: &str, edits: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, how, byte) in edits {
        let at = at % bytes.len().max(1);
        match how % 4 {
            0 if at < bytes.len() => bytes[at] = *byte,
            1 => bytes.insert(at, *byte),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => {
                let piece: Vec<u8> = bytes.iter().skip(at).take(usize::from(*byte)).copied().collect();
                bytes.extend(piece);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_an_answer(bytes in vec(any::<u8>(), 0..2_000)) {
        let _ = read(bytes).map_err(|error| error.to_string());
    }

    #[test]
    fn any_yaml_letters_get_an_answer(text in "[-a-c0-9 \n\t:{}\\[\\],&*!|>'\"%@`#?~<=\r\u{feff}\u{85}ä]{0,300}") {
        let _ = read(text).map_err(|error| error.to_string());
    }

    #[test]
    fn a_changed_lab_is_read_or_refused(edits in vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..12)) {
        let lab = fs::read_to_string(examples().join("lab.yaml")).expect("the lab");
        match read(mutated(&lab, &edits)) {
            Ok(manifest) => prop_assert!(!manifest.documents.is_empty()),
            Err(error) => {
                prop_assert!(!error.problems.is_empty() && error.problems.len() <= manifest::limits::PROBLEMS_MAX);
                prop_assert!(error.to_string().chars().all(|c| c == '\n' || !bailiwick::text::is_hostile(c)));
            }
        }
    }
}

#[test]
fn a_replica_set_has_seats_on_machines() {
    let text = "apiVersion: bailiwick/v1\nkind: ReplicaSet\nmetadata: {name: db}\nspec:\n  engine: etcd\n  servers: 3\n  \
                seats:\n    - {machine: a, address: 10.0.0.1, peerPort: 7, clientPort: 8}\n    - {machine: b, address: \
                10.0.0.2, peerPort: 9}\n";
    let machines = Arc::new(["a", "b"].map(|name| name.parse().expect("a name")).into());
    let known = Known { machines, ..Known::default() };
    let parse = |text: &str| manifest::parse(&[Source::new("db.yaml", text.as_bytes())], &known);
    let manifest = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let Wish::ReplicaSet { name, spec } = &manifest.documents[0].wish else { panic!("a replica set") };
    assert_eq!((name.as_str(), spec.engine.as_str(), spec.servers, spec.one_host), ("db", "etcd", 3, false));
    let (first, second) = (&spec.seats[0], &spec.seats[1]);
    assert_eq!(
        (first.peer(None, false), first.client(None, false)),
        (Ok("10.0.0.1:7".into()), Some("10.0.0.1:8".into()))
    );
    assert_eq!(second.client(None, false), Some("10.0.0.2:9".into()), "one port serves both unless two are given");
    let spaced = text
        .replace("address: 10.0.0.1,", "addresses: [{value: 10.0.0.1, scope: public}, {value: 'fd00::1', space: ha}],")
        .replace("servers: 3", "servers: 3\n  space: ha");
    let spaced = parse(&spaced).unwrap_or_else(|error| panic!("{error}"));
    let Wish::ReplicaSet { spec, .. } = &spaced.documents[0].wish else { panic!("a replica set") };
    assert_eq!(spec.seats[0].peer(spec.space.as_ref(), false), Ok("[fd00::1]:7".into()));
    let nameless = parse(&text.replace("servers: 3", "servers: 3\n  space: ''")).expect_err("a space has a name");
    assert!(nameless.to_string().contains("spec.space"), "{nameless}");
    let engines = ["etcd", "mongodb"].map(|name| name.parse().expect("a name")).into();
    let on_a_node = Known { engines: Some(engines), ..known.clone() };
    let text_of = |engine: &str| {
        let text = text.replace("engine: etcd", &format!("engine: {engine}"));
        manifest::parse(&[Source::new("db.yaml", text.as_bytes())], &on_a_node).map_err(|error| error.to_string())
    };
    assert!(text_of("mongodb").is_ok());
    let typo = text_of("mongod").expect_err("nobody has it");
    assert!(typo.contains("db.yaml:5") && typo.contains("spec.engine") && typo.contains("`mongodb`"), "{typo}");
    let unknown = text_of("postgres").expect_err("nobody has it");
    assert!(unknown.contains("it has etcd, mongodb"), "{unknown}");
    for (wrong, right) in [
        ("servers: 3", "servers: 2"),
        ("peerPort: 7", "peerPort: 0"),
        ("engine: etcd", "motor: etcd"),
        ("address: 10.0.0.1,", "addresses: [{value: a, scope: near}],"),
        ("address: 10.0.0.1,", "address: a, addresses: [{value: a}],"),
    ] {
        assert!(parse(&text.replace(wrong, right)).is_err(), "{right}");
    }
}
