//! Making, destroying and finding volumes, each with its record.

use bailiwick_actors::{
    ports::{CreateVolume, Lookup, ProvisionedVolume},
    storage_rules::{ProviderType, check_attributes},
    vocab::{EffectId, SizeMib},
};
use bailiwick_journal::crash;

use super::{importing::import_place, tag, volume};
use crate::providers::storage::{
    Found, Ground, StorageError, Tag, loop_device,
    record::{self, VolumeRecord},
};

pub(super) async fn create(ground: &Ground, wish: CreateVolume) -> Result<ProvisionedVolume, StorageError> {
    let tag = tag(wish.id);
    let attributes = wish.pool.as_ref().map(|pool| &pool.attributes);
    attributes
        .map_or(Ok(()), |said| check_attributes(ProviderType::Loop, said))
        .map_err(StorageError::BadAttributes)?;
    let turn = ground.turn(&tag)?;
    let known = record::load::<VolumeRecord>(ground, wish.id)?;
    let is_new = known.is_none();
    let mut record = match known {
        Some(found) if found.uid != wish.uid || found.size != wish.size || found.imported_from.is_some() => {
            return Err(StorageError::AlreadyExists { tag });
        }
        Some(found) => found,
        None => {
            if ground.tree.look(&loop_device::file(ground, &tag))? != Found::Nothing {
                return Err(StorageError::BackingFile { tag });
            }
            let new = VolumeRecord {
                effect: wish.id,
                volume: wish.volume,
                uid: wish.uid,
                size: wish.size,
                imported_from: None,
                made: None,
                attached: None,
            };
            record::store(ground, &new)?;
            crash::point("storage-volume-recorded");
            new
        }
    };
    if let Some(size) = record.made {
        return Ok(volume(wish.id, size));
    }
    let size = match loop_device::create(ground, &tag, wish.size, &turn).await {
        Ok(size) => size,
        Err(error) => {
            if is_new && error.is_refusal() {
                // Nobody has ever seen the file, and it may hold space that others need. If this fails too, looking it
                // up or destroying it does it; the first error is the one that tells.
                let _ = take_back(ground, &record, &tag).await.and_then(|()| ground.retire(turn, &tag));
            }
            return Err(error);
        }
    };
    record.made = Some(size);
    record::store(ground, &record)?;
    crash::point("storage-volume-made");
    Ok(volume(wish.id, size))
}

pub(super) async fn destroy(ground: &Ground, id: EffectId) -> Result<(), StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    if let Some(mut record) = record::load::<VolumeRecord>(ground, id)? {
        if record.attached.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        if loop_device::find(ground, &tag)?.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        // From here on it is not there any more, whatever is left of it; and an imported one has no other place to go to.
        (record.made, record.imported_from) = (None, None);
        record::store(ground, &record)?;
        crash::point("storage-volume-given-up");
    }
    loop_device::destroy(ground, &tag.to_string()).await?;
    crash::point("storage-volume-removed");
    record::forget::<VolumeRecord>(ground, id)?;
    crash::point("storage-volume-forgotten");
    ground.retire(turn, &tag)
}

pub(super) async fn lookup(ground: &Ground, id: EffectId) -> Result<Lookup<ProvisionedVolume>, StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<VolumeRecord>(ground, id)? else {
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    let Some(size) = record.made else {
        take_back(ground, &record, &tag).await?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    match is_there(ground, id, size)? {
        true => Ok(Lookup::Present(volume(id, size))),
        false => Err(StorageError::BackingFile { tag }),
    }
}

/// Whether what was made with this size is there.
pub(super) fn is_there(ground: &Ground, id: EffectId, size: SizeMib) -> Result<bool, StorageError> {
    let wanted = size.bytes().ok_or(StorageError::BadSize { size })?;
    let found = ground.tree.look(&loop_device::file(ground, &tag(id)))?;
    Ok(matches!(found, Found::File { bytes, .. } if wanted <= bytes))
}

/// Undoes what was begun: a file that we made goes, one that was to be taken over gets its old place back.
async fn take_back(ground: &Ground, record: &VolumeRecord, tag: &Tag) -> Result<(), StorageError> {
    match &record.imported_from {
        Some(name) => {
            let (from, to) = (loop_device::file(ground, tag), import_place(ground, name)?);
            if ground.tree.look(&from)? != Found::Nothing {
                ground.tree.rename(&from, &to)?;
            }
        }
        None => loop_device::destroy(ground, &tag.to_string()).await?,
    }
    crash::point("storage-volume-taken-back");
    record::forget::<VolumeRecord>(ground, record.effect)
}
