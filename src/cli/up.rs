//! `bailiwick up` and `down`: the main job, from a manifest to real machines and back.

use std::{
    convert::identity,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{LogKeep, Settings, StreamId};
use clap::{Args, ValueEnum};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::interval,
};
use uuid::Uuid;

use super::{
    Global, delete,
    exit::{CliError, Exit},
    named,
    progress::{Progress, say},
    provider::ProviderArgs,
    session, status, wait,
};
use crate::{
    Config, LocalMachines, Node,
    api::{query::Query, wire::change::Remove},
    chaos::sweep_running,
    client::ClientError,
    config::{CrashSweep, NodeKey, journal_dir},
    manifest,
    plan::{Action, Going, Plan, Prune},
    providers::access::Environment,
    view::{self, Fleet},
    words::count,
};

/// How often the state is looked at.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(super) struct UpArgs {
    /// Manifests: files, folders, or - for standard input; none to only run the node
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Exit once everything is ready; machines keep running
    #[arg(long)]
    once: bool,
    /// Time limit until everything is ready: `90s`, `5m` [default: none]
    #[arg(long, value_name = "TIME", value_parser = wait::duration)]
    timeout: Option<Duration>,
    /// Delete what is no longer declared
    #[arg(long)]
    prune: bool,
    #[command(flatten)]
    providers: ProviderArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// How the journal's log is kept.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// How much of the journal's log to keep: `checkpoint` saves disk space, but leaves sled as the only copy of older entries
    #[arg(long, default_value = "all", value_name = "HOW")]
    log_keep: Keep,
    /// Move full segments of the journal's log to this folder, and read them from there
    #[arg(long, value_name = "DIR")]
    log_archive: Option<PathBuf>,
    /// If node.key was lost without a backup, make a new one, and give the agents of this host's machines new tokens
    #[arg(long)]
    new_node_key: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Keep {
    All,
    Checkpoint,
}

impl LogArgs {
    fn settings(&self) -> Settings {
        let log_keep = match self.log_keep {
            Keep::All => LogKeep::All,
            Keep::Checkpoint => LogKeep::Checkpoint,
        };
        Settings { log_keep, log_archive: self.log_archive.clone(), ..Settings::default() }
    }
}

#[derive(Debug, Args)]
pub(super) struct DownArgs {
    /// Objects [default: everything that is declared]
    #[arg(value_name = "KIND/NAME")]
    entities: Vec<String>,
    /// Do not wait for what blocks the removal; what may be left behind is recorded
    #[arg(long)]
    force: bool,
    /// Time limit: `90s`, `5m`
    #[arg(long, default_value = "5m", value_name = "TIME", value_parser = wait::duration)]
    timeout: Duration,
    #[command(flatten)]
    providers: ProviderArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// What ends a command from outside.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self, CliError> {
        let failed = |error: std::io::Error| CliError::new(Exit::Error, "signals", "cannot listen").because(&error);
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
        })
    }

    pub(super) async fn any(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => (),
            _ = self.terminate.recv() => (),
        }
    }
}

/// Starts a node with local machines and the providers that are named, and says what it found.
pub(super) fn start(
    global: &Global,
    providers: &ProviderArgs,
    log: &LogArgs,
    reached: impl FnOnce(Config) -> Config,
) -> Result<Node, CliError> {
    let dir = session::data_dir(global)?;
    let binary = std::env::current_exe().map_err(|error| {
        CliError::new(Exit::Error, "own-path", "cannot find the path of this program").because(&error)
    })?;
    let agent_command = vec![binary.into_os_string(), OsString::from("agent")];
    let exec = providers.read(&dir)?;
    let local = LocalMachines::With { agent_command };
    let environment = Environment::of_this_process();
    let node_key = if log.new_node_key { NodeKey::Replace } else { NodeKey::PutBack };
    let journal = log.settings();
    let crash_sweep = Some(sweep_running as CrashSweep);
    let ProviderArgs { workload_user, storage_helper, .. } = providers.clone();
    if storage_helper.is_some() {
        // All that needs more rights is asked of the helper, so nothing that this process starts gains any.
        rustix::thread::set_no_new_privs(true).ok();
    }
    let config = Config { local, workload_user, storage_helper, exec, environment, ..Config::new(dir.clone()) };
    let config = Config { journal, node_key, crash_sweep, ..config };
    let node = Node::start(reached(config))?;
    if let Err(error) = providers.remember(&dir) {
        tracing::warn!(%error, "name the providers again at the next start");
    }
    for line in node.started().lines() {
        say(&line);
    }
    for (provider, objects) in node.handle().missing_providers()? {
        say(&format!(
            "this node has no provider {provider}, and creates and removes nothing of it ({}); \
             start it with --provider {provider}=COMMAND, or add it to providers.yaml",
            count(objects, "object")
        ));
    }
    Ok(node)
}

/// Stops the node and says how that went.
fn stop(node: Node) -> Result<Exit, CliError> {
    node.stop()?;
    say("stopped; machines keep running, and the next start finds them again");
    Ok(Exit::Ok)
}

pub(super) fn up(global: &Global, args: UpArgs) -> Result<Exit, CliError> {
    // What is wrong with the manifests is said before anything is started.
    let sources = manifest::sources(&args.files)?;
    if !sources.is_empty() {
        manifest::parse_open(&sources)?;
        // Where there is no node yet there is nothing else that they could point at.
        if !journal_dir(&session::data_dir(global)?).exists() {
            manifest::parse(&sources, &manifest::Known::default())?;
        }
    }
    let (node, ended) = session::block_on(async {
        // Listened for before there is a node to be stopped: what comes while it starts waits until it has.
        let signals = Signals::new()?;
        let node = start(global, &args.providers, &args.log, identity)?;
        let ended = run(global, &node, &args, &sources, signals).await;
        Ok::<_, CliError>((node, ended))
    })??;
    match stop_after(node, ended)? {
        (stopped, Exit::Ok) => Ok(stopped),
        (_, exit) => Ok(exit),
    }
}

/// Stops the node; why it is stopped comes before whatever stopping it brings.
pub(super) fn stop_after<T>(node: Node, ended: Result<T, CliError>) -> Result<(Exit, T), CliError> {
    match ended {
        Ok(ended) => Ok((stop(node)?, ended)),
        Err(error) => {
            if let Err(also) = node.stop() {
                tracing::debug!(error = %also, "the node did not stop cleanly");
            }
            Err(error)
        }
    }
}

async fn run(
    global: &Global,
    node: &Node,
    args: &UpArgs,
    sources: &[manifest::Source],
    mut signals: Signals,
) -> Result<Exit, CliError> {
    let mut progress = Progress::new();
    let handle = node.handle();
    handle.look(|fleet| progress.begin(fleet))?;
    if !sources.is_empty() {
        let manifest = manifest::parse(sources, &handle.known()?)?;
        for note in &manifest.notes {
            progress.say(&format!("note: {note}"));
        }
        let prune = if args.prune { Prune::Yes } else { Prune::No };
        let applied = handle.apply(&manifest.documents, prune, Uuid::new_v4()).await?;
        progress.say(&summary(&applied.plan));
    }
    let begun = Instant::now();
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            biased;
            () = signals.any() => {
                progress.finish();
                progress.say("stopping before everything is ready");
                return Ok(Exit::Ok);
            }
            _ = looks.tick() => (),
        }
        if !node.is_running() {
            return Ok(Exit::Error);
        }
        let pending = handle.pending().await?;
        handle.look(|fleet| progress.update(fleet))?;
        if pending.is_empty() {
            break;
        }
        // What one entity failed at is no reason to leave the others half-done.
        if args.once && pending.iter().all(|open| open.status == "failed") {
            progress.finish();
            return Err(unfinished(Exit::Error, "failed", "some objects failed", &pending));
        }
        if args.timeout.is_some_and(|limit| begun.elapsed() >= limit) {
            progress.finish();
            return Err(unfinished(Exit::TimedOut, "timed-out", "timed out", &pending));
        }
    }
    progress.finish();
    let answer = handle.look(|fleet| Query::Status { at: None }.answer(&*handle.journal(), fleet))??;
    match global.output.show(&answer, || status::table(&answer)).map_err(CliError::from) {
        // Machines are not to suffer because nobody reads.
        Err(error) if !error.is_closed_pipe() => return Err(error),
        _ => (),
    }
    if args.once {
        return Ok(Exit::Ok);
    }
    let objects = handle.look(|fleet| view::status(fleet).total)?;
    progress.say(&format!("{}; Ctrl-C stops the node, machines keep running", all_ready(objects)));
    stay(global, node, &mut signals, Some(progress)).await.map(|()| Exit::Ok)
}

/// "all 7 objects are ready".
fn all_ready(objects: usize) -> String {
    match objects {
        0 => "nothing is declared".into(),
        1 => "the only object is ready".into(),
        2 => "both objects are ready".into(),
        objects => format!("all {objects} objects are ready"),
    }
}

fn summary(plan: &Plan) -> String {
    let count = |action: Action| match action {
        Action::Keep => plan.kept,
        action => plan.steps.iter().filter(|step| step.action == action).count(),
    };
    let parts = [
        (Action::Create, "to create"),
        (Action::Change, "to change"),
        (Action::Remove, "to remove"),
        (Action::Unchanged, "unchanged"),
        (Action::Refuse, "being removed"),
        (Action::Keep, "kept though no longer declared (--prune deletes them)"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(action, _)| count(*action) > 0)
        .map(|(action, words)| format!("{} {words}", count(action)))
        .collect();
    format!("applied: {}", parts.join(", "))
}

fn unfinished(exit: Exit, code: &'static str, message: &str, pending: &[view::Pending]) -> CliError {
    let mut error = CliError::new(exit, code, message)
        .next("run `bailiwick status` for the trouble, `bailiwick why KIND/NAME` for its cause");
    error.causes = pending.iter().map(|open| format!("{} is {}: {}", open.entity, open.status, open.why)).collect();
    error
}

/// Stays until a signal comes or the node ends, and tells what changes.
///
/// # Errors
/// If somebody has removed the journal's directory: nothing is durable any more.
pub(super) async fn stay(
    global: &Global,
    node: &Node,
    signals: &mut Signals,
    mut progress: Option<Progress>,
) -> Result<(), CliError> {
    let handle = node.handle();
    let data_dir = session::data_dir(global)?;
    let mut looks = interval(LOOK);
    while node.is_running() {
        tokio::select! {
            biased;
            () = signals.any() => return Ok(()),
            _ = looks.tick() => (),
        }
        ensure_there(node, &data_dir)?;
        if let Some(progress) = &mut progress
            && let Err(error) = handle.look(|fleet: &Fleet| progress.update(fleet))
        {
            tracing::error!(%error, "cannot read the journal");
        }
    }
    Ok(())
}

/// What the node writes into was removed: it has no name any more, whatever is at its path by now.
fn ensure_there(node: &Node, data_dir: &Path) -> Result<(), CliError> {
    node.handle().local_journal().is_there().map_err(|_| {
        let path = journal_dir(data_dir);
        let message = format!("the journal's directory {} was removed, so the node ended", path.display());
        let next = "nothing was recorded since: restore a backup, or start a node anew and adopt what still runs";
        CliError::new(Exit::Disk, "journal-removed", message).next(next)
    })
}

/// Whoever came up with a manifest may try to go down with it.
fn file_among(entities: &[String]) -> Option<&String> {
    entities.iter().find(|text| Path::new(text).is_file())
}

pub(super) fn down(global: &Global, args: DownArgs) -> Result<Exit, CliError> {
    let named = named::named(&args.entities).map_err(|error| match file_among(&args.entities) {
        Some(file) => CliError::usage(format!("{file} is a file, and `down` takes objects"))
            .next("name objects like machine/web, or none to delete everything that is declared"),
        None => error,
    })?;
    let client = session::client(global)?;
    match session::block_on(client.get_json::<serde_json::Value>("/v1/node"))? {
        Err(ClientError::NotRunning { .. }) => (),
        Err(error) => return Err(error.into()),
        Ok(_) => return down_beside(global, named, args.force, args.timeout),
    }
    let data_dir = session::data_dir(global)?;
    if !journal_dir(&data_dir).exists() {
        return Err(session::no_journal(&data_dir));
    }
    let (node, ended) = session::block_on(async {
        let signals = Signals::new()?;
        let node = start(global, &args.providers, &args.log, identity)?;
        let ended = take_down(&node, named, (args.force, args.timeout), signals).await;
        Ok::<_, CliError>((node, ended))
    })??;
    let stopped = node.stop();
    ended?;
    stopped?;
    Ok(Exit::Ok)
}

/// Has a running node remove it; the node runs on.
fn down_beside(global: &Global, named: Vec<StreamId>, force: bool, timeout: Duration) -> Result<Exit, CliError> {
    let all = named.is_empty();
    let remove = Remove { all, force, entities: named, id: Some(Uuid::new_v4()), ..Remove::default() };
    let going = delete::ask(global, &remove)?;
    let exit = wait::until_gone(global, &going, timeout)?;
    say(match (going.is_empty(), all) {
        (true, _) => "nothing is declared; the node is still running",
        (false, true) => "everything is gone; the node is still running",
        (false, false) => "gone; the node is still running",
    });
    Ok(exit)
}

/// What is still there, and what it waits for.
fn still_there(open: &[StreamId], blocked: Vec<view::Blocker>) -> Vec<String> {
    let there = open.iter().map(|entity| format!("{entity} still exists"));
    let blocked = blocked.into_iter().map(|blocker| {
        let since = blocker.since_ms.map(|ms| format!(" (since {})", Timestamp(ms))).unwrap_or_default();
        format!("{} waits for {}{since}: {}", blocker.entity, blocker.by, blocker.why)
    });
    there.chain(blocked).collect()
}

async fn take_down(
    node: &Node,
    named: Vec<StreamId>,
    (force, timeout): (bool, Duration),
    mut signals: Signals,
) -> Result<(), CliError> {
    let handle = node.handle();
    let mut progress = Progress::new();
    let entities = if named.is_empty() { handle.look(view::declared)? } else { named };
    if entities.is_empty() {
        progress.say("nothing is declared");
        return Ok(());
    }
    handle.remove(&entities, Going { force, ..Going::default() }, Uuid::new_v4()).await?;
    let begun = Instant::now();
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            biased;
            () = signals.any() => {
                progress.finish();
                progress.say("stopping before everything is gone; the next start continues");
                return Ok(());
            }
            _ = looks.tick() => (),
        }
        let (open, pending) = handle.look(|fleet| {
            progress.update(fleet);
            let open = view::declared(fleet).into_iter().filter(|entity| entities.contains(entity));
            (open.collect::<Vec<_>>(), view::pending_by_clock(fleet))
        })?;
        if open.is_empty() {
            progress.finish();
            progress.say("everything is gone");
            return Ok(());
        }
        let failure = |entity: &StreamId| {
            pending.iter().find(|pending| pending.entity == entity.to_string() && pending.status == "failed")
        };
        if open.iter().all(|entity| failure(entity).is_some()) {
            progress.finish();
            let failures: Vec<view::Pending> = open.iter().filter_map(failure).cloned().collect();
            return Err(unfinished(Exit::Error, "failed", "some objects could not be removed", &failures));
        }
        if begun.elapsed() >= timeout {
            progress.finish();
            let mut error = CliError::new(Exit::TimedOut, "timed-out", "timed out").next(
                "the next start continues the removal; `bailiwick why-not KIND/NAME removed` shows what blocks it",
            );
            let blocked = handle.look(|fleet| {
                let all = open.iter().flat_map(|entity| view::blockers(fleet, entity));
                all.map(|blocker| blocker.by_clock(fleet)).collect()
            })?;
            error.causes = still_there(&open, blocked);
            return Err(error);
        }
    }
}
