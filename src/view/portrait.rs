//! What is shown of one entity, beside what all kinds have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    documents::DocumentRow,
    filesystem_rows::{FilesystemAttachmentRow, FilesystemRow},
    machine_classes::MachineClassRow,
    machine_deployments::MachineDeploymentRow,
    machine_sets::MachineSetRow,
    members::MemberRow,
    providers::ProviderRow,
    replica_sets::ReplicaSetRow,
    rows::{AttachmentRow, MachineRow, PolicyRow, VolumeRow},
};

/// The row of the list that it stands in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Row {
    Machine(Box<MachineRow>),
    Volume(VolumeRow),
    Attachment(AttachmentRow),
    Policy(PolicyRow),
    ReplicaSet(Box<ReplicaSetRow>),
    Filesystem(FilesystemRow),
    FilesystemAttachment(FilesystemAttachmentRow),
    Member(Box<MemberRow>),
    MachineSet(MachineSetRow),
    MachineDeployment(Box<MachineDeploymentRow>),
    MachineClass(Box<MachineClassRow>),
    Provider(Box<ProviderRow>),
    Custom(Box<CustomRow>),
    Document(DocumentRow),
}

/// An entity of a registered kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomRow {
    pub name: String,
    pub status: &'static str,
    pub life: String,
    pub ready: bool,
    pub provider: String,
    /// What it says in the columns of its kind.
    #[serde(flatten)]
    pub cells: BTreeMap<&'static str, Option<String>>,
    pub age_ms: u64,
    pub next_try_ms: Option<u64>,
    pub detail: Option<String>,
    pub version: u64,
    pub changed_ms: u64,
}

/// An agent that has joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    pub version: String,
    pub arch: String,
    pub cores: u32,
    pub memory: String,
    pub disk: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub taints: Vec<String>,
    /// When it joined, and the id of the token that it came with.
    pub joined: String,
    pub token: String,
}

/// A status, since when, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    pub status: String,
    pub since: String,
    pub since_ms: u64,
    /// The entry that brought it.
    pub position: u64,
    pub because: String,
}
