//! Attaching, detaching and finding attachments, each with its claim.

use bailiwick_actors::{
    ports::{AttachVolume, AttachmentInfo, DetachVolume, Lookup},
    vocab::EffectId,
};
use bailiwick_journal::crash;

use super::tag;
use crate::providers::storage::{
    Ground, StorageError, Tag, TagKind, Turn, loop_device,
    record::{self, Claim, VolumeRecord},
};

pub(super) async fn attach(ground: &Ground, wish: AttachVolume) -> Result<AttachmentInfo, StorageError> {
    let tag = tag(wish.volume_effect);
    let turn = ground.turn(&tag)?;
    let record = record::load::<VolumeRecord>(ground, wish.volume_effect)?.filter(|record| record.made.is_some());
    let Some(mut record) = record else {
        ground.retire(turn, &tag)?;
        return Err(StorageError::InfoMissing { tag });
    };
    let claim = Claim {
        attachment: wish.id,
        machine: wish.machine,
        machine_effect: wish.machine_effect,
        path: None,
        device: None,
        read_only: wish.read_only,
    };
    let is_new = record.attached.is_none();
    match &record.attached {
        Some(held) if *held != claim => return Err(StorageError::StillAttached { tag }),
        Some(_) => (),
        None => {
            record::point(ground, TagKind::Volume, wish.id, wish.volume_effect)?;
            crash::point("storage-attachment-recorded");
            record.attached = Some(claim);
            record::store(ground, &record)?;
            crash::point("storage-volume-claimed");
        }
    }
    let attached = match loop_device::attach(ground, &tag, wish.read_only, &turn).await {
        Ok(attached) => attached,
        Err(error) => {
            if is_new && error.is_refusal() {
                // Others may have it then. If this fails too, looking it up does it; the first error is the one that tells.
                let _ = release(ground, record, &tag, &turn).await;
            }
            return Err(error);
        }
    };
    Ok(AttachmentInfo { path: attached.device.path().as_str().to_owned(), read_only: attached.read_only })
}

pub(super) async fn detach(ground: &Ground, wish: &DetachVolume) -> Result<(), StorageError> {
    let tag = tag(wish.volume_effect);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, wish.volume_effect)? else {
        record::unpoint(ground, TagKind::Volume, wish.id)?;
        return ground.retire(turn, &tag);
    };
    if record.attached.as_ref().is_some_and(|claim| claim.attachment == wish.id) {
        return release(ground, record, &tag, &turn).await;
    }
    record::unpoint(ground, TagKind::Volume, wish.id)
}

/// Undoes all steps of an attachment, the last one first.
async fn release(ground: &Ground, mut record: VolumeRecord, tag: &Tag, turn: &Turn) -> Result<(), StorageError> {
    loop_device::detach(ground, tag, turn).await?;
    crash::point("storage-volume-detached");
    let Some(claim) = record.attached.take() else { return Ok(()) };
    record::store(ground, &record)?;
    crash::point("storage-volume-unclaimed");
    record::unpoint(ground, TagKind::Volume, claim.attachment)
}

pub(super) async fn lookup_attachment(ground: &Ground, id: EffectId) -> Result<Lookup<AttachmentInfo>, StorageError> {
    let Some(of) = record::pointed(ground, TagKind::Volume, id)? else { return Ok(Lookup::Absent) };
    let tag = tag(of);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, of)? else {
        record::unpoint(ground, TagKind::Volume, id)?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    if record.attached.as_ref().is_none_or(|claim| claim.attachment != id) {
        record::unpoint(ground, TagKind::Volume, id)?;
        return Ok(Lookup::Absent);
    }
    if let Some(attached) = loop_device::find(ground, &tag)? {
        let path = attached.device.path().as_str().to_owned();
        return Ok(Lookup::Present(AttachmentInfo { path, read_only: attached.read_only }));
    }
    release(ground, record, &tag, &turn).await?;
    Ok(Lookup::Absent)
}
