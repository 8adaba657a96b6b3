//! What a node needs to know before it starts.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bailiwick_actors::{
    ports::{Clock, FilesystemProvider, MachineProvider, ReplicaSetEngine, VolumeProvider},
    shell::Limits,
    vocab::Name,
};

use crate::providers::{access::Environment, exec::ExecConfig};

/// How the `local` provider is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalMachines {
    /// There is none: machines with `provider: local` are given up with a clear fault.
    Off,
    /// Program and first arguments that start an agent; `--dir`, `--socket` and `--effect` are added. In a host program
    /// "this binary" is the host, so it is configuration.
    With { agent_command: Vec<OsString> },
}

/// What a node needs to know before it starts.
#[derive(Clone)]
pub struct Config {
    /// Everything that the node keeps is below this directory; it is made if it is not there, for its owner only.
    pub data_dir: PathBuf,
    pub local: LocalMachines,
    /// Providers that are processes of somebody else's; each one makes machines and volumes under its name.
    pub exec: Vec<ExecConfig>,
    /// Further machine providers by name.
    pub machine_providers: BTreeMap<Name, Arc<dyn MachineProvider>>,
    /// Further volume providers by name.
    pub volume_providers: BTreeMap<Name, Arc<dyn VolumeProvider>>,
    /// Further filesystem providers by name; the one named `managed` serves those on volumes.
    pub filesystem_providers: BTreeMap<Name, Arc<dyn FilesystemProvider>>,
    /// What keeps replica sets, by the name that manifests call it.
    pub engines: BTreeMap<Name, Arc<dyn ReplicaSetEngine>>,
    /// Where the node's own engines look up credentials and certificates, and where the secrets of machine classes are;
    /// unless it is set, there are none.
    pub environment: Environment,
    /// Whether the node answers on its socket. Local machines need it.
    pub listen: bool,
    /// The clock; the system's unless a test or a simulation gives another.
    pub clock: Option<Arc<dyn Clock>>,
    pub limits: Limits,
    /// How the journal is run: how much of its log stays, and where the rest goes.
    pub journal: bailiwick_journal::Settings,
    /// How long running provider calls may take after `stop`. Default 10 s.
    pub drain: Duration,
}

impl Config {
    /// A node in this directory, with its socket, and local machines if `agent_command` is given.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            local: LocalMachines::Off,
            exec: Vec::new(),
            machine_providers: BTreeMap::new(),
            volume_providers: BTreeMap::new(),
            filesystem_providers: BTreeMap::new(),
            engines: BTreeMap::new(),
            environment: Environment::default(),
            listen: true,
            clock: None,
            limits: Limits::default(),
            journal: bailiwick_journal::Settings::default(),
            drain: Duration::from_secs(10),
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

/// The key that the node proves agents with: made once, kept in the data directory for its owner only.
///
/// # Errors
/// If it cannot be read, made, or is not 32 bytes long.
pub fn node_key(data_dir: &Path) -> io::Result<[u8; 32]> {
    use std::{fs, io::Write, os::unix::fs::OpenOptionsExt};
    let path = data_dir.join("node.key");
    match fs::read(&path) {
        Ok(bytes) => {
            let damaged = |_| io::Error::new(io::ErrorKind::InvalidData, "node.key is not 32 bytes long");
            return <[u8; 32]>::try_from(bytes).map_err(damaged);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (),
        Err(error) => return Err(error),
    }
    if fs::read_dir(local_dir(data_dir).join("machines")).is_ok_and(|mut machines| machines.next().is_some()) {
        let text = "node.key is missing, and the agents of existing machines need it; restore it from a backup";
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    let mut key = [0; 32];
    key[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    // Whole or not at all, also if the power fails in between: agents that got a token must be known again.
    let key = *blake3::hash(&key).as_bytes();
    let unfinished = data_dir.join("node.key.new");
    fs::remove_file(&unfinished).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&unfinished, &path)?;
    fs::File::open(data_dir)?.sync_all()?;
    Ok(key)
}
