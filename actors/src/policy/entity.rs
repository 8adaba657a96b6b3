//! The entity: one stream per policy, one event per revision.

use std::collections::BTreeSet;

use bailiwick_journal::{Body, PolicyRef, StreamId, Version};
use serde::{Deserialize, Serialize};

use super::{Document, DocumentV1, DocumentV2, pools};
use crate::{
    contract::{
        Code, Decider, Decision, Facts, NoEffect, NoView, PolicyInForce, Stored, StoredError, Verdict, is_news,
        reasons, stored_digest,
    },
    storage_rules::{PoolName, PoolSettings, StorageConfig, StorageKind},
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
    /// These settings shall be in force, and the defaults for whatever came later.
    ReviseV1(DocumentV1),
    /// These settings shall be in force, and the defaults for whatever came later than those.
    ReviseV2(Box<DocumentV2>),
    /// Storage may come from this pool.
    CreatePool { name: PoolName, settings: PoolSettings },
    /// Storage comes from this pool no more; what was made from it stays.
    RemovePool { name: PoolName },
    /// Storage of this kind that names no pool comes from this one; none leaves that to what everybody has.
    SetDefaultPool { kind: StorageKind, pool: Option<PoolName> },
    /// These settings shall be in force.
    Revise(Box<Document>),
}

/// What happened to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    RevisedV1 { document: DocumentV1 },
    RevisedV2 { document: Box<DocumentV2> },
    PoolCreated { name: PoolName, settings: PoolSettings },
    PoolRemoved { name: PoolName },
    DefaultPoolSet { kind: StorageKind, pool: Option<PoolName> },
    Revised { document: Box<Document> },
}

reasons! {
    /// Why.
    pub enum Reason {
        Revised = "revised", "the settings differ from those in force";
        Unchanged = "unchanged", "these settings are in force already";
        PoolWanted = "pool-wanted", "storage is to come from a new pool";
        PoolUnwanted = "pool-unwanted", "storage is not to come from this pool any more";
        DefaultPoolWanted = "default-pool-wanted", "storage that names no pool is to come from another one";
    }
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    #[error("{setting} must be at least {least}")]
    TooSmall { setting: String, least: u64 },
    #[error("{setting} must not be smaller than {other}")]
    Reversed { setting: String, other: String },
    #[error("there is a pool {name} already; remove it first, or choose another name")]
    PoolExists { name: PoolName },
    #[error("there is no pool {name} of your own")]
    NoSuchPool { name: PoolName },
    #[error("the pool makes no sense: {problem}")]
    BadPool { problem: String },
    #[error("storage that names no pool comes from {name}; name another default first")]
    PoolIsDefault { name: PoolName },
}

impl Code for Rejection {
    fn code(&self) -> &'static str {
        match self {
            Self::TooSmall { .. } => "too-small",
            Self::Reversed { .. } => "reversed",
            Self::PoolExists { .. } => "pool-exists",
            Self::NoSuchPool { .. } => "no-such-pool",
            Self::BadPool { .. } => "bad-pool",
            Self::PoolIsDefault { .. } => "pool-is-default",
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
impl Stored for DocumentV1 {
    const SCHEMA: u16 = 1;
}
impl Stored for DocumentV2 {
    const SCHEMA: u16 = 2;
}
impl Stored for Document {
    const SCHEMA: u16 = 3;

    fn load(body: &Body) -> Result<Self, StoredError> {
        match body.schema {
            1 => Ok(bailiwick_journal::decode::<DocumentV1>(body)?.into()),
            2 => Ok(bailiwick_journal::decode::<DocumentV2>(body)?.into()),
            3 => Ok(bailiwick_journal::decode(body)?),
            schema => Err(StoredError::UnknownSchema { schema, newest: Self::SCHEMA }),
        }
    }
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

    fn decide(&self, command: &Command, _facts: &Facts<'_, Self>) -> Verdict<Self> {
        let (document, event) = match command {
            Command::ReviseV1(old) => (Document::from(old.clone()), Event::RevisedV1 { document: old.clone() }),
            Command::ReviseV2(old) => ((**old).clone().into(), Event::RevisedV2 { document: old.clone() }),
            Command::Revise(document) => ((**document).clone(), Event::Revised { document: document.clone() }),
            Command::CreatePool { name, settings } => return pools::create(self, name, settings),
            Command::RemovePool { name } => return pools::remove(self, name),
            Command::SetDefaultPool { kind, pool } => return pools::set_default(self, *kind, pool.as_ref()),
        };
        let in_force = (self.revision != 0).then_some(&self.document);
        if !is_news(in_force, &document) {
            return Ok(Decision::nothing(Reason::Unchanged));
        }
        check(&document)?;
        Ok(Decision::because(Reason::Revised, [event]))
    }

    fn evolve(&mut self, _at: Version, event: &Event) {
        match event {
            Event::PoolCreated { name, settings } => {
                self.pools.pools.insert(name.clone(), settings.clone());
            }
            Event::PoolRemoved { name } => drop(self.pools.pools.remove(name)),
            Event::DefaultPoolSet { kind, pool } => *self.pools.default_of_mut(*kind) = pool.clone(),
            Event::RevisedV1 { document } => {
                self.revision += 1;
                self.document = document.clone().into();
                self.digest = stored_digest(document);
            }
            Event::RevisedV2 { document } => {
                self.revision += 1;
                self.document = (**document).clone().into();
                self.digest = stored_digest(&**document);
            }
            Event::Revised { document } => {
                self.revision += 1;
                self.document = (**document).clone();
                self.digest = stored_digest(&**document);
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
    let least = [
        ("machines.retryFirst", machines.retry_first_ms, 1),
        ("machines.callTimeout", machines.call_timeout_ms, 100),
        ("machines.poll", machines.poll_ms, 100),
        ("machines.nodeStale", machines.node_stale_ms, 1_000),
        ("storage.retryFirst", storage.retry_first_ms, 1),
        ("storage.callTimeout", storage.call_timeout_ms, 100),
        ("harvest.sightingsMin", u64::from(document.harvest.sightings_min), 1),
        ("health.creationTimeout", document.reconciliation.creation_timeout_ms, 1_000),
        ("health.healthTimeout", document.reconciliation.health_timeout_ms, 1_000),
        ("retries.short", document.reconciliation.retry_short_ms, 1),
        ("health.replacementsMax", u64::from(document.reconciliation.throttle.replacements_max), 1),
    ];
    for (setting, value, least) in least {
        if value < least {
            return Err(Rejection::TooSmall { setting: setting.into(), least });
        }
    }
    let periods = &document.reconciliation;
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::given::{after, answer},
        vocab::Timestamp,
    };

    #[test]
    fn settings_of_an_earlier_form_are_decided_and_cited_as_they_were() {
        let stream = "policy/default".parse().expect("a stream");
        let decided = |given: &[Event], command: Command| {
            let given = after::<State>(given);
            answer(&stream, &given, &command, Timestamp(1), &Document::default()).expect("an answer").events
        };
        let old = Box::new(DocumentV2::default());
        let event = Event::RevisedV2 { document: old.clone() };
        assert_eq!(decided(&[], Command::ReviseV2(old.clone())), std::slice::from_ref(&event));
        let (state, _) = after::<State>(std::slice::from_ref(&event));
        assert_eq!((state.revision, state.digest), (1, stored_digest(&*old)));
        assert_eq!(state.document, Document::default(), "and the defaults for whatever came later");
        assert_eq!(decided(&[event], Command::Revise(Box::default())), []);
    }
}
