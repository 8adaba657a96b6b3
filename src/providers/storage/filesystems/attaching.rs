//! Mounting, unmounting and finding mounts, each with its claim.

use bailiwick_actors::{
    ports::{AttachFilesystem, DetachFilesystem, FilesystemAttachmentInfo, Lookup},
    vocab::EffectId,
};
use bailiwick_journal::crash;

use super::{Way, beneath, tag};
use crate::providers::storage::{
    AbsPath, Found, Ground, Ours, Seen, StorageError, Tag, TagKind, Turn, directory, managed,
    record::{self, Claim, FilesystemRecord},
    rootfs, tmpfs,
};

/// Where a filesystem is mounted if nobody says where.
fn default_path(ground: &Ground, way: Way, tag: &Tag) -> AbsPath {
    match way {
        Way::Directory { .. } => rootfs::directory(ground, tag),
        Way::Tmpfs | Way::Rootfs | Way::Managed => ground.storage_dir.join("mounts").join(&tag.to_string()),
    }
}

pub(super) async fn attach(
    ground: &Ground,
    way: Way,
    wish: AttachFilesystem,
) -> Result<FilesystemAttachmentInfo, StorageError> {
    let tag = tag(wish.filesystem_effect);
    let turn = ground.turn(&tag)?;
    let record = record::load::<FilesystemRecord>(ground, wish.filesystem_effect)?;
    let Some(mut record) = record.filter(|record| record.made.is_some()) else {
        ground.retire(turn, &tag)?;
        return Err(StorageError::InfoMissing { tag });
    };
    let path = match wish.path.as_deref().filter(|path| !path.is_empty()) {
        Some(path) => path.parse::<AbsPath>()?,
        None => default_path(ground, way, &tag),
    };
    let backing = wish.backing.or_else(|| record.backing.clone());
    let beneath = beneath(backing.as_ref().filter(|_| way == Way::Managed))?;
    let claim = Claim {
        attachment: wish.id,
        machine: wish.machine,
        machine_effect: wish.machine_effect,
        path: Some(path.as_str().to_owned()),
        device: beneath.as_ref().map(|beneath| beneath.name.to_string()),
        read_only: wish.read_only,
    };
    let is_this = |held: &Claim| {
        (held.attachment, &held.path, held.read_only) == (claim.attachment, &claim.path, claim.read_only)
    };
    if record.attached.as_ref().is_some_and(|held| !is_this(held)) {
        return Err(StorageError::StillAttached { tag });
    }
    let is_new = record.attached.is_none();
    if record.attached.as_ref() != Some(&claim) {
        record::point(ground, TagKind::Filesystem, wish.id, wish.filesystem_effect)?;
        crash::point("storage-attachment-recorded");
        record.attached = Some(claim);
        record::store(ground, &record)?;
        crash::point("storage-filesystem-claimed");
    }
    let wanted = Some(&path);
    let attached = match way {
        Way::Tmpfs => tmpfs::attach(ground, &tag, wanted, wish.read_only, &turn).await,
        Way::Rootfs => rootfs::attach(ground, &tag, wanted, wish.read_only, &turn).await,
        Way::Managed => managed::attach(ground, &tag, beneath.as_ref(), wanted, wish.read_only, &turn).await,
        Way::Directory { .. } => directory::attach(ground, &tag, wanted, wish.read_only).map(drop),
    };
    if let Err(error) = attached {
        if is_new && error.is_refusal() {
            // Others may have it then. If this fails too, looking it up does it; the first error is the one that tells.
            let _ = withdraw(ground, way, record, &tag, &turn).await;
        }
        return Err(error);
    }
    crash::point("storage-filesystem-attached");
    Ok(FilesystemAttachmentInfo { mount_point: path.as_str().to_owned(), read_only: wish.read_only })
}

pub(super) async fn detach(ground: &Ground, way: Way, wish: &DetachFilesystem) -> Result<(), StorageError> {
    let tag = tag(wish.filesystem_effect);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, wish.filesystem_effect)? else {
        record::unpoint(ground, TagKind::Filesystem, wish.id)?;
        return ground.retire(turn, &tag);
    };
    if record.attached.as_ref().is_some_and(|claim| claim.attachment == wish.id) {
        return release(ground, way, record, &tag, &turn).await;
    }
    record::unpoint(ground, TagKind::Filesystem, wish.id)
}

/// How the mount of a claim is known.
fn ours(ground: &Ground, way: Way, tag: &Tag, claim: &Claim) -> Result<Option<Ours>, StorageError> {
    Ok(match way {
        Way::Tmpfs => Some(Ours::Memory(tag.clone())),
        Way::Rootfs => Some(Ours::Directory(rootfs::directory(ground, tag))),
        Way::Managed => match &claim.device {
            Some(name) => Some(managed::ours(ground, tag, &name.parse()?)?),
            None => None,
        },
        Way::Directory { .. } => None,
    })
}

/// Undoes all steps of an attachment, the last one first.
async fn release(
    ground: &Ground,
    way: Way,
    record: FilesystemRecord,
    tag: &Tag,
    turn: &Turn,
) -> Result<(), StorageError> {
    let Some(claim) = record.attached.clone() else { return Ok(()) };
    if let Some(path) = claim.path.as_deref().map(str::parse::<AbsPath>).transpose()? {
        match ours(ground, way, tag, &claim)? {
            _ if path == rootfs::directory(ground, tag) => (),
            Some(ours) => ground.unmount(&path, &ours, turn).await?,
            None => directory::detach(ground, tag, &path)?,
        }
        crash::point("storage-filesystem-unmounted");
    }
    if let (Way::Managed, Some(device)) = (way, &claim.device) {
        managed::unmounted(ground, tag, &device.parse()?)?;
    }
    unclaim(ground, way, record, tag)
}

/// Takes a claim back from which nothing came: what is at its path now is not ours, and is not even looked for in the boot
/// table.
async fn withdraw(
    ground: &Ground,
    way: Way,
    record: FilesystemRecord,
    tag: &Tag,
    turn: &Turn,
) -> Result<(), StorageError> {
    let Some(claim) = record.attached.clone() else { return Ok(()) };
    let path = claim.path.as_deref().map(str::parse::<AbsPath>).transpose()?;
    if let (Some(path), Some(ours)) = (&path, ours(ground, way, tag, &claim)?)
        && matches!(ground.is_mounted(path, &ours), Ok(Seen::It(_) | Seen::CannotTell))
    {
        return release(ground, way, record, tag, turn).await;
    }
    unclaim(ground, way, record, tag)
}

/// Nothing is mounted any more; the claim goes, and a mount point that was only ours.
fn unclaim(ground: &Ground, way: Way, mut record: FilesystemRecord, tag: &Tag) -> Result<(), StorageError> {
    let Some(claim) = record.attached.take() else { return Ok(()) };
    let path = default_path(ground, way, tag);
    let is_default = claim.path.as_deref() == Some(path.as_str()) && !matches!(way, Way::Directory { .. });
    if is_default && ground.tree.look(&path)? == Found::Directory && ground.tree.is_empty(&path)? {
        ground.tree.remove_empty_directory(&path)?;
    }
    record::store(ground, &record)?;
    crash::point("storage-filesystem-unclaimed");
    record::unpoint(ground, TagKind::Filesystem, claim.attachment)
}

pub(super) async fn lookup_attachment(
    ground: &Ground,
    way: Way,
    id: EffectId,
) -> Result<Lookup<FilesystemAttachmentInfo>, StorageError> {
    let Some(of) = record::pointed(ground, TagKind::Filesystem, id)? else { return Ok(Lookup::Absent) };
    let tag = tag(of);
    let turn = ground.turn(&tag)?;
    let Some(record) = record::load::<FilesystemRecord>(ground, of)? else {
        record::unpoint(ground, TagKind::Filesystem, id)?;
        ground.retire(turn, &tag)?;
        return Ok(Lookup::Absent);
    };
    let Some(claim) = record.attached.clone().filter(|claim| claim.attachment == id) else {
        record::unpoint(ground, TagKind::Filesystem, id)?;
        return Ok(Lookup::Absent);
    };
    let path: AbsPath = claim.path.as_deref().unwrap_or_default().parse()?;
    let seen = match ours(ground, way, &tag, &claim)? {
        Some(ours) => ground.is_mounted(&path, &ours)?,
        None => Seen::Nothing,
    };
    // A directory may serve without being bound.
    let is_there = match (seen, way) {
        (Seen::It(_), _) => true,
        (Seen::CannotTell, _) => return Ok(Lookup::Unknown),
        (Seen::Nothing, Way::Directory { .. }) => directory::is_attached(ground, &tag, &path)?,
        (Seen::Nothing, Way::Rootfs) => {
            path == rootfs::directory(ground, &tag) || rootfs::claimed(ground, &tag)?.as_ref() == Some(&path)
        }
        (Seen::Nothing, Way::Tmpfs | Way::Managed) => false,
    };
    if is_there {
        let info = FilesystemAttachmentInfo { mount_point: path.as_str().to_owned(), read_only: claim.read_only };
        return Ok(Lookup::Present(info));
    }
    release(ground, way, record, &tag, &turn).await?;
    Ok(Lookup::Absent)
}
