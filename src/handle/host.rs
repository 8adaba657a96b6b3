//! What the node knows of its own disk and journal; what changes goes into its log.

use std::sync::{Mutex, PoisonError};

use bailiwick_actors::vocab::{Name, Timestamp};
use bailiwick_journal::{LocalJournal, Position};

use super::{AskError, Handle};
use crate::view::{Host, HostTrouble, SinkSeen};

/// How the node itself was when somebody looked last.
#[derive(Debug, Default)]
pub(super) struct HostWatch(Mutex<Host>);

impl HostWatch {
    /// As it was when somebody looked last: every command reads it, and the disk is asked by system calls.
    pub(super) fn last(&self) -> Host {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how far an event sink was told, and why not further.
    pub(super) fn sink(&self, name: &Name, told: Position, trouble: Option<(String, Timestamp)>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.sinks.insert(name.clone(), SinkSeen { told, trouble });
    }

    /// Looks now, and logs what has begun or ended since the last look.
    pub(super) fn look(&self, journal: &LocalJournal, now: Timestamp) -> Host {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let host = Host::now(journal.room(), &journal.stats(), &seen, now);
        let (begun, ended) = host.changes(&seen);
        for trouble in begun {
            tracing::warn!(status = trouble.status, "the node is in trouble: {}", trouble.why);
        }
        for trouble in ended {
            tracing::warn!(status = trouble.status, "the node's trouble is over");
        }
        host.clone_into(&mut seen);
        host
    }
}

impl Handle {
    /// Whether the node decides and records; what is in its way, if anything is.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn readiness(&self) -> Result<Option<HostTrouble>, AskError> {
        self.stats().await?;
        Ok(self.look_at_host().trouble.into_iter().next())
    }

    /// Notes how far an event sink was told, and why not further.
    pub(crate) fn sink_is(&self, name: &Name, told: Position, trouble: Option<(String, Timestamp)>) {
        self.shared.host.sink(name, told, trouble);
    }

    /// Looks at the node's own disk and journal, and logs what has changed since the last look. A running node does so every
    /// few seconds, and whenever its status or metrics are asked for.
    pub fn look_at_host(&self) -> Host {
        self.shared.host.look(&self.shared.journal, self.now())
    }
}
