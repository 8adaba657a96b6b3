//! The shapes that go over the pipes.

mod beside;
mod filesystems;
mod new_machine;
mod of_pool;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick_actors::{
    ports::{
        AttachVolume, AttachmentInfo, CreateVolume, DetachVolume, InstanceStatus, Lookup, MachineInstance,
        ProvisionedVolume,
    },
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, SizeMib, Uid},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::providers::known::KnownSecrets;

pub(super) use beside::{ToldDevice, ToldMachineVolume};
pub(super) use filesystems::{NewFilesystem, NewMount, OldMount, ToldFilesystem, ToldMount, made};
pub(super) use new_machine::NewMachine;
use of_pool::OfPool;

/// The version of the protocol that is spoken here.
pub const VERSION: u32 = 1;

/// What a provider is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Hello,
    CreateMachines,
    DeleteMachines,
    LookupMachines,
    ListMachines,
    CreateVolumes,
    DestroyVolumes,
    LookupVolumes,
    AttachVolumes,
    DetachVolumes,
    LookupAttachments,
    ReleaseVolumes,
    ListVolumes,
    CreateFilesystems,
    DestroyFilesystems,
    ReleaseFilesystems,
    LookupFilesystems,
    ListFilesystems,
    AttachFilesystems,
    DetachFilesystems,
    LookupFilesystemAttachments,
}

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It may change something: if its answer is lost, nobody knows whether it happened.
    Changes,
    /// It asks by id.
    Asks,
    /// It asks for everything.
    Lists,
}

impl Operation {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::CreateMachines => "create-machines",
            Self::DeleteMachines => "delete-machines",
            Self::LookupMachines => "lookup-machines",
            Self::ListMachines => "list-machines",
            Self::CreateVolumes => "create-volumes",
            Self::DestroyVolumes => "destroy-volumes",
            Self::LookupVolumes => "lookup-volumes",
            Self::AttachVolumes => "attach-volumes",
            Self::DetachVolumes => "detach-volumes",
            Self::LookupAttachments => "lookup-attachments",
            Self::ReleaseVolumes => "release-volumes",
            Self::ListVolumes => "list-volumes",
            Self::CreateFilesystems => "create-filesystems",
            Self::DestroyFilesystems => "destroy-filesystems",
            Self::ReleaseFilesystems => "release-filesystems",
            Self::LookupFilesystems => "lookup-filesystems",
            Self::ListFilesystems => "list-filesystems",
            Self::AttachFilesystems => "attach-filesystems",
            Self::DetachFilesystems => "detach-filesystems",
            Self::LookupFilesystemAttachments => "lookup-filesystem-attachments",
        }
    }

    /// What it does to the world.
    pub fn nature(self) -> Nature {
        match self {
            Self::CreateMachines
            | Self::DeleteMachines
            | Self::CreateVolumes
            | Self::DestroyVolumes
            | Self::ReleaseVolumes
            | Self::AttachVolumes
            | Self::DetachVolumes
            | Self::CreateFilesystems
            | Self::DestroyFilesystems
            | Self::ReleaseFilesystems
            | Self::AttachFilesystems
            | Self::DetachFilesystems => Nature::Changes,
            Self::LookupMachines
            | Self::LookupVolumes
            | Self::LookupAttachments
            | Self::LookupFilesystems
            | Self::LookupFilesystemAttachments => Nature::Asks,
            Self::ListMachines | Self::ListVolumes | Self::ListFilesystems | Self::Hello => Nature::Lists,
        }
    }

    /// Whether a provider that said this can do it.
    pub(super) fn is_offered(self, hello: &Hello) -> bool {
        match self {
            Self::Hello => true,
            Self::CreateMachines | Self::DeleteMachines | Self::LookupMachines | Self::ListMachines => hello.machines,
            Self::CreateVolumes
            | Self::DestroyVolumes
            | Self::LookupVolumes
            | Self::AttachVolumes
            | Self::DetachVolumes
            | Self::LookupAttachments
            | Self::ListVolumes => hello.volumes,
            Self::ReleaseVolumes => hello.volumes && hello.release != Some(false),
            Self::CreateFilesystems
            | Self::DestroyFilesystems
            | Self::LookupFilesystems
            | Self::ListFilesystems
            | Self::AttachFilesystems
            | Self::DetachFilesystems
            | Self::LookupFilesystemAttachments => hello.filesystems,
            Self::ReleaseFilesystems => hello.filesystems && hello.release != Some(false),
        }
    }
}

/// What a provider says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    pub version: u32,
    /// Its name and version, for people.
    #[serde(default)]
    pub provider: String,
    #[serde(default)]
    pub machines: bool,
    #[serde(default)]
    pub volumes: bool,
    #[serde(default)]
    pub filesystems: bool,
    #[serde(default)]
    pub cancel: bool,
    #[serde(default)]
    pub progress: bool,
    /// Whether it lets go of storage and keeps the data; it is tried if this is not said.
    #[serde(default)]
    pub release: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct NewVolume<'a> {
    effect: EffectId,
    volume: &'a Name,
    uid: Uid,
    size_mib: SizeMib,
    #[serde(flatten)]
    pool: Option<OfPool<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: &'a BTreeMap<String, String>,
}

impl<'a> From<&'a CreateVolume> for NewVolume<'a> {
    fn from(wish: &'a CreateVolume) -> Self {
        Self {
            effect: wish.id,
            volume: &wish.volume,
            uid: wish.uid,
            size_mib: wish.size,
            pool: wish.pool.as_ref().map(OfPool::from),
            tags: &wish.tags,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct NewAttachment<'a> {
    effect: EffectId,
    machine: &'a Name,
    machine_effect: EffectId,
    instance: &'a InstanceId,
    volume: &'a Name,
    volume_effect: EffectId,
    volume_id: &'a InstanceId,
    read_only: bool,
}

impl<'a> From<&'a AttachVolume> for NewAttachment<'a> {
    fn from(wish: &'a AttachVolume) -> Self {
        Self {
            effect: wish.id,
            machine: &wish.machine,
            machine_effect: wish.machine_effect,
            instance: &wish.instance,
            volume: &wish.volume,
            volume_effect: wish.volume_effect,
            volume_id: &wish.volume_id,
            read_only: wish.read_only,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct OldAttachment<'a> {
    effect: EffectId,
    machine: &'a Name,
    machine_effect: EffectId,
    volume: &'a Name,
    volume_effect: EffectId,
}

impl<'a> From<&'a DetachVolume> for OldAttachment<'a> {
    fn from(wish: &'a DetachVolume) -> Self {
        Self {
            effect: wish.id,
            machine: &wish.machine,
            machine_effect: wish.machine_effect,
            volume: &wish.volume,
            volume_effect: wish.volume_effect,
        }
    }
}

/// A machine as a provider tells of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ToldMachine {
    pub effect: EffectId,
    pub instance: String,
    pub machine: Name,
    pub status: InstanceStatus,
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// What is told of the machine from inside, or about it; only in lists.
    #[serde(default)]
    pub conditions: Vec<ToldCondition>,
    /// How its network is configured; in lists it is passed over.
    #[serde(default)]
    pub network: Vec<ToldDevice>,
    /// The volumes that came with it; in lists they are passed over.
    #[serde(default)]
    pub volumes: Vec<ToldMachineVolume>,
}

/// One condition of a machine.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ToldCondition {
    pub kind: String,
    #[serde(default)]
    pub healthy: Option<bool>,
    #[serde(default)]
    pub text: String,
}

/// A volume as a provider tells of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ToldVolume {
    pub effect: EffectId,
    pub volume_id: String,
    pub size_mib: SizeMib,
}

/// What a provider knows about an id.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToldLookup<T> {
    Present(T),
    Absent,
    Unknown,
}

impl<T> ToldLookup<T> {
    /// The same, with what is present looked at.
    pub fn checked<U>(self, check: impl FnOnce(T) -> Result<U, Fault>) -> Result<Lookup<U>, Fault> {
        Ok(match self {
            Self::Present(told) => Lookup::Present(check(told)?),
            Self::Absent => Lookup::Absent,
            Self::Unknown => Lookup::Unknown,
        })
    }
}

/// One page of a list. Items are looked at one by one, so that one that makes no sense does not hide the others.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub complete: bool,
    pub age_ms: u64,
    pub items: Vec<Value>,
    #[serde(default)]
    pub next: Option<String>,
    /// The zones in which something can be made; only on the first page.
    #[serde(default)]
    pub zones: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToldFault {
    code: String,
    #[serde(default)]
    text: String,
}

impl ToldFault {
    /// The fault; a code that is none means that nobody knows what became of the call.
    pub fn fault(self) -> Fault {
        match self.code.parse::<FaultCode>() {
            Ok(code) => Fault::new(code, self.text),
            Err(_) => Fault::new(FaultCode::Unknown, "the provider answered with a fault without a valid code"),
        }
    }
}

/// A line from a provider.
#[derive(Debug)]
pub(super) enum Line {
    Answer { id: u64, result: Result<Value, Fault> },
    Progress(ToldProgress),
}

#[derive(Debug, Deserialize)]
pub(super) struct ToldProgress {
    pub id: u64,
    pub effect: EffectId,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub percent: Option<u8>,
}

/// Why a line is none of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadLine {
    /// No JSON object; the column where that showed, from 1.
    NotJson { column: usize },
    /// An object that is neither an answer nor progress.
    NoAnswer,
}

impl Line {
    /// Reads a line without its end. No text of it is seen before the secrets that are known are out of it; whose they were
    /// is added to `found`.
    pub fn read(bytes: &[u8], known: &KnownSecrets, found: &mut BTreeSet<Arc<str>>) -> Result<Self, BadLine> {
        let not_json = |error: serde_json::Error| BadLine::NotJson { column: error.column() };
        let object: Map<String, Value> = serde_json::from_slice(bytes).map_err(not_json)?;
        let mut whole = Value::Object(object);
        found.append(&mut known.out_of_json(&mut whole));
        let Value::Object(mut object) = whole else { return Err(BadLine::NoAnswer) };
        if let Some(progress) = object.remove("progress") {
            return serde_json::from_value(progress).map(Self::Progress).map_err(|_| BadLine::NoAnswer);
        }
        let id = object.get("id").and_then(Value::as_u64).ok_or(BadLine::NoAnswer)?;
        let result = match (object.remove("ok"), object.remove("fault")) {
            (Some(ok), None) => Ok(ok),
            (None, Some(fault)) => {
                Err(serde_json::from_value::<ToldFault>(fault).map_err(|_| BadLine::NoAnswer)?.fault())
            }
            (Some(_), Some(_)) | (None, None) => return Err(BadLine::NoAnswer),
        };
        Ok(Self::Answer { id, result })
    }
}

/// The result of one item: what was asked for, or a fault. None if it is neither.
pub(super) fn item(value: Value) -> Option<Result<Value, Fault>> {
    let Value::Object(mut object) = value else { return None };
    match (object.remove("ok"), object.remove("fault")) {
        (Some(ok), None) => Some(Ok(ok)),
        (None, Some(fault)) => serde_json::from_value::<ToldFault>(fault).ok().map(|told| Err(told.fault())),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// A shape of ours as JSON.
pub(super) fn json(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("names, numbers and texts are JSON")
}

/// What a port calls a machine.
pub(super) fn instance(told: ToldMachine) -> MachineInstance {
    MachineInstance {
        effect: told.effect,
        instance: InstanceId(told.instance),
        machine: told.machine,
        facts: told.facts,
        status: told.status,
    }
}

/// What a port calls a volume.
pub(super) fn provisioned(told: ToldVolume) -> ProvisionedVolume {
    ProvisionedVolume { effect: told.effect, volume_id: InstanceId(told.volume_id), size: told.size_mib }
}

/// An attachment as a provider tells of it.
pub(super) type ToldAttachment = AttachmentInfo;
