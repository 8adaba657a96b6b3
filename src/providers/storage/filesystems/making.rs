//! Making, destroying and finding filesystems, each with its record.

use bailiwick_actors::{
    ports::{Backing, CreateFilesystem, Lookup, ProvisionedFilesystem},
    storage_rules::check_attributes,
    vocab::{EffectId, SizeMib},
};
use bailiwick_journal::crash;

use super::{Way, beneath, made, tag};
use crate::providers::storage::{
    Found, Ground, StorageError, Tag, TagKind, Turn,
    directory::{self, Account, Room, Wanted},
    managed,
    record::{self, FilesystemRecord},
    rootfs, tmpfs,
};

pub(super) async fn create(
    ground: &Ground,
    way: Way,
    account: &Account,
    wish: CreateFilesystem,
) -> Result<ProvisionedFilesystem, StorageError> {
    for id in &wish.replaces {
        destroy(ground, way, account, *id)?;
    }
    let tag = tag(wish.id);
    let turn = ground.turn(&tag)?;
    // Two filesystems must not be made on one volume at the same time, no matter by whom.
    let volume = wish.backing.as_ref().map(volume_tag);
    let volume = volume.map(|volume| ground.turn(&volume).map(|turn| (volume, turn))).transpose()?;
    let known = record::load::<FilesystemRecord>(ground, wish.id)?;
    let is_new = known.is_none();
    let mut record = match known {
        Some(found) if found.uid != wish.uid || found.size != wish.size => {
            return Err(StorageError::AlreadyExists { tag });
        }
        Some(found) => found,
        None => match begin(ground, way, account, &wish) {
            Ok(begun) => begun,
            Err(error) => {
                ground.retire(turn, &tag)?;
                return Err(error);
            }
        },
    };
    if let Some(size) = record.made {
        return Ok(made(way, wish.id, size));
    }
    let size = make(ground, way, &tag, &wish, &turn).await;
    if let Some((volume, turn)) = volume {
        ground.retire(turn, &volume)?;
    }
    let size = match size {
        Ok(size) => size,
        Err(error) => {
            // What is noted about a formatting stays; anything else that was begun just now goes. If that fails too,
            // looking it up or destroying it does it; the first error is the one that tells.
            if is_new && error.is_refusal() && !managed::is_noted(ground, &tag)? {
                let gone =
                    remove(ground, way, &tag, None).and_then(|()| record::forget::<FilesystemRecord>(ground, wish.id));
                if gone.and_then(|()| ground.retire(turn, &tag)).is_ok() {
                    account.give_back(wish.id);
                }
            }
            return Err(error);
        }
    };
    record.made = Some(size);
    record.backing = wish.backing;
    record::store(ground, &record)?;
    crash::point("storage-filesystem-made");
    Ok(made(way, wish.id, size))
}

async fn make(
    ground: &Ground,
    way: Way,
    tag: &Tag,
    wish: &CreateFilesystem,
    turn: &Turn,
) -> Result<SizeMib, StorageError> {
    match way {
        // Noted by an attempt that did not come further.
        Way::Tmpfs => match tmpfs::size(ground, tag) {
            Err(StorageError::InfoMissing { .. }) => tmpfs::create(ground, tag, wish.size),
            noted => noted,
        },
        Way::Rootfs => rootfs::create(ground, tag, wish.size, turn).await,
        Way::Directory { .. } => directory::create(ground, tag, wish.size),
        Way::Managed => {
            let beneath = beneath(wish.backing.as_ref())?;
            if let Some(have) = beneath.as_ref().map(|beneath| beneath.size).filter(|have| *have < wish.size) {
                return Err(StorageError::NotBigEnough { have, want: wish.size });
            }
            let backing = wish.backing.as_ref().ok_or(StorageError::BackingVolumeNotAttached)?;
            let volume = volume_tag(backing);
            Ok(managed::create(ground, tag, (&volume, beneath.as_ref()), turn).await?.size)
        }
    }
}

/// Writes down what is going to be made; what has a capacity is promised here.
fn begin(
    ground: &Ground,
    way: Way,
    account: &Account,
    wish: &CreateFilesystem,
) -> Result<FilesystemRecord, StorageError> {
    let attributes = wish.pool.as_ref().map(|pool| &pool.attributes);
    if let (Some(attributes), Some(provider)) = (attributes, way.provider_type()) {
        check_attributes(provider, attributes).map_err(StorageError::BadAttributes)?;
    }
    if let Way::Directory { capacity } = way {
        let of_pool = attributes.and_then(|attributes| attributes.get("capacity")?.parse::<SizeMib>().ok());
        let pool = wish.pool.as_ref().map(|pool| &pool.name);
        account.promise(ground, wish.id, Wanted { size: wish.size, pool }, Room { all: capacity, of_pool })?;
    }
    let record = FilesystemRecord {
        effect: wish.id,
        filesystem: wish.filesystem.clone(),
        uid: wish.uid,
        size: wish.size,
        backing: wish.backing.clone(),
        pool: wish.pool.as_ref().map(|pool| pool.name.clone()),
        made: None,
        attached: None,
    };
    record::store(ground, &record)?;
    crash::point("storage-filesystem-recorded");
    Ok(record)
}

pub(super) fn destroy(ground: &Ground, way: Way, account: &Account, id: EffectId) -> Result<(), StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    if let Some(mut record) = record::load::<FilesystemRecord>(ground, id)? {
        if record.attached.is_some() {
            return Err(StorageError::StillAttached { tag });
        }
        // What a crash left of the making; if somebody is at the volume, that one tidies up.
        let volume = record.backing.as_ref().map(volume_tag);
        if let Some((volume, Ok(turn))) = volume.as_ref().map(|volume| (volume, ground.turn(volume))) {
            ground.retire(turn, volume)?;
        }
        // From here on it is not there any more, whatever is left of it.
        record.made = None;
        record::store(ground, &record)?;
        crash::point("storage-filesystem-given-up");
        remove(ground, way, &tag, volume.as_ref())?;
        crash::point("storage-filesystem-removed");
        record::forget::<FilesystemRecord>(ground, id)?;
        crash::point("storage-filesystem-forgotten");
    }
    account.give_back(id);
    ground.retire(turn, &tag)
}

fn volume_tag(backing: &Backing) -> Tag {
    Tag::of(TagKind::Volume, backing.volume_effect)
}

/// Removes what a filesystem is made of: the data only where that is the provider's nature.
fn remove(ground: &Ground, way: Way, tag: &Tag, volume: Option<&Tag>) -> Result<(), StorageError> {
    match way {
        Way::Tmpfs => tmpfs::destroy(ground, tag),
        Way::Managed => managed::destroy(ground, tag, volume),
        Way::Directory { .. } => directory::destroy(ground, tag),
        Way::Rootfs => {
            rootfs::destroy(ground, tag)?;
            let directory = rootfs::directory(ground, tag);
            // Data is kept; an empty directory is none.
            if ground.tree.look(&directory)? == Found::Directory && ground.tree.is_empty(&directory)? {
                ground.tree.remove_empty_directory(&directory)?;
            }
            Ok(())
        }
    }
}

pub(super) fn lookup(
    ground: &Ground,
    way: Way,
    account: &Account,
    id: EffectId,
) -> Result<Lookup<ProvisionedFilesystem>, StorageError> {
    let tag = tag(id);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, id)? else {
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    match (record.made, way) {
        (Some(size), _) => Ok(Lookup::Present(made(way, id, size))),
        // What is noted about a formatting says what to think of the device: it stays until it is made or destroyed.
        (None, Way::Managed) => Ok(Lookup::Absent),
        (None, Way::Tmpfs | Way::Rootfs | Way::Directory { .. }) => {
            remove(ground, way, &tag, None)?;
            crash::point("storage-filesystem-taken-back");
            record::forget::<FilesystemRecord>(ground, id)?;
            account.give_back(id);
            ground.retire(turn, &tag)?;
            Ok(Lookup::Absent)
        }
    }
}
