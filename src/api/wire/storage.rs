//! What the node has the agent of a machine do with storage: `POST /v1/agents/{machine}/storage`.
//!
//! The node decides and records; the agent carries out by id, and keeps no truth of its own. One job is one thing, with one
//! result or fault. An agent asks with the name of its session; a new session (after a lost link, or a restart of the node)
//! is handed everything that is open once more, and what it has under way already it does not begin again.
//!
//! Items and answers are those of the ports, as JSON. Both sides ignore fields they do not know.

use bailiwick_actors::{
    ports::{
        AttachFilesystem, AttachVolume, BlockDevice, CreateFilesystem, CreateVolume, DetachFilesystem, DetachVolume,
        ImportVolume,
    },
    vocab::{EffectId, Fault, Name},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// What an agent asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// The effect id that the machine was made under.
    pub effect: EffectId,
    /// New after every lost link.
    pub session: Uuid,
    /// What has been done meanwhile.
    #[serde(default)]
    pub done: Vec<Outcome>,
    /// Whether to wait for jobs; who only tells gets none.
    #[serde(default)]
    pub wait: bool,
}

/// What the node answers: the jobs that this session was not handed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Orders {
    #[serde(default)]
    pub jobs: Vec<Job>,
}

/// One thing to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Names this call, not the effect: the effect's id stands in the work.
    pub id: Uuid,
    /// `loop`, `tmpfs`, `rootfs` or `managed`.
    pub provider: Name,
    /// `{"destroy-volume": EFFECT}`: the item of a port's bulk call.
    #[schemars(with = "Value")]
    pub work: Work,
}

/// How a job went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub job: Uuid,
    /// What the port's call answers, as JSON.
    pub result: Result<Value, Fault>,
}

/// One item of a port's bulk call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    CreateVolume(CreateVolume),
    ImportVolume(ImportVolume),
    DestroyVolume(EffectId),
    LookupVolume(EffectId),
    AttachVolume(AttachVolume),
    DetachVolume(DetachVolume),
    LookupAttachment(EffectId),
    CreateFilesystem(CreateFilesystem),
    DestroyFilesystem(EffectId),
    LookupFilesystem(EffectId),
    AttachFilesystem(AttachFilesystem),
    DetachFilesystem(DetachFilesystem),
    LookupMount(EffectId),
    /// All volumes that there are.
    ListVolumes,
}

/// A block device as an agent sees it; part of its report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    #[serde(flatten)]
    pub device: BlockDevice,
    /// The volume that it is, by the id that it was made under, if that is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<EffectId>,
}
