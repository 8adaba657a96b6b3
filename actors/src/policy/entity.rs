//! The entity: one stream per policy, one event per revision.

use std::collections::BTreeSet;

use bailiwick_journal::{PolicyRef, StreamId, Version, digest};
use serde::{Deserialize, Serialize};

use super::Document;
use crate::contract::{Code, Decider, Decision, Facts, NoView, PolicyInForce, Stored, Verdict, reasons};

/// A policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Counts the revisions, from 1; 0 before the first.
    pub revision: u64,
    /// The revision in force.
    pub document: Document,
}

/// A command to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These settings shall be in force.
    Revise(Document),
}

/// What happened to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Revised { document: Document },
}

/// A policy owes nothing to the world and is owed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEffect {}

reasons! {
    /// Why.
    pub enum Reason {
        Revised = "revised", "the settings differ from those in force";
        Unchanged = "unchanged", "these settings are in force already";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("{setting} must be at least {least}")]
    TooSmall { setting: String, least: u64 },
    #[error("{setting} must not be smaller than {other}")]
    Reversed { setting: String, other: String },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::TooSmall { .. } => "too-small",
            Self::Reversed { .. } => "reversed",
        }
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
impl Stored for Event {
    const SCHEMA: u16 = 1;
}
impl Stored for Rejection {
    const SCHEMA: u16 = 1;
}
impl Stored for Document {
    const SCHEMA: u16 = 1;
}

impl State {
    /// The revision in force, as decisions cite it.
    pub fn in_force(&self, stream: &StreamId) -> PolicyInForce {
        let reference = (self.revision != 0).then(|| PolicyRef {
            name: stream.name().to_owned(),
            revision: self.revision,
            digest: self.document.store().map(|body| digest(&body.bytes)).unwrap_or_default(),
        });
        PolicyInForce { reference, document: self.document.clone() }
    }
}

impl Decider for State {
    const KIND: &'static str = "policy";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = NoEffect;
    type View = NoView;

    fn decide(&self, command: &Command, _facts: &Facts<'_, Self>) -> Verdict<Self> {
        let Command::Revise(document) = command;
        if self.revision != 0 && self.document == *document {
            return Ok(Decision::nothing(Reason::Unchanged));
        }
        check(document)?;
        Ok(Decision::because(Reason::Revised, [Event::Revised { document: document.clone() }]))
    }

    fn evolve(&mut self, _at: Version, event: &Event) {
        let Event::Revised { document } = event;
        self.revision += 1;
        self.document = document.clone();
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<NoEffect> {
        BTreeSet::new()
    }
}

/// Settings with which nothing would ever happen, or everything at once, are refused.
fn check(document: &Document) -> Result<(), Rejection> {
    let (machines, storage) = (&document.machines, &document.storage);
    let least = [
        ("machines.retryFirst", machines.retry_first_ms, 1),
        ("machines.callTimeout", machines.call_timeout_ms, 100),
        ("machines.poll", machines.poll_ms, 100),
        ("machines.nodeStale", machines.node_stale_ms, 1_000),
        ("storage.retryFirst", storage.retry_first_ms, 1),
        ("storage.callTimeout", storage.call_timeout_ms, 100),
    ];
    for (setting, value, least) in least {
        if value < least {
            return Err(Rejection::TooSmall { setting: setting.into(), least });
        }
    }
    let ordered = [
        ("machines.retryMax", machines.retry_max_ms, "machines.retryFirst", machines.retry_first_ms),
        ("storage.retryMax", storage.retry_max_ms, "storage.retryFirst", storage.retry_first_ms),
    ];
    for (setting, value, other, bound) in ordered {
        if value < bound {
            return Err(Rejection::Reversed { setting: setting.into(), other: other.into() });
        }
    }
    Ok(())
}
