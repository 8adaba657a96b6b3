//! The node's thread.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::PathBuf,
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
    vocab::{EXTERNAL, Name, Timestamp},
};
use bailiwick_journal::{Journal, LocalJournal, OpenError, OpenReport, ReadError};
use tokio::sync::{mpsc as mpsc_async, oneshot};
use uuid::Uuid;

use super::{
    StartError, Started, StopError,
    key::node_key,
    place::{self, Elsewhere, Twin},
    served::{self, Heads, Listening},
    told::tell_decisions,
};
use crate::{
    clock::SystemClock,
    config::{Config, enrolment_dir, journal_dir},
    custom_kind,
    handle::{Handle, Offer, Releases},
    ownership,
    providers::{
        enrolment::Enrolments,
        etcd::EtcdEngine,
        exec::{ExecConfig, ExecProvider},
        machine_storage::{Desk, PROVIDERS},
        mongodb,
        secrets::EnvironmentSecrets,
    },
    view::{Calendar, ClockStep, gap},
};

type Ready = mpsc::SyncSender<Result<(Handle, Started), StartError>>;

/// How often a stopping node looks whether its provider calls have ended.
const DRAIN_POLL: Duration = Duration::from_millis(20);
/// How often a node looks at its own disk and journal.
const HOST_LOOK: Duration = Duration::from_secs(5);
/// How often, and how many times, a starting node checks whether a reader of the journal has ended: 5 s in all.
const READERS_POLL: Duration = Duration::from_millis(20);
const READERS_POLLS_MAX: u32 = 250;

pub(super) fn run(config: Config, ready: &Ready, stop: oneshot::Receiver<()>) -> Result<(), StopError> {
    let system = actix::System::new();
    system.block_on(async {
        match start(&config).await {
            Ok(parts) => {
                let Parts { handle, started, running, mut listening, journal, heads } = parts;
                // The caller is gone if this fails: then the node stops at once.
                drop(ready.send(Ok((handle.clone(), started))));
                let failed = wait(&running, stop).await;
                let desk = handle.desk();
                desk.close();
                listening.stop().await;
                drain(&running, &desk, config.drain).await;
                drop(listening);
                heads.note(&journal);
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
    listening: Listening,
    journal: Arc<LocalJournal>,
    heads: Arc<Heads>,
}

async fn start(config: &Config) -> Result<Parts, StartError> {
    served::check(config)?;
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
    served::tell_sinks(config, &handle)?;
    // Everything was read, and the first question would read it again; neither has to stay in memory.
    let unknown = handle.look(|fleet| fleet.unknown.clone()).map_err(|error| AssembleError::Rebuild(error.into()))?;
    for (kind, unknown) in unknown {
        let objects = unknown.names.len();
        tracing::warn!(objects, "this program does not know kind {kind}; its objects are left as they are");
    }
    journal.give_memory_back();
    let heads = served::heads(config, &journal)?;
    let listening = served::listen(config, &handle, key, enrolments, &heads)?;
    let started = Started {
        report,
        resumed: running.resumed.clone(),
        clock: told,
        elsewhere: told_elsewhere,
        socket: config.listen.then(|| config.data_dir.join("node.sock")),
        users: config.socket_dir.as_ref().filter(|_| config.listen).map(|dir| dir.join("node.sock")),
        network: listening.network.clone(),
    };
    Ok(Parts { handle, started, running, listening, journal, heads })
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
    let missing = served::local_machines(config, clock, key, &desk, &mut providers)?;
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
    let external: Name = EXTERNAL.parse().expect("a valid name");
    if is_there(&&external) {
        let text = "the name is taken: clients of the Provisioner facade create its machines";
        return Err(StartError::Provider {
            name: external,
            source: io::Error::new(io::ErrorKind::AlreadyExists, text),
        });
    }
    // Its clients come over the network.
    let external = config.network.is_some().then_some(external);
    let names = |names: Vec<&Name>| names.into_iter().cloned().collect::<BTreeSet<Name>>();
    let volumes_inside = providers.in_machines.keys().filter(|name| name.as_str() == LOOP);
    let filesystems_inside = providers.in_machines.keys().filter(|name| name.as_str() != LOOP);
    let offer = Offer {
        machines: names(providers.machines.keys().chain(&external).collect()),
        volumes: names(providers.volumes.keys().chain(volumes_inside).chain(&external).collect()),
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
