//! Volumes: sparse files of exactly their size. Everything here blocks.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    ports::{CreateVolume, Listing, Lookup, ProvisionedVolume},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, SizeMib, Uid},
};
use serde::{Deserialize, Serialize};

use super::{
    Inner, claims,
    fault::{OrFault, failed_precondition},
    home::{self, Found},
};
use crate::agent::files;

/// `volume.json`: whose volume a directory is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct VolumeTag {
    effect: EffectId,
    volume: Name,
    uid: Uid,
    size: SizeMib,
}

/// The image in a volume's directory, or behind the link to it.
pub fn image(directory: &Path) -> PathBuf {
    directory.join("disk.img")
}

/// Makes a volume, or finds the one that was made under this id.
pub fn create(inner: &Inner, wish: CreateVolume) -> Result<ProvisionedVolume, Fault> {
    let bytes = image_bytes(wish.size)?;
    let directory = inner.home.volume(wish.id);
    if let Some((tag, volume)) = find(inner, wish.id)? {
        if tag.uid != wish.uid || tag.size != wish.size {
            return Err(Fault::new(FaultCode::AlreadyExists, "another volume was made under this id"));
        }
        return Ok(volume);
    }
    let tag = VolumeTag { effect: wish.id, volume: wish.volume, uid: wish.uid, size: wish.size };
    let made = home::make_whole(&directory, |new| {
        // A sparse file takes no space before it is written, so there is nothing to be checked or reserved.
        let disk = OpenOptions::new().write(true).create_new(true).mode(0o600).open(image(new))?;
        disk.set_len(bytes)?;
        disk.sync_all()?;
        files::write_new(&new.join("volume.json"), &serde_json::to_vec_pretty(&tag)?)
    });
    made.or_fault("make the volume")?;
    Ok(volume(&tag, bytes))
}

fn image_bytes(size: SizeMib) -> Result<u64, Fault> {
    if size.0 == 0 {
        return Err(Fault::new(FaultCode::InvalidArgument, "a volume has at least 1 MiB"));
    }
    // Files have signed 64-bit lengths; what the file system cannot hold is refused when the length is set.
    let bytes = size.bytes().filter(|bytes| i64::try_from(*bytes).is_ok());
    bytes.ok_or_else(|| Fault::new(FaultCode::OutOfRange, format!("no file can have {size}")))
}

/// Destroys a volume that is not attached.
pub fn destroy(inner: &Inner, id: EffectId) -> Result<(), Fault> {
    let directory = inner.home.volume(id);
    home::sweep(&directory).or_fault("remove what is left of the volume")?;
    match fs::symlink_metadata(&directory) {
        Ok(found) if found.is_dir() => (),
        Ok(_) => return files::remove_file(&directory).or_fault("remove what is in the volume's place"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).or_fault("find the volume's directory"),
    }
    if let Some(holder) = claims::holder(inner, id)? {
        return failed_precondition(format!("the volume is attached to machine {holder}"));
    }
    claims::forget_stale_claim(inner, id)?;
    home::discard(&directory).or_fault("remove the volume")
}

/// What is known about the volume made under this id.
pub fn lookup(inner: &Inner, id: EffectId) -> Result<Lookup<ProvisionedVolume>, Fault> {
    Ok(find(inner, id)?.map_or(Lookup::Absent, |(_, volume)| Lookup::Present(volume)))
}

/// The volumes that are there whole. One whose image is gone is not there any more, and one that cannot be looked at makes the
/// list incomplete.
pub fn list(inner: &Inner) -> Result<Listing<ProvisionedVolume>, Fault> {
    let as_of = inner.clock.now();
    let (mut items, mut complete) = (Vec::new(), true);
    for entry in fs::read_dir(inner.home.volumes()).or_fault("list the volumes")? {
        let entry = entry.or_fault("list the volumes")?;
        let Some(Found::Thing(effect)) = home::recognise(&entry.file_name()) else { continue };
        match find(inner, effect) {
            Ok(found) => items.extend(found.map(|(_, volume)| volume)),
            Err(fault) if fault.code == FaultCode::DataLoss => (),
            Err(fault) => {
                tracing::warn!(%effect, %fault, "cannot examine a volume");
                complete = false;
            }
        }
    }
    items.sort();
    Ok(Listing { complete, as_of, items })
}

/// Whether there is a volume made under this id, whole.
pub fn exists(inner: &Inner, id: EffectId) -> Result<bool, Fault> {
    Ok(find(inner, id)?.is_some())
}

fn find(inner: &Inner, id: EffectId) -> Result<Option<(VolumeTag, ProvisionedVolume)>, Fault> {
    let damaged = |text: &str| Fault::new(FaultCode::DataLoss, text);
    let directory = inner.home.volume(id);
    match fs::symlink_metadata(&directory) {
        Ok(found) if found.is_dir() => (),
        Ok(_) => return Err(damaged("the volume's directory is not a directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).or_fault("find the volume's directory"),
    }
    let tag: Option<VolumeTag> = files::read_json(&directory.join("volume.json")).or_fault("read the volume's tag")?;
    let tag = tag.filter(|tag| tag.effect == id).ok_or_else(|| damaged("the volume's tag is missing or another's"))?;
    let image = fs::symlink_metadata(image(&directory)).ok().filter(fs::Metadata::is_file);
    let bytes = image.ok_or_else(|| damaged("the volume's image is missing"))?.len();
    if bytes < image_bytes(tag.size)? {
        return Err(damaged("the volume's image has shrunk"));
    }
    let volume = volume(&tag, bytes);
    Ok(Some((tag, volume)))
}

fn volume(tag: &VolumeTag, bytes: u64) -> ProvisionedVolume {
    let volume_id = InstanceId(format!("vol-{:.8}", tag.effect.to_string()));
    ProvisionedVolume { effect: tag.effect, volume_id, size: SizeMib(bytes / (1024 * 1024)) }
}
