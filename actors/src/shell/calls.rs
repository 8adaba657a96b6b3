//! Provider calls as data: what is asked of whom, and in which order it goes out.

use actix::Message;
use bailiwick_journal::{Position, StreamId, Version};

use crate::{
    ports::{
        AttachVolume, CreateMachine, CreateVolume, DetachVolume,
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
}

/// What a machine provider is asked.
#[derive(Clone, Debug)]
pub enum MachineCall {
    Create(Box<CreateMachine>),
    Delete(EffectId),
    /// An instance that bears the machine's name and is not its own.
    DeleteStray(EffectId),
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
    Destroy(EffectId),
    Attach(Box<AttachVolume>),
    Detach(DetachVolume),
}

/// The groups of one turn, in the order in which they go out. Source: the batch order of Juju's storage provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    DeleteMachine,
    DeleteStray,
    DestroyVolume,
    CreateMachine,
    CreateVolume,
    DetachVolume,
    AttachVolume,
    LookAtReplicaSet,
    StepReplicaSet,
}

impl Operation {
    /// Whether its calls go out one by one: there is no bulk call, and one that hangs must not hold up others.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::LookAtReplicaSet | Self::StepReplicaSet)
    }
}

impl Call {
    pub(super) fn stream(&self) -> &StreamId {
        match self {
            Self::Machine { stream, .. } | Self::Volume { stream, .. } | Self::ReplicaSet { stream, .. } => stream,
        }
    }

    pub(super) fn provider(&self) -> Option<&Name> {
        match self {
            Self::Machine { provider, .. } | Self::Volume { provider, .. } => provider.as_ref(),
            Self::ReplicaSet { engine, .. } => engine.as_ref(),
        }
    }

    /// The effect id: the same over all attempts.
    pub fn id(&self) -> EffectId {
        match self {
            Self::Machine { id, .. } | Self::Volume { id, .. } | Self::ReplicaSet { id, .. } => *id,
        }
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Machine { attempt, .. } | Self::Volume { attempt, .. } => *attempt,
            // A step that failed is not tried again: what follows is planned anew.
            Self::ReplicaSet { .. } => 1,
        }
    }

    pub(super) fn operation(&self) -> Operation {
        match self {
            Self::Machine { call: MachineCall::Create(_), .. } => Operation::CreateMachine,
            Self::Machine { call: MachineCall::Delete(_), .. } => Operation::DeleteMachine,
            Self::Machine { call: MachineCall::DeleteStray(_), .. } => Operation::DeleteStray,
            Self::Volume { call: VolumeCall::Create(_), .. } => Operation::CreateVolume,
            Self::Volume { call: VolumeCall::Destroy(_), .. } => Operation::DestroyVolume,
            Self::Volume { call: VolumeCall::Attach(_), .. } => Operation::AttachVolume,
            Self::Volume { call: VolumeCall::Detach(_), .. } => Operation::DetachVolume,
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
