//! The one place that knows everyone: opens, wires, starts, and stops in reverse.
//!
//! A node owns a thread with its actix system. What the caller holds is a [`Handle`]: it can be sent and cloned, and works
//! on any async runtime, or on none ([`Handle::wait`]). The node installs no signal handler, no panic hook and no
//! subscriber for logs.

#[cfg(feature = "server")]
mod heads;
mod key;
#[cfg(not(feature = "server"))]
mod not_built;
pub(crate) mod place;
#[cfg(feature = "server")]
mod quotas;
mod run;
#[cfg(feature = "server")]
mod served;
#[cfg(feature = "server")]
mod sinks;
#[cfg(feature = "server")]
mod spans;
mod told;
#[cfg(any(test, not(feature = "server")))]
mod wanted;

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use bailiwick_actors::{
    shell::{AssembleError, Resumed},
    vocab::Name,
};
use bailiwick_journal::{OpenError, OpenReport};
use tokio::sync::oneshot;

#[cfg(not(feature = "server"))]
use self::not_built as served;
use crate::{agent::WorkloadUser, config::Config, handle::Handle, ownership::Unsafe};

pub use key::KeyError;

/// A running node.
#[derive(Debug)]
pub struct Node {
    handle: Handle,
    started: Started,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), StopError>>>,
}

/// What was found when the node started.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Started {
    /// How the journal was opened: cleanly, with a catch-up, or with repairs.
    pub report: OpenReport,
    /// What an earlier run left to be done.
    pub resumed: Resumed,
    /// What is odd about the clock, in words; nothing if all is well.
    pub clock: Vec<String>,
    /// Where else this identity is, or was, in words; nothing if all is well.
    pub elsewhere: Vec<String>,
    /// Where the node can be reached, if it listens.
    pub socket: Option<PathBuf>,
    /// Where users of this machine reach it who have an account.
    pub users: Option<PathBuf>,
    /// Where it can be reached from other machines: an address, and the fingerprint of its authority unless its certificate
    /// was given.
    pub network: Option<(SocketAddr, Option<String>)>,
}

impl Started {
    /// The same in words, a line each; the first says how the journal was opened.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("journal: {}", self.report)];
        lines.extend(self.clock.iter().map(|said| format!("CLOCK: {said}")));
        lines.extend(self.elsewhere.iter().map(|said| format!("COPY: {said}")));
        let Resumed { busy, waiting, position } = &self.resumed;
        if !busy.is_empty() || *waiting > 0 {
            let names: Vec<String> = busy.iter().take(5).map(ToString::to_string).collect();
            let more = busy.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = if names.is_empty() { String::new() } else { format!(" ({}{more})", names.join(", ")) };
            lines.push(format!(
                "resumed at entry {position}: {} in progress{names}, {waiting} waiting for a timer",
                busy.len()
            ));
        } else if !self.report.created {
            lines.push(format!("resumed at entry {position}: nothing was in progress"));
        }
        if let Some(socket) = &self.socket {
            lines.push(format!("listening on {}", socket.display()));
        }
        if let Some(users) = &self.users {
            lines.push(format!("listening on {}", users.display()));
        }
        if let Some((address, fingerprint)) = &self.network {
            lines.push(format!("listening on https://{address}"));
            lines.extend(fingerprint.iter().map(|fingerprint| format!("CA fingerprint: {fingerprint}")));
        }
        lines
    }
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The journal did not open. Its own error says who holds it, or what is lost.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// A sink cannot be told anything.
    #[error("event sink {name} cannot be used")]
    Sink { name: Name, source: io::Error },
    /// The journal opened, and the state cannot be rebuilt from it.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// Others could have changed the data directory, or can.
    #[error(transparent)]
    Unsafe(#[from] Unsafe),
    /// There is no key to prove agents with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Something below the data directory cannot be used.
    #[error("cannot {action} {path:?}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// The node cannot listen on the network.
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
    /// The node has no certificate to show.
    #[error("cannot use the TLS certificate")]
    Certificate { source: io::Error },
    /// Workloads cannot run as the user that they shall run as.
    #[error("workloads cannot run as user {user}: {why}")]
    WorkloadUser { user: WorkloadUser, why: String },
    /// A provider cannot be started as it is set up.
    #[error("provider {name} cannot be started")]
    Provider { name: Name, source: io::Error },
    /// The providers of a registered kind cannot be started.
    #[error("the providers of kind {kind} cannot be started")]
    Custom { kind: &'static str, source: io::Error },
    /// There are machines, and the journal that they were made under is gone.
    #[error("{machines:?} holds machines, but the journal that created them is missing")]
    JournalGone { machines: PathBuf },
    /// Of a data directory and its copy the node of one runs already.
    #[error(
        "a node with the same identity runs in {} (process {holder}): one of the two data directories is a copy of the other",
        path.display()
    )]
    Twin { path: PathBuf, holder: String },
    /// The program was built without a part that is wanted.
    #[error(
        "this program was built without {wanted}; next: build it with the feature `{feature}` of the crate bailiwick"
    )]
    NotBuilt { wanted: &'static str, feature: &'static str },
    /// The node's thread ended before it was ready.
    #[error("the node's thread ended while it was starting")]
    Ended,
}

/// Why a node did not stop in order. Everything acknowledged is durable all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// The journal failed while the node ran: start it again, and the journal is verified.
    #[error("the journal failed, so the node ended: {problem}")]
    JournalFailed { problem: String },
    /// The journal could not be closed cleanly; the next start catches up.
    #[error("the journal could not be closed: {problem}")]
    NotClosed { problem: String },
    /// The node's thread broke.
    #[error("the node's thread panicked")]
    Broke,
}

impl Node {
    /// Opens the journal, rebuilds the state, and starts everything. Returns when the node answers.
    ///
    /// # Errors
    /// If the journal is in use, damaged beyond repair, or foreign; if a directory cannot be made.
    pub fn start(config: Config) -> Result<Self, StartError> {
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("bailiwick-node".into())
            .spawn(move || run::run(config, &ready, stopped))
            .map_err(|source| StartError::Io { action: "start the thread of", path: "node".into(), source })?;
        match is_ready.recv() {
            Ok(Ok((handle, started))) => Ok(Self { handle, started, stop: Some(stop), thread: Some(thread) }),
            Ok(Err(error)) => {
                // It has said why; its thread ends by itself.
                drop(thread.join());
                Err(error)
            }
            Err(_) => Err(StartError::Ended),
        }
    }

    /// What was found when it started.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// A handle to ask it with.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Whether it still runs. It ends by itself only when its journal fails.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Takes no more commands, lets running provider calls end for a bounded time, and closes the journal with a clean
    /// mark. Machines and volumes stay as they are.
    ///
    /// # Errors
    /// If the journal failed or cannot be closed.
    pub fn stop(mut self) -> Result<(), StopError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), StopError> {
        if let Some(stop) = self.stop.take() {
            // An error means that it has ended already.
            let _ = stop.send(());
        }
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(StopError::Broke)),
            None => Ok(()),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::error!(%error, "the node did not stop cleanly");
        }
    }
}
