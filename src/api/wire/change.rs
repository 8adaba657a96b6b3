//! What an operator asks to be changed, and what is answered.

use std::collections::BTreeSet;

use bailiwick_actors::{
    policy::Document,
    storage_rules::{PoolName, PoolSettings, StorageKind},
    vocab::{FaultCode, InstanceId, Name},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::plan::Step;

/// `POST /v1/apply` and `POST /v1/plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// For error messages.
    pub name: String,
    pub text: String,
}

/// `POST /v1/audit/backtest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BacktestRequest {
    /// The settings to decide under.
    pub document: Document,
    /// The last entry to look at; none means all.
    #[serde(default)]
    pub to: Option<u64>,
}

/// `POST /v1/remove`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    #[serde(default)]
    pub entities: Vec<StreamId>,
    /// Instead of entities that are named: everything that is declared.
    #[serde(default)]
    pub all: bool,
    /// Entities that are not there are left out, and are no error.
    #[serde(default, rename = "presentOnly")]
    pub present_only: bool,
    /// Machines do not wait for what blocks their removal.
    #[serde(default)]
    pub force: bool,
    /// The instances of machines stay.
    #[serde(default, rename = "keepInstance")]
    pub keep_instance: bool,
    /// Volumes and filesystems go without their data: their providers let go of it.
    #[serde(default)]
    pub release: bool,
    /// They go with their data, also where they were to be released.
    #[serde(default)]
    pub destroy: bool,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Import {
    /// What the volume is called from now on.
    pub entity: StreamId,
    pub provider: Name,
    /// What its provider calls it.
    pub volume_id: InstanceId,
    #[serde(default)]
    pub machine: Option<Name>,
    /// At least so many MiB.
    pub size_mib: u64,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/pools`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePool {
    pub change: PoolChange,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// What becomes of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PoolChange {
    Create {
        name: PoolName,
        settings: PoolSettings,
    },
    Remove {
        name: PoolName,
    },
    /// Storage of this kind that names no pool comes from this one; none means where it comes from everywhere.
    Default {
        kind: StorageKind,
        name: Option<PoolName>,
    },
}

/// `POST /v1/enable-ha`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnableHa {
    /// The replica set.
    pub entity: StreamId,
    /// How many servers shall vote; 0 means enough to survive the loss of one.
    pub servers: i64,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/rollout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// The machine deployment.
    pub entity: StreamId,
    pub step: RolloutStep,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// What becomes of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RolloutStep {
    Pause,
    Resume,
    /// It does not wait for its window.
    Now,
    /// All machines are made anew.
    Restart,
    /// The template of that revision is in force again; of the one before, if none is named.
    Undo {
        #[serde(default)]
        revision: Option<u64>,
    },
}

/// `POST /v1/retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    pub entity: StreamId,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/retry-failed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryFailed {
    /// What failed with one of these.
    #[serde(default)]
    pub faults: BTreeSet<FaultCode>,
    /// What failed with a fault that may pass by itself.
    #[serde(default)]
    pub transient: bool,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/clock/correct`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectClock {
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// `POST /v1/operate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operate {
    /// A machine, or a machine set.
    pub entity: StreamId,
    pub verb: Verb,
    #[serde(default)]
    pub id: Option<Uuid>,
}

/// What an operator asks of one machine, machine set or provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Verb {
    /// Do nothing by itself; a provider: begin no call to it that changes something.
    Hold {
        reason: String,
        /// Milliseconds since 1970, by the host's clock; none means until an operator ends it.
        #[serde(default)]
        until_ms: Option<u64>,
        /// Or how long from now, by the node's time, in milliseconds.
        #[serde(default)]
        for_ms: Option<u64>,
    },
    Unhold,
    /// Take over an instance that bears its name and is nobody's.
    Adopt {
        /// As its provider calls it; not needed if there is only one.
        #[serde(default)]
        instance: Option<String>,
    },
    /// Let go of its instance, which stays.
    Disown,
    /// Make machines again although it had too many: a machine set.
    Thaw,
    /// Refuse to be removed: also storage, and sets of all kinds.
    Protect,
    Unprotect,
    /// Keep it as it is, out of service, for so long: a machine.
    Keep {
        /// From now, by the node's time, in milliseconds.
        for_ms: u64,
    },
    Unkeep,
}

/// One thing that stands in the way of a removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    pub entity: String,
    pub by: String,
    pub why: String,
    /// Since when it has been like this, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
}

/// What was, or would be, done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// What stands in the way of removals that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<Blocked>,
    /// What the manifests say and is not carried out, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
