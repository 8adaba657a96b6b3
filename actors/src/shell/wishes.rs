//! What one call asks of a provider, as the bulk calls want it; none where a call is of another kind.

use super::calls::{Call, FilesystemCall, MachineCall, Perform, VolumeCall};
use crate::ports::{
    AttachFilesystem, AttachVolume, CreateFilesystem, CreateMachine, CreateVolume, DetachFilesystem, DetachVolume,
    ImportVolume,
};

pub(super) fn import(item: &Perform) -> Option<ImportVolume> {
    match &item.call {
        Call::Volume { call: VolumeCall::Import(import), .. } => Some((**import).clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn detach(item: &Perform) -> Option<DetachVolume> {
    match &item.call {
        Call::Volume { call: VolumeCall::Detach(detach), .. } => Some(detach.clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn machine(item: &Perform) -> Option<CreateMachine> {
    match &item.call {
        Call::Machine { call: MachineCall::Create(create), .. } => Some((**create).clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn volume(item: &Perform) -> Option<CreateVolume> {
    match &item.call {
        Call::Volume { call: VolumeCall::Create(create), .. } => Some(create.clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn attach(item: &Perform) -> Option<AttachVolume> {
    match &item.call {
        Call::Volume { call: VolumeCall::Attach(attach), .. } => Some((**attach).clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn create_filesystem(item: &Perform) -> Option<CreateFilesystem> {
    match &item.call {
        Call::Filesystem { call: FilesystemCall::Create(create), .. } => Some((**create).clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn attach_filesystem(item: &Perform) -> Option<AttachFilesystem> {
    match &item.call {
        Call::Filesystem { call: FilesystemCall::Attach(attach), .. } => Some((**attach).clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}

pub(super) fn detach_filesystem(item: &Perform) -> Option<DetachFilesystem> {
    match &item.call {
        Call::Filesystem { call: FilesystemCall::Detach(detach), .. } => Some(detach.clone()),
        Call::Machine { .. } | Call::Volume { .. } | Call::Filesystem { .. } | Call::ReplicaSet { .. } => None,
    }
}
