//! What an agent and the node tell each other: `POST /v1/agents/{machine}/report`.
//!
//! The agent reports, the answer is what its machine should look like. Both sides ignore fields they do not know.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use bailiwick_actors::{
    machine::rules::template::NodeTemplate,
    vocab::{EffectId, Name, Nonce, SizeMib, Taint},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::storage::Device;

/// What an agent reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The effect id that the machine was made under.
    pub effect: EffectId,
    /// New for every run of an agent.
    pub boot_id: Uuid,
    /// Counts the reports of one run, from 1; a lower one than the last is late and says nothing new.
    pub sequence: u64,
    pub conditions: Vec<Condition>,
    pub workloads: Vec<WorkloadReport>,
    /// The nonce that its machine was started with; agents of earlier releases tell none.
    #[serde(default)]
    pub nonce: Option<Nonce>,
    /// The block devices that it sees.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// What it says of its node, if that is something else than the last node that answered was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeInfo>,
}

/// What an agent joins with, once: `POST /v1/agents/{machine}/join`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Join {
    /// The effect id that the machine was made under.
    pub effect: EffectId,
    #[serde(default)]
    pub nonce: Option<Nonce>,
    /// The token that the machine was made with.
    pub token: String,
    pub node: NodeInfo,
}

impl fmt::Debug for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("effect", &self.effect).field("node", &self.node).finish_non_exhaustive()
    }
}

/// The answer to who may join.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    /// The token to report with from now on.
    pub token: String,
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").finish_non_exhaustive()
    }
}

/// What an agent says of itself, and of the machine that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeInfo {
    pub agent_version: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    pub cores: u32,
    pub memory_mib: SizeMib,
    pub disk_mib: SizeMib,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    #[serde(default)]
    pub taints: Vec<Taint>,
}

/// One condition inside the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// `HostDiskPressure`, `HostMemoryPressure`, `VolumeWritable/data`, `VolumeReadable/data`, `WorkloadRunning/web`,
    /// `ReplicaSetDataLost/db`.
    pub kind: String,
    /// Null where that cannot be told.
    #[serde(default)]
    pub healthy: Option<bool>,
    /// For people; stays the same while nothing of note changes.
    pub text: String,
}

/// How one workload fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadReport {
    pub name: Name,
    pub state: WorkloadState,
    /// How often it was started again after it had ended by itself, in this run of the agent.
    pub restarts: u64,
    pub last_exit: Option<LastExit>,
}

/// What a workload is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadState {
    Starting,
    Running,
    /// It ended or could not be started; the next start waits.
    BackingOff,
    Stopping,
}

/// How a workload's last run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LastExit {
    Code(i32),
    Signal(i32),
    /// It could not be started; the text is for people.
    NotStarted(String),
}

/// What the machine should look like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    #[serde(default)]
    pub workloads: Vec<Workload>,
    /// The volumes that are attached now.
    #[serde(default)]
    pub volumes: Vec<AttachedVolume>,
    /// The filesystems that are mounted now.
    #[serde(default)]
    pub filesystems: Vec<MountedFilesystem>,
    /// What is declared for its `node.json`; nodes of earlier releases say nothing of it.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub node: Option<NodeTemplate>,
    /// Why the machine goes, or its instance is replaced: `deleted`, `unhealthy`, `scale-down`, `set-deleted`,
    /// `host-deleted`. None as long as it stays. Told before any workload has to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub going: Option<String>,
    /// When to report next; the agent keeps it within its own bounds.
    #[serde(default = "default_interval_ms")]
    pub interval_ms: u64,
    /// The agent is to stop its workloads and end. The machine is then stopped for good.
    #[serde(default)]
    pub stop: bool,
}

/// The interval of reports unless the node asks for another, in milliseconds.
pub fn default_interval_ms() -> u64 {
    2_000
}

/// One process to be kept running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    pub name: Name,
    /// Program and arguments, run without a shell.
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The volumes that it is told of, and the filesystems on them; none means all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub volumes: BTreeSet<Name>,
    /// How long it may take to end once it is asked to; then it is killed. None means as long as the agent gives everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
}

/// One volume that workloads can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachedVolume {
    pub name: Name,
    /// The attachment's path, as the provider gave it.
    pub path: PathBuf,
    #[serde(default)]
    pub read_only: bool,
}

/// One filesystem that workloads can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountedFilesystem {
    pub name: Name,
    /// Where it is mounted.
    pub path: PathBuf,
    #[serde(default)]
    pub read_only: bool,
    /// The volume that it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Name>,
}
