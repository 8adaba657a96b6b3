//! Taking over files that somebody else made.

use bailiwick_actors::{
    ports::{ImportVolume, ProvisionedVolume},
    storage_rules::{Adoption, ExistingVolume, check_import},
    vocab::SizeMib,
};
use bailiwick_journal::crash;

use super::{tag, volume};
use crate::providers::storage::{
    AbsPath, Found, Ground, Seen, StorageError, loop_device,
    names::cut,
    record::{self, VolumeRecord},
};

/// Where files to be taken over are looked for, in the storage directory.
const IMPORTS: &str = "import";

/// The place of a file that is to be taken over; its name was checked, and is checked again.
pub(super) fn import_place(ground: &Ground, name: &str) -> Result<AbsPath, StorageError> {
    format!("{}/{IMPORTS}/{name}", ground.storage_dir).parse()
}

pub(super) async fn import(ground: &Ground, wish: ImportVolume) -> Result<ProvisionedVolume, StorageError> {
    let (id, name) = (wish.wish.id, &wish.wish.volume_id);
    let tag = tag(id);
    let _turn = ground.turn(&tag)?;
    let begun = record::load::<VolumeRecord>(ground, id)?;
    let is_this = |record: &VolumeRecord| record.uid == wish.uid && record.imported_from.as_ref() == Some(&name.0);
    if begun.as_ref().is_some_and(|record| !is_this(record)) {
        return Err(StorageError::AlreadyExists { tag });
    }
    if let Some(size) = begun.as_ref().and_then(|record| record.made) {
        return Ok(volume(id, size));
    }
    let file = loop_device::file(ground, &tag);
    let has_moved = begun.is_some() && ground.tree.look(&file)? != Found::Nothing;
    // The rule refuses names that could lead elsewhere before any path is made of them.
    let place = if has_moved { file.clone() } else { import_place_checked(ground, &wish)? };
    let existing = describe(ground, &wish, &place, has_moved)?;
    let refused = |refusal| StorageError::ImportRefused { volume_id: cut(&name.0), refusal };
    let (Adoption::Tag { size } | Adoption::Done { size }) = check_import(&wish.wish, &existing).map_err(refused)?;
    let mut record = VolumeRecord {
        effect: id,
        volume: wish.volume,
        uid: wish.uid,
        size: wish.wish.size_min,
        imported_from: Some(name.0.clone()),
        made: None,
        attached: None,
    };
    if begun.is_none() {
        record::store(ground, &record)?;
        crash::point("storage-import-recorded");
    }
    if !has_moved {
        ground.tree.rename(&place, &file)?;
        crash::point("storage-import-moved");
    }
    record.made = Some(size);
    record::store(ground, &record)?;
    crash::point("storage-import-made");
    Ok(volume(id, size))
}

fn import_place_checked(ground: &Ground, wish: &ImportVolume) -> Result<AbsPath, StorageError> {
    // As if nothing were known of it but its name: that is refused first.
    let unknown = ExistingVolume {
        volume_id: wish.wish.volume_id.clone(),
        size: SizeMib(u64::MAX),
        tagged: None,
        foreign_owner: None,
        in_use_by: None,
    };
    let volume_id = cut(&wish.wish.volume_id.0);
    check_import(&wish.wish, &unknown).map_err(|refusal| StorageError::ImportRefused { volume_id, refusal })?;
    import_place(ground, &wish.wish.volume_id.0)
}

/// What is to be taken over, as the rule wants to know it.
fn describe(
    ground: &Ground,
    wish: &ImportVolume,
    place: &AbsPath,
    has_moved: bool,
) -> Result<ExistingVolume, StorageError> {
    let not_a_volume = || match has_moved {
        true => StorageError::BackingFile { tag: tag(wish.wish.id) },
        false => StorageError::NothingToImport { place: place.clone() },
    };
    let Found::File { bytes, is_ours } = ground.tree.look(place)? else { return Err(not_a_volume()) };
    let mut in_use_by = None;
    for device in ground.sight.loop_devices()? {
        if matches!(ground.sight.loop_file(&device)?, Seen::It(found) if found.path == place.as_str()) {
            in_use_by = Some(device.to_string());
        }
    }
    Ok(ExistingVolume {
        volume_id: wish.wish.volume_id.clone(),
        size: SizeMib(bytes >> 20),
        tagged: has_moved.then_some(wish.wish.id),
        foreign_owner: (!is_ours).then(|| "another user, or it has a second name (hard link)".to_owned()),
        in_use_by,
    })
}
