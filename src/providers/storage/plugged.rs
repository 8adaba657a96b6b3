//! Which block devices there are, and what is mounted or attached from a directory.

use std::{fs, path::Path};

use bailiwick_actors::{
    ports::BlockDevice,
    vocab::{EffectId, SizeMib},
};

use super::{
    AbsPath, DeviceName, Ground, KernelSight, Seen, Sight, StorageError, Tag, TagKind,
    attribute::{attribute, block_class},
    error::Doing,
    record::{self, VolumeRecord},
    sight::{identity, mounts},
};

/// So many devices are reported at the most.
const DEVICES_MAX: usize = 256;

/// The devices that volumes can be seen as: those that show files of this ground, with the volume that each is; and the
/// disks that have a serial number or world wide name. Nothing is opened.
///
/// # Errors
/// If the kernel does not say.
pub fn devices(ground: &Ground) -> Result<Vec<(BlockDevice, Option<EffectId>)>, StorageError> {
    let own = record::all::<VolumeRecord>(ground)?;
    let mut devices = Vec::new();
    for entry in fs::read_dir("/sys/class/block").doing("list the devices")? {
        let name = entry.doing("list the devices")?.file_name().to_string_lossy().into_owned();
        let Ok(name) = name.parse::<DeviceName>() else { continue };
        let class = block_class(&name);
        let bytes = attribute(&class.join("size"))?.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) * 512;
        if bytes == 0 || class.join("partition").exists() {
            continue;
        }
        let loop_file = attribute(&class.join("loop/backing_file"))?;
        let shows = |id: &&EffectId| loop_file.as_deref() == Some(file_of(ground, **id).as_str());
        let volume = own.iter().find(shows).copied();
        let hardware_id = identity(&name, loop_file, bytes)?.hardware_id;
        if volume.is_some() || hardware_id.is_some() {
            let device = BlockDevice { name: name.as_str().to_owned(), size: SizeMib(bytes >> 20), hardware_id };
            devices.push((device, volume));
        }
    }
    devices.sort();
    devices.truncate(DEVICES_MAX);
    Ok(devices)
}

fn file_of(ground: &Ground, id: EffectId) -> AbsPath {
    super::loop_device::file(ground, &Tag::of(TagKind::Volume, id))
}

/// One thing that the kernel still holds in a directory: a mount in it, or a device that shows a file of it.
///
/// # Errors
/// If the kernel does not say.
pub fn held_beneath(directory: &Path) -> Result<Option<String>, StorageError> {
    let directory: AbsPath = directory.canonicalize().doing("find a directory")?.to_string_lossy().parse()?;
    let is_beneath = |path: &str| path.parse::<AbsPath>().is_ok_and(|path| path.is_within(&directory));
    if let Some(mount) = mounts()?.into_iter().find(|mount| is_beneath(&mount.path)) {
        return Ok(Some(format!("{} is still mounted", mount.path)));
    }
    let sight = KernelSight::default();
    for device in sight.loop_devices()? {
        if matches!(sight.loop_file(&device)?, Seen::It(file) if is_beneath(&file.path)) {
            return Ok(Some(format!("{device} is still backed by a file of the machine")));
        }
    }
    Ok(None)
}
