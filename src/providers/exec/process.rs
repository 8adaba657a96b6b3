//! The process: started in a group of its own, signalled as a whole, and never mistaken for another.

use std::{
    fs, io,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::oneshot,
};
use tracing::{info, warn};

use super::ExecConfig;
use crate::agent::process::ProcessMark;

/// What every process gets of our environment, beside what is configured.
const ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// How often it is looked whether a process that we did not start has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Whatever is killed is gone long before this.
const KILL_TIME_MAX: Duration = Duration::from_secs(5);

/// A running process with its pipes.
#[derive(Debug)]
pub(super) struct Process {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// Resolves when it has ended; no process of its group is running then.
    pub exit: oneshot::Receiver<ExitStatus>,
    pub group: Group,
}

/// The process's group, for as long as its number can belong to nobody else.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub pid: u32,
    is_reaped: Arc<Mutex<bool>>,
}

impl Process {
    /// Starts it, and notes which it is before anything is said to it.
    pub fn start(config: &ExecConfig) -> io::Result<Self> {
        let mut command = command(config)?;
        let is_reaped = Arc::new(Mutex::new(false));
        let (reaper, exit) = reaper(is_reaped.clone())?;
        let mut child = command.spawn()?;
        let group = Group { pid: child.id(), is_reaped };
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on there is somebody who reaps it, whatever fails.
        let given = reaper.send(child);
        assert!(given.is_ok(), "the thread waits for exactly this");
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { unreachable!("all three were asked for") };
        note(config, group.pid).inspect_err(|_| group.signal(Signal::KILL))?;
        Ok(Self {
            stdin: ChildStdin::from_std(stdin)?,
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
            exit,
            group,
        })
    }
}

/// The configured program with pipes, in a group of its own, and with little of our environment.
pub(in crate::providers) fn command(config: &ExecConfig) -> io::Result<Command> {
    let Some((program, arguments)) = config.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(directory) = &config.directory {
        command.current_dir(directory);
    }
    for name in ENVIRONMENT.into_iter().chain(config.env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    Ok(command)
}

impl Group {
    /// Sends a signal to every process of the group, as long as its leader is not reaped.
    pub fn signal(&self, signal: Signal) {
        let is_reaped = self.is_reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_reaped {
            signal_group(self.pid, signal);
        }
    }
}

fn signal_group(pid: u32, signal: Signal) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    match kill_process_group(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => (),
        Err(error) => warn!(%error, "a provider's processes cannot be signalled"),
    }
}

/// A thread that waits for the child it is given. What is left of the child's group is killed before the child is reaped:
/// afterwards the group's number could be another's.
fn reaper(is_reaped: Arc<Mutex<bool>>) -> io::Result<(mpsc::SyncSender<Child>, oneshot::Receiver<ExitStatus>)> {
    let (give, given) = mpsc::sync_channel::<Child>(1);
    let (tell, told) = oneshot::channel();
    let reap = move || {
        let Ok(mut child) = given.recv() else { return };
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), ended), Err(rustix::io::Errno::INTR)) {}
        }
        let mut is_reaped = is_reaped.lock().unwrap_or_else(PoisonError::into_inner);
        signal_group(child.id(), Signal::KILL);
        match child.wait() {
            // Nobody may be listening any more.
            Ok(status) => drop(tell.send(status)),
            Err(error) => warn!(pid = child.id(), %error, "cannot wait for a provider's process"),
        }
        *is_reaped = true;
    };
    thread::Builder::new().name("exec-reaper".to_owned()).stack_size(128 * 1024).spawn(reap)?;
    Ok((give, told))
}

/// Notes which process serves, whole or not at all.
fn note(config: &ExecConfig, pid: u32) -> io::Result<()> {
    let file = config.process_file();
    let new = file.with_extension("json.new");
    // One that has ended already is nobody's business.
    let mark = match ProcessMark::of(pid) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        mark => mark?,
    };
    fs::write(&new, serde_json::to_vec(&mark)?)?;
    fs::rename(&new, &file)
}

/// Ends what a killed node left behind, so that never two serve at the same time. Its standard input has ended with that
/// node, so it should be ending by itself.
///
/// # Errors
/// If it cannot be told which process that was, or it does not end.
pub(super) async fn end_predecessor(config: &ExecConfig) -> io::Result<()> {
    let file = config.process_file();
    let mark: ProcessMark = match fs::read(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => match serde_json::from_slice(&bytes?) {
            Ok(mark) => mark,
            Err(error) => {
                warn!(?file, %error, "the note about an earlier process cannot be read and is passed over");
                return Ok(());
            }
        },
    };
    if !ends_within(&mark, config.limits.end_grace.min(Duration::from_secs(1))).await {
        info!(pid = mark.pid, "ending what an earlier node left behind");
        signal_group(mark.pid, Signal::TERM);
        if !ends_within(&mark, config.limits.term_grace).await {
            signal_group(mark.pid, Signal::KILL);
            if !ends_within(&mark, KILL_TIME_MAX).await {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "an earlier process does not end"));
            }
        }
    }
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

async fn ends_within(mark: &ProcessMark, time: Duration) -> bool {
    let look = async {
        while mark.is_alive() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(time, look).await.is_ok()
}
