//! Whether anything but zeros was ever written to a device.
//!
//! No sampling: a byte counts as zero only if it was read as zero, or if the kernel says that nobody ever wrote the part of
//! the file that it is in. Only the file behind a loop device can say that. Source: lseek(2), `SEEK_DATA`; a filesystem that
//! cannot tell calls the whole file data, and then all of it is read.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
};

use rustix::{
    fs::{Advice, Mode, OFlags, SeekFrom},
    io::Errno,
};

use super::{
    AbsPath, DeviceName, Sight, StorageError, Tree,
    attribute::{attribute, block_class},
    error::Doing,
};

/// So much is read at a time.
const CHUNK: u64 = 1024 * 1024;

/// The place of the first byte from `from` on that is not zero; none if there is none up to `bytes`.
///
/// `behind` is the file that the device shows from its beginning, if it is known: what was never written there is not read.
pub(super) fn first_written(file: &File, behind: Option<&File>, from: u64, bytes: u64) -> io::Result<Option<u64>> {
    let mut chunk = vec![0; CHUNK.min(bytes.saturating_sub(from)) as usize];
    let mut at = from;
    while let Some((start, end)) = next_data(behind, at, bytes)? {
        at = start;
        while at < end {
            let part = &mut chunk[..CHUNK.min(end - at) as usize];
            file.read_exact_at(part, at)?;
            if let Some(place) = part.iter().position(|byte| *byte != 0) {
                return Ok(Some(at + place as u64));
            }
            at += part.len() as u64;
        }
    }
    Ok(None)
}

/// The next part that has to be read.
fn next_data(behind: Option<&File>, at: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if bytes <= at {
        return Ok(None);
    }
    let Some(behind) = behind else { return Ok(Some((at, bytes))) };
    let start = match rustix::fs::seek(behind, SeekFrom::Data(at)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // It cannot tell.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => at,
        Err(errno) => return Err(errno.into()),
    };
    let end = rustix::fs::seek(behind, SeekFrom::Hole(start)).unwrap_or(bytes);
    Ok(Some((start, end.min(bytes))).filter(|(start, _)| *start < bytes))
}

/// Brings everything that was written to a device to where it is kept, and forgets what was read of it before, so that
/// neither the file behind it nor an old copy in memory hides anything.
pub(super) fn settle(device: &File) -> io::Result<()> {
    device.sync_all()?;
    Ok(rustix::fs::fadvise(device, 0, None, Advice::DontNeed)?)
}

/// The file behind a loop device, if it is certain that this is it and that nobody else can put another in its place.
pub(super) fn behind(sight: &impl Sight, device: &DeviceName, bytes: u64) -> Result<Option<File>, StorageError> {
    let super::Seen::It(shown) = sight.loop_file(device)? else { return Ok(None) };
    let offset = attribute(&block_class(device).join("loop/offset"))?;
    let Ok(path) = shown.path.parse::<AbsPath>() else { return Ok(None) };
    let is_safe = Tree::system().doing("open the root directory")?.ensure_trusted(&path_above(&path)).is_ok();
    if offset.as_deref() != Some("0") || !is_safe {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path.as_str(), flags, Mode::empty()).map(File::from) else { return Ok(None) };
    let found = file.metadata().doing("look at a file")?;
    let is_ours = found.is_file()
        && found.uid() == rustix::process::geteuid().as_raw()
        && found.nlink() == 1
        && bytes <= found.len();
    // Whoever moved it meanwhile has changed what the kernel calls it.
    let is_still_shown = sight.loop_file(device)? == super::Seen::It(shown);
    Ok(Some(file).filter(|_| is_ours && is_still_shown))
}

fn path_above(path: &AbsPath) -> AbsPath {
    path.parent().unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 20] = [
        1 << 20,
        (1 << 20) + 512,
        3 << 19,
        2 << 20,
        3 << 20,
        (4 << 20) - 512,
        5 << 20,
        7 << 20,
        8 << 20,
        (8 << 20) + 4_096,
        13 << 20,
        16 << 20,
        21 << 20,
        32 << 20,
        33 << 20,
        (64 << 20) - 4_096,
        100 << 20,
        256 << 20,
        1 << 30,
        3 << 30,
    ];

    /// One number after the other that looks like chance and is the same in every run.
    fn number(n: u64) -> u64 {
        u64::from_le_bytes(blake3::hash(&n.to_le_bytes()).as_bytes()[..8].try_into().unwrap())
    }

    #[test]
    #[ignore = "takes long"]
    fn each_of_a_thousand_single_bytes_is_found_on_devices_of_many_sizes() {
        for (nth, bytes) in SIZES.into_iter().enumerate() {
            let file = tempfile::tempfile().unwrap();
            file.set_len(bytes).unwrap();
            for byte in 0..50 {
                let dice = number(nth as u64 * 1_000 + byte);
                let (at, value) = (dice % bytes, (dice >> 56) as u8 | 1);
                file.write_all_at(&[value], at).unwrap();
                assert_eq!(first_written(&file, Some(&file), 0, bytes).unwrap(), Some(at), "{at} of {bytes}");
                if bytes <= 8 << 20 {
                    assert_eq!(first_written(&file, None, 0, bytes).unwrap(), Some(at), "{at} of {bytes}, all read");
                }
                file.write_all_at(&[0], at).unwrap();
            }
            assert_eq!(first_written(&file, Some(&file), 0, bytes).unwrap(), None, "{bytes}");
        }
    }

    #[test]
    fn what_was_never_written_is_not_read() {
        let (device, behind) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        behind.set_len(1 << 40).unwrap();
        behind.write_all_at(b"x", 1 << 39).unwrap();
        // The device is empty: reading any other part of it would fail.
        device.set_len((1 << 39) + (1 << 20)).unwrap();
        assert_eq!(first_written(&device, Some(&behind), 0, 1 << 40).unwrap(), None);
    }
}
