//! Checks of a provider's process itself: what it does with lines, and how it ends.

mod checks;

use std::{
    fs, io,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use bailiwick_actors::{
    ports::{Answer, Clock, FilesystemProvider, MachineProvider, VolumeProvider},
    vocab::{Fault, FaultCode},
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use checks::CHECKS;

use super::{
    Line, Ports, Subject,
    bench::{Judged, Stop, ensure, wrong},
    line,
};
use crate::providers::exec::{ExecConfig, ExecProvider, Lines, Read, command, wire};

/// A process as the subject of the checks of the ports.
pub struct ExecSubject {
    config: ExecConfig,
    offers: Offers,
    clock: Arc<dyn Clock>,
    opened: Mutex<Weak<ExecProvider>>,
}

/// What a process says that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    pub machines: bool,
    pub volumes: bool,
    pub filesystems: bool,
}

impl std::fmt::Debug for ExecSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecSubject")
            .field("config", &self.config)
            .field("offers", &self.offers)
            .finish_non_exhaustive()
    }
}

impl ExecSubject {
    pub fn new(config: ExecConfig, offers: Offers, clock: Arc<dyn Clock>) -> Self {
        Self { config, offers, clock, opened: Mutex::default() }
    }
}

impl Subject for ExecSubject {
    fn title(&self) -> String {
        title(&self.config)
    }

    fn open(&self) -> Result<Ports, Fault> {
        let cannot = |error: io::Error| Fault::new(FaultCode::Uninitialized, error.to_string());
        let opened = Arc::new(ExecProvider::start(self.config.clone(), self.clock.clone()).map_err(cannot)?);
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&opened);
        let machines = self.offers.machines.then(|| opened.clone() as Arc<dyn MachineProvider>);
        let volumes = self.offers.volumes.then(|| opened.clone() as Arc<dyn VolumeProvider>);
        let filesystems = self.offers.filesystems.then_some(opened as Arc<dyn FilesystemProvider>);
        Ok(Ports { machines, volumes, filesystems })
    }

    /// Kills the process; its host starts another.
    fn kill(&self) -> bool {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let pid = opened.and_then(|opened| opened.pid());
        let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw) else { return false };
        kill_process_group(pid, Signal::KILL).is_ok()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }
}

/// How a report calls a process.
pub fn title(config: &ExecConfig) -> String {
    let words: Vec<_> = config.command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// A check of a process.
struct Check {
    id: &'static str,
    what: &'static str,
    run: for<'a> fn(&'a ExecConfig) -> Answer<'a, Judged>,
}

/// How long it may take until a process ends whose standard input has ended.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// How many checks of the process there are.
pub fn count() -> usize {
    CHECKS.len()
}

/// Starts the program once, and ends it: if that does not work, no check says more.
///
/// # Errors
/// Why it cannot be started.
pub fn start_once(config: &ExecConfig) -> io::Result<()> {
    let mut child = command(config)?.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if group.is_none_or(|group| kill_process_group(group, Signal::KILL).is_err()) {
        // It has ended already, or leads no group.
        let _ = child.kill();
    }
    child.wait().map(drop)
}

/// Runs the checks of the process, and says what it offers; none if it does not even greet.
pub async fn run(
    config: &ExecConfig,
    only: Option<&str>,
    mut tell: impl FnMut(&Line),
) -> io::Result<(Vec<Line>, Option<Offers>)> {
    fs::create_dir_all(config.state_dir())?;
    let mut lines = Vec::new();
    for check in CHECKS.iter().filter(|check| only.is_none_or(|part| check.id.contains(part))) {
        let line = line(check.id, check.what, (check.run)(config).await);
        tell(&line);
        lines.push(line);
    }
    let offers = match Raw::greeted(config).await {
        Ok((raw, hello)) => {
            drop(raw.end().await);
            Some(Offers { machines: hello.machines, volumes: hello.volumes, filesystems: hello.filesystems })
        }
        Err(_) => None,
    };
    Ok((lines, offers))
}

/// A process that is talked to line by line.
struct Raw {
    child: Child,
    pid: Option<Pid>,
    stdin: ChildStdin,
    lines: Lines<ChildStdout>,
    time: Duration,
}

impl Raw {
    fn start(config: &ExecConfig) -> Result<Self, Stop> {
        let cannot = |error: io::Error| Stop::Wrong(format!("it cannot be started: {error}"));
        let mut command = Command::from(command(config).map_err(cannot)?);
        command.stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(cannot)?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return wrong("it has no pipes");
        };
        let lines = Lines::new(stdout, config.limits.line_bytes_max);
        Ok(Self { child, pid, stdin, lines, time: config.limits.hello_time })
    }

    async fn greeted(config: &ExecConfig) -> Result<(Self, wire::Hello), Stop> {
        let mut raw = Self::start(config)?;
        let answer = raw.ask(hello(config, &json!([wire::VERSION]))).await?;
        match serde_json::from_value(answer["ok"].clone()) {
            Ok(hello) => Ok((raw, hello)),
            Err(_) => wrong("its first answer has an unknown format"),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Judged {
        let written = async {
            self.stdin.write_all(bytes).await?;
            self.stdin.flush().await
        };
        match timeout(self.time, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => wrong(format!("it does not read: {error}")),
            Err(_) => wrong("it does not read"),
        }
    }

    async fn read(&mut self) -> Result<Value, Stop> {
        let Ok(read) = timeout(self.time, self.lines.next()).await else { return wrong("it does not answer in time") };
        match read {
            Ok(Read::Line(line)) => match serde_json::from_slice::<Value>(&line) {
                Ok(value) if value.is_object() => Ok(value),
                Ok(_) | Err(_) => wrong(format!("it wrote a line of {} bytes that is no JSON object", line.len())),
            },
            Ok(Read::TooLong) => wrong("it wrote a line that is too long"),
            Ok(Read::End) => wrong("it closed its standard output"),
            Err(error) => wrong(format!("its standard output cannot be read: {error}")),
        }
    }

    /// One question, and the answer to it.
    async fn ask(&mut self, question: Value) -> Result<Value, Stop> {
        self.write(format!("{question}\n").as_bytes()).await?;
        let answer = self.read().await?;
        ensure(answer["id"] == question["id"], || {
            format!("asked as {}, it answered {}", question["id"], answer["id"])
        })?;
        Ok(answer)
    }

    /// Ends its standard input and waits.
    async fn end(self) -> Result<ExitStatus, Stop> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        match timeout(END_TIME_MAX, child.wait()).await {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => wrong(format!("it cannot be waited for: {error}")),
            Err(_) => wrong(format!("it had not ended {} s after its standard input", END_TIME_MAX.as_secs())),
        }
    }
}

fn hello(config: &ExecConfig, versions: &Value) -> Value {
    let state_dir = config.state_dir().to_string_lossy().into_owned();
    let line_bytes_max = config.limits.line_bytes_max;
    json!({"id": 1, "op": "hello", "versions": versions, "name": config.name, "state_dir": state_dir,
        "line_bytes_max": line_bytes_max})
}
