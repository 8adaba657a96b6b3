//! Provider calls as data: what is asked of whom, and in which order it goes out.

use actix::Message;
use bailiwick_journal::{Position, StreamId};

use crate::{
    ports::{AttachVolume, CreateMachine, CreateVolume, DetachVolume},
    vocab::{EffectId, Name},
};

/// One provider call for one entity.
#[derive(Clone, Debug)]
pub enum Call {
    Machine { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: MachineCall },
    Volume { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: VolumeCall },
}

/// What a machine provider is asked.
#[derive(Clone, Debug)]
pub enum MachineCall {
    Create(Box<CreateMachine>),
    Delete(EffectId),
    /// An instance that bears the machine's name and is not its own.
    DeleteStray(EffectId),
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
}

impl Call {
    pub(super) fn stream(&self) -> &StreamId {
        match self {
            Self::Machine { stream, .. } | Self::Volume { stream, .. } => stream,
        }
    }

    pub(super) fn provider(&self) -> Option<&Name> {
        match self {
            Self::Machine { provider, .. } | Self::Volume { provider, .. } => provider.as_ref(),
        }
    }

    /// The effect id: the same over all attempts.
    pub fn id(&self) -> EffectId {
        match self {
            Self::Machine { id, .. } | Self::Volume { id, .. } => *id,
        }
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Machine { attempt, .. } | Self::Volume { attempt, .. } => *attempt,
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
