//! Provider calls as data: what is asked of whom, and in which order it goes out.

use actix::Message;
use bailiwick_journal::{Position, StreamId, Version};

use crate::{
    ports::{
        AttachFilesystem, AttachVolume, CreateFilesystem, CreateMachine, CreateVolume, DetachFilesystem, DetachVolume,
        ImportVolume, Operation,
        replica_set::{Contact, Stamp, Step},
    },
    vocab::{EffectId, Name},
};

/// One provider call for one entity.
#[derive(Clone, Debug)]
pub enum Call {
    Machine {
        stream: StreamId,
        provider: Option<Name>,
        id: EffectId,
        attempt: u32,
        call: MachineCall,
    },
    Volume {
        stream: StreamId,
        provider: Option<Name>,
        /// The machine at which it is done, where that matters to its provider.
        machine: Option<Name>,
        id: EffectId,
        attempt: u32,
        call: VolumeCall,
    },
    ReplicaSet {
        stream: StreamId,
        engine: Option<Name>,
        id: EffectId,
        /// The version of the event that asked for it.
        round: Version,
        contact: Contact,
        call: ReplicaSetCall,
    },
    Filesystem {
        stream: StreamId,
        provider: Option<Name>,
        /// As with volumes.
        machine: Option<Name>,
        id: EffectId,
        attempt: u32,
        call: FilesystemCall,
    },
}

/// What a machine provider is asked.
#[derive(Clone, Debug)]
pub enum MachineCall {
    Create(Box<CreateMachine>),
    /// Its own instance; unless it was seen to be ours, that is looked at first.
    Delete {
        is_proven: bool,
    },
    /// An instance that bears the machine's name and is not its own; whether it is ours is looked at first.
    DeleteStray,
}

/// What the engine of a replica set is asked.
#[derive(Clone, Debug)]
pub enum ReplicaSetCall {
    Look,
    Step { step: Box<Step>, base: Stamp },
}

/// What a volume provider is asked.
#[derive(Clone, Debug)]
pub enum VolumeCall {
    Create(CreateVolume),
    /// Take over what is there already.
    Import(Box<ImportVolume>),
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
            Self::Machine { stream, .. }
            | Self::Volume { stream, .. }
            | Self::Filesystem { stream, .. }
            | Self::ReplicaSet { stream, .. } => stream,
        }
    }

    /// Who is asked; none if nobody is named who could do it.
    pub fn provider(&self) -> Option<&Name> {
        match self {
            Self::Machine { provider, .. } | Self::Volume { provider, .. } | Self::Filesystem { provider, .. } => {
                provider.as_ref()
            }
            Self::ReplicaSet { engine, .. } => engine.as_ref(),
        }
    }

    /// The machine at which it is done, where that matters to its provider.
    pub fn machine(&self) -> Option<&Name> {
        match self {
            Self::Volume { machine, .. } | Self::Filesystem { machine, .. } => machine.as_ref(),
            Self::Machine { .. } | Self::ReplicaSet { .. } => None,
        }
    }

    /// The effect id: the same over all attempts.
    pub fn id(&self) -> EffectId {
        match self {
            Self::Machine { id, .. }
            | Self::Volume { id, .. }
            | Self::Filesystem { id, .. }
            | Self::ReplicaSet { id, .. } => *id,
        }
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Machine { attempt, .. } | Self::Volume { attempt, .. } | Self::Filesystem { attempt, .. } => *attempt,
            // A step that failed is not tried again: what follows is planned anew.
            Self::ReplicaSet { .. } => 1,
        }
    }

    /// What is asked.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Machine { call: MachineCall::Create(_), .. } => Operation::CreateMachine,
            Self::Machine { call: MachineCall::Delete { .. }, .. } => Operation::DeleteMachine,
            Self::Machine { call: MachineCall::DeleteStray, .. } => Operation::DeleteStray,
            Self::Volume { call: VolumeCall::Create(_), .. } => Operation::CreateVolume,
            Self::Volume { call: VolumeCall::Import(_), .. } => Operation::ImportVolume,
            Self::Volume { call: VolumeCall::Destroy(_), .. } => Operation::DestroyVolume,
            Self::Volume { call: VolumeCall::Attach(_), .. } => Operation::AttachVolume,
            Self::Volume { call: VolumeCall::Detach(_), .. } => Operation::DetachVolume,
            Self::Volume { call: VolumeCall::Release(_), .. } => Operation::ReleaseVolume,
            Self::Filesystem { call: FilesystemCall::Create(_), .. } => Operation::CreateFilesystem,
            Self::Filesystem { call: FilesystemCall::Destroy(_), .. } => Operation::DestroyFilesystem,
            Self::Filesystem { call: FilesystemCall::Release(_), .. } => Operation::ReleaseFilesystem,
            Self::Filesystem { call: FilesystemCall::Attach(_), .. } => Operation::AttachFilesystem,
            Self::Filesystem { call: FilesystemCall::Detach(_), .. } => Operation::DetachFilesystem,
            Self::ReplicaSet { call: ReplicaSetCall::Look, .. } => Operation::LookAtReplicaSet,
            Self::ReplicaSet { call: ReplicaSetCall::Step { .. }, .. } => Operation::StepReplicaSet,
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
