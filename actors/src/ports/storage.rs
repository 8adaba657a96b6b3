//! What makes and attaches volumes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answer, BulkAnswer, Listing, Lookup, Progress, VolumeImporter};
use crate::{
    storage_rules::FromPool,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, SizeMib, Uid},
};

/// One volume to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateVolume {
    /// The idempotency token and the tag of what is made.
    pub id: EffectId,
    pub volume: Name,
    pub uid: Uid,
    pub size: SizeMib,
    /// The pool that it comes from, with what that says beside the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<FromPool>,
    /// Tags for people, who find it by them at the provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// A volume that exists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProvisionedVolume {
    /// The effect id it was made under, read back from its tag.
    pub effect: EffectId,
    /// The provider's own name for it.
    pub volume_id: InstanceId,
    /// Its real size; never below what was asked.
    pub size: SizeMib,
}

/// One attachment to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachVolume {
    /// The idempotency token of this attachment.
    pub id: EffectId,
    /// The machine's name, and the effect id that its instance was made under.
    pub machine: Name,
    pub machine_effect: EffectId,
    pub instance: InstanceId,
    /// The volume's name, and what its provider calls it.
    pub volume: Name,
    pub volume_effect: EffectId,
    pub volume_id: InstanceId,
    pub read_only: bool,
}

/// How an attached volume is reached from inside the machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttachmentInfo {
    /// Path of the device or file as the machine's workloads see it.
    pub path: String,
    pub read_only: bool,
}

/// One attachment to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachVolume {
    /// The id that the attachment was made under.
    pub id: EffectId,
    pub machine: Name,
    pub machine_effect: EffectId,
    pub volume: Name,
    pub volume_effect: EffectId,
}

/// Makes, attaches, detaches and destroys volumes.
///
/// As with machines: idempotent by effect id, dropped calls may still happen.
pub trait VolumeProvider: Send + Sync {
    /// Makes volumes; an id that already has a volume answers with that volume.
    fn create_volumes(&self, volumes: Vec<CreateVolume>) -> BulkAnswer<'_, ProvisionedVolume>;

    /// Destroys the volumes made under these ids; an absent one is a success. A volume that is attached is refused with
    /// `failed-precondition`.
    fn destroy_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()>;

    /// Whether it can let go of something and keep the data, if that is known without trying it. A provider that cannot is not
    /// asked to: a release is refused before anything is done.
    fn can_release(&self) -> Option<bool> {
        None
    }

    /// Lets go of the volumes made under these ids and keeps their data; an absent one is a success. A provider that cannot
    /// answers `unimplemented`, which is the default.
    fn release_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(std::future::ready(Ok(ids.iter().map(|_| Err(cannot_release())).collect())))
    }

    /// What is known about the volumes made under these ids.
    fn lookup_volumes(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedVolume>>;

    /// All volumes of this control plane, and whether that is all. A provider that cannot tell answers `unimplemented`, which
    /// is the default: then nobody notices a volume that is lost.
    fn list_volumes(&self) -> Answer<'_, Result<Listing<ProvisionedVolume>, Fault>> {
        let fault = Fault::new(FaultCode::Unimplemented, "the provider does not say which volumes it has");
        Box::pin(std::future::ready(Err(fault)))
    }

    /// Attaches volumes; doing it again is a success with the same answer. A volume that is attached under another id is
    /// refused with `failed-precondition`; a machine that is not there with `not-found`.
    fn attach_volumes(&self, attachments: Vec<AttachVolume>) -> BulkAnswer<'_, AttachmentInfo>;

    /// Detaches volumes; what is already detached, or whose machine is gone, is a success.
    fn detach_volumes(&self, attachments: Vec<DetachVolume>) -> BulkAnswer<'_, ()>;

    /// What is known about the attachments made under these ids.
    fn lookup_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<AttachmentInfo>>;

    /// What takes over volumes that are there already; none if this provider cannot, which is the default.
    fn importer(&self) -> Option<&dyn VolumeImporter> {
        None
    }

    /// What is under way for this id is not wanted any more: its call may end now, with the fault `canceled`. As with
    /// machines: answers at once and promises nothing.
    fn cancel(&self, id: EffectId) {
        let _ = id;
    }

    /// How far the call for this id is. As with machines.
    fn progress(&self, id: EffectId) -> Option<Progress> {
        let _ = id;
        None
    }
}

/// What a provider that keeps no data of its own answers to a release.
pub(super) fn cannot_release() -> Fault {
    Fault::new(FaultCode::Unimplemented, "the provider cannot release storage without destroying it")
}
