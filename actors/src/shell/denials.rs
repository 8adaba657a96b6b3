//! What was refused to whom, before anything was decided: noted as a sum.
//!
//! A refused caller can ask again without end, so no entry follows from one refusal: what was refused in a while is one entry,
//! with the first of those who asked named and the others counted.

use bailiwick_journal::{Body, Draft, EntryKind, Meta, Outcome, Version};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    contract::{Stored, StoredError},
    vocab::Timestamp,
};

/// The stream that denials are noted in. It has no events.
pub const DENIALS: &str = "node/denials";

/// What is noted of denials, as the command of their entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenialNote {
    /// When the first of them was refused.
    pub since: Timestamp,
    /// Those that are told apart.
    pub denied: Vec<Denied>,
    /// How many there were beside.
    pub others: u64,
}

/// What was refused to one caller for one reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Denied {
    /// `account:ada`, `uid:1000`, `10.0.0.7`.
    pub who: String,
    /// Method and route: `POST /v1/apply`.
    pub what: String,
    /// The code of the answer: `unknown-token`, `forbidden`.
    pub why: String,
    pub count: u64,
}

impl Stored for DenialNote {
    const SCHEMA: u16 = 1;
}

impl DenialNote {
    /// How many denials it stands for.
    pub fn count(&self) -> u64 {
        self.denied.iter().map(|denied| denied.count).fold(self.others, u64::saturating_add)
    }

    /// The entry that records it, under an id of its own.
    ///
    /// # Errors
    /// None in practice: a note is small.
    pub fn draft(&self, id: Uuid, now: Timestamp) -> Result<Draft, StoredError> {
        let meta = Meta {
            kind: EntryKind::Note,
            outcome: Outcome::Refused,
            code: "access-denied".to_owned(),
            time_ms: now.0,
            command_id: id,
            command_hash: [0; 16],
            cause: None,
            principal: "node".to_owned(),
            policy: None,
            view: None,
            cites: Vec::new(),
        };
        Ok(Draft {
            stream: DENIALS.parse().expect("a valid name"),
            expected: Version::ZERO,
            meta,
            command: self.store()?,
            facts: Body::default(),
            verdict: Body::default(),
            events: Vec::new(),
        })
    }
}
