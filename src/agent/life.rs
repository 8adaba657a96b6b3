//! The agent's process, from its start to its end.

use std::{
    error::Error as _,
    io::{self, ErrorKind},
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick_actors::vocab::EffectId;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tracing::{error, info, warn};

use super::{
    apart::Apart,
    bearer::Bearer,
    conditions::{Conditions, is_disk_full},
    directory::{HeldLock, MachineDir, MachineTag, Presence},
    files,
    gone::{self, Gone, Hold},
    join,
    link::{Exchange, Link},
    node::NodeFile,
    output,
    process::{self, ProcessMark},
    storage::{Hands, MakeHands, StorageLink},
    user::WorkloadUser,
    workloads::Workloads,
};

/// Arguments of `bailiwick agent`. The provider starts it; nobody needs to type this.
#[cfg(feature = "cli")]
#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {
    /// The machine's directory
    #[arg(long)]
    pub dir: PathBuf,
    /// The node's socket
    #[arg(long)]
    pub socket: PathBuf,
    /// The effect id that the machine was made under
    #[arg(long)]
    pub effect: EffectId,
    /// The user that workloads run as [default: the agent's own]
    #[arg(long, value_name = "UID:GID")]
    pub workload_user: Option<WorkloadUser>,
    /// The socket of the storage helper [default: the agent does itself what only root can do]
    #[arg(long, value_name = "SOCKET")]
    pub storage_helper: Option<PathBuf>,
}

/// What an agent has to know: [`AgentConfig::new`], and then what differs. Fields are added with time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentConfig {
    /// The machine's directory.
    pub dir: PathBuf,
    /// The node's socket; it need not be there.
    pub socket: PathBuf,
    /// The effect id that the machine was made under.
    pub effect: EffectId,
    /// The user that workloads run as; the agent's own if none is named.
    pub workload_user: Option<WorkloadUser>,
    /// The socket of the storage helper, who does what only root can do; the agent itself if none is named.
    pub storage_helper: Option<PathBuf>,
}

impl AgentConfig {
    /// The agent of the machine in this directory, which reports to the node behind this socket.
    pub fn new(dir: PathBuf, socket: PathBuf, effect: EffectId) -> Self {
        Self { dir, socket, effect, workload_user: None, storage_helper: None }
    }
}

#[cfg(feature = "cli")]
impl From<AgentArgs> for AgentConfig {
    fn from(args: AgentArgs) -> Self {
        let AgentArgs { dir, socket, effect, workload_user, storage_helper } = args;
        Self { workload_user, storage_helper, ..Self::new(dir, socket, effect) }
    }
}

/// Why an agent did not run.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// There is no machine of this effect in the directory (any more).
    #[error("{} is not the directory of a machine made under {effect}", dir.display())]
    NoMachine { dir: PathBuf, effect: EffectId },
    /// Another agent runs in the directory.
    #[error("another agent runs in this directory")]
    AlreadyRunning,
    /// The machine's agent has ended; it is not started a second time.
    #[error("the machine's agent has run and ended; a machine is not started twice")]
    EndedBefore,
    #[error("cannot {doing}")]
    Io { doing: &'static str, source: io::Error },
}

/// How long an agent tries for the lock, since somebody may just be looking at it.
const LOCK_TIME_MAX: Duration = Duration::from_secs(2);

/// The whole of the agent's process: runtime, log to standard error, exit code (0, or 1 if the agent could not run).
pub fn main(config: AgentConfig, make_hands: MakeHands) -> u8 {
    // On a full disk a line is lost; telling of that on the same file would end the agent.
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).log_internal_errors(false);
    let _ = log.with_max_level(tracing::Level::INFO).try_init();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!(%error, "cannot start");
            return 1;
        }
    };
    if let Err(error) = process::lead_session() {
        // It would only be less on its own than it should be.
        warn!(%error, "stays in the session of whoever started it");
    }
    let ran = runtime.block_on(run(config, make_hands));
    // A check that hangs on a dead disk must not keep the machine from ending.
    runtime.shutdown_timeout(Duration::from_millis(200));
    match ran {
        Ok(()) => 0,
        Err(error) => {
            error!(source = error.source().map(tracing::field::display), "{error}");
            1
        }
    }
}

/// Is the machine's agent until SIGTERM, SIGINT, the node's word to stop or the loss of the directory; when it returns, all
/// workloads have ended.
///
/// # Errors
/// If it cannot be this machine's agent. Nothing that happens later ends it.
pub async fn run(config: AgentConfig, make_hands: MakeHands) -> Result<(), AgentError> {
    let io = |doing| move |source| AgentError::Io { doing, source };
    let dir = std::path::absolute(&config.dir).map_err(io("find the machine's directory"))?;
    let directory = MachineDir::new(dir, config.effect);
    // Before anything else: from now on a signal is a request, and a closed terminal is none of ours.
    let mut terminate = signal(SignalKind::terminate()).map_err(io("listen for signals"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(io("listen for signals"))?;
    let _hangup = signal(SignalKind::hangup()).map_err(io("listen for signals"))?;

    let (lock, tag) = begin(&directory).await?;
    // From here on this future is looked at beside whatever the agent does.
    let mut gone = pin!(Hold::of(&directory, &lock).map_err(io("open the machine's directory"))?.gone());
    info!(machine = %tag.machine, effect = %tag.effect, "the machine runs");
    let node = match NodeFile::begin(&directory, &tag.node) {
        // Somebody else has written it, and repairs it; until then the machine runs without.
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            warn!(%error, "cannot read node.json; it is left as it is");
            NodeFile::without_file(&directory)
        }
        begun => begun.map_err(io("write node.json"))?,
    };
    show_node(&directory, config.workload_user);
    let token = tokio::select! {
        biased;
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        why = &mut gone => {
            tell(&directory, why);
            return Ok(());
        }
        joined = join::token(&directory, config.socket.clone(), &tag, &node) => {
            Some(joined.map_err(io("read or write the token"))?)
        }
    };
    let Some(token) = token else {
        info!("asked to stop");
        return Ok(());
    };

    let hands = make_hands(directory.path().to_owned(), config.storage_helper.clone());
    let bearer = Bearer::new(directory.token(), token);
    let storage = StorageLink::new(config.socket.clone(), &tag.machine, config.effect, bearer.clone());
    let mut link = Link::new(config.socket, &tag, bearer);
    let mut conditions = Conditions::new(directory.path());
    let apart = config.workload_user.map(|user| Apart {
        user,
        data_dir: directory.data_dir().to_owned(),
        volumes: directory.volumes(),
    });
    let mut workloads = Workloads::new(directory.clone(), tag.machine, apart);
    tokio::select! {
        biased;
        _ = terminate.recv() => info!("asked to stop"),
        _ = interrupt.recv() => info!("asked to stop"),
        why = &mut gone => {
            tell(&directory, why);
            workloads.stop().await;
            gone::end_rest(&directory);
            return Ok(());
        }
        why = follow(&directory, config.workload_user, &mut link, &mut conditions, &mut workloads, &hands) => info!("{why}"),
        () = storage.serve(hands.clone()) => info!("no more storage jobs will come"),
    }
    workloads.stop().await;
    Ok(())
}

/// Without its directory nobody would ever find this machine again. The log may be gone with it; whoever holds it open sees
/// this line.
fn tell(directory: &MachineDir, why: Gone) {
    warn!(directory = %directory.path().display(), "{}; the machine ends, and its workloads with it", why.as_str());
}

/// Becomes the one agent of this machine.
async fn begin(directory: &MachineDir) -> Result<(HeldLock, MachineTag), AgentError> {
    let io = |doing| move |source| AgentError::Io { doing, source };
    let no_machine = || AgentError::NoMachine { dir: directory.path().to_owned(), effect: directory.effect() };
    let until = Instant::now() + LOCK_TIME_MAX;
    let lock = loop {
        if let Some(lock) = directory.try_lock().map_err(io("lock the machine's directory"))? {
            break lock;
        }
        match directory.presence().map_err(io("read the machine's directory"))? {
            Presence::Absent => return Err(no_machine()),
            Presence::Running(_) => return Err(AgentError::AlreadyRunning),
            Presence::Ended(_) => return Err(AgentError::EndedBefore),
            Presence::NeverStarted | Presence::Unproven if until <= Instant::now() => {
                return Err(AgentError::AlreadyRunning);
            }
            Presence::NeverStarted | Presence::Unproven => sleep(Duration::from_millis(5)).await,
        }
    };
    let tag = directory.read_tag().map_err(io("read the machine's tag"))?.ok_or_else(no_machine)?;
    if directory.process().exists() {
        return Err(AgentError::EndedBefore);
    }
    let mark = ProcessMark::of(std::process::id()).map_err(io("read its own start time"))?;
    files::replace_json(&directory.process(), &mark).map_err(io("record its process"))?;
    Ok((lock, tag))
}

/// Reports and follows, round by round, until there is a reason to end.
async fn follow(
    directory: &MachineDir,
    workload_user: Option<WorkloadUser>,
    link: &mut Link,
    conditions: &mut Conditions,
    workloads: &mut Workloads,
    hands: &Arc<dyn Hands>,
) -> &'static str {
    loop {
        let looking = hands.clone();
        // A look that broke sees nothing, and the next one may.
        let devices = tokio::task::spawn_blocking(move || looking.devices()).await.unwrap_or_default();
        let mut found = conditions.report().await;
        if is_disk_full(&found) {
            workloads.excuse();
        }
        found.extend(workloads.conditions());
        // Who cannot read it says so when it is to be written, and tells the node nothing new.
        let node = NodeFile::read(directory).ok().flatten().map(|node| node.told);
        let Exchange { answer, pause } = link.exchange(found, workloads.report(), devices, node).await;
        if let Some(answer) = answer {
            if answer.stop {
                return "the node asked to stop";
            }
            // Before any workload ends: so it can read there why.
            if let Some(declared) = &answer.node
                && let Err(error) = NodeFile::follow(directory, declared, answer.going.as_deref())
            {
                warn!(%error, "cannot write node.json; it is tried again with the next answer");
            }
            show_node(directory, workload_user);
            conditions.follow(&answer.volumes);
            workloads.follow(&answer.workloads, &answer.volumes, &answer.filesystems);
        }
        output::cut_when_full(&directory.agent_log(), output::LOG_BYTES_MAX);
        sleep(pause).await;
    }
}

/// Workloads may read what is said about their machine, whatever user they run as.
fn show_node(directory: &MachineDir, user: Option<WorkloadUser>) {
    let Some(user) = user else { return };
    match user.let_read(&directory.node()) {
        Err(error) if error.kind() != ErrorKind::NotFound => warn!(%error, "workloads cannot read node.json"),
        _ => (),
    }
}
