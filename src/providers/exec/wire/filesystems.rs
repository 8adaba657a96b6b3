//! The shapes of filesystems and their mounts.

use bailiwick_actors::{
    ports::{AttachFilesystem, CreateFilesystem, DetachFilesystem, FilesystemAttachmentInfo, ProvisionedFilesystem},
    vocab::{EffectId, InstanceId, Name, SizeMib, Uid},
};
use serde::{Deserialize, Serialize};

use super::OfPool;

#[derive(Debug, Serialize)]
pub(in super::super) struct NewFilesystem<'a> {
    effect: EffectId,
    filesystem: &'a Name,
    uid: Uid,
    size_mib: SizeMib,
    #[serde(flatten)]
    pool: Option<OfPool<'a>>,
}

impl<'a> From<&'a CreateFilesystem> for NewFilesystem<'a> {
    fn from(wish: &'a CreateFilesystem) -> Self {
        let pool = wish.pool.as_ref().map(OfPool::from);
        Self { effect: wish.id, filesystem: &wish.filesystem, uid: wish.uid, size_mib: wish.size, pool }
    }
}

#[derive(Debug, Serialize)]
pub(in super::super) struct NewMount<'a> {
    effect: EffectId,
    machine: &'a Name,
    machine_effect: EffectId,
    instance: &'a InstanceId,
    filesystem: &'a Name,
    filesystem_effect: EffectId,
    filesystem_id: &'a InstanceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    read_only: bool,
}

impl<'a> From<&'a AttachFilesystem> for NewMount<'a> {
    fn from(wish: &'a AttachFilesystem) -> Self {
        Self {
            effect: wish.id,
            machine: &wish.machine,
            machine_effect: wish.machine_effect,
            instance: &wish.instance,
            filesystem: &wish.filesystem,
            filesystem_effect: wish.filesystem_effect,
            filesystem_id: &wish.filesystem_id,
            path: wish.path.as_deref(),
            read_only: wish.read_only,
        }
    }
}

#[derive(Debug, Serialize)]
pub(in super::super) struct OldMount<'a> {
    effect: EffectId,
    machine: &'a Name,
    machine_effect: EffectId,
    filesystem: &'a Name,
    filesystem_effect: EffectId,
}

impl<'a> From<&'a DetachFilesystem> for OldMount<'a> {
    fn from(wish: &'a DetachFilesystem) -> Self {
        Self {
            effect: wish.id,
            machine: &wish.machine,
            machine_effect: wish.machine_effect,
            filesystem: &wish.filesystem,
            filesystem_effect: wish.filesystem_effect,
        }
    }
}

/// A filesystem as a provider tells of it.
#[derive(Clone, Debug, Deserialize)]
pub(in super::super) struct ToldFilesystem {
    pub effect: EffectId,
    pub filesystem_id: String,
    pub size_mib: SizeMib,
}

/// What a port calls a filesystem.
pub(in super::super) fn made(told: ToldFilesystem) -> ProvisionedFilesystem {
    ProvisionedFilesystem { effect: told.effect, filesystem_id: InstanceId(told.filesystem_id), size: told.size_mib }
}

/// A mount as a provider tells of it.
pub(in super::super) type ToldMount = FilesystemAttachmentInfo;
