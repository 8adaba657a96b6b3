//! What of a node needs the feature `server`: the ways in, the event sinks, and local machines, whose agents report on a socket.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{SocketAddr, TcpListener},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_actors::{
    ports::Clock,
    shell::Providers,
    vocab::{Name, SizeMib, Timestamp},
};
use bailiwick_journal::{Journal, LocalJournal};

pub(super) use super::heads::Heads;
use super::{StartError, quotas, sinks::tell_sink};
use crate::{
    agent::WorkloadUser,
    api::{
        server::{self, Server},
        tls::{Certificates, Origin},
    },
    client::{SocketPath, socket_address},
    config::{Config, LocalMachines, Network, local_dir, tls_dir},
    handle::Handle,
    ownership,
    providers::{
        enrolment::Enrolments,
        local::{LocalConfig, LocalProvider},
        machine_storage::{Desk, Inside, Locate, PROVIDERS},
        storage::{
            Filesystems, Ground, SystemRunner, Way, helper::client::StorageHelper, missing_for_filesystems,
            missing_for_loop_volumes,
        },
    },
    signing::SIGNING_KEY,
};

/// The ways in, while the node runs.
pub(super) struct Listening {
    server: Option<Server>,
    _socket: SocketPath,
    /// Where it is reached from other machines, and the fingerprint of its authority unless its certificate was given.
    pub network: Option<(SocketAddr, Option<String>)>,
}

impl Listening {
    /// Lets nobody in any more; when it returns, all who were in have been answered or cut off.
    pub(super) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }
}

/// Whether this program can do what is wanted: it can.
pub(super) fn check(_config: &Config) -> Result<(), StartError> {
    Ok(())
}

/// Signs where the journal stands, for as long as the node runs.
pub(super) fn heads(config: &Config, journal: &Arc<LocalJournal>) -> Result<Arc<Heads>, StartError> {
    let heads = Heads::in_dir(&config.data_dir).map_err(|source| StartError::Io {
        action: "make or use",
        path: config.data_dir.join(SIGNING_KEY),
        source,
    })?;
    let heads = Arc::new(heads);
    actix::spawn(heads.clone().keep(journal.clone()));
    Ok(heads)
}

/// Listens wherever it is wanted.
pub(super) fn listen(
    config: &Config,
    handle: &Handle,
    key: [u8; 32],
    enrolments: Arc<Enrolments>,
    heads: &Heads,
) -> Result<Listening, StartError> {
    let cannot = |action: &'static str, path: PathBuf| move |source| StartError::Io { action, path, source };
    // The journal's lock is held: the socket can only be an old one, or ours.
    let socket = socket_address(&config.data_dir).map_err(cannot("use the socket in", config.data_dir.clone()))?;
    let network = config
        .network
        .as_ref()
        .map(|wanted| network(config, wanted, &*handle.journal(), handle.clock()))
        .transpose()?;
    let reached = network.as_ref().map(|network| {
        let address = network.listener.local_addr();
        address.map(|address| (address, network.certificates.fingerprint()))
    });
    let reached = reached.transpose().map_err(cannot("use the network in", config.data_dir.clone()))?;
    let server = if config.listen {
        let (real, for_agents) = (config.data_dir.join("node.sock"), config.data_dir.join("agent.sock"));
        let agents = SocketPath::of(&for_agents).map_err(cannot("use the socket in", config.data_dir.clone()))?;
        let operators = server::Local { address: &socket, real: &real };
        let agents = server::Local { address: &agents, real: &for_agents };
        let of_users =
            config.socket_dir.as_deref().map(|dir| open_dir(dir).map(|()| dir.join("node.sock"))).transpose()?;
        let address = of_users.as_deref().map(SocketPath::of).transpose();
        let address = address.map_err(cannot("use the socket in", config.data_dir.clone()))?;
        let users = address.as_ref().zip(of_users.as_deref()).map(|(address, real)| server::Local { address, real });
        let own = server::Own { key, signer: heads.signer.clone(), enrolments, crash_sweep: config.crash_sweep };
        let started = server::start(handle.clone(), own, operators, agents, users, network);
        Some(started.map_err(cannot("listen on", real.clone()))?)
    } else {
        None
    };
    Ok(Listening { server, _socket: socket, network: reached })
}

/// Makes a directory that everybody may look into, and nobody else may change.
fn open_dir(dir: &Path) -> Result<(), StartError> {
    let cannot = |action: &'static str| move |source| StartError::Io { action, path: dir.to_owned(), source };
    if !dir.exists() {
        fs::DirBuilder::new().recursive(true).mode(0o755).create(dir).map_err(cannot("make the directory"))?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).map_err(cannot("open"))?;
    }
    ownership::check_way_to(dir)?;
    Ok(())
}

/// The listener on the network and what it shows: both are there before anybody is let in.
fn network(
    config: &Config,
    wanted: &Network,
    journal: &dyn Journal,
    now: Timestamp,
) -> Result<server::Network, StartError> {
    let Network { listen, names, certificate } = wanted;
    let listener = TcpListener::bind(listen).map_err(|source| StartError::Listen { address: *listen, source })?;
    let origin = match certificate {
        Some((certificate, key)) => Origin::Given { certificate: certificate.clone(), key: key.clone() },
        None => Origin::Own { dir: tls_dir(&config.data_dir), journal: journal.id() },
    };
    let host = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
    let mut known: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    known.extend([host, "localhost".to_owned()]);
    let mut shown = known.clone();
    // What Juju's clients call every server.
    shown.extend(["127.0.0.1", "::1", "juju-apiserver"].map(str::to_owned));
    if !listen.ip().is_unspecified() {
        shown.insert(listen.ip().to_string());
    }
    let certificates = Certificates::new(origin, shown, now).map_err(|source| StartError::Certificate { source })?;
    Ok(server::Network { listener, certificates: Arc::new(certificates), names: known })
}

/// Tells the sinks, for as long as the node runs.
pub(super) fn tell_sinks(config: &Config, handle: &Handle) -> Result<(), StartError> {
    for sink in &config.event_sinks {
        let cannot = |source| StartError::Sink { name: sink.name.clone(), source };
        let hook = sink.hook().map_err(cannot)?;
        actix::spawn(tell_sink(handle.clone(), sink.clone(), hook, config.data_dir.join("sinks")));
    }
    Ok(())
}

/// Adds the providers of local machines, if they are wanted; the answer is what is missing for storage inside of them.
pub(super) fn local_machines(
    config: &Config,
    clock: &Arc<dyn Clock>,
    key: [u8; 32],
    desk: &Arc<Desk>,
    providers: &mut Providers,
) -> Result<BTreeMap<Name, Vec<String>>, StartError> {
    let LocalMachines::With { agent_command } = &config.local else { return Ok(BTreeMap::new()) };
    config.workload_user.map_or(Ok(()), |user| let_in(user, &config.data_dir))?;
    let helper = config.storage_helper.as_deref().map(StorageHelper::at);
    let root = local_dir(&config.data_dir);
    let local = LocalConfig {
        root: root.clone(),
        socket: config.data_dir.join("agent.sock"),
        agent_command: agent_command.clone(),
        node_key: key,
        workload_user: config.workload_user,
        storage_helper: helper.clone(),
    };
    let local = LocalProvider::new(local, clock.clone()).map_err(|source| StartError::Io {
        action: "use",
        path: root,
        source,
    })?;
    let local = Arc::new(local);
    let name: Name = "local".parse().expect("a valid name");
    providers.machines.insert(name.clone(), local.clone());
    providers.volumes.insert(name, local.clone());
    let missing = inside_machines(&local, clock, desk, helper.as_ref(), providers);
    let name: Name = "directory".parse().expect("a valid name");
    if let Some(directories) = directories(config, clock) {
        actix::spawn(quotas::watch(Arc::downgrade(&directories)));
        providers.filesystems.entry(name).or_insert(directories);
    }
    Ok(missing)
}

/// Lets the user whom workloads run as into the data directory; what it finds there is closed, but for what is its workload's.
fn let_in(user: WorkloadUser, data_dir: &Path) -> Result<(), StartError> {
    let cannot = |why: String| StartError::WorkloadUser { user, why };
    if !rustix::process::geteuid().is_root() {
        return Err(cannot("only root can run them as another user".to_owned()));
    }
    let io = |source| StartError::Io { action: "open to workloads", path: data_dir.to_owned(), source };
    let data_dir = data_dir.canonicalize().map_err(io)?;
    let outside = data_dir.parent().unwrap_or(&data_dir);
    if let Some(closed) = user.stopped_at(outside).map_err(io)? {
        return Err(cannot(format!(
            "{} is closed to it, and leads to the data directory; choose one elsewhere, such as /var/lib/bailiwick",
            closed.display()
        )));
    }
    user.let_in(&data_dir).map_err(io)
}

/// Offers what can be made inside of local machines here; the answer is what is missing for the rest.
fn inside_machines(
    local: &Arc<LocalProvider>,
    clock: &Arc<dyn Clock>,
    desk: &Arc<Desk>,
    helper: Option<&StorageHelper>,
    providers: &mut Providers,
) -> BTreeMap<Name, Vec<String>> {
    if let Some(error) = helper.and_then(|helper| helper.reach().err()) {
        tracing::warn!(%error, "storage inside of machines waits for its helper");
    }
    let runner = SystemRunner::default();
    let mut all_missing = BTreeMap::new();
    for text in PROVIDERS {
        let name: Name = text.parse().expect("a valid name");
        let missing = match text {
            "tmpfs" => missing_for_filesystems(Way::Tmpfs, &runner, helper),
            "rootfs" => missing_for_filesystems(Way::Rootfs, &runner, helper),
            "managed" => missing_for_filesystems(Way::Managed, &runner, helper),
            _ => missing_for_loop_volumes(&runner, helper),
        };
        // The embedding program may have a server of this name elsewhere.
        if providers.volumes.contains_key(&name) || providers.filesystems.contains_key(&name) {
            continue;
        }
        if missing.is_empty() {
            let local = local.clone();
            let locate: Locate = Arc::new(move |machine| local.locate(machine));
            let (desk, clock, helper) = (desk.clone(), clock.clone(), helper.cloned());
            let inside = Inside { provider: name.clone(), desk, locate, clock, helper };
            providers.in_machines.insert(name, Arc::new(inside));
        } else {
            all_missing.insert(name, missing.iter().map(ToString::to_string).collect());
        }
    }
    all_missing
}

/// Plain directories as filesystems of local machines, promised from what is free now. Where others could change what leads
/// to them there are none, and the node says so.
fn directories(config: &Config, clock: &Arc<dyn Clock>) -> Option<Arc<Filesystems>> {
    let path = config.data_dir.join("filesystems");
    let offered = Ground::of_this_machine(&path, &[], Arc::new(SystemRunner::default()));
    let offered = offered.and_then(|ground| ground.clear_unfinished().map(|()| ground));
    let ground = offered.inspect_err(|error| tracing::warn!(%error, "provider directory is not available"));
    let free = rustix::fs::statvfs(&config.data_dir).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize) >> 20);
    let capacity = SizeMib(free.unwrap_or(0));
    Some(Arc::new(Filesystems::new(Way::Directory { capacity }, Arc::new(ground.ok()?), clock.clone())))
}
