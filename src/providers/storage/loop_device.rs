//! Volumes that are files, attached as loop devices. Source: Juju's loop provider.
//!
//! A volume's file bears the volume's tag in the storage directory. Detaching and a failed attaching never touch it; only
//! destroying removes it, and only while no device shows it.

use std::time::Duration;

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;

use super::{
    AbsPath, Command, DeviceName, Found, Ground, LoopRoom, Seen, StorageError, Tag, TagKind, Turn, error::Step,
    names::cut,
};

/// An attached volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopAttachment {
    pub device: DeviceName,
    pub read_only: bool,
}

/// The file of a volume.
pub fn file(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(&tag.to_string())
}

/// Makes a volume's file and reserves its space; doing it again finishes what was begun.
pub async fn create(ground: &Ground, tag: &Tag, size: SizeMib, turn: &Turn) -> Result<SizeMib, StorageError> {
    let bytes = size.bytes().filter(|bytes| 0 < *bytes && i64::try_from(*bytes).is_ok());
    let bytes = bytes.ok_or(StorageError::BadSize { size })?;
    let file = file(ground, tag);
    if ground.tree.look(&file)? == Found::Nothing {
        // Said as what it is; the program would only fail, and for the time of its trying take what others need.
        let free = ground.tree.bytes_free(&ground.storage_dir)?;
        if free < bytes {
            return Err(StorageError::NotBigEnough { have: SizeMib(free >> 20), want: size });
        }
    }
    ground.tree.ensure_file(&file)?;
    crash::point("storage-file-made");
    // Reserving again what is reserved changes nothing.
    ground.run(Step::Create, Command::fallocate(&file, size), turn).await?;
    match ground.tree.look(&file)? {
        Found::File { bytes: have, is_ours: true } if bytes <= have => Ok(SizeMib(have >> 20)),
        _ => Err(StorageError::BackingFile { tag: tag.clone() }),
    }
}

/// Gives a volume a loop device, or finds the one that it has.
pub async fn attach(ground: &Ground, tag: &Tag, read_only: bool, turn: &Turn) -> Result<LoopAttachment, StorageError> {
    let file = ensure_file(ground, tag)?;
    if let Some(device) = devices(ground, &file, turn).await?.into_iter().next() {
        return checked(ground, &file, device, read_only);
    }
    // Said as what it is: the program would only fail, and say so in its own words.
    if let Seen::It(LoopRoom::Full { why }) = ground.sight.room_for_loop()? {
        return Err(StorageError::NoLoopDevice { why });
    }
    let text = ground.run(Step::Attach, Command::losetup_attach(&file, read_only), turn).await?;
    let device = parse_device(text.trim())?;
    checked(ground, &file, device, read_only)
}

/// Takes all loop devices of a volume away. The file stays.
pub async fn detach(ground: &Ground, tag: &Tag, turn: &Turn) -> Result<(), StorageError> {
    let file = file(ground, tag);
    if ground.tree.look(&file)? == Found::Nothing {
        // A file that is gone cannot be asked for; a device that still showed it would have kept it from going.
        return Ok(());
    }
    for device in devices(ground, &file, turn).await? {
        // Between the answer and now the number may have become another file's.
        if matches!(ground.sight.loop_file(&device)?, Seen::It(found) if found.path != file.as_str()) {
            continue;
        }
        // The kernel would say yes and let go of it later.
        if let Some(by) = ground.sight.device(&device)?.and_then(|facts| facts.in_use) {
            return Err(StorageError::DeviceInUse { device, by });
        }
        ground.run(Step::Detach, Command::losetup_detach(&device), turn).await?;
        ensure_gone(ground, &file, &device).await?;
    }
    Ok(())
}

/// Removes a volume's file; a missing one is fine. The id comes from outside and has to be the tag of a volume.
pub async fn destroy(ground: &Ground, volume_id: &str) -> Result<(), StorageError> {
    let Some(tag) = Tag::parse(TagKind::Volume, volume_id) else {
        return Err(StorageError::InvalidVolumeId { text: cut(volume_id) });
    };
    let file = file(ground, &tag);
    match ground.tree.look(&file)? {
        Found::Nothing => return Ok(()),
        Found::File { .. } => (),
        Found::Directory | Found::Other => return Err(StorageError::BackingFile { tag }),
    }
    if is_shown(ground, &file)? {
        return Err(StorageError::StillAttached { tag });
    }
    crash::point("storage-before-removing");
    ground.tree.remove_file(&file).map(drop)
}

/// The device that shows a volume's file now, as the kernel sees it.
pub fn find(ground: &Ground, tag: &Tag) -> Result<Option<LoopAttachment>, StorageError> {
    let file = file(ground, tag);
    for number in loop_numbers(ground)? {
        if let Seen::It(found) = ground.sight.loop_file(&number)?
            && found.path == file.as_str()
        {
            return Ok(Some(LoopAttachment { device: number, read_only: found.read_only }));
        }
    }
    Ok(None)
}

fn is_shown(ground: &Ground, file: &AbsPath) -> Result<bool, StorageError> {
    for number in loop_numbers(ground)? {
        if matches!(ground.sight.loop_file(&number)?, Seen::It(found) if found.path == file.as_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The loop devices that there are, in use or not.
fn loop_numbers(ground: &Ground) -> Result<Vec<DeviceName>, StorageError> {
    ground.sight.loop_devices()
}

fn ensure_file(ground: &Ground, tag: &Tag) -> Result<AbsPath, StorageError> {
    let file = file(ground, tag);
    match ground.tree.look(&file)? {
        Found::File { is_ours: true, .. } => Ok(file),
        _ => Err(StorageError::BackingFile { tag: tag.clone() }),
    }
}

/// The devices that show a file: one line each, the path before the colon.
async fn devices(ground: &Ground, file: &AbsPath, turn: &Turn) -> Result<Vec<DeviceName>, StorageError> {
    let text = ground.run(Step::Ask, Command::losetup_find(file), turn).await?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| parse_device(line.split(':').next().unwrap_or(line).trim())).collect()
}

fn parse_device(text: &str) -> Result<DeviceName, StorageError> {
    let name = text.strip_prefix("/dev/").and_then(|name| name.parse::<DeviceName>().ok());
    let name = name.filter(|name| name.as_str().starts_with("loop"));
    name.ok_or_else(|| StorageError::BadAnswer { program: "losetup", text: cut(text) })
}

/// A device, if it shows this file in the way that is wanted.
fn checked(
    ground: &Ground,
    file: &AbsPath,
    device: DeviceName,
    read_only: bool,
) -> Result<LoopAttachment, StorageError> {
    match ground.sight.loop_file(&device)? {
        Seen::CannotTell => Ok(LoopAttachment { device, read_only }),
        Seen::It(found) if found.path == file.as_str() && found.read_only == read_only => {
            Ok(LoopAttachment { device, read_only })
        }
        Seen::It(found) if found.path == file.as_str() => {
            Err(StorageError::DeviceChanged { device, why: "it was attached with a different read-only setting" })
        }
        Seen::It(_) | Seen::Nothing => Err(StorageError::DeviceChanged { device, why: "it is backed by another file" }),
    }
}

/// Waits until a device no longer shows the file: a program that inspects new devices may have it open for a moment.
async fn ensure_gone(ground: &Ground, file: &AbsPath, device: &DeviceName) -> Result<(), StorageError> {
    const LOOKS: u32 = 100;
    for look in 0..LOOKS {
        match ground.sight.loop_file(device)? {
            Seen::It(found) if found.path == file.as_str() => (),
            _ => return Ok(()),
        }
        if look + 1 < LOOKS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Err(StorageError::DeviceInUse { device: device.clone(), by: "another process keeps it open" })
}
