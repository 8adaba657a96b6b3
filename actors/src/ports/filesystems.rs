//! What makes and mounts filesystems.

use serde::{Deserialize, Serialize};

use super::{Answer, BulkAnswer, Listing, Lookup};
use crate::{
    storage_rules::FromPool,
    vocab::{EffectId, Fault, InstanceId, Name, SizeMib, Uid},
};

/// One filesystem to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateFilesystem {
    /// The idempotency token and the tag of what is made.
    pub id: EffectId,
    pub filesystem: Name,
    pub uid: Uid,
    pub size: SizeMib,
    /// The volume that it is made on; none if the provider makes filesystems of its own.
    pub backing: Option<Backing>,
    /// The pool that it comes from, with what that says beside the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<FromPool>,
    /// Those that were made on a volume before, and went with their data. What is left of them there may be written over;
    /// nothing else on the volume may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<EffectId>,
}

/// The volume beneath a filesystem, as it is seen on the machine where the work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backing {
    pub volume: Name,
    pub volume_effect: EffectId,
    pub device: BlockDevice,
}

/// A block device on one machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockDevice {
    /// The kernel's name without `/dev/`; it may be another one after the next start of the machine.
    pub name: String,
    pub size: SizeMib,
    /// What stays the same: serial number or world wide name, where the device has one.
    pub hardware_id: Option<String>,
}

/// A filesystem that exists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProvisionedFilesystem {
    /// The effect id it was made under.
    pub effect: EffectId,
    /// The provider's own name for it.
    pub filesystem_id: InstanceId,
    /// Its real size; never below what was asked.
    pub size: SizeMib,
}

/// One filesystem to be mounted on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachFilesystem {
    /// The idempotency token of this attachment.
    pub id: EffectId,
    pub machine: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
    pub filesystem: Name,
    pub filesystem_effect: EffectId,
    pub filesystem_id: InstanceId,
    /// As when it was made; the device may have another name by now.
    pub backing: Option<Backing>,
    /// The absolute path where it is wanted; none leaves it to the provider.
    pub path: Option<String>,
    pub read_only: bool,
}

/// Where a filesystem is mounted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FilesystemAttachmentInfo {
    pub mount_point: String,
    pub read_only: bool,
}

/// One mount to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachFilesystem {
    /// The id that the attachment was made under.
    pub id: EffectId,
    pub machine: Name,
    pub machine_effect: EffectId,
    pub filesystem: Name,
    pub filesystem_effect: EffectId,
}

/// Makes, mounts, unmounts and destroys filesystems.
///
/// As with machines and volumes: idempotent by effect id, dropped calls may still happen.
pub trait FilesystemProvider: Send + Sync {
    /// Makes filesystems; an id that already has one answers with it. A device that holds data is never formatted:
    /// `failed-precondition`.
    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem>;

    /// Destroys the filesystems made under these ids; an absent one is a success. One that is mounted is refused with
    /// `failed-precondition`. Whether the data goes with it is the provider's nature: what lives on a volume goes with
    /// the volume, a directory of the machine is kept.
    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()>;

    /// Whether it can let go of something and keep the data, if that is known without trying it. A provider that cannot is not
    /// asked to: a release is refused before anything is done.
    fn can_release(&self) -> Option<bool> {
        None
    }

    /// Lets go of the filesystems made under these ids and keeps their data; an absent one is a success. A provider that
    /// cannot answers `unimplemented`, which is the default.
    fn release_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(std::future::ready(Ok(ids.iter().map(|_| Err(super::storage::cannot_release())).collect())))
    }

    /// What is known about the filesystems made under these ids.
    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>>;

    /// All filesystems of this control plane, and whether that is all.
    fn list_filesystems(&self) -> Answer<'_, Result<Listing<ProvisionedFilesystem>, Fault>>;

    /// Mounts filesystems; doing it again is a success with the same answer. A mount point that holds something else is
    /// refused with `failed-precondition`.
    fn attach_filesystems(&self, attachments: Vec<AttachFilesystem>) -> BulkAnswer<'_, FilesystemAttachmentInfo>;

    /// Unmounts filesystems; what is not mounted is a success. One that is busy is refused with `failed-precondition`.
    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()>;

    /// What is known about the attachments made under these ids.
    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>>;

    /// What is under way for this id is not wanted any more: its call may end now, with the fault `canceled`. Answers at
    /// once and promises nothing.
    fn cancel(&self, id: EffectId) {
        let _ = id;
    }
}
