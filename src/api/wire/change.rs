//! What an operator asks to be changed, and what is answered.

use bailiwick_actors::policy::Document;
use bailiwick_journal::StreamId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::plan::Step;

/// `POST /v1/apply` and `POST /v1/plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Declare {
    /// The manifests, as they were read.
    pub files: Vec<File>,
    /// Whether what is not declared any more goes.
    #[serde(default)]
    pub prune: bool,
    /// The same id again within 24 hours gets the first answer. Not needed for a plan.
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// One manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// For error messages.
    pub name: String,
    pub text: String,
}

/// `POST /v1/audit/rehearse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rehearse {
    /// The settings to decide under.
    pub document: Document,
    /// The last entry to look at; none means all.
    #[serde(default)]
    pub to: Option<u64>,
}

/// `POST /v1/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    pub entities: Vec<StreamId>,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/enable-ha`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnableHa {
    /// The replica set.
    pub entity: StreamId,
    /// How many servers shall vote; 0 means enough to survive the loss of one.
    pub servers: i64,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    pub entity: StreamId,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// What was, or would be, done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    pub steps: Vec<Step>,
    /// Whether anything changes.
    pub changes: bool,
    /// Whether this is the first answer to the same id, told again.
    #[serde(default)]
    pub repeated: bool,
    /// One decision per command; empty for a plan, or when nothing had to be asked.
    #[serde(default)]
    pub decisions: Vec<Decided>,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    pub entity: String,
    /// Where it stands in the journal; none if it was only counted.
    pub position: Option<u64>,
    pub code: String,
    pub reason: String,
    /// Whether this is the first answer to the same id, told again.
    pub repeated: bool,
}
