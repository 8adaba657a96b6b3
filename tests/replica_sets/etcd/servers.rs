//! etcd servers as processes, each with a directory of its own. They end with the test.

use std::{
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use bailiwick_actors::{
    ports::replica_set::{Contact, Member, Server},
    testing::free_port,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::lab::name;

/// Whether there are etcd servers here. If not, that is said; where `BAILIWICK_CI` is set, it is a failure.
pub fn is_there() -> bool {
    let version = Command::new("etcd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("BAILIWICK_CI").is_none(), "etcd cannot be tested for real here: there is no etcd");
    let text = "NOT TESTED FOR REAL: there is no etcd here; install the package etcd-server";
    writeln!(std::io::stderr().lock(), "{text}").unwrap();
    false
}

/// The machines `m1`, `m2`, … with a server each, or none.
pub struct Servers {
    root: TempDir,
    machines: Vec<Machine>,
}

struct Machine {
    name: String,
    peer: String,
    client: String,
    running: Option<Child>,
}

impl Servers {
    pub fn new(count: usize) -> Self {
        let machine = |number: usize| {
            let [peer, client] = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
            Machine { name: format!("m{number}"), peer, client, running: None }
        };
        Self { root: tempfile::tempdir().unwrap(), machines: (1..=count).map(machine).collect() }
    }

    pub fn contact(&self) -> Contact {
        let server = |machine: &Machine| Server {
            machine: name(&machine.name),
            client: machine.client.clone(),
            peer: Some(machine.peer.clone()),
        };
        Contact { set: name("db"), servers: self.machines.iter().map(server).collect() }
    }

    fn at(&mut self, machine: &str) -> &mut Machine {
        self.machines.iter_mut().find(|it| it.name == machine).expect("it is one of ours")
    }

    fn data(&self, machine: &str) -> PathBuf {
        self.root.path().join(machine)
    }

    /// A server that begins a cluster.
    pub fn begin(&mut self, machine: &str) {
        let cluster = format!("{machine}=http://{}", self.at(machine).peer);
        self.run(machine, &["--initial-cluster", &cluster, "--initial-cluster-state", "new"]);
    }

    /// A server that joins the cluster of these members, of which it is one already.
    pub fn join(&mut self, machine: &str, members: &[Member]) {
        let listed = |member: &Member| {
            let of_machine = self.machines.iter().find(|it| it.peer == member.address);
            format!("{}=http://{}", of_machine.map_or("stranger", |it| it.name.as_str()), member.address)
        };
        let cluster: Vec<String> = members.iter().map(listed).collect();
        self.run(machine, &["--initial-cluster", &cluster.join(","), "--initial-cluster-state", "existing"]);
    }

    /// The server runs again, with what it has.
    pub fn restart(&mut self, machine: &str) {
        assert!(self.has_data(machine), "a member is never started with an empty directory");
        self.run(machine, &[]);
    }

    pub fn has_data(&self, machine: &str) -> bool {
        self.data(machine).join("member").is_dir()
    }

    pub fn is_running(&mut self, machine: &str) -> bool {
        let running = &mut self.at(machine).running;
        let has_ended = running.as_mut().is_some_and(|child| child.try_wait().expect("it is our child").is_some());
        if has_ended {
            *running = None;
        }
        running.is_some()
    }

    fn run(&mut self, machine: &str, more: &[&str]) {
        let (data, log) = (self.data(machine), self.root.path().join(format!("{machine}.log")));
        let log = File::options().create(true).append(true).open(log).unwrap();
        let at = self.at(machine);
        let (peer, client) = (format!("http://{}", at.peer), format!("http://{}", at.client));
        let child = Command::new("etcd")
            .args(["--name", &at.name, "--data-dir"])
            .arg(data)
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--heartbeat-interval", "100", "--election-timeout", "1000", "--unsafe-no-fsync"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("etcd starts");
        at.running = Some(child);
    }

    pub fn kill(&mut self, machine: &str) {
        if let Some(mut child) = self.at(machine).running.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Its data is gone, and it with it.
    pub fn lose_data(&mut self, machine: &str) {
        self.kill(machine);
        fs::remove_dir_all(self.data(machine)).unwrap();
    }

    pub fn pause(&mut self, machine: &str) {
        self.signal(machine, Signal::STOP);
    }

    pub fn go_on(&mut self, machine: &str) {
        self.signal(machine, Signal::CONT);
    }

    fn signal(&mut self, machine: &str, signal: Signal) {
        let child = self.at(machine).running.as_ref().expect("it runs");
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// What the servers wrote, for a test that failed.
    pub fn logs(&self) -> String {
        let mut all = String::new();
        for machine in &self.machines {
            let log = fs::read_to_string(self.root.path().join(format!("{}.log", machine.name))).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(15).collect();
            all += &format!("== {}\n", machine.name);
            all.extend(last.into_iter().rev().map(|line| format!("{line}\n")));
        }
        all
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            writeln!(std::io::stderr().lock(), "{}", self.logs()).ok();
        }
        for machine in &mut self.machines {
            if let Some(child) = &mut machine.running {
                child.kill().ok();
                child.wait().ok();
            }
        }
    }
}
