//! The node's thread.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    net::TcpListener,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, mpsc},
    time::Duration,
};

use bailiwick_actors::{
    ports::Clock,
    shell::{AssembleError, Providers, Quiesce, Running, Stats, assemble},
    supervisor::SupervisorActor,
    supervisor::machines,
    supervisor::machines::AgentReport,
    vocab::{Name, SizeMib, Timestamp},
};
use bailiwick_journal::{Journal, LocalJournal, OpenError, OpenReport, ReadError};
use tokio::sync::{mpsc as mpsc_async, oneshot};
use uuid::Uuid;

use super::{
    StartError, Started, StopError,
    key::node_key,
    place::{self, Elsewhere, Twin},
    quotas,
    sinks::tell_sink,
    told::tell_decisions,
};
use crate::{
    api::{
        server::{self, Server},
        tls::{Certificates, Origin},
    },
    client::{SocketPath, socket_address},
    clock::SystemClock,
    config::{Config, LocalMachines, Network, enrolment_dir, journal_dir, local_dir, tls_dir},
    custom_kind,
    handle::{Handle, Offer, Releases},
    ownership,
    providers::{
        enrolment::Enrolments,
        etcd::EtcdEngine,
        exec::{ExecConfig, ExecProvider},
        local::{LocalConfig, LocalProvider},
        machine_storage::{Desk, Inside, Locate, PROVIDERS},
        mongodb,
        secrets::EnvironmentSecrets,
        storage::{Filesystems, Ground, SystemRunner, Way, missing_for_filesystems, missing_for_loop_volumes},
    },
    view::{Calendar, ClockStep, gap},
};

type Ready = mpsc::SyncSender<Result<(Handle, Started), StartError>>;

/// How often a stopping node looks whether its provider calls have ended.
const DRAIN_POLL: Duration = Duration::from_millis(20);
/// How often a node looks at its own disk and journal.
const HOST_LOOK: Duration = Duration::from_secs(5);
/// How often, and how many times, a starting node looks whether whoever reads the journal has ended: 5 s in all.
const READERS_POLL: Duration = Duration::from_millis(20);
const READERS_POLLS_MAX: u32 = 250;

pub(super) fn run(config: Config, ready: &Ready, stop: oneshot::Receiver<()>) -> Result<(), StopError> {
    let system = actix::System::new();
    system.block_on(async {
        match start(&config).await {
            Ok(parts) => {
                let Parts { handle, started, running, server, journal, socket } = parts;
                // The caller is gone if this fails: then the node stops at once.
                drop(ready.send(Ok((handle.clone(), started))));
                let failed = wait(&running, stop).await;
                let desk = handle.desk();
                desk.close();
                if let Some(server) = server {
                    server.stop().await;
                }
                drain(&running, &desk, config.drain).await;
                drop(socket);
                close(running, journal, failed)
            }
            Err(error) => {
                drop(ready.send(Err(error)));
                Ok(())
            }
        }
    })
}

struct Parts {
    handle: Handle,
    started: Started,
    running: Running,
    server: Option<Server>,
    journal: Arc<LocalJournal>,
    socket: Option<SocketPath>,
}

async fn start(config: &Config) -> Result<Parts, StartError> {
    ownership::check(&config.data_dir)?;
    config.journal.log_archive.as_deref().map_or(Ok(()), ownership::check_directory)?;
    make_private_dir(&config.data_dir)?;
    let clock: Arc<dyn Clock> = config.clock.clone().unwrap_or_else(|| Arc::new(SystemClock::new()));
    let dir = journal_dir(&config.data_dir);
    let settings = config.journal.clone();
    let place = config.data_dir.join("place.json");
    let cannot = |action: &'static str, path: PathBuf| move |source| StartError::Io { action, path, source };
    let elsewhere = match place::look(&config.data_dir).map_err(cannot("read", place))? {
        Ok(elsewhere) => elsewhere,
        Err(Twin { path, holder }) => return Err(StartError::Twin { path, holder }),
    };
    // Before a new one is made in its place.
    if let Some(machines) = place::machines_without_journal(&config.data_dir) {
        return Err(StartError::JournalGone { machines });
    }
    let (journal, report) = open_journal(|| bailiwick_journal::Config {
        dir: dir.clone(),
        now_ms: clock.now().0,
        id: None,
        settings: settings.clone(),
    })
    .await?;
    let journal = Arc::new(journal);
    let started = start_on(config, journal.clone(), report, clock, elsewhere).await;
    if started.is_err() {
        // Why it did not start is said already; and what the journal holds is whole.
        journal.close().ok();
    }
    started
}

/// Starts on a journal that is open.
async fn start_on(
    config: &Config,
    journal: Arc<LocalJournal>,
    report: OpenReport,
    clock: Arc<dyn Clock>,
    elsewhere: Elsewhere,
) -> Result<Parts, StartError> {
    let place = config.data_dir.join("place.json");
    let cannot = |action: &'static str, path: PathBuf| move |source| StartError::Io { action, path, source };
    let told_elsewhere = elsewhere.told.clone();
    let unreadable = |error: ReadError| AssembleError::Rebuild(error.into());
    let calendar = Calendar::of(&*journal).map_err(unreadable)?;
    clock.go_on_from(calendar.going_on(clock.wall()).max(Timestamp(journal.head().time_ms)));
    let step = ClockStep::between(&*journal, &calendar, clock.now(), clock.wall()).map_err(unreadable)?;
    let told = [step.map(|step| step.text), gap(&*journal).map_err(unreadable)?].into_iter().flatten().collect();
    place::note(&config.data_dir, journal.id(), elsewhere).map_err(cannot("write", place))?;
    let key = node_key(&config.data_dir, config.node_key)?;
    // The journal's lock is held from here on: the socket can only be an old one, or ours.
    let socket = socket_address(&config.data_dir).map_err(cannot("use the socket in", config.data_dir.clone()))?;
    let enrolment = enrolment_dir(&config.data_dir);
    let known = config.environment.known().clone();
    known.add_key("node.key", &key);
    config.environment.learn();
    let enrolments = Enrolments::open(enrolment.clone(), known).map_err(cannot("make or use", enrolment))?;
    let enrolments = Arc::new(enrolments);
    let Offered { mut providers, reports, desk, offer } = providers(config, &clock, key, journal.id())?;
    providers.enrolment = Some(enrolments.clone());
    let shared: Arc<dyn Journal> = journal.clone();
    let running = assemble(shared, clock.clone(), providers, config.limits).await?;
    for reports in reports {
        actix::spawn(pass_on(reports, running.supervisors.machines.downgrade()));
    }
    let handle = Handle::new(journal.clone(), clock, &running, desk, offer, config.limits);
    actix::spawn(watch_host(handle.clone()));
    actix::spawn(tell_decisions(handle.clone()));
    for sink in &config.event_sinks {
        let cannot = |source| StartError::Sink { name: sink.name.clone(), source };
        let hook = sink.hook().map_err(cannot)?;
        actix::spawn(tell_sink(handle.clone(), sink.clone(), hook, config.data_dir.join("sinks")));
    }
    // Everything was read, and the first question would read it again; neither has to stay in memory.
    let unknown = handle.look(|fleet| fleet.unknown.clone()).map_err(|error| AssembleError::Rebuild(error.into()))?;
    for (kind, unknown) in unknown {
        let objects = unknown.names.len();
        tracing::warn!(objects, "this program does not know kind {kind}; its objects are left as they are");
    }
    journal.give_memory_back();
    let network =
        config.network.as_ref().map(|wanted| network(config, wanted, &*journal, handle.clock())).transpose()?;
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
        let own = server::Own { key, enrolments, crash_sweep: config.crash_sweep };
        let started = server::start(handle.clone(), own, operators, agents, users, network);
        Some(started.map_err(cannot("listen on", real.clone()))?)
    } else {
        None
    };
    let started = Started {
        report,
        resumed: running.resumed.clone(),
        clock: told,
        elsewhere: told_elsewhere,
        socket: config.listen.then(|| config.data_dir.join("node.sock")),
        users: config.socket_dir.as_ref().filter(|_| config.listen).map(|dir| dir.join("node.sock")),
        network: reached,
    };
    Ok(Parts { handle, started, running, server, journal, socket: Some(socket) })
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
    shown.extend(["127.0.0.1".to_owned(), "::1".to_owned()]);
    if !listen.ip().is_unspecified() {
        shown.insert(listen.ip().to_string());
    }
    let certificates = Certificates::new(origin, shown, now).map_err(|source| StartError::Certificate { source })?;
    Ok(server::Network { listener, certificates: Arc::new(certificates), names: known })
}

/// Opens the journal. Somebody may be reading it while no node runs (`get`, `why`): a start waits until that is over.
async fn open_journal(config: impl Fn() -> bailiwick_journal::Config) -> Result<(LocalJournal, OpenReport), OpenError> {
    for _ in 0..READERS_POLLS_MAX {
        match LocalJournal::open(config()) {
            Err(OpenError::BeingRead { .. }) => tokio::time::sleep(READERS_POLL).await,
            opened => return opened,
        }
    }
    LocalJournal::open(config())
}

fn make_private_dir(path: &PathBuf) -> Result<(), StartError> {
    let cannot = |action: &'static str| move |source| StartError::Io { action, path: path.clone(), source };
    if !path.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(cannot("make the directory"))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(cannot("make private"))?;
    }
    Ok(())
}

/// What lists of machines without agents of ours say about them.
type Reports = mpsc_async::Receiver<Vec<AgentReport>>;

fn providers(config: &Config, clock: &Arc<dyn Clock>, key: [u8; 32], owner: Uuid) -> Result<Offered, StartError> {
    let mut reports = Vec::new();
    let desk = Arc::new(Desk::default());
    let mut missing = BTreeMap::new();
    let secrets = EnvironmentSecrets::new(config.environment.clone());
    // Before anybody could tell on them.
    secrets.learn();
    let mut providers = Providers {
        machines: config.machine_providers.clone(),
        volumes: config.volume_providers.clone(),
        filesystems: config.filesystem_providers.clone(),
        in_machines: BTreeMap::new(),
        replica_sets: config.engines.clone(),
        secrets: Some(Arc::new(secrets)),
        added: BTreeMap::new(),
        enrolment: None,
        budgets: config.budgets.clone(),
    };
    let etcd = "etcd".parse().expect("a valid name");
    providers.replica_sets.entry(etcd).or_insert_with(|| Arc::new(EtcdEngine::with(config.environment.clone())));
    let mongodb = "mongodb".parse().expect("a valid name");
    providers.replica_sets.entry(mongodb).or_insert_with(|| mongodb::engine(config.environment.clone()));
    if let LocalMachines::With { agent_command } = &config.local {
        let root = local_dir(&config.data_dir);
        let local = LocalConfig {
            root: root.clone(),
            socket: config.data_dir.join("agent.sock"),
            agent_command: agent_command.clone(),
            node_key: key,
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
        missing = inside_machines(&local, clock, &desk, &mut providers);
        let name: Name = "directory".parse().expect("a valid name");
        if let Some(directories) = directories(config, clock) {
            actix::spawn(quotas::watch(Arc::downgrade(&directories)));
            providers.filesystems.entry(name).or_insert(directories);
        }
    }
    let mut of_custom: BTreeMap<&'static str, BTreeSet<Name>> = BTreeMap::new();
    for kind in custom_kind::all() {
        let cannot = |source| StartError::Custom { kind: kind.name, source };
        for (name, provider) in (kind.providers)(&config.data_dir).map_err(cannot)? {
            of_custom.entry(kind.name).or_default().insert(name.clone());
            providers.added.insert((kind.name, name), provider);
        }
    }
    let known = config.environment.known();
    for exec in &config.exec {
        let cannot = |source| StartError::Provider { name: exec.name.clone(), source };
        let is_taken = providers.machines.contains_key(&exec.name)
            || providers.volumes.contains_key(&exec.name)
            || providers.filesystems.contains_key(&exec.name);
        if is_taken {
            let text = format!("another provider is already named {}", exec.name);
            return Err(cannot(io::Error::new(io::ErrorKind::AlreadyExists, text)));
        }
        let owned = ExecConfig { owner: Some(owner), ..exec.clone() };
        let started = Arc::new(ExecProvider::start_knowing(owned, clock.clone(), known.clone()).map_err(cannot)?);
        reports.extend(started.take_reports());
        providers.budgets.extend(exec.limits.budget.map(|budget| (exec.name.clone(), budget)));
        providers.machines.insert(exec.name.clone(), started.clone());
        providers.volumes.insert(exec.name.clone(), started.clone());
        providers.filesystems.insert(exec.name.clone(), started);
    }
    let is_there = |name: &&Name| {
        providers.machines.contains_key(*name)
            || providers.volumes.contains_key(*name)
            || providers.filesystems.contains_key(*name)
    };
    if let Some(name) = providers.budgets.keys().find(|name| !is_there(name)) {
        let source = io::Error::new(io::ErrorKind::NotFound, "it has a budget, and there is no such provider");
        return Err(StartError::Provider { name: name.clone(), source });
    }
    let names = |names: Vec<&Name>| names.into_iter().cloned().collect::<BTreeSet<Name>>();
    let volumes_inside = providers.in_machines.keys().filter(|name| name.as_str() == LOOP);
    let filesystems_inside = providers.in_machines.keys().filter(|name| name.as_str() != LOOP);
    let offer = Offer {
        machines: names(providers.machines.keys().collect()),
        volumes: names(providers.volumes.keys().chain(volumes_inside).collect()),
        filesystems: names(providers.filesystems.keys().chain(filesystems_inside).collect()),
        engines: names(providers.replica_sets.keys().collect()),
        custom: of_custom,
        inside: PROVIDERS.iter().filter_map(|name| name.parse().ok()).collect(),
        missing,
        releases: Releases { volumes: providers.volumes.clone(), filesystems: providers.filesystems.clone() },
    };
    Ok(Offered { providers, reports, desk, offer })
}

/// What a node can make, and what it hears from it.
struct Offered {
    providers: Providers,
    reports: Vec<Reports>,
    desk: Arc<Desk>,
    offer: Offer,
}

/// The one that makes volumes.
const LOOP: &str = "loop";

/// Offers what can be made inside of local machines here; the answer is what is missing for the rest.
fn inside_machines(
    local: &Arc<LocalProvider>,
    clock: &Arc<dyn Clock>,
    desk: &Arc<Desk>,
    providers: &mut Providers,
) -> BTreeMap<Name, Vec<String>> {
    let runner = SystemRunner::default();
    let mut all_missing = BTreeMap::new();
    for text in PROVIDERS {
        let name: Name = text.parse().expect("a valid name");
        let missing = match text {
            "tmpfs" => missing_for_filesystems(Way::Tmpfs, &runner),
            "rootfs" => missing_for_filesystems(Way::Rootfs, &runner),
            "managed" => missing_for_filesystems(Way::Managed, &runner),
            _ => missing_for_loop_volumes(&runner),
        };
        // Whoever embeds the node may have one of this name that works elsewhere.
        if providers.volumes.contains_key(&name) || providers.filesystems.contains_key(&name) {
            continue;
        }
        if missing.is_empty() {
            let local = local.clone();
            let locate: Locate = Arc::new(move |machine| local.locate(machine));
            let inside = Inside { provider: name.clone(), desk: desk.clone(), locate, clock: clock.clone() };
            providers.in_machines.insert(name, Arc::new(inside));
        } else {
            all_missing.insert(name, missing.iter().map(ToString::to_string).collect());
        }
    }
    all_missing
}

/// Looks every few seconds whether the disk is full or the journal degraded, so that the node's log says when it began.
async fn watch_host(handle: Handle) {
    let mut ticks = tokio::time::interval(HOST_LOOK);
    loop {
        ticks.tick().await;
        handle.look_at_host();
    }
}

/// Passes reports on until there are no more, or nobody takes them.
async fn pass_on(mut reports: Reports, machines: actix::WeakAddr<SupervisorActor<machines::State>>) {
    while let Some(of_list) = reports.recv().await {
        for report in of_list {
            let Some(machines) = machines.upgrade() else { return };
            if machines.send(report).await.is_err() {
                return;
            }
        }
    }
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

/// Waits for the order to stop; the answer is why the node ends by itself, if it does.
async fn wait(running: &Running, stop: oneshot::Receiver<()>) -> Option<String> {
    let mut failed = running.services.failed();
    tokio::select! {
        biased;
        _ = stop => None,
        problem = failed.wait_for(Option::is_some) => problem.ok().and_then(|problem| problem.clone()),
    }
}

async fn drain(running: &Running, desk: &Desk, limit: Duration) {
    if running.registry.send(Quiesce).await.is_err() {
        return;
    }
    let idle = async {
        loop {
            match running.registry.send(Stats).await {
                // Agents are not heard any more: what they have under way is asked for by its id at the next start.
                Ok(stats) if stats.asks > 0 || stats.calls > desk.open_jobs() => tokio::time::sleep(DRAIN_POLL).await,
                Ok(_) | Err(_) => return,
            }
        }
    };
    if tokio::time::timeout(limit, idle).await.is_err() {
        tracing::warn!("provider calls were still running; the next start looks them up by id");
    }
}

fn close(running: Running, journal: Arc<LocalJournal>, failed: Option<String>) -> Result<(), StopError> {
    let Running { services, registry, schedule, supervisors, .. } = running;
    drop((registry, schedule, supervisors));
    let services: Rc<_> = services;
    drop(services);
    if let Some(problem) = failed {
        return Err(StopError::JournalFailed { problem });
    }
    journal.close().map_err(|error| StopError::NotClosed { problem: error.to_string() })
}
