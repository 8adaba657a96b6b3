//! Juju's own clients, which nobody here wrote, against the program: python-libjuju in two releases, and jujulib.
//!
//! `.ci/run` puts them into a folder that `BAILIWICK_JUJU_CLIENTS` names.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write, stderr},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{Client, attachment, document};
use crate::up::{Lab, Running, eventually};

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
    let mut node = Process::start();
    given(&node);
    command.arg(format!("{HERE}/calls.json")).arg(&node.model).arg(node.authority());
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
    eventually("the volume of machine 1 is attached", || node.path_of_volume().as_deref() == Some("/dev/sdb"));
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

const TOKEN: &str = "token-of-the-controller";

fn given(node: &Process) {
    let account = |token: &str| {
        let hash = blake3::hash(token.as_bytes()).to_hex().to_string();
        json!({"role": "admin", "tokens": [{"id": "00000001", "hash": hash}]})
    };
    let agent = json!({"version": "3.6.1-ubuntu-amd64", "url": "https://agents.example/3.6.1"});
    node.run(&["pool", "create", "fast", "external", "provider=static"]);
    node.apply(&[
        document("JujuModel", "default", &json!({"agentBinaries": [agent]})),
        document("Machine", "0", &json!({"provider": "external", "jobs": ["host-units", "manage-model"]})),
        document("Machine", "0-lxd-0", &json!({"provider": "external"})),
        document("Machine", "1", &json!({"provider": "external"})),
        document("Volume", "1-0", &json!({"pool": "fast", "size": "64M", "machine": "1"})),
        attachment("1", "1-0"),
        document("Account", "ada", &account("token-of-ada")),
        document("Account", "controller-0", &account(TOKEN)),
    ]);
    let authority = fs::read_to_string(node.authority()).expect("an authority");
    let path = format!("/model/{}/api", node.model);
    let mut controller = Client::connect(node.address, &authority, &path).expect("connected");
    controller.login("controller-0", TOKEN).expect("logged in");
    let info = json!({"tag": "machine-0", "instance-id": "i-0", "nonce": "nonce-of-machine-zero"});
    controller.call("SetInstanceInfo", &json!({"machines": [info]})).expect("told");
    let password = json!({"tag": "machine-0", "password": "password-of-machine-zero-12345"});
    controller.call("SetPasswords", &json!({"changes": [password]})).expect("told");
}

/// The program, as a process that listens.
struct Process {
    lab: Lab,
    running: Option<Running>,
    address: SocketAddr,
    model: String,
}

impl Process {
    fn start() -> Self {
        let lab = Lab::new();
        let (running, address) = listening(&lab);
        let head = lab.run(&["journal", "head", "-o", "json"]).code(0).out;
        let head: Value = serde_json::from_str(&head).expect("JSON");
        let model = head["journal"].as_str().expect("an id").to_owned();
        Self { lab, running: Some(running), address, model }
    }

    /// Ends it in order, and starts it again at another port.
    fn restart(&mut self) {
        self.running.take().expect("it runs").stopped().code(0);
        let (running, address) = listening(&self.lab);
        (self.running, self.address) = (Some(running), address);
    }

    fn authority(&self) -> PathBuf {
        self.lab.data().join("tls/ca.pem")
    }

    fn run(&self, args: &[&str]) -> String {
        self.lab.run(args).code(0).out
    }

    fn apply(&self, documents: &[Value]) {
        let text: Vec<String> = documents.iter().map(|document| format!("{document}\n")).collect();
        let manifest = self.lab.manifest("given.yaml", text.join("---\n"));
        self.run(&["apply", &manifest]);
    }

    /// How the volume is reached that came with machine 1.
    fn path_of_volume(&self) -> Option<String> {
        let rows: Value = serde_json::from_str(&self.run(&["get", "volume-attachments", "-o", "json"])).expect("JSON");
        let rows = rows.as_array().or_else(|| rows["items"].as_array()).expect("rows");
        let path = rows.iter().find(|row| row["name"] == "1:1-0")?["path"].as_str();
        path.map(str::to_owned)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.running.take().map(Running::kill));
    }
}

fn listening(lab: &Lab) -> (Running, SocketAddr) {
    let running = lab.start(&["serve", "--listen", "127.0.0.1:0"]);
    running.says("listening on https://127.0.0.1:");
    let said = running.said();
    let address = said.split("listening on https://").nth(1).and_then(|rest| rest.lines().next());
    let address = address.and_then(|address| address.trim().parse().ok()).expect("an address");
    (running, address)
}
