//! What a node says of itself.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Position, StreamId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// `GET /v1/node`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AboutNode {
    /// The release.
    pub version: String,
    pub pid: u32,
    pub journal: Uuid,
    /// The last entry that is durable.
    pub position: Position,
    /// The node's time, in milliseconds since 1970.
    pub time: Timestamp,
    /// The host's clock, in milliseconds since 1970.
    pub clock: Timestamp,
    /// Objects in memory.
    pub actors: usize,
    /// Of these, the idle ones.
    pub idle_actors: usize,
    /// Commands that wait for their answers.
    pub waiting_commands: usize,
    /// Items of provider calls under way.
    pub running_calls: usize,
    /// Objects whose history cannot be understood.
    pub quarantined: Vec<StreamId>,
    /// Decisions that were counted and not recorded.
    pub only_counted: u64,
}
