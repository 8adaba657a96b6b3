//! Filesystems on volumes: made on a loop device or on one that was plugged in, and mounted. Source: Juju's managed
//! filesystems.
//!
//! **A device that holds data is never formatted, and none is formatted twice.** Before anything is written to a device all
//! its bytes are read, but for those that were never written (see `written`), and it is made sure that nobody wrote meanwhile; then it is noted, durably, that this very
//! device is being formatted; and only then does that begin. After a crash the note says what to think of what is found: a
//! complete filesystem is the one that was being made, an unfinished one is ours to make again. Without the note, anything
//! but zeros is somebody's data, with one exception: the filesystem that we made there ourselves and that was destroyed
//! since, known by its id. Its bytes stay on the volume until the volume goes or the next filesystem is made there. If the
//! device shows a file, nothing may have been written to that since the filesystem was made, or mounted last.

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    AbsPath, Command, Content, DeviceFacts, DeviceName, DfField, Ground, Identity, Ours, Seen, StorageError, Tag, Turn,
    error::Step,
};

/// The device beneath a filesystem, as the caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beneath {
    pub name: DeviceName,
    pub size: SizeMib,
    /// If it is known, the device has to bear it.
    pub hardware_id: Option<String>,
}

/// A filesystem that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub size: SizeMib,
    pub uuid: Uuid,
}

/// What is noted about a formatting.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Note {
    Formatting {
        identity: Identity,
        /// The destroyed filesystem that was there before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        over: Option<Uuid>,
    },
    Done {
        uuid: Uuid,
        size: SizeMib,
        /// The last change of the file behind its device, when it was made or unmounted last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed: Option<(i64, i64)>,
    },
}

/// A filesystem that was made here and destroyed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Destroyed {
    uuid: Uuid,
    /// The last change of the file behind its device that was due to it.
    changed: Option<(i64, i64)>,
}

fn note_path(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(&format!("{tag}.format"))
}

fn read_note(ground: &Ground, tag: &Tag) -> Result<Option<Note>, StorageError> {
    let path = note_path(ground, tag);
    let Some(content) = ground.tree.read(&path)? else { return Ok(None) };
    serde_json::from_slice(&content).map(Some).map_err(|_| StorageError::BadRecord { path })
}

fn write_note(ground: &Ground, tag: &Tag, note: &Note) -> Result<(), StorageError> {
    let content =
        serde_json::to_vec(note).map_err(|error| StorageError::Io { doing: "write a note", source: error.into() })?;
    ground.tree.write(&note_path(ground, tag), &content, Mode::RUSR | Mode::WUSR)
}

/// The filesystems on one volume that were made here and destroyed since.
fn destroyed_path(ground: &Ground, volume: &Tag) -> AbsPath {
    ground.storage_dir.join(&format!("{volume}.destroyed"))
}

fn destroyed_on(ground: &Ground, volume: &Tag) -> Result<Vec<Destroyed>, StorageError> {
    let path = destroyed_path(ground, volume);
    let Some(content) = ground.tree.read(&path)? else { return Ok(Vec::new()) };
    serde_json::from_slice(&content).map_err(|_| StorageError::BadRecord { path })
}

/// Forgets which filesystems were on a volume that is gone.
pub fn forget_destroyed(ground: &Ground, volume: &Tag) -> Result<(), StorageError> {
    ground.tree.remove_file(&destroyed_path(ground, volume)).map(drop)
}

/// Whether anything is noted about a formatting under this tag.
pub fn is_noted(ground: &Ground, tag: &Tag) -> Result<bool, StorageError> {
    Ok(read_note(ground, tag)?.is_some())
}

/// The id of the filesystem that was made under this tag, if one was.
pub fn uuid(ground: &Ground, tag: &Tag) -> Result<Option<Uuid>, StorageError> {
    Ok(match read_note(ground, tag)? {
        Some(Note::Done { uuid, .. }) => Some(uuid),
        Some(Note::Formatting { .. }) | None => None,
    })
}

/// Notes that it was unmounted: what is written to its device from now on is somebody else's.
pub fn unmounted(ground: &Ground, tag: &Tag, device: &DeviceName) -> Result<(), StorageError> {
    let Some(Note::Done { uuid, size, changed: before }) = read_note(ground, tag)? else { return Ok(()) };
    if ground.sight.device(device)?.is_none() {
        return Ok(());
    }
    let changed = ground.sight.writes(device)?.file;
    if changed == before { Ok(()) } else { write_note(ground, tag, &Note::Done { uuid, size, changed }) }
}

/// The partition that the filesystem is on; the device itself if it is no whole disk.
fn target(device: &DeviceName) -> DeviceName {
    device.first_partition().unwrap_or_else(|| device.clone())
}

fn look(ground: &Ground, beneath: Option<&Beneath>) -> Result<(DeviceName, DeviceFacts), StorageError> {
    let beneath = beneath.ok_or(StorageError::BackingVolumeNotAttached)?;
    let facts = ground.sight.device(&beneath.name)?.ok_or(StorageError::BackingVolumeNotAttached)?;
    match (&beneath.hardware_id, &facts.identity.hardware_id) {
        (Some(wanted), Some(found)) if wanted != found => {
            Err(StorageError::DeviceChanged { device: beneath.name.clone(), why: "another device has its name now" })
        }
        _ => Ok((beneath.name.clone(), facts)),
    }
}

/// Makes a filesystem on a device that holds nothing but perhaps a destroyed one of ours, or finds the one that was made
/// under this tag. `volume` is what the device is.
pub async fn create(
    ground: &Ground,
    tag: &Tag,
    (volume, beneath): (&Tag, Option<&Beneath>),
    turn: &Turn,
) -> Result<Made, StorageError> {
    let (device, facts) = look(ground, beneath)?;
    let size = beneath.map_or(SizeMib(facts.bytes >> 20), |beneath| beneath.size);
    let target = target(&device);
    let written = ground.sight.writes(&device)?;
    let over = match read_note(ground, tag)? {
        Some(Note::Done { uuid, size, .. }) => {
            return match ground.sight.recognised(&target)? {
                Content::Ext4 { uuid: found } if found == uuid => Ok(Made { size, uuid }),
                _ => Err(StorageError::DeviceChanged { device, why: "it does not hold the filesystem that was made" }),
            };
        }
        Some(Note::Formatting { identity, over }) => {
            if !identity.is_same(&facts.identity) {
                return Err(StorageError::DeviceChanged { device, why: "a different device was being formatted" });
            }
            if let Some(uuid) = finished(ground, &target)?.filter(|found| Some(*found) != over) {
                write_note(ground, tag, &Note::Done { uuid, size, changed: written.file })?;
                return Ok(Made { size, uuid });
            }
            ensure_unfinished(ground, &device, &facts.identity, over)?;
            over
        }
        None => ensure_free(ground, &device, &destroyed_on(ground, volume)?, written.file)?,
    };
    if let Some(by) = facts.in_use {
        return Err(StorageError::DeviceInUse { device, by });
    }
    // Reading takes a while, and who writes meanwhile may do so where it was read already.
    if ground.sight.writes(&device)? != written {
        return Err(StorageError::DeviceInUse { device, by: "it was written to while it was read" });
    }
    write_note(ground, tag, &Note::Formatting { identity: facts.identity, over })?;
    crash::point("storage-format-noted");
    if target != device {
        ground.run(Step::Create, Command::partition_zap(&device), turn).await?;
        ground.run(Step::Create, Command::partition_whole(&device), turn).await?;
    }
    ground.run(Step::Create, Command::make_ext4(&target), turn).await?;
    let Content::Ext4 { uuid } = ground.sight.recognised(&target)? else {
        return Err(StorageError::BadAnswer {
            program: "mkfs.ext4",
            text: "it succeeded, but there is no filesystem".into(),
        });
    };
    let changed = ground.sight.writes(&device)?.file;
    write_note(ground, tag, &Note::Done { uuid, size, changed })?;
    crash::point("storage-format-done");
    forget_destroyed(ground, volume)?;
    Ok(Made { size, uuid })
}

/// The filesystem that an earlier attempt has made to its end.
fn finished(ground: &Ground, target: &DeviceName) -> Result<Option<Uuid>, StorageError> {
    if ground.sight.device(target)?.is_none() {
        return Ok(None);
    }
    Ok(match ground.sight.recognised(target)? {
        Content::Ext4 { uuid } => Some(uuid),
        _ => None,
    })
}

/// Nothing is there, or the filesystem of ours that was destroyed, whose id is the answer.
fn ensure_free(
    ground: &Ground,
    device: &DeviceName,
    destroyed: &[Destroyed],
    changed: Option<(i64, i64)>,
) -> Result<Option<Uuid>, StorageError> {
    let ids: Vec<Uuid> = destroyed.iter().map(|destroyed| destroyed.uuid).collect();
    let found = match ground.sight.content(device)? {
        Content::Table if target(device) != *device => {
            let target = target(device);
            let within =
                ground.sight.device(&target)?.is_some().then(|| ground.sight.recognised(&target)).transpose()?;
            within.filter(|within| is_destroyed(*within, &ids)).unwrap_or(Content::Table)
        }
        found => found,
    };
    match found {
        Content::Blank => Ok(None),
        Content::Ext4 { uuid } if ids.contains(&uuid) => {
            let known = destroyed.iter().filter(|destroyed| destroyed.uuid == uuid);
            let is_as_left = known.clone().any(|left| left.changed.is_none() || left.changed == changed);
            let what = "something that was written after its filesystem was destroyed".to_owned();
            if is_as_left { Ok(Some(uuid)) } else { Err(StorageError::HoldsData { device: device.clone(), what }) }
        }
        found => Err(StorageError::HoldsData { device: device.clone(), what: found.what() }),
    }
}

fn is_destroyed(found: Content, destroyed: &[Uuid]) -> bool {
    matches!(found, Content::Ext4 { uuid } if destroyed.contains(&uuid))
}

/// What an attempt that was cut short can have left: what was there before, whole or in part; nothing; a superblock that was never called clean; on a file that only
/// we use, bytes in between; on a disk, a partition table whose first partition holds no more than that.
fn ensure_unfinished(
    ground: &Ground,
    device: &DeviceName,
    identity: &Identity,
    over: Option<Uuid>,
) -> Result<(), StorageError> {
    let file = identity.loop_file.as_ref().and_then(|file| file.parse::<AbsPath>().ok());
    let is_our_file = file.is_some_and(|file| file.is_within(&ground.storage_dir));
    let target = target(device);
    let found = match ground.sight.content(device)? {
        Content::Table if target != *device && ground.sight.device(&target)?.is_some() => {
            ground.sight.content(&target)?
        }
        found => found,
    };
    match found {
        Content::Blank | Content::Unfinished => Ok(()),
        Content::Unknown { .. } if is_our_file || over.is_some() => Ok(()),
        found if is_destroyed(found, over.as_slice()) => Ok(()),
        found => Err(StorageError::HoldsData { device: device.clone(), what: found.what() }),
    }
}

/// Mounts a filesystem, or finds it mounted there. It has to be the one that was made, if that is known.
pub async fn attach(
    ground: &Ground,
    tag: &Tag,
    beneath: Option<&Beneath>,
    path: Option<&AbsPath>,
    read_only: bool,
    turn: &Turn,
) -> Result<(), StorageError> {
    let (device, facts) = look(ground, beneath)?;
    let path = ground.mount_point(path)?;
    let target = target(&device);
    let Content::Ext4 { uuid: found } = ground.sight.recognised(&target)? else {
        return Err(StorageError::DeviceChanged { device, why: "there is no filesystem on it" });
    };
    if uuid(ground, tag)?.is_some_and(|made| made != found) {
        return Err(StorageError::DeviceChanged { device, why: "there is another filesystem on it" });
    }
    ground.prepare(path)?;
    let parent = path.parent().ok_or(StorageError::NoMountPoint)?;
    let above = ground.df(DfField::Source, &parent, turn).await?;
    let here = ground.df(DfField::Source, path, turn).await?;
    let ours = ours(ground, tag, &device)?;
    let is_mounted = match ground.is_mounted_as(path, &ours, read_only)? {
        Seen::It(_) => true,
        Seen::Nothing => false,
        Seen::CannotTell if above == here => false,
        Seen::CannotTell if here == target.path().as_str() => true,
        Seen::CannotTell => return Err(StorageError::MountedByOthers { path: path.clone() }),
    };
    if !is_mounted {
        if let Some(by) = facts.in_use {
            return Err(StorageError::DeviceInUse { device, by });
        }
        ground.run(Step::Mount, Command::mount_device(&target, path, read_only), turn).await?;
        ground.ensure_mounted(path, &ours)?;
    }
    ground.remember_at_boot(found, path, read_only)
}

/// How the mount of a filesystem is known that was on this device.
pub fn ours(ground: &Ground, tag: &Tag, device: &DeviceName) -> Result<Ours, StorageError> {
    Ok(Ours::Device { name: target(device), uuid: uuid(ground, tag)? })
}

/// Gives a filesystem up. Its bytes stay on the volume, `volume`, and go with it, or when another one is made there.
pub fn destroy(ground: &Ground, tag: &Tag, volume: Option<&Tag>) -> Result<(), StorageError> {
    if let (Some(Note::Done { uuid, changed, .. }), Some(volume)) = (read_note(ground, tag)?, volume) {
        let mut destroyed = destroyed_on(ground, volume)?;
        let left = Destroyed { uuid, changed };
        if !destroyed.contains(&left) {
            destroyed.push(left);
            let content = serde_json::to_vec(&destroyed)
                .map_err(|error| StorageError::Io { doing: "write a note", source: error.into() })?;
            ground.tree.write(&destroyed_path(ground, volume), &content, Mode::RUSR | Mode::WUSR)?;
        }
        crash::point("storage-destroyed-noted");
    }
    ground.tree.remove_file(&note_path(ground, tag)).map(drop)
}
