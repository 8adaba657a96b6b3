//! A canary in every place where a secret can be, and a provider that sings: it is heard nowhere.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::Signal;

use super::support::{Lab, QUICK, Running, eventually};

/// A provider that tells on everything in every field.
const LEAKY: &str = include_str!("leaky.py");

/// One class for each way in which secrets are kept, and one machine of each; and one of everything for each place that
/// cannot be blotted out.
const MANIFEST: &str = "
{kind: MachineClass, metadata: {name: plain}, spec: {provider: leaky, secret: plain, credentials: cloud-key}}
{kind: MachineClass, metadata: {name: filed}, spec: {provider: leaky, secret: filed}}
{kind: MachineClass, metadata: {name: object}, spec: {provider: leaky, secret: object}}
{kind: MachineClass, metadata: {name: folder}, spec: {provider: leaky, secret: folder}}
{kind: MachineClass, metadata: {name: short}, spec: {provider: leaky, secret: short}}
{kind: MachineClass, metadata: {name: twice}, spec: {provider: leaky, secret: plain, credentials: filed}}
{kind: Machine, metadata: {name: plain}, spec: {class: plain}}
{kind: Machine, metadata: {name: filed}, spec: {class: filed}}
{kind: Machine, metadata: {name: object}, spec: {class: object}}
{kind: Machine, metadata: {name: folder}, spec: {class: folder}}
{kind: Machine, metadata: {name: short}, spec: {class: short}}
{kind: Machine, metadata: {name: twice}, spec: {class: twice}}
{kind: Machine, metadata: {name: slow}, spec: {provider: leaky}}
{kind: Machine, metadata: {name: in-id}, spec: {provider: leaky}}
{kind: Machine, metadata: {name: in-zone}, spec: {provider: leaky}}
{kind: Machine, metadata: {name: in-fault}, spec: {provider: leaky}}
{kind: Machine, metadata: {name: in-code}, spec: {provider: leaky}}
{kind: Machine, metadata: {name: in-line}, spec: {provider: leaky}}
{kind: Volume, metadata: {name: calm}, spec: {provider: leaky, size: 1M}}
{kind: Volume, metadata: {name: in-id-too}, spec: {provider: leaky, size: 1M}}
{kind: VolumeAttachment, spec: {machine: plain, volume: calm}}
{kind: Filesystem, metadata: {name: in-id-of-it}, spec: {provider: leaky, size: 1M}}
";

/// What the journal says of those that could not be taken, and of those that could not be made.
const REFUSED: [(&str, &str); 8] = [
    ("machine/in-id", "own id contains a secret"),
    ("machine/in-zone", "`zone` contains a secret"),
    ("machine/in-fault", "***"),
    ("machine/in-code", "without a valid code"),
    ("machine/short", "its key `pin` has 4 bytes"),
    ("machine/twice", "secrets plain and filed of class twice both have the key `userData`"),
    ("volume/in-id-too", "own id contains a secret"),
    ("filesystem/in-id-of-it", "own id contains a secret"),
];

/// A lab whose secrets are canaries.
struct Cage {
    lab: Lab,
    /// Where what the provider says is written down as it says it.
    told: PathBuf,
    /// By the place where it is kept.
    canaries: BTreeMap<&'static str, String>,
    variables: Vec<(&'static str, String)>,
}

impl Cage {
    fn new() -> Self {
        let lab = Lab::new();
        let root = lab.data().parent().expect("a folder").to_owned();
        let canary = |place: &'static str| (place, format!("canary-{place}-{}", uuid::Uuid::new_v4().simple()));
        let places = ["variable", "plain", "credentials", "file", "object", "folder", "lines", "password"];
        let mut canaries: BTreeMap<&str, String> = places.map(canary).into();
        // As odd as passwords are.
        let odd = format!("{} \"ö\\ a/b<c>&d", canaries["credentials"]);
        canaries.insert("credentials", odd);
        let put = |name: &str, text: String| {
            let path = root.join(name);
            fs::write(&path, text).expect("written");
            path.to_str().expect("text").to_owned()
        };
        fs::create_dir(root.join("folder")).expect("a folder");
        put("folder/token", format!("{}\n", canaries["folder"]));
        put("folder/script", format!("#!/bin/sh\n  login {}\n", canaries["lines"]));
        let object = serde_json::json!({ "inner": canaries["object"] });
        let variables = vec![
            ("CANARY_TOKEN", canaries["variable"].clone()),
            ("BAILIWICK_SECRET_PLAIN", canaries["plain"].clone()),
            ("BAILIWICK_SECRET_CLOUD_KEY", serde_json::json!({ "key": canaries["credentials"] }).to_string()),
            ("BAILIWICK_SECRET_FILED_FILE", put("filed", canaries["file"].clone())),
            ("BAILIWICK_SECRET_OBJECT", serde_json::json!({ "outer": object.to_string() }).to_string()),
            ("BAILIWICK_SECRET_FOLDER_FILE", root.join("folder").to_str().expect("text").to_owned()),
            ("BAILIWICK_SECRET_SHORT", r#"{"pin":"q9#Z"}"#.to_owned()),
            ("BAILIWICK_ETCD_USERNAME", "root".to_owned()),
            ("BAILIWICK_ETCD_PASSWORD", canaries["password"].clone()),
        ];
        canaries.insert("short", "q9#Z".to_owned());
        let cage = Self { told: root.join("told"), lab, canaries, variables };
        cage.set_up();
        cage
    }

    fn set_up(&self) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let leaky = self.lab.manifest("leaky.py", LEAKY);
        let words = ["python3", &leaky, examples.to_str().expect("text"), self.told.to_str().expect("text")];
        let file = serde_json::json!({"providers": {"leaky": {"command": words, "env": ["CANARY_TOKEN"]}}});
        fs::create_dir(self.lab.data()).expect("a directory");
        fs::set_permissions(self.lab.data(), fs::Permissions::from_mode(0o700)).expect("private");
        fs::write(self.lab.data().join("providers.yaml"), file.to_string()).expect("written");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.lab.command(&[args, &["--log-level", "trace"]].concat());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn serve(&self) -> Running {
        let node = Running::of(&mut self.command(&["serve"]));
        eventually("it listens", || UnixStream::connect(self.lab.data().join("node.sock")).is_ok());
        node
    }

    fn ran(&self, args: &[&str]) -> String {
        let ran = Running::of(&mut self.command(args)).ended();
        format!("{args:?}: {:?}\n{}\n{}", ran.code, ran.out, ran.err)
    }

    /// Everything that anybody can ask for.
    fn all_answers(&self) -> Vec<String> {
        let export = self.lab.data().with_file_name("lines");
        let backup = self.lab.data().with_file_name(format!("backup-{}", uuid::Uuid::new_v4().simple()));
        let (file, into) = (export.to_str().expect("text"), backup.to_str().expect("text"));
        let mut said = vec![self.ran(&["journal", "export", file]), self.ran(&["backup", into])];
        said.push(fs::read_to_string(&export).expect("lines"));
        fs::remove_file(&export).expect("ours");
        said.extend(files_of(&backup, &["node.key", "enrolment"]).into_values().map(|content| lossy(&content)));
        for args in [
            &["log"][..],
            &["log", "-o", "json"],
            &["status"],
            &["status", "-o", "json"],
            &["schedule"],
            &["storage"],
            &["harvest"],
            &["why", "machine/plain"],
            &["why", "machine/in-id"],
            &["why-not", "machine/in-id"],
            &["why-not", "volume/in-id-too"],
            &["journal", "stat"],
            &["audit", "replay"],
        ] {
            said.push(self.ran(args));
        }
        for kind in ["machine", "machine-class", "volume", "filesystem", "volume-attachment"] {
            said.extend(["wide", "json"].map(|how| self.ran(&["get", kind, "-o", how])));
        }
        for (entity, _) in REFUSED.into_iter().chain([("machine/plain", ""), ("volume/calm", "")]) {
            said.extend(["table", "json"].map(|how| self.ran(&["describe", entity, "-o", how])));
        }
        said.extend(["/v1/metrics", "/v1/log?limit=1000"].map(|path| self.lab.http("GET", path, "").1));
        said
    }

    /// The canaries, the key and the tokens, in the forms that a reader would know.
    fn secrets(&self) -> Vec<Vec<u8>> {
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        for canary in self.canaries.values() {
            let json = serde_json::to_string(canary).expect("JSON");
            secrets.extend([canary.clone().into_bytes(), json.trim_matches('"').into()]);
            // What is in front of odd letters looks the same however often they are escaped.
            secrets.extend(canary.split([' ', '"']).next().map(|text| text.as_bytes().to_vec()));
            // As Go escapes it, as forms and scripts do in URLs, and in hexadecimal digits.
            let in_go = json.trim_matches('"').replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
            let in_url = |kept: &str, space: &str| {
                let letter = |byte: u8| match char::from(byte) {
                    ' ' => space.to_owned(),
                    letter if letter.is_ascii_alphanumeric() || "-._~".contains(letter) => letter.to_string(),
                    letter if byte.is_ascii() && kept.contains(letter) => letter.to_string(),
                    _ => format!("%{byte:02X}"),
                };
                canary.bytes().map(letter).collect::<String>()
            };
            let hex: String = canary.bytes().map(|byte| format!("{byte:02x}")).collect();
            let others = [in_go, in_url("", "%20"), in_url("/", "%20"), in_url("", "+"), hex];
            secrets.extend(others.map(String::into_bytes));
            // What base64 of `me:SECRET` has in its middle.
            secrets.extend((9 < canary.len()).then(|| base64(&canary.as_bytes()[..9])));
        }
        let key = fs::read(self.lab.data().join("node.key")).expect("a key");
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        secrets.extend([base64(&key[..30]), hex.into_bytes(), key]);
        for kept in files_of(&self.lab.data().join("enrolment"), &[]).into_values() {
            let kept: serde_json::Value = serde_json::from_slice(&kept).expect("JSON");
            let (_, secret) = kept["token"].as_str().and_then(|token| token.split_once('.')).expect("id and secret");
            secrets.push(secret.into());
        }
        secrets
    }
}

/// Of whole groups of three.
fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |three: &[u8]| {
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| LETTERS[bits >> shift & 63])
    };
    bytes.chunks_exact(3).flat_map(letters).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files below a folder, but for those with these names.
fn files_of(folder: &Path, but: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("known"));
        if but.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if kind.is_dir() {
            files.extend(files_of(&path, but));
        } else if kind.is_file() {
            files.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    files
}

#[track_caller]
fn holds_none(what: &str, content: &[u8], secrets: &[Vec<u8>]) {
    for secret in secrets {
        let found = content.windows(secret.len()).position(|part| part == secret);
        let around = found.map(|at| lossy(&content[at.saturating_sub(200)..(at + 100).min(content.len())]));
        assert!(around.is_none(), "{what} holds {}: {}", lossy(secret), around.unwrap_or_default());
    }
}

#[test]
#[ignore = "takes long"]
fn what_a_provider_tells_on_is_heard_nowhere() {
    if !super::exec::has_python() {
        return;
    }
    // given secrets in all places, and a node whose provider tells on all of them in all fields
    let cage = Cage::new();
    let declared = MANIFEST.trim().lines().map(|line| line.replacen('{', "{apiVersion: bailiwick/v1, ", 1));
    let declared = declared.collect::<Vec<_>>().join("\n---\n");
    let manifest = cage.lab.manifest("all.yaml", format!("{QUICK}---\n{declared}\n"));
    let mut said = Vec::new();
    for life in 0..2 {
        let node = cage.serve();
        if life == 0 {
            said.push(cage.ran(&["plan", &manifest]));
            said.push(cage.ran(&["apply", &manifest]));
            eventually("its progress is noted", || {
                said.push(cage.ran(&["describe", "machine/slow"]));
                let told = |line: &str| line.starts_with("progress") && line.contains("***");
                said.last().is_some_and(|all| all.lines().any(told))
            });
            fs::write(cage.told.with_extension("go"), "").expect("written");
        }
        // when what can be made is made, what cannot is refused, and everybody asks for everything
        eventually("all that can be made is made", || {
            let all = cage.ran(&["get", "machine"]);
            let runs = |name: &str| all.lines().any(|line| line.starts_with(name) && line.contains("ready"));
            ["plain", "filed", "object", "folder", "slow", "in-line"].iter().all(|name| runs(name))
        });
        for (entity, why) in REFUSED {
            // A fault without a valid code leaves open whether it was made: it is asked for, and found.
            let told = || cage.ran(&["describe", entity]) + &cage.ran(&["log", entity, "-o", "json"]);
            eventually(&format!("{entity} is refused: {why}"), || told().contains(why));
        }
        said.extend(cage.all_answers());
        for process in cage.lab.processes() {
            let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
            holds_none("a command line", &line, &cage.secrets());
        }
        if life == 0 {
            let ran = node.kill();
            said.extend([ran.out, ran.err]);
        } else {
            node.signal(Signal::TERM);
            let ran = node.ended().code(0);
            said.extend([ran.out, ran.err]);
        }
    }
    // then the provider has said them all, something stands in their place, and they are nowhere
    let (secrets, told) = (cage.secrets(), fs::read(&cage.told).expect("what it told"));
    for (place, canary) in cage.canaries.iter().filter(|(place, _)| **place != "short") {
        let json = serde_json::to_string(canary).expect("JSON");
        let is_told = lossy(&told).contains(json.trim_matches('"'));
        assert!(is_told || lossy(&told).contains(&json.replace('ö', "\\u00f6")[1..30]), "it did not tell: {place}");
    }
    let heard = said.join("\n");
    for sign in ["do you know ***", "variable CANARY_TOKEN; it is removed", "\"00\":\"***\""] {
        assert!(heard.contains(sign), "it was not heard at all: {sign}");
    }
    for text in &said {
        holds_none(&text.chars().take(60).collect::<String>(), text.as_bytes(), &secrets);
    }
    let files = files_of(cage.lab.data(), &["node.key", "enrolment", "disk"]);
    assert!(files.keys().any(|file| file.starts_with(cage.lab.data().join("journal"))));
    for (file, content) in files {
        holds_none(&file.display().to_string(), &content, &secrets);
    }
}

#[test]
fn a_variable_that_could_not_be_kept_secret_is_refused_with_the_way_out() {
    let cage = Cage::new();
    let serve = |value: &str| Running::of(cage.command(&["serve"]).env("CANARY_TOKEN", value)).ended();
    let ran = serve("q9#Z").code(78);
    ran.says("error[bad-providers]: provider leaky cannot be started").says("variable CANARY_TOKEN");
    ran.says("[env, CANARY_TOKEN=VALUE, …]").says("a value of 4 bytes");
    assert!(!ran.err.contains("q9#Z"), "{ran:?}");
}
