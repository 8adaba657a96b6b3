//! What can be put into the world, and what calls do to it.

use bailiwick_actors::{
    ports::{
        AttachFilesystem, AttachVolume, AttachmentInfo, CreateFilesystem, CreateMachine, CreateVolume,
        FilesystemAttachmentInfo, MachineInstance, ProvisionedFilesystem, ProvisionedVolume,
    },
    vocab::{EffectId, Name},
};
use bailiwick_journal::Body;

/// Something that some provider made before the world is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// What was asked for; and what was made of it, if that is known.
    Machine {
        provider: Name,
        asked: CreateMachine,
        made: Option<MachineInstance>,
    },
    Volume {
        provider: Name,
        asked: CreateVolume,
        made: Option<ProvisionedVolume>,
    },
    Attachment {
        provider: Name,
        asked: AttachVolume,
        made: Option<AttachmentInfo>,
    },
    Filesystem {
        provider: Name,
        asked: CreateFilesystem,
        made: Option<ProvisionedFilesystem>,
    },
    Mount {
        provider: Name,
        asked: AttachFilesystem,
        made: Option<FilesystemAttachmentInfo>,
    },
    /// Of a registered kind.
    Custom {
        id: EffectId,
        thing: SimulatedCustom,
    },
}

/// Something that was made for an entity of a registered kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedCustom {
    pub provider: Name,
    pub kind: &'static str,
    /// What is known of it, in its stored form.
    pub made: Body,
}

/// Something that a call does to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    CreateMachine(Name, Box<CreateMachine>),
    DeleteMachine(EffectId),
    CreateVolume(Name, CreateVolume),
    DestroyVolume(EffectId),
    Attach(Name, Box<AttachVolume>),
    Detach(EffectId),
    CreateFilesystem(Name, Box<CreateFilesystem>),
    DestroyFilesystem(EffectId),
    Mount(Name, Box<AttachFilesystem>),
    Unmount(EffectId),
    MakeCustom(EffectId, Box<SimulatedCustom>),
    UndoCustom(EffectId),
}

impl Change {
    pub(super) fn id(&self) -> EffectId {
        match self {
            Self::CreateMachine(_, create) => create.id,
            Self::CreateVolume(_, create) => create.id,
            Self::Attach(_, attach) => attach.id,
            Self::CreateFilesystem(_, create) => create.id,
            Self::Mount(_, attach) => attach.id,
            Self::DeleteMachine(id)
            | Self::DestroyVolume(id)
            | Self::Detach(id)
            | Self::DestroyFilesystem(id)
            | Self::Unmount(id)
            | Self::MakeCustom(id, _)
            | Self::UndoCustom(id) => *id,
        }
    }

    pub(super) fn makes(&self) -> bool {
        matches!(
            self,
            Self::CreateMachine(..)
                | Self::CreateVolume(..)
                | Self::Attach(..)
                | Self::CreateFilesystem(..)
                | Self::Mount(..)
                | Self::MakeCustom(..)
        )
    }
}
