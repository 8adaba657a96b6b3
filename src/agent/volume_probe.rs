//! Whether an attached volume can be used.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::fs::OFlags;

use super::finding::Finding;
use crate::api::wire::agent::AttachedVolume;

/// The write probe syncs a disk, so it runs only this often; the image is looked at every time.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// Within this time the node tells of a detachment: an agent asks it every two seconds.
const TOLD_WITHIN: Duration = Duration::from_secs(6);

/// The file beside the image that the probe writes.
const PROBE: &str = "probe";

/// The probe of one volume.
#[derive(Debug, Default)]
pub struct VolumeProbe {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The image's size when it was first opened.
    size: Option<u64>,
    /// When the node has told of the detachment, if its directory is gone for that.
    told_by: Option<Instant>,
    /// When the write probe last succeeded; none after any failure, so that the next run writes again.
    written: Option<Instant>,
}

impl VolumeProbe {
    /// Opens the image as a workload would, compares its size with the first one seen, and, unless it is read-only,
    /// writes, syncs and reads a file beside it. The image's content is never touched.
    pub fn run(&self, machine: &Path, volume: &AttachedVolume) -> Finding {
        if let Ok(name) = volume.path.strip_prefix("/dev") {
            return look_at_device(&Path::new("/sys/class/block").join(name.file_name().unwrap_or_default()));
        }
        let expected = machine.join("volumes").join(volume.name.as_str());
        if volume.path.parent() != Some(&expected) {
            return Finding::unhealthy("its path is not inside this machine");
        }
        if self.is_leaving(&expected) {
            return Finding::untold();
        }
        match self.look(volume) {
            Ok(()) if volume.read_only => Finding::healthy("the image can be opened"),
            Ok(()) => Finding::healthy("the image can be opened and the volume can be written"),
            // What the machines of a host share is told of as `HostDiskPressure`.
            Err((_, error)) if error.kind() == io::ErrorKind::StorageFull => Finding::untold(),
            Err((what, error)) => Finding::unhealthy(format_args!("{what}: {error}")),
        }
    }

    /// Whether its directory has just gone: a volume is detached before the node says so.
    fn is_leaving(&self, directory: &Path) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if directory.try_exists().unwrap_or(true) {
            seen.told_by = None;
            return false;
        }
        let now = Instant::now();
        seen.size.is_some() && now < *seen.told_by.get_or_insert(now + TOLD_WITHIN)
    }

    fn look(&self, volume: &AttachedVolume) -> Result<(), (&'static str, io::Error)> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let written = seen.written.take();
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let image = OpenOptions::new()
            .read(true)
            .write(!volume.read_only)
            .custom_flags(flags.bits() as i32)
            .open(&volume.path)
            .map_err(|error| ("cannot open the image", error))?;
        let size = image.metadata().map_err(|error| ("cannot look at the image", error))?.len();
        if size != *seen.size.get_or_insert(size) {
            return Err(("the image has changed its size", io::Error::from(io::ErrorKind::InvalidData)));
        }
        let fresh = written.filter(|written| written.elapsed() < WRITE_EVERY);
        if fresh.is_none() && !volume.read_only {
            write_probe(&volume.path.with_file_name(PROBE)).map_err(|error| ("the write probe failed", error))?;
        }
        seen.written = fresh.or_else(|| Some(Instant::now()));
        Ok(())
    }
}

/// A block device of the machine's own: it belongs to whoever formats it, so it is neither opened nor written here.
/// One over a file is lost with that file, though the kernel keeps it for as long as the device is there.
fn look_at_device(class: &Path) -> Finding {
    if std::fs::read_to_string(class.join("loop/backing_file"))
        .is_ok_and(|file| file.trim_end().ends_with(" (deleted)"))
    {
        return Finding::unhealthy("the device's file was deleted: what is on it is lost when it is detached");
    }
    match std::fs::read_to_string(class.join("size")).map(|size| size.trim().parse::<u64>()) {
        Ok(Ok(0)) => Finding::unhealthy("the device has no size"),
        Ok(Ok(_)) => Finding::healthy("the device exists"),
        Ok(Err(error)) => Finding::unhealthy(format_args!("the device's size cannot be read: {error}")),
        Err(error) => Finding::unhealthy(format_args!("the device is missing: {error}")),
    }
}

fn write_probe(path: &Path) -> io::Result<()> {
    let content = uuid::Uuid::new_v4().to_string();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_data()?;
    drop(file);
    let mut back = String::new();
    File::open(path)?.take(1024).read_to_string(&mut back)?;
    if back == content { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "read back something else")) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn volume(machine: &Path, read_only: bool) -> AttachedVolume {
        let directory = machine.join("volumes/data");
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("disk.img");
        File::create(&path).unwrap().set_len(4096).unwrap();
        AttachedVolume { name: "data".parse().unwrap(), path, read_only }
    }

    #[test]
    fn a_volume_is_written_beside_its_image_only() {
        let machine = tempfile::tempdir().unwrap();
        let volume = volume(machine.path(), false);
        let probe = VolumeProbe::default();
        assert!(probe.run(machine.path(), &volume).is_healthy());
        assert!(volume.path.with_file_name(PROBE).exists());
        assert_eq!(fs::read(&volume.path).unwrap(), vec![0; 4096]);
    }

    #[test]
    fn a_vanished_shrunk_or_unwritable_volume_is_unhealthy_until_it_is_back() {
        let machine = tempfile::tempdir().unwrap();
        let volume = volume(machine.path(), false);
        let probe = VolumeProbe::default();
        assert!(probe.run(machine.path(), &volume).is_healthy());
        File::create(&volume.path).unwrap();
        assert!(!probe.run(machine.path(), &volume).is_healthy());
        File::create(&volume.path).unwrap().set_len(4096).unwrap();
        assert!(probe.run(machine.path(), &volume).is_healthy());
        fs::remove_file(&volume.path).unwrap();
        let gone = probe.run(machine.path(), &volume);
        assert_eq!(gone, probe.run(machine.path(), &volume), "the text stays the same");
        assert!(!gone.is_healthy());
        File::create(&volume.path).unwrap().set_len(4096).unwrap();
        let beside = volume.path.with_file_name(PROBE);
        fs::remove_file(&beside).unwrap();
        fs::create_dir(&beside).unwrap();
        assert!(!probe.run(machine.path(), &volume).is_healthy());
        fs::remove_dir(&beside).unwrap();
        assert!(probe.run(machine.path(), &volume).is_healthy());
    }

    #[test]
    fn a_volume_that_has_just_left_is_not_told_of() {
        // Given a volume that was there
        let machine = tempfile::tempdir().unwrap();
        let volume = volume(machine.path(), false);
        let probe = VolumeProbe::default();
        File::create(&volume.path).unwrap().set_len(4096).unwrap();
        assert!(probe.run(machine.path(), &volume).is_healthy());
        // When it is detached, before the node says so; then nothing is said, and of one that never came it is.
        fs::remove_dir_all(volume.path.parent().unwrap()).unwrap();
        assert_eq!(probe.run(machine.path(), &volume).healthy, None);
        assert_eq!(VolumeProbe::default().run(machine.path(), &volume).healthy, Some(false));
    }

    #[test]
    fn a_loop_device_whose_file_is_gone_is_unhealthy() {
        // Given a device as the kernel shows it
        let class = tempfile::tempdir().unwrap();
        fs::create_dir(class.path().join("loop")).unwrap();
        fs::write(class.path().join("size"), "8192\n").unwrap();
        let look = |file: &str| {
            fs::write(class.path().join("loop/backing_file"), file).unwrap();
            look_at_device(class.path()).is_healthy()
        };
        // Then it is as well as its file is there
        assert!(look("/srv/volumes/volume-1\n"));
        assert!(!look("/srv/volumes/volume-1 (deleted)\n"));
    }

    #[test]
    fn a_read_only_volume_is_not_written() {
        let machine = tempfile::tempdir().unwrap();
        let volume = volume(machine.path(), true);
        assert!(VolumeProbe::default().run(machine.path(), &volume).is_healthy());
        assert!(!volume.path.with_file_name(PROBE).exists());
    }

    #[test]
    fn a_path_outside_of_the_machine_is_not_touched() {
        let (machine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let volume = volume(other.path(), false);
        assert!(!VolumeProbe::default().run(machine.path(), &volume).is_healthy());
        assert!(!volume.path.with_file_name(PROBE).exists());
    }
}
