//! What is told of a journal itself, whether its node runs or not.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::{Timestamp, hex};
use bailiwick_journal::{Amount, CheckReport, JournalStat, Position, Recovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `GET /v1/journal/check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    pub journal: Uuid,
    pub whole: bool,
    /// Whether a node writes to it; then this is what was durable when the check began.
    pub running: bool,
    pub clean_stop: bool,
    pub position: Position,
    pub block: u64,
    pub hash: String,
    pub epoch: u64,
    pub streams: usize,
    pub segments: usize,
    pub bytes: u64,
    pub mendable: Vec<String>,
    pub problems: Vec<String>,
    pub repair: Option<Repairs>,
    pub store: String,
    /// What no start repairs, and what of it can be recovered.
    pub recovery: Option<Recoverable>,
    pub missing: Vec<String>,
}

/// `GET /v1/journal/head`: where the chain of a journal stood after a block, signed by its node. Whoever keeps it elsewhere can
/// find out later whether anything up to there was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedHead {
    pub journal: Uuid,
    /// The last entry of the block.
    pub position: Position,
    pub block: u64,
    /// The chain value: BLAKE3 over all entries up to here, in hexadecimal.
    pub hash: String,
    /// When the last entry was made, in milliseconds since 1970.
    pub time_ms: u64,
    /// The node's public key (Ed25519), in hexadecimal.
    pub key: String,
    /// Over all of the above, in hexadecimal; `bailiwick help journal-format` tells how.
    pub signature: String,
}

/// A block; none means the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadParameters {
    /// Its number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
}

/// What damage affects, and how much of it `bailiwick journal salvage` recovers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recoverable {
    /// First and last entry.
    pub affected: (Position, Position),
    pub recoverable: u64,
    /// First and last entry of each range that is not recovered.
    pub lost: Vec<(Position, Position)>,
}

/// What the next start repairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repairs {
    pub blocks_from_store: u64,
    pub position: Position,
    pub next: String,
}

impl Checked {
    /// A report, of a journal whose node runs or not.
    pub fn of(report: &CheckReport, running: bool) -> Self {
        Self {
            journal: report.journal,
            whole: report.is_whole(),
            running,
            clean_stop: report.clean,
            position: report.head.position,
            block: report.head.block,
            hash: hex(&report.head.hash),
            epoch: report.epoch,
            streams: report.streams,
            segments: report.segments,
            bytes: report.bytes,
            mendable: report.mendable.iter().map(ToString::to_string).collect(),
            problems: report.integrity.problems.iter().map(ToString::to_string).collect(),
            repair: report.repair.as_ref().map(|repair| Repairs {
                blocks_from_store: repair.blocks_from_store,
                position: repair.head.position,
                next: repair.to_string(),
            }),
            store: report.store.to_string(),
            recovery: report.recovery.as_ref().map(|Recovery { affected, recoverable, lost }| Recoverable {
                affected: *affected,
                recoverable: *recoverable,
                lost: lost.clone(),
            }),
            missing: report.integrity.missing.iter().map(ToString::to_string).collect(),
        }
    }
}

/// `GET /v1/journal/stat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    pub journal: Uuid,
    pub position: Position,
    /// RFC 3339.
    pub first: String,
    pub last: String,
    pub segments: usize,
    pub file_bytes: u64,
    pub total: Amounts,
    pub kinds: BTreeMap<String, Amounts>,
    pub streams: BTreeMap<String, Amounts>,
}

/// Some of a journal's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amounts {
    pub entries: u64,
    pub events: u64,
    pub bytes: u64,
}

impl From<&Amount> for Amounts {
    fn from(amount: &Amount) -> Self {
        Self { entries: amount.entries, events: amount.events, bytes: amount.bytes }
    }
}

impl From<&JournalStat> for Counted {
    fn from(stat: &JournalStat) -> Self {
        Self {
            journal: stat.journal,
            position: stat.head.position,
            first: Timestamp(stat.first_time_ms).to_string(),
            last: Timestamp(stat.head.time_ms).to_string(),
            segments: stat.segments,
            file_bytes: stat.file_bytes,
            total: (&stat.total).into(),
            kinds: stat.by_kind.iter().map(|(kind, some)| (kind.clone(), some.into())).collect(),
            streams: stat.by_stream.iter().map(|(stream, some)| (stream.to_string(), some.into())).collect(),
        }
    }
}
