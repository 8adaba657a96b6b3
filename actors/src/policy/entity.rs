//! The entity: one stream per policy, one event per revision.

use std::{collections::BTreeSet, time::Duration};

use bailiwick_journal::{PolicyRef, StreamId, Version};
use serde::{Deserialize, Serialize};

use super::{Document, default_name, pools};
use crate::{
    contract::{
        Code, Decider, Decision, Facts, NoEffect, NoView, PolicyInForce, Stored, Touches, Verdict, is_news, reasons,
        stored_digest,
    },
    storage_rules::{PoolName, PoolSettings, StorageConfig, StorageKind},
    vocab::Fact,
};

/// A policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Counts the revisions, from 1; 0 before the first.
    pub revision: u64,
    /// The revision in force.
    pub document: Document,
    /// The hash of its stored form, in the form in which it was stored: decisions cite it.
    pub digest: [u8; 16],
    /// Where storage comes from, beside what everybody has.
    pub pools: StorageConfig,
}

/// A command to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// These settings shall be in force.
    Revise(Box<Document>),
    /// Storage may come from this pool.
    CreatePool { name: PoolName, settings: PoolSettings },
    /// Storage comes from this pool no more; what was made from it stays.
    RemovePool { name: PoolName },
    /// Storage of this kind that names no pool comes from this one; none leaves that to what everybody has.
    SetDefaultPool { kind: StorageKind, pool: Option<PoolName> },
}

/// What happened to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Revised { document: Box<Document> },
    PoolCreated { name: PoolName, settings: PoolSettings },
    PoolRemoved { name: PoolName },
    DefaultPoolSet { kind: StorageKind, pool: Option<PoolName> },
}

reasons! {
    /// Why.
    pub enum Reason {
        Revised = "revised", "the settings differ from those in force";
        Unchanged = "unchanged", "these settings are already in force";
        PoolWanted = "pool-wanted", "a new pool was requested";
        PoolUnwanted = "pool-unwanted", "the removal of the pool was requested";
        DefaultPoolWanted = "default-pool-wanted", "a different default pool was requested";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("{setting} must be at least {least}")]
    TooSmall { setting: String, least: u64 },
    #[error("{setting} must not be smaller than {other}")]
    Reversed { setting: String, other: String },
    #[error("pool {name} already exists; remove it first, or choose another name")]
    PoolExists { name: PoolName },
    #[error("there is no user-defined pool {name}")]
    NoSuchPool { name: PoolName },
    #[error("the pool is invalid: {problem}")]
    BadPool { problem: String },
    #[error("rollouts.windows: {problem}")]
    BadWindows { problem: String },
    #[error("pool {name} is the default; set another default first")]
    PoolIsDefault { name: PoolName },
    #[error("{setting} must be at least {:?}", Duration::from_millis(*least_ms))]
    TooShort { setting: String, least_ms: u64 },
    #[error(
        "only policy {} takes effect; rename this one, or try it with `bailiwick audit backtest --policy FILE`",
        default_name()
    )]
    NotUsed,
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::TooSmall { .. } => "too-small",
            Self::Reversed { .. } => "reversed",
            Self::PoolExists { .. } => "pool-exists",
            Self::NoSuchPool { .. } => "no-such-pool",
            Self::BadPool { .. } => "bad-pool",
            Self::BadWindows { .. } => "bad-windows",
            Self::PoolIsDefault { .. } => "pool-is-default",
            Self::TooShort { .. } => "too-short",
            Self::NotUsed => "not-used",
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
            digest: self.digest,
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

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        if facts.stream.name() != default_name().as_str() {
            return Err(Rejection::NotUsed);
        }
        let document = match command {
            Command::Revise(document) => document,
            Command::CreatePool { name, settings } => return pools::create(self, name, settings),
            Command::RemovePool { name } => return pools::remove(self, name),
            Command::SetDefaultPool { kind, pool } => return pools::set_default(self, *kind, pool.as_ref()),
        };
        let in_force = (self.revision != 0).then_some(&self.document);
        if !is_news(in_force, document) {
            return Ok(Decision::nothing(Reason::Unchanged));
        }
        check(document)?;
        Ok(Decision::because(Reason::Revised, [Event::Revised { document: document.clone() }]))
    }

    fn evolve(&mut self, _at: Version, event: &Event) {
        match event {
            Event::PoolCreated { name, settings } => {
                self.pools.pools.insert(name.clone(), settings.clone());
            }
            Event::PoolRemoved { name } => drop(self.pools.pools.remove(name)),
            Event::DefaultPoolSet { kind, pool } => *self.pools.default_of_mut(*kind) = pool.clone(),
            Event::Revised { document } => {
                self.revision += 1;
                self.document = (**document).clone();
                self.digest = stored_digest(&**document);
            }
        }
    }

    fn touches(event: &Event) -> Touches {
        match event {
            Event::Revised { .. } => Touches::Some(&[Fact::Spec]),
            Event::PoolCreated { .. } | Event::PoolRemoved { .. } | Event::DefaultPoolSet { .. } => {
                Touches::Some(&[Fact::Dependents])
            }
        }
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<NoEffect> {
        BTreeSet::new()
    }
}

/// Settings with which nothing would ever happen, or everything at once, are refused.
fn check(document: &Document) -> Result<(), Rejection> {
    let (machines, storage) = (&document.machines, &document.storage);
    let periods = &document.reconciliation;
    let least_ms = [
        ("machines.retryFirst", machines.retry_first_ms, 1),
        ("machines.callTimeout", machines.call_timeout_ms, 100),
        ("machines.poll", machines.poll_ms, 100),
        ("machines.nodeStale", machines.node_stale_ms, 1_000),
        ("storage.retryFirst", storage.retry_first_ms, 1),
        ("storage.callTimeout", storage.call_timeout_ms, 100),
        ("health.creationTimeout", periods.creation_timeout_ms, 1_000),
        ("health.healthTimeout", periods.health_timeout_ms, 1_000),
        ("retries.short", periods.retry_short_ms, 1),
    ];
    for (setting, value, least_ms) in least_ms {
        if value < least_ms {
            return Err(Rejection::TooShort { setting: setting.into(), least_ms });
        }
    }
    let counted = [
        ("harvest.sightingsMin", document.harvest.sightings_min),
        ("health.replacementsMax", periods.throttle.replacements_max),
    ];
    if let Some((setting, _)) = counted.into_iter().find(|(_, value)| *value == 0) {
        return Err(Rejection::TooSmall { setting: setting.into(), least: 1 });
    }
    let ordered = [
        ("machines.retryMax", machines.retry_max_ms, "machines.retryFirst", machines.retry_first_ms),
        ("retries.medium", periods.retry_medium_ms, "retries.short", periods.retry_short_ms),
        ("retries.long", periods.retry_long_ms, "retries.medium", periods.retry_medium_ms),
        ("storage.retryMax", storage.retry_max_ms, "storage.retryFirst", storage.retry_first_ms),
    ];
    for (setting, value, other, bound) in ordered {
        if value < bound {
            return Err(Rejection::Reversed { setting: setting.into(), other: other.into() });
        }
    }
    document.rollouts.windows.check().map_err(|problem| Rejection::BadWindows { problem: problem.to_string() })
}
