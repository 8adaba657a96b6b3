//! Juju's own clients, which nobody here wrote, against a node: python-libjuju in two releases, and jujulib.
//!
//! `.ci/run` puts them into a folder that `BAILIWICK_JUJU_CLIENTS` names.

use std::{
    env,
    io::{BufRead, BufReader, Write, stderr},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{FacadeNode, attachment, document};
use crate::up::eventually;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/facade");

#[test]
fn the_last_python_client_with_classes_of_the_facade_makes_every_call_and_watches() {
    python("juju-3.5", "typed all");
}

#[test]
fn the_newest_python_client_makes_every_call_and_watches() {
    python("juju-3.6", "typed none");
}

#[test]
fn the_javascript_client_makes_every_call_and_watches() {
    let Some(folder) = folder("jujulib") else { return };
    let mut command = Command::new("node");
    command.arg(format!("{HERE}/jujulib.mjs")).arg(folder);
    talk(command, "typed all");
}

fn python(release: &str, typed: &str) {
    let Some(folder) = folder(release) else { return };
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(format!("{HERE}/libjuju.py"));
    talk(command, typed);
}

/// Where a client is; none, said aloud, if it is not here and this is no CI.
fn folder(client: &str) -> Option<PathBuf> {
    let folder = env::var_os("BAILIWICK_JUJU_CLIENTS").map(|all| Path::new(&all).join(client));
    let folder = folder.filter(|folder| folder.is_dir());
    if folder.is_none() {
        assert!(env::var_os("BAILIWICK_CI").is_none(), "a client of Juju's cannot be tested here: no {client}");
        writeln!(stderr().lock(), "NOT TESTED FOR REAL: the facade with {client}, which .ci/run installs")
            .expect("told");
    }
    folder
}

/// A client, as a process that says what it finds and is told what happens.
struct Talk {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
}

/// How long a client may be silent.
const SILENT_MAX: Duration = Duration::from_secs(60);

impl Talk {
    fn tell(&mut self, line: &str) {
        writeln!(self.to, "{line}").expect("told");
    }

    fn hear(&mut self) -> String {
        match self.from.recv_timeout(SILENT_MAX) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the client says nothing any more"),
            Err(RecvTimeoutError::Disconnected) => panic!("the client ended: {:?}", self.child.wait()),
        }
    }

    fn expect(&mut self, line: &str) {
        assert_eq!(self.hear(), line);
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What a client says, line by line, as it comes.
fn lines(from: ChildStdout) -> Receiver<String> {
    let (said, heard) = channel();
    thread::spawn(move || BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    heard
}

/// Lets a client do all it can.
fn talk(mut command: Command, typed: &str) {
    let mut node = FacadeNode::start();
    let model = node.handle().journal().id().to_string();
    given(&node, &model);
    let authority = node.dir().join("tls/ca.pem");
    command.arg(format!("{HERE}/calls.json")).arg(&model).arg(authority);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a client");
    let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut client = Talk { child, to, from: lines(from) };
    client.tell(&node.address.to_string());
    client.expect("user permission denied");
    let calls: Vec<Value> = serde_json::from_str(include_str!("calls.json")).expect("calls");
    for call in &calls {
        let method = call["method"].as_str().expect("a method");
        let line = client.hear();
        let errors = line.strip_prefix(&format!("called {method} ")).unwrap_or_else(|| panic!("{method}: {line}"));
        let errors: Vec<String> = serde_json::from_str(errors).expect("errors");
        assert_eq!(errors, expected(method), "{method}");
    }
    client.expect(typed);
    watches(&client.hear(), &["0", "1"]);
    eventually("the volume of machine 1 is attached", || is_attached(&node));
    node.apply(&[document("Machine", "7", &json!({"provider": "external"}))]);
    client.tell("changed");
    client.expect(r#"told ["7"]"#);
    client.expect("waits");
    node.restart();
    client.tell(&node.address.to_string());
    assert!(client.hear().starts_with("ended"));
    watches(&client.hear(), &["0", "1", "7"]);
    client.expect("done");
}

/// A client has these in its first look.
#[track_caller]
fn watches(line: &str, expected: &[&str]) {
    let seen = line.strip_prefix("watches ").unwrap_or_else(|| panic!("{line}"));
    assert_eq!(serde_json::from_str::<Vec<String>>(seen).expect("names"), expected);
}

/// Whether the volume that came with machine 1 is as the client has said.
fn is_attached(node: &FacadeNode) -> bool {
    let path = node.handle().look(|fleet| {
        let (_, info) = fleet.attachments.get("1:1-0")?.attached()?;
        Some(info.path.clone())
    });
    path.expect("looked").as_deref() == Some("/dev/sdb")
}

/// What a call is told of machine 0, which is a controller with an instance and a container.
fn expected(method: &str) -> Vec<&'static str> {
    match method {
        "EnsureDead" => vec!["machine 0 is still a non-voting controller member"],
        "MarkMachinesForRemoval" => vec!["cannot remove machine 0: machine is not dead"],
        "Remove" => vec!["cannot remove machine \"machine-0\": still alive"],
        "SetInstanceInfo" => {
            vec!["cannot record provisioning info for \"i-1\": cannot set instance data for machine \"0\": already set"]
        }
        "PrepareContainerInterfaceInfo" | "GetContainerInterfaceInfo" => {
            vec!["unable to find host bridge for space(s) \"alpha\" for container \"0/lxd/0\""]
        }
        _ => vec![],
    }
}

fn given(node: &FacadeNode, model: &str) {
    let hash = blake3::hash(b"token-of-ada").to_hex().to_string();
    let agent = json!({"version": "3.6.1-ubuntu-amd64", "url": "https://agents.example/3.6.1"});
    node.pool("fast", &[("provider", "static")]);
    node.apply(&[
        document("JujuModel", "default", &json!({"agentBinaries": [agent]})),
        document("Machine", "0", &json!({"provider": "external", "jobs": ["host-units", "manage-model"]})),
        document("Machine", "0-lxd-0", &json!({"provider": "external"})),
        document("Machine", "1", &json!({"provider": "external"})),
        document("Volume", "1-0", &json!({"pool": "fast", "size": "64M", "machine": "1"})),
        attachment("1", "1-0"),
        document("Account", "ada", &json!({"role": "admin", "tokens": [{"id": "00000001", "hash": hash}]})),
    ]);
    let mut agent = node.client(model, "machine-0");
    let info = json!({"tag": "machine-0", "instance-id": "i-0", "nonce": "nonce-of-machine-zero"});
    agent.call("SetInstanceInfo", &json!({"machines": [info]})).expect("told");
    let password = json!({"tag": "machine-0", "password": "password-of-machine-zero-12345"});
    agent.call("SetPasswords", &json!({"changes": [password]})).expect("told");
}
