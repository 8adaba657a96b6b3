//! What the service manager that started a node is told (sd_notify(3)): that it serves, how it is, that it still answers, and
//! that it stops. Without `NOTIFY_SOCKET` nothing is told.
//!
//! A message is one datagram, so no crate is needed for it.

use std::{
    convert::Infallible,
    env,
    ffi::OsStr,
    future::pending,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
    time::Duration,
};

use bailiwick_actors::shell::AskError;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::{handle::Handle, view::HostTrouble};

/// How often it is told how the node is, at least.
const LOOK: Duration = Duration::from_secs(5);

/// How long a message may wait for room.
const PATIENCE: Duration = Duration::from_secs(1);

/// The service manager, if one wants to be told.
#[derive(Debug, Default)]
pub(super) struct Manager {
    socket: Option<UnixDatagram>,
    /// What does not say for so long that it still answers is ended.
    watchdog: Option<Duration>,
}

impl Manager {
    /// The one that has started this process.
    pub(super) fn of_this_process() -> Self {
        let Some(address) = env::var_os("NOTIFY_SOCKET").filter(|address| !address.is_empty()) else {
            return Self::default();
        };
        match connected(address.as_bytes()) {
            Ok(socket) => Self { socket: Some(socket), watchdog: watchdog(|name| env::var(name).ok()) },
            Err(error) => {
                tracing::warn!(%error, ?address, "the service manager cannot be told anything");
                Self::default()
            }
        }
    }

    /// Tells it, unless it is gone: then nobody asks.
    pub(super) fn tell(&self, state: &str) {
        let told = self.socket.as_ref().map(|socket| socket.send(state.as_bytes()));
        if let Some(Err(error)) = told {
            tracing::debug!(%error, state, "the service manager was not told");
        }
    }

    /// Goes on telling how the node is, and as often as the watchdog wants it that it answers.
    pub(super) async fn accompany(&self, node: &Handle) -> Infallible {
        if self.socket.is_none() {
            return pending().await;
        }
        let every = self.watchdog.map_or(LOOK, |period| LOOK.min(period / 2));
        let mut looks = interval(every);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = String::new();
        loop {
            looks.tick().await;
            let found = timeout(every, node.readiness()).await.ok();
            let (answers, status) = judged(found.as_ref());
            if answers && self.watchdog.is_some() {
                self.tell("WATCHDOG=1");
            }
            if status != told {
                self.tell(&format!("STATUS={}", status.replace('\n', " ")));
                told = status;
            }
        }
    }
}

/// Whether the node is to go on, and how it is. What a restart would not mend is no reason for one: on a full disk the node still
/// records how running work ends, and a start would find it as full.
fn judged(found: Option<&Result<Option<HostTrouble>, AskError>>) -> (bool, String) {
    match found {
        Some(Ok(None)) => (true, "ready".to_owned()),
        Some(Ok(Some(HostTrouble { status, why, .. }))) => (*status == "disk-full", format!("{status}: {why}")),
        Some(Err(error)) => (false, error.to_string()),
        None => (false, "it does not answer in time".to_owned()),
    }
}

/// How long the watchdog waits, if it watches this process.
fn watchdog(variable: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let is_other = variable("WATCHDOG_PID").is_some_and(|pid| pid != std::process::id().to_string());
    let period = variable("WATCHDOG_USEC")?.parse().ok().filter(|usec| *usec > 1 && !is_other)?;
    Some(Duration::from_micros(period))
}

/// A path, or a name in the abstract namespace after `@`.
fn connected(address: &[u8]) -> io::Result<UnixDatagram> {
    let address = match address.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(OsStr::from_bytes(address))?,
    };
    let socket = UnixDatagram::unbound()?;
    // It reads at once; one that does not keeps nobody waiting for longer.
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(status: &'static str) -> Result<Option<HostTrouble>, AskError> {
        Ok(Some(HostTrouble { status, why: "no room".into(), since_ms: 1 }))
    }

    #[test]
    fn a_node_goes_on_while_it_answers_and_no_restart_would_help() {
        assert_eq!(judged(Some(&Ok(None))), (true, "ready".into()));
        assert_eq!(judged(Some(&trouble("disk-full"))), (true, "disk-full: no room".into()));
        assert!(!judged(Some(&trouble("failed"))).0 && !judged(Some(&trouble("degraded"))).0);
        assert!(!judged(Some(&Err(AskError::Stopping))).0 && !judged(None).0);
    }

    #[test]
    fn a_watchdog_of_another_process_is_not_ours() {
        let of = |usec: &str, pid: Option<u32>| {
            watchdog(|name| if name == "WATCHDOG_USEC" { Some(usec.into()) } else { pid.map(|pid| pid.to_string()) })
        };
        let us = std::process::id();
        assert_eq!(of("200000", None), Some(Duration::from_millis(200)));
        assert_eq!(of("200000", Some(us)), Some(Duration::from_millis(200)));
        assert_eq!((of("200000", Some(us + 1)), of("0", None), of("soon", None)), (None, None, None));
    }
}
