//! What a node needs to know before it starts.

#[cfg(feature = "server")]
mod sink;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::{
    ports::{CallBudget, Clock, FilesystemProvider, MachineProvider, ReplicaSetEngine, VolumeProvider},
    shell::Limits,
    vocab::Name,
};

use bailiwick_journal::LocalJournal;
#[cfg(feature = "server")]
pub use sink::{EventSink, InvalidSink, SinkFormat, Wanted};

use crate::{
    agent::WorkloadUser,
    api::wire::{
        problem::Problem,
        sweep::{Sweep, SweepWish},
    },
    providers::{access::Environment, exec::ExecConfig},
};

/// How the `local` provider is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalMachines {
    /// There is none: machines with `provider: local` are given up with a clear fault.
    Off,
    /// Program and first arguments that start an agent; `--dir`, `--socket` and `--effect` are added. In a host program
    /// "this binary" is the host, so it is configuration.
    With { agent_command: Vec<OsString> },
}

/// How a node is reached from other machines: with TLS 1.3, and by accounts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Network {
    /// `0.0.0.0:8443`.
    pub listen: SocketAddr,
    /// What clients call the node, beside its host name and the address that it listens on.
    pub names: Vec<String>,
    /// The certificate to show and its key, as PEM files, which are read again when they change. If none are given, the node
    /// makes an authority of its own.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Crashes simulated nodes at every boundary of a running node's journal ([`sweep_running`](crate::chaos::sweep_running)); told
/// after each start, `follow` answers whether to go on.
pub type CrashSweep =
    fn(journal: &LocalJournal, wish: &SweepWish, follow: &(dyn Fn(u64, u64) -> bool + Sync)) -> Result<Sweep, Problem>;

impl Network {
    /// At this address, with a certificate of the node's own.
    pub fn new(listen: SocketAddr) -> Self {
        Self { listen, names: Vec::new(), certificate: None }
    }
}

/// What to do if `node.key` was lost while there are machines whose agents prove themselves with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKey {
    /// Nothing: somebody is to put it back from a backup.
    #[default]
    PutBack,
    /// Make a new one, and give the agents new tokens.
    Replace,
}

/// What a node needs to know before it starts: [`Config::new`], and then what differs. Fields are added with time.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Everything that the node keeps is below this directory; it is made if it is not there, for its owner only.
    pub data_dir: PathBuf,
    pub local: LocalMachines,
    /// The user that workloads of local machines run as; the node's own if none is named. Only root can run them as another.
    pub workload_user: Option<WorkloadUser>,
    /// The socket of a storage helper ([`crate::providers::storage::helper`]), by which a node that is not root's attaches,
    /// formats and mounts inside of local machines.
    pub storage_helper: Option<PathBuf>,
    /// Providers that are processes of somebody else's; each one makes machines and volumes under its name.
    pub exec: Vec<ExecConfig>,
    /// Further machine providers by name.
    pub machine_providers: BTreeMap<Name, Arc<dyn MachineProvider>>,
    /// Further volume providers by name.
    pub volume_providers: BTreeMap<Name, Arc<dyn VolumeProvider>>,
    /// Further filesystem providers by name; the one named `managed` serves those on volumes.
    pub filesystem_providers: BTreeMap<Name, Arc<dyn FilesystemProvider>>,
    /// How often some of these may be called, by the name of the provider; those that are processes say it with their limits.
    pub budgets: BTreeMap<Name, CallBudget>,
    /// What keeps replica sets, by the name that manifests call it.
    pub engines: BTreeMap<Name, Arc<dyn ReplicaSetEngine>>,
    /// Where the node's own engines look up credentials and certificates, and where the secrets of machine classes are;
    /// unless it is set, there are none.
    pub environment: Environment,
    /// Whether the node answers on its socket. Local machines need it, and it needs the feature `server`: without that a node only
    /// starts [`without_socket`](Self::without_socket).
    pub listen: bool,
    /// Whether, and how, it answers on the network, too.
    pub network: Option<Network>,
    /// A directory with a further socket, for users of this machine who have an account; it is made if it is not there.
    pub socket_dir: Option<PathBuf>,
    /// URLs that are told of decisions.
    #[cfg(feature = "server")]
    pub event_sinks: Vec<EventSink>,
    /// The clock; the system's unless a test or a simulation gives another.
    pub clock: Option<Arc<dyn Clock>>,
    pub limits: Limits,
    /// How the journal is run: how much of its log stays, and where the rest goes.
    pub journal: bailiwick_journal::Settings,
    /// How long running provider calls may take after `stop`. Default 10 s.
    pub drain: Duration,
    /// What to do if `node.key` was lost. Default: nothing is started.
    pub node_key: NodeKey,
    /// What the node sweeps its journal with when it is asked to. Default: nothing, and it refuses; the simulation stays out of a
    /// program that embeds a node.
    pub crash_sweep: Option<CrashSweep>,
}

impl Config {
    /// A node in this directory, with its socket, and without local machines.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            local: LocalMachines::Off,
            workload_user: None,
            storage_helper: None,
            exec: Vec::new(),
            machine_providers: BTreeMap::new(),
            volume_providers: BTreeMap::new(),
            filesystem_providers: BTreeMap::new(),
            budgets: BTreeMap::new(),
            engines: BTreeMap::new(),
            environment: Environment::default(),
            listen: true,
            network: None,
            socket_dir: None,
            #[cfg(feature = "server")]
            event_sinks: Vec::new(),
            clock: None,
            limits: Limits::default(),
            journal: bailiwick_journal::Settings::default(),
            drain: Duration::from_secs(10),
            node_key: NodeKey::default(),
            crash_sweep: None,
        }
    }

    /// With a machine provider of the caller's own.
    #[must_use]
    pub fn machine_provider(mut self, name: Name, provider: Arc<dyn MachineProvider>) -> Self {
        self.machine_providers.insert(name, provider);
        self
    }

    /// With a provider that is a process of somebody else's.
    #[must_use]
    pub fn exec_provider(mut self, provider: ExecConfig) -> Self {
        self.exec.push(provider);
        self
    }

    /// With a bound on the calls to a provider.
    #[must_use]
    pub fn budget(mut self, provider: Name, budget: CallBudget) -> Self {
        self.budgets.insert(provider, budget);
        self
    }

    /// With a volume provider of the caller's own.
    #[must_use]
    pub fn volume_provider(mut self, name: Name, provider: Arc<dyn VolumeProvider>) -> Self {
        self.volume_providers.insert(name, provider);
        self
    }

    /// With a filesystem provider of the caller's own.
    #[must_use]
    pub fn filesystem_provider(mut self, name: Name, provider: Arc<dyn FilesystemProvider>) -> Self {
        self.filesystem_providers.insert(name, provider);
        self
    }

    /// With an engine of the caller's own for replica sets.
    #[must_use]
    pub fn engine(mut self, name: Name, engine: Arc<dyn ReplicaSetEngine>) -> Self {
        self.engines.insert(name, engine);
        self
    }

    /// Without a socket: only the program that embeds the node can ask it.
    #[must_use]
    pub fn without_socket(mut self) -> Self {
        self.listen = false;
        self
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("data_dir", &self.data_dir)
            .field("local", &self.local)
            .field("exec", &self.exec)
            .field("machine_providers", &self.machine_providers.keys())
            .field("volume_providers", &self.volume_providers.keys())
            .field("engines", &self.engines.keys())
            .field("listen", &self.listen)
            .field("network", &self.network)
            .field("limits", &self.limits)
            .field("drain", &self.drain)
            .finish_non_exhaustive()
    }
}

/// The journal's directory below a data directory.
pub fn journal_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("journal")
}

/// The directory of the `local` provider below a data directory.
pub fn local_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("local")
}

/// Where the tokens are that agents join with, below a data directory.
pub fn enrolment_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("enrolment")
}

/// Where the node's own certificate authority is, below a data directory.
pub fn tls_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("tls")
}

/// The directory of providers that are processes, below a data directory.
pub fn exec_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("exec")
}

/// The user's data directory: `$BAILIWICK_DATA_DIR`, `$XDG_DATA_HOME/bailiwick` or `~/.local/share/bailiwick`.
pub fn default_data_dir() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("BAILIWICK_DATA_DIR")
        .or_else(|| from("XDG_DATA_HOME").map(|dir| dir.join("bailiwick")))
        .or_else(|| from("HOME").map(|dir| dir.join(".local/share/bailiwick")))
}
