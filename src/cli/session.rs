//! How a command reaches a node: over its socket while it runs, in its journal while it does not; one elsewhere over the
//! network alone.

mod job;

use std::{
    fs,
    future::Future,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::Duration,
};

use bailiwick_actors::{ports::Clock, vocab::Timestamp};
use bailiwick_journal::{
    Journal, Occupant, OpenError, ReadOnlyJournal,
    disk::{Disk, SimulatedDisk},
    occupant,
};
use hyper::Method;
use serde::{Serialize, de::DeserializeOwned};

pub(super) use self::job::{JOBS, ask_job};
use super::{
    Global,
    exit::{CliError, Exit},
    moment::Moment,
    progress::say,
};
use crate::{
    api::query::{Parameters, Query, moment_text},
    client::{self, Client, ClientError, socket_address},
    clock::SystemClock,
    config::{default_data_dir, journal_dir},
    ownership,
    view::{At, Calendar},
};

/// Reading all of history takes about a second for some hundred thousand entries; a slow disk may take a hundred times that.
const HISTORY_TIME_MAX: Duration = Duration::from_secs(3_600);

/// The data directory that a command is about. Nothing in it has been read yet, and only this user and root may change it.
pub(super) fn data_dir(global: &Global) -> Result<PathBuf, CliError> {
    if global.remote.is_some() {
        return Err(CliError::usage("this needs the node's own files").next("run it on the node's own machine"));
    }
    let dir = global.data_dir.clone().or_else(default_data_dir).ok_or_else(|| {
        CliError::usage("there is no home directory for the data").next("choose a directory with --data-dir DIR")
    })?;
    check(&dir)?;
    ownership::check(&dir)?;
    Ok(dir)
}

/// The export that is named instead of a data directory.
pub(super) fn export_named(global: &Global) -> Option<PathBuf> {
    global.data_dir.clone().filter(|path| path.is_file())
}

/// Reads an export into memory, as the journal that it was.
pub(super) fn read_export(file: &Path) -> Result<Arc<dyn Disk>, CliError> {
    let opened = fs::File::open(file).map_err(|error| {
        CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", file.display())).because(&error)
    })?;
    let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new());
    bailiwick_journal::import_on(&mut io::BufReader::new(opened), disk.clone()).map_err(|error| {
        let told =
            CliError::new(Exit::BadInput, "not-an-export", format!("{} is not a complete export", file.display()));
        told.because(&error).next("create one with `bailiwick journal export FILE`, or name a data directory")
    })?;
    Ok(disk)
}

/// The journal of an export.
pub(super) fn open_export(file: &Path) -> Result<ReadOnlyJournal, CliError> {
    Ok(ReadOnlyJournal::open_on(read_export(file)?)?)
}

/// Whether there can be a node: what is no directory, or cannot be looked into, is told as that, not as what follows from it.
fn check(dir: &Path) -> Result<(), CliError> {
    match fs::read_dir(dir) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let message = format!("{} is not a directory", dir.display());
            Err(CliError::new(Exit::Config, "no-directory", message)
                .next("choose a directory with --data-dir DIR; an export can only be read: `log`, `why`, `get`, `status`, `audit replay`, `audit backtest`"))
        }
        Err(error) => {
            let exit = if error.kind() == io::ErrorKind::PermissionDenied { "no-permission" } else { "disk" };
            let owner = fs::metadata(dir).map(|found| format!("user {}", found.uid())).unwrap_or("its owner".into());
            Err(CliError::new(Exit::Error, exit, format!("cannot read the data directory {}", dir.display()))
                .because(&error)
                .next(format!("run as {owner}, or choose another directory with --data-dir DIR")))
        }
    }
}

/// Runs something asynchronous to its end, on this thread.
pub(super) fn block_on<T>(run: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::new(Exit::Error, "runtime", "cannot start").because(&error))?;
    Ok(runtime.block_on(run))
}

/// A running node's client.
pub(super) fn client(global: &Global) -> Result<Client, CliError> {
    if let Some(remote) = &global.remote {
        return Ok(remote.clone());
    }
    let dir = data_dir(global)?;
    // A long path is resolved by the client again; here it only has to be possible.
    socket_address(&dir).map_err(|error| {
        let message = format!("cannot use the socket in {}", dir.display());
        CliError::new(Exit::Error, "socket", message).because(&error)
    })?;
    Ok(Client::new(dir.join("node.sock")))
}

/// Asks a running node to change something.
pub(super) fn send<B: Serialize, T: DeserializeOwned>(global: &Global, path: &str, body: &B) -> Result<T, CliError> {
    let client = client(global)?;
    Ok(block_on(when_started(global, async || client.send_json(Method::POST, path, body, None).await))??)
}

/// How often a node is asked that has its journal open already, and how long after one another: together ten seconds.
const STARTING_TRIES: usize = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Asks, and goes on asking while a node is starting: one that has its journal open and does not listen yet.
async fn when_started<T>(global: &Global, ask: impl AsyncFn() -> Result<T, ClientError>) -> Result<T, ClientError> {
    for _ in 0..STARTING_TRIES {
        let answer = ask().await;
        let has_journal = |dir: PathBuf| occupant(&journal_dir(&dir)).is_ok_and(|occupant| occupant.holder.is_some());
        if !matches!(answer, Err(ClientError::NotRunning { .. })) || !data_dir(global).is_ok_and(has_journal) {
            return answer;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    ask().await
}

/// A question that the node did not answer in time has changed nothing.
fn unanswered(error: ClientError) -> CliError {
    match error {
        ClientError::TimedOut => CliError::new(Exit::Error, "no-answer", error.to_string())
            .next("check whether the node's process is stopped or overloaded, then retry"),
        error => error.into(),
    }
}

/// Asks a question of a running node alone: what is waited for does not come without one.
pub(super) fn ask_node(global: &Global, query: &Query) -> Result<serde_json::Value, CliError> {
    if let Some(file) = export_named(global) {
        let message = format!("{} is a file, and this needs a running node", file.display());
        return Err(CliError::new(Exit::NotRunning, "not-running", message)
            .next("name the node's data directory with --data-dir DIR"));
    }
    asked(global, query)?.map_err(unanswered)
}

/// An answer in its own type.
pub(super) fn read<T: DeserializeOwned>(answer: serde_json::Value) -> Result<T, CliError> {
    serde_json::from_value(answer).map_err(|error| {
        CliError::new(Exit::Error, "broken-answer", "cannot read the node's answer")
            .because(&error)
            .next("check that node and client are of the same release")
    })
}

fn asked(global: &Global, query: &Query) -> Result<Result<serde_json::Value, ClientError>, CliError> {
    if export_named(global).is_some() {
        return Ok(Err(ClientError::NotRunning { socket: PathBuf::new() }));
    }
    if let Some((question, wish)) = query.job() {
        return ask_job(global, question, &wish);
    }
    let client = client(global)?;
    let client = if query.takes_its_time() {
        client.with_limits(client::Limits { time: HISTORY_TIME_MAX, ..client::Limits::default() })
    } else {
        client
    };
    let path = query.path();
    block_on(when_started(global, async || while_it_lives(global, client.get_json(&path)).await))
}

/// How often a node that works on a long answer is asked whether it still answers at all.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// An answer that may take long, unless the node does not even say its name in time.
async fn while_it_lives<T>(
    global: &Global,
    answer: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    let is_silent = async || {
        let Ok(client) = client(global) else { return false };
        matches!(client.get_json::<serde_json::Value>("/v1/node").await, Err(ClientError::TimedOut))
    };
    unless_silent(answer, is_silent).await
}

/// An answer that may take long, unless the node is found silent meanwhile.
async fn unless_silent<T>(
    answer: impl Future<Output = Result<T, ClientError>>,
    is_silent: impl AsyncFn() -> bool,
) -> Result<T, ClientError> {
    let silence = async {
        loop {
            tokio::time::sleep(SIGN_OF_LIFE).await;
            if is_silent().await {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        answer = answer => answer,
        () = silence => Err(ClientError::TimedOut),
    }
}

/// Asks a question: a running node, or the journal of one that is stopped.
pub(super) fn ask(global: &Global, query: &Query) -> Result<serde_json::Value, CliError> {
    match asked(global, query)? {
        Err(ClientError::NotRunning { .. }) => with_journal(global, |journal| {
            say_stopped(global, query, journal);
            query.answer_from(journal, SystemClock::new().now())
        }),
        answer => answer.map_err(unanswered),
    }
}

/// Asks several questions about the same moment, as [`ask`] does.
pub(super) fn ask_all(global: &Global, all: &[Query]) -> Result<Vec<serde_json::Value>, CliError> {
    let mut answers = Vec::new();
    for query in all {
        match asked(global, query)? {
            Err(ClientError::NotRunning { .. }) => {
                return with_journal(global, |journal| {
                    say_stopped(global, query, journal);
                    Query::answer_all_from(all, journal, SystemClock::new().now())
                });
            }
            answer => answers.push(answer.map_err(unanswered)?),
        }
    }
    Ok(answers)
}

/// Says once what is read instead of a node's answer.
fn say_stopped(global: &Global, query: &Query, journal: &dyn Journal) {
    static SAID: Once = Once::new();
    if !query.is_about_now() || global.output.is_for_programs() {
        return;
    }
    let head = journal.head();
    let time = Calendar::of(journal).unwrap_or_default().shown(Timestamp(head.time_ms));
    let what = if export_named(global).is_some() {
        "reading an export, up to"
    } else {
        "no node is running; reading the journal, up to"
    };
    SAID.call_once(|| say(&format!("{what} entry {} at {time}", head.position)));
}

/// Whether the journal has entries of this kind or stream. Which journal is read is left for the next question to say.
pub(super) fn is_in_journal(global: &Global, of: Parameters) -> Result<bool, CliError> {
    let filter = Parameters { limit: Some(1), at: Some(moment_text(At::Ago(0))), ..of };
    match ask(global, &Query::Log { filter }) {
        Ok(entries) => Ok(entries.as_array().is_some_and(|entries| !entries.is_empty())),
        Err(error) if matches!(&*error.code, "not-found" | "no-journal") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Asks a running node by a path; reading all of its journal may take a while.
pub(super) fn ask_path<T: DeserializeOwned>(global: &Global, path: &str) -> Result<Result<T, ClientError>, CliError> {
    let client = client(global)?.with_limits(client::Limits { time: HISTORY_TIME_MAX, ..client::Limits::default() });
    let answer = block_on(when_started(global, async || while_it_lives(global, client.get_json(path)).await))?;
    match answer {
        Err(error @ ClientError::TimedOut) => Err(unanswered(error)),
        answer => Ok(answer),
    }
}

/// Makes sure that a node is running: what is waited for would never come otherwise.
pub(super) fn require_node(global: &Global) -> Result<(), CliError> {
    let client = client(global)?;
    block_on(client.get_json::<serde_json::Value>("/v1/node"))??;
    Ok(())
}

/// Reads the journal of a stopped node.
pub(super) fn with_journal<T, E: Into<CliError>>(
    global: &Global,
    read: impl FnOnce(&dyn Journal) -> Result<T, E>,
) -> Result<T, CliError> {
    if let Some(file) = export_named(global) {
        return read(&open_export(&file)?).map_err(Into::into);
    }
    read(&open_named(global)?).map_err(Into::into)
}

/// Opens the journal of a stopped node in the data directory that a command is about.
pub(super) fn open_named(global: &Global) -> Result<ReadOnlyJournal, CliError> {
    let dir = data_dir(global)?;
    let journal_dir = journal_in(&dir)?;
    let opened = ReadOnlyJournal::open(&journal_dir).map_err(|error| not_opened(&dir, error))?;
    Ok(say_repair(opened, &journal_dir))
}

/// Opens the journal of a stopped node as the node will see it when it starts, and says what it will repair then.
pub(super) fn open_stopped(dir: &Path) -> Result<ReadOnlyJournal, CliError> {
    Ok(say_repair(ReadOnlyJournal::open(dir)?, dir))
}

pub(super) fn say_repair(journal: ReadOnlyJournal, dir: &Path) -> ReadOnlyJournal {
    if let Some(repair) = journal.repair() {
        let problem = repair.problems.first().map(|problem| format!("{problem}; ")).unwrap_or_default();
        say(&format!("the journal in {} is damaged: {problem}{repair}", dir.display()));
    }
    journal
}

/// Says that no node answers at a socket: there is none, or one that runs cannot be reached.
pub(super) fn not_running(socket: &Path, message: String) -> CliError {
    let data_dir = socket.parent().unwrap_or(socket);
    if let Ok(Occupant { holder: Some(holder), .. }) = occupant(&journal_dir(data_dir)) {
        return socket_gone(data_dir, &holder);
    }
    CliError::new(Exit::NotRunning, "not-running", message)
        .next("start one with `bailiwick serve` or `bailiwick up FILE`, or choose another with --data-dir DIR")
}

/// Why the journal in a data directory does not open, whose node did not answer.
pub(super) fn not_opened(data_dir: &Path, error: OpenError) -> CliError {
    match error {
        OpenError::InUse { holder, .. } => socket_gone(data_dir, &holder),
        error => error.into(),
    }
}

/// Says that a node runs and cannot be reached.
pub(super) fn socket_gone(data_dir: &Path, holder: &str) -> CliError {
    let socket = data_dir.join("node.sock");
    let process = if holder == "unknown" { "another process".to_owned() } else { format!("process {holder}") };
    let message = format!("{process} uses this data directory, but does not answer at {}", socket.display());
    CliError::new(Exit::NotRunning, "socket-gone", message).next(format!(
        "wait if the node is starting; if its socket was removed, restart it: `kill {holder}`, \
         then `bailiwick serve --data-dir {}`",
        data_dir.display()
    ))
}

/// The journal's folder in a data directory, if there is anything in it.
pub(super) fn journal_in(data_dir: &Path) -> Result<PathBuf, CliError> {
    let dir = journal_dir(data_dir);
    let is_empty = fs::read_dir(&dir).is_ok_and(|mut found| found.next().is_none());
    if !dir.exists() || is_empty { Err(no_journal(data_dir)) } else { Ok(dir) }
}

/// Says that there is nothing to read.
pub(super) fn no_journal(dir: &Path) -> CliError {
    CliError::new(Exit::NotFound, "no-journal", format!("there is no journal in {}", dir.display()))
        .next("choose another directory with --data-dir DIR, or start a node in a new one with `bailiwick up FILE`")
}

/// What `--at` means, as it goes to the node.
pub(super) fn at(text: Option<&str>) -> Result<Option<At>, CliError> {
    text.map(moment).transpose()
}

/// What a moment means, as it goes to the node.
pub(super) fn moment(text: &str) -> Result<At, CliError> {
    match Moment::parse(text, SystemClock::new().now()) {
        Ok(Moment::Position(position)) => Ok(At::Position(position)),
        Ok(Moment::Time(time)) => Ok(At::Time(time.0)),
        Ok(Moment::Ago(ms)) => Ok(At::Ago(ms)),
        Err(error) => Err(CliError::usage(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::pending};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_long_answer_is_waited_for_while_the_node_says_its_name() {
        let asked = Cell::new(0);
        let answer = async {
            tokio::time::timeout(Duration::from_secs(600), pending::<()>()).await.ok();
            Ok(7)
        };
        let given = unless_silent(answer, async || {
            asked.set(asked.get() + 1);
            false
        });
        assert!(matches!(given.await, Ok(7)));
        assert!(asked.get() > 100, "{}", asked.get());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_node_ends_a_long_question() {
        let started = tokio::time::Instant::now();
        let given = unless_silent(pending::<Result<(), _>>(), async || started.elapsed() > Duration::from_secs(20));
        assert!(matches!(given.await, Err(ClientError::TimedOut)));
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }
}
