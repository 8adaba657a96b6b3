//! Running commands: without a shell, with a bound on time and output.

use std::{
    fmt, io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use bailiwick_actors::{ports::Answer, vocab::FaultCode};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command as Process},
};
use tracing::debug;

use super::{
    Command, Turn,
    helper::{
        client::{HelperError, StorageHelper},
        wire::Verb,
    },
};
use crate::providers::fault::code_of;

/// Runs commands for its callers, one at a time.
pub trait Runner: Send + Sync + fmt::Debug {
    /// Runs a command to its end and answers with what it printed; an exit other than 0 is an error.
    ///
    /// The turn is held by the command too: if it outlives us, nobody else gets the turn before it has ended.
    fn run<'a>(&'a self, command: &'a Command, turn: &'a Turn) -> Answer<'a, Result<String, RunError>>;
}

/// Why a command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the program {program} is not installed")]
    NotInstalled { program: String },
    #[error("cannot run {program}")]
    CannotRun { program: String, source: io::Error },
    #[error("{program} failed ({}): {stderr}", exit.map_or("killed".to_owned(), |exit| format!("exit {exit}")))]
    Failed { program: String, exit: Option<i32>, stderr: String },
    #[error("{program} took longer than {after_ms} ms and was killed; what it has done is unknown")]
    TimedOut { program: String, after_ms: u64 },
    #[error("{program} printed more than {bytes_max} bytes and was killed; what it has done is unknown")]
    TooMuch { program: String, bytes_max: usize },
    #[error("{program} printed something that is not UTF-8")]
    NotText { program: String },
    #[error(transparent)]
    Helper(HelperError),
}

impl RunError {
    /// The code that decides what comes next: who was killed half-way leaves us not knowing.
    pub fn code(&self) -> FaultCode {
        match self {
            Self::NotInstalled { .. } => FaultCode::Unimplemented,
            Self::CannotRun { source, .. } => code_of(source),
            Self::Failed { exit: Some(_), .. } => FaultCode::FailedPrecondition,
            Self::Failed { exit: None, .. } | Self::TooMuch { .. } => FaultCode::Aborted,
            Self::TimedOut { .. } => FaultCode::DeadlineExceeded,
            Self::NotText { .. } => FaultCode::Internal,
            Self::Helper(error) => error.code(),
        }
    }

    /// Whether it was tried and did not work, so that something else may be tried instead.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::Failed { exit: Some(_), .. } | Self::NotInstalled { .. } => true,
            Self::Helper(error) => matches!(error.code(), FaultCode::FailedPrecondition | FaultCode::PermissionDenied),
            _ => false,
        }
    }
}

/// What a program said last: it names paths first and its reason at the end.
fn reason(printed: &str) -> String {
    const LETTERS_MAX: usize = 400;
    let skipped = printed.chars().count().saturating_sub(LETTERS_MAX);
    let end: String = printed.chars().skip(skipped).collect();
    if skipped == 0 { end } else { format!("…{end}") }
}

/// Runs real programs with tokio.
///
/// A program is looked for in the system's own directories, whatever `PATH` says. It gets an empty environment in the C
/// locale, `/` as its directory, and a process group of its own, so that Ctrl-C does not reach it.
#[derive(Clone, Debug)]
pub struct SystemRunner {
    /// What takes longer is killed. Default 60 s: making a filesystem on a large device takes its time.
    pub timeout: Duration,
    /// Where programs are, the first that has one counts.
    pub directories: Vec<PathBuf>,
}

/// More than this is never read, of either output.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// How long a killed program may take to be gone. One that hangs in the kernel keeps its turn until it ends.
const REAP: Duration = Duration::from_secs(2);

impl Default for SystemRunner {
    fn default() -> Self {
        let directories = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from).into();
        Self { timeout: Duration::from_secs(60), directories }
    }
}

impl SystemRunner {
    /// Where a program is; none if it is not installed.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let is_plain = !program.is_empty() && !program.contains('/');
        self.directories.iter().map(|directory| directory.join(program)).find(|path| is_plain && path.is_file())
    }

    pub(super) async fn run_to_end(&self, command: &Command, turn: &Turn) -> Result<String, RunError> {
        let program = || command.program().to_owned();
        let Some(path) = self.find(command.program()) else {
            return Err(RunError::NotInstalled { program: program() });
        };
        let cannot_run = |source| RunError::CannotRun { program: program(), source };
        let stdin = turn.share().map_err(cannot_run)?;
        let mut child = match self.start(&path, command, stdin) {
            Ok(child) => child,
            Err(error) => {
                turn.unshare();
                return Err(cannot_run(error));
            }
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let ended = tokio::time::timeout(self.timeout, async {
            let (stdout, stderr, status) = tokio::join!(read(stdout), read(stderr), child.wait());
            let status = status?;
            turn.unshare();
            Ok::<_, io::Error>((stdout?, stderr?, status))
        });
        match ended.await {
            Ok(Ok((Printed::All(stdout), stderr, status))) if status.success() => {
                drop(stderr);
                String::from_utf8(stdout).map_err(|_| RunError::NotText { program: program() })
            }
            Ok(Ok((Printed::TooMuch, ..))) => {
                Err(RunError::TooMuch { program: program(), bytes_max: OUTPUT_BYTES_MAX })
            }
            Ok(Ok((_, stderr, status))) => {
                let stderr = match stderr {
                    Printed::All(bytes) => reason(String::from_utf8_lossy(&bytes).trim()),
                    Printed::TooMuch => "(output too long)".to_owned(),
                };
                Err(RunError::Failed { program: program(), exit: status.code(), stderr })
            }
            Ok(Err(source)) => Err(RunError::CannotRun { program: program(), source }),
            Err(_elapsed) => {
                // The error that tells is the time-out. If it cannot be killed, it goes on holding its turn.
                let _ = child.start_kill();
                if let Ok(Ok(_)) = tokio::time::timeout(REAP, child.wait()).await {
                    turn.unshare();
                }
                let after_ms = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
                Err(RunError::TimedOut { program: program(), after_ms })
            }
        }
    }

    fn start(&self, path: &Path, command: &Command, stdin: OwnedFd) -> io::Result<Child> {
        let search = std::env::join_paths(&self.directories).map_err(io::Error::other)?;
        Process::new(path)
            .args(command.arguments())
            .env_clear()
            .env("LC_ALL", "C")
            .env("PATH", search)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

impl Runner for SystemRunner {
    fn run<'a>(&'a self, command: &'a Command, turn: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        Box::pin(async move {
            let answer = self.run_to_end(command, turn).await;
            debug!(?command, good = answer.is_ok(), "command run");
            answer
        })
    }
}

/// Has the storage helper do what only root can do, and runs the rest itself.
#[derive(Clone, Debug)]
pub struct HelpedRunner {
    pub own: SystemRunner,
    pub helper: StorageHelper,
}

impl HelpedRunner {
    async fn ask(&self, verb: Verb, turn: &Turn) -> Result<String, RunError> {
        let cannot_ask = |source| RunError::CannotRun { program: "the storage helper".to_owned(), source };
        let share = turn.share().map_err(cannot_ask)?;
        let helper = self.helper.clone();
        let asked = tokio::task::spawn_blocking(move || helper.ask(&verb, Some(share.as_fd()))).await;
        let answer = asked.map_err(|error| cannot_ask(io::Error::other(error)))?;
        if !answer.as_ref().is_err_and(HelperError::may_still_run) {
            turn.unshare();
        }
        answer.map_err(RunError::Helper)
    }
}

impl Runner for HelpedRunner {
    fn run<'a>(&'a self, command: &'a Command, turn: &'a Turn) -> Answer<'a, Result<String, RunError>> {
        match command.verb().cloned() {
            None => self.own.run(command, turn),
            Some(verb) => Box::pin(async move {
                let answer = self.ask(verb, turn).await;
                debug!(?command, good = answer.is_ok(), "storage helper asked");
                answer
            }),
        }
    }
}

/// What one output held.
enum Printed {
    All(Vec<u8>),
    TooMuch,
}

/// Reads to the end or to the bound; then the pipe is closed, which ends a program that goes on writing.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Printed> {
    let Some(pipe) = pipe else { return Ok(Printed::All(Vec::new())) };
    let mut bytes = Vec::new();
    pipe.take(OUTPUT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).await?;
    Ok(if OUTPUT_BYTES_MAX < bytes.len() { Printed::TooMuch } else { Printed::All(bytes) })
}
