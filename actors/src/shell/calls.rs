//! Provider calls as data: what is asked of whom, and in which order it goes out.

use actix::Message;
use bailiwick_journal::{Position, StreamId};

use crate::{
    ports::{
        AttachFilesystem, AttachVolume, CreateFilesystem, CreateMachine, CreateVolume, DetachFilesystem, DetachVolume,
        Operation,
    },
    vocab::{EffectId, Name},
};

/// One provider call for one entity.
#[derive(Clone, Debug)]
pub enum Call {
    Machine { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: MachineCall },
    Volume { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: VolumeCall },
    Filesystem { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: FilesystemCall },
}

/// What a machine provider is asked.
#[derive(Clone, Debug)]
pub enum MachineCall {
    Create(Box<CreateMachine>),
    Delete(EffectId),
}

/// What a volume provider is asked.
#[derive(Clone, Debug)]
pub enum VolumeCall {
    Create(CreateVolume),
    Destroy(EffectId),
    Attach(Box<AttachVolume>),
    Detach(DetachVolume),
    Release(EffectId),
}

/// What a filesystem provider is asked.
#[derive(Clone, Debug)]
pub enum FilesystemCall {
    Create(Box<CreateFilesystem>),
    Destroy(EffectId),
    Release(EffectId),
    Attach(Box<AttachFilesystem>),
    Detach(DetachFilesystem),
}

impl Call {
    /// The entity that it is for.
    pub fn stream(&self) -> &StreamId {
        match self {
            Self::Machine { stream, .. } | Self::Volume { stream, .. } | Self::Filesystem { stream, .. } => stream,
        }
    }

    /// Who is asked; none if nobody is named who could do it.
    pub fn provider(&self) -> Option<&Name> {
        match self {
            Self::Machine { provider, .. } | Self::Volume { provider, .. } | Self::Filesystem { provider, .. } => {
                provider.as_ref()
            }
        }
    }

    /// The effect id: the same over all attempts.
    pub fn id(&self) -> EffectId {
        match self {
            Self::Machine { id, .. } | Self::Volume { id, .. } | Self::Filesystem { id, .. } => *id,
        }
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Machine { attempt, .. } | Self::Volume { attempt, .. } | Self::Filesystem { attempt, .. } => *attempt,
        }
    }

    /// What is asked.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Machine { call: MachineCall::Create(_), .. } => Operation::CreateMachine,
            Self::Machine { call: MachineCall::Delete(_), .. } => Operation::DeleteMachine,
            Self::Volume { call: VolumeCall::Create(_), .. } => Operation::CreateVolume,
            Self::Volume { call: VolumeCall::Destroy(_), .. } => Operation::DestroyVolume,
            Self::Volume { call: VolumeCall::Attach(_), .. } => Operation::AttachVolume,
            Self::Volume { call: VolumeCall::Detach(_), .. } => Operation::DetachVolume,
            Self::Volume { call: VolumeCall::Release(_), .. } => Operation::ReleaseVolume,
            Self::Filesystem { call: FilesystemCall::Create(_), .. } => Operation::CreateFilesystem,
            Self::Filesystem { call: FilesystemCall::Destroy(_), .. } => Operation::DestroyFilesystem,
            Self::Filesystem { call: FilesystemCall::Release(_), .. } => Operation::ReleaseFilesystem,
            Self::Filesystem { call: FilesystemCall::Attach(_), .. } => Operation::AttachFilesystem,
            Self::Filesystem { call: FilesystemCall::Detach(_), .. } => Operation::DetachFilesystem,
        }
    }
}

/// Carry this out and report to its entity how it went.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Perform {
    pub call: Call,
    /// Whether it may have been begun before: then the provider is asked by id first.
    pub ask_first: bool,
    /// The entry that the effect follows from.
    pub cause: Position,
}
