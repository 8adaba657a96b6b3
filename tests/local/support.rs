//! A root of one's own, and nothing left running after it.

use std::{
    ffi::OsString,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick::{
    actors::{
        machine::Spec,
        ports::{Clock, CreateMachine, MachineInstance, MachineProvider},
        vocab::{EffectId, Fault, Name, Nonce, Timestamp, Uid},
    },
    agent::{
        directory::{MachineDir, Presence},
        group,
        process::ProcessMark,
    },
    providers::local::{LocalConfig, LocalProvider},
};
use rustix::process::Signal;

/// The key of the node that the tests play.
pub const NODE_KEY: [u8; 32] = [7; 32];

#[derive(Debug)]
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000)
    }
}

/// A data directory. Whatever runs in it is killed when it goes.
#[derive(Debug)]
pub struct Ground {
    path: PathBuf,
    _scratch: Arc<tempfile::TempDir>,
}

impl Ground {
    pub fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        Self { path: scratch.path().canonicalize().unwrap(), _scratch: Arc::new(scratch) }
    }

    /// One whose path is longer than a socket's address can be.
    pub fn deep() -> Self {
        let shallow = Self::new();
        let path = shallow.path.join("d".repeat(100)).join("e".repeat(100));
        fs::create_dir_all(&path).unwrap();
        Self { path, _scratch: shallow._scratch.clone() }
    }

    pub fn root(&self) -> PathBuf {
        self.path.join("local")
    }

    pub fn socket(&self) -> PathBuf {
        self.path.join("node.sock")
    }

    /// A new provider on this ground, as after a restart of the node.
    pub fn provider(&self) -> LocalProvider {
        self.provider_with([env!("CARGO_BIN_EXE_bailiwick"), "agent"])
    }

    pub fn provider_with<const N: usize>(&self, agent_command: [&str; N]) -> LocalProvider {
        let agent_command = agent_command.map(OsString::from).into();
        let config = LocalConfig {
            root: self.root(),
            socket: self.socket(),
            agent_command,
            node_key: NODE_KEY,
            workload_user: None,
            storage_helper: None,
        };
        LocalProvider::new(config, Arc::new(FixedClock)).unwrap()
    }

    pub fn machine(&self, effect: EffectId) -> MachineDir {
        MachineDir::new(self.root().join("machines").join(effect.to_string()), effect)
    }

    pub fn volume(&self, effect: EffectId) -> PathBuf {
        self.root().join("volumes").join(effect.to_string())
    }

    /// The agent that runs in a machine.
    pub fn agent(&self, effect: EffectId) -> ProcessMark {
        match self.machine(effect).presence().unwrap() {
            Presence::Running(mark) => mark,
            other => panic!("{other:?}"),
        }
    }

    /// What runs of a machine beside its agent.
    pub fn workloads(&self, n: u128) -> Vec<ProcessMark> {
        let machine = self.machine(effect(n));
        let mut running = group::survivors(&machine).unwrap();
        running.retain(|process| !is_agent(process, &machine));
        running
    }

    /// Kills an agent as the system would.
    pub fn kill_agent(&self, effect: EffectId) {
        assert!(self.agent(effect).signal(Signal::KILL).unwrap());
        eventually("the agent has ended", || matches!(self.machine(effect).presence(), Ok(Presence::Ended(_))));
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.root().join("machines")).into_iter().flatten().flatten() {
            let Some(effect) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let machine = self.machine(effect);
            for process in group::survivors(&machine).unwrap_or_default() {
                let _ = process.signal(Signal::KILL);
            }
        }
    }
}

/// The agents of a machine.
pub fn agents_of(machine: &MachineDir) -> Vec<ProcessMark> {
    let mut running = group::survivors(machine).unwrap();
    running.retain(|process| is_agent(process, machine));
    running
}

fn is_agent(process: &ProcessMark, machine: &MachineDir) -> bool {
    process.has_argument(&machine.path().to_string_lossy())
}

/// Waits until something is so; the only place where tests wait.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn effect(n: u128) -> EffectId {
    EffectId(uuid::Uuid::from_u128(n))
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// What this control plane starts machine n with.
pub fn nonce(n: u128) -> Nonce {
    Nonce::of(uuid::Uuid::from_u128(7), effect(n))
}

pub fn wish(n: u128) -> CreateMachine {
    CreateMachine {
        id: effect(n),
        machine: name("web"),
        uid: Uid(uuid::Uuid::from_u128(n)),
        spec: Arc::new(Spec::with_provider(name("local"))),
        zone: None,
        class: None,
        secrets: Default::default(),
        start: None,
        config: None,
        nonce: Some(nonce(n)),
        join: None,
    }
}

/// The answer to a call about one item.
pub fn only<T>(answers: Result<Vec<Result<T, Fault>>, Fault>) -> Result<T, Fault> {
    let mut answers = answers.unwrap();
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

pub async fn create(provider: &LocalProvider, n: u128) -> MachineInstance {
    only(provider.create(vec![wish(n)]).await).unwrap().instance
}

pub async fn delete(provider: &LocalProvider, n: u128) {
    only(provider.delete(vec![effect(n)]).await).unwrap();
}
