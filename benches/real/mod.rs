//! A real node as a process of its own.

use std::{
    error::Error,
    ffi::OsStr,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

pub type Fallible<T> = Result<T, Box<dyn Error>>;

/// This build's program.
pub const OURS: &str = env!("CARGO_BIN_EXE_bailiwick");

/// A program of bailiwick's on this data directory; what it prints is of no interest.
pub fn program(binary: impl AsRef<OsStr>, data: &Path) -> Command {
    let mut command = Command::new(binary);
    command.arg("--data-dir").arg(data).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Runs it, which has to succeed.
pub fn done(command: &mut Command) -> Fallible<()> {
    let output = command.stderr(Stdio::piped()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into())
}

/// A running node, ended with the value.
#[derive(Debug)]
pub struct Node(pub Child);

impl Node {
    /// Starts the program, which was given the data directory, and waits until it listens.
    pub fn start(mut program: Command, data: &Path) -> Fallible<Self> {
        let mut node = Self(program.arg("serve").stderr(Stdio::null()).spawn()?);
        // Its socket has a name a moment before anybody can connect to it.
        while UnixStream::connect(data.join("node.sock")).is_err() {
            sleep(Duration::from_millis(1));
            if let Some(status) = node.0.try_wait()? {
                return Err(format!("the node ended: {status}").into());
            }
        }
        Ok(node)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        drop(self.0.wait());
    }
}
