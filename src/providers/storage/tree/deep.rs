//! Going down a tree of directories, each opened relative to the one above.

use std::{io, os::fd::OwnedFd};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode},
    io::Errno,
};

use crate::providers::storage::{StorageError, error::Doing};

/// Deeper trees than this are left alone: nobody makes them by accident.
const DEPTH_MAX: usize = 200;

fn too_deep() -> StorageError {
    StorageError::Io { doing: "go down a tree of directories", source: io::Error::other("it is too deep") }
}

/// Removes something with all that is in it.
pub(super) fn remove_all(directory: &OwnedFd, name: &[u8], device: u64, depth: usize) -> Result<(), StorageError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inside = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(inside) => inside,
        Err(Errno::NOENT) => return Ok(()),
        // A link, a file, a pipe: only the name goes.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(errno) => Err(errno).doing("remove a file"),
            };
        }
        Err(errno) => return Err(errno).doing("open a directory"),
    };
    if rustix::fs::fstat(&inside).doing("look at a directory")?.st_dev != device {
        return Err(StorageError::Io {
            doing: "remove a directory",
            source: io::Error::other("something is mounted in it"),
        });
    }
    if DEPTH_MAX < depth {
        return Err(too_deep());
    }
    for entry in entries(&inside)? {
        remove_all(&inside, &entry, device, depth + 1)?;
    }
    match rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno).doing("remove a directory"),
    }
}

fn entries(directory: &OwnedFd) -> Result<Vec<Vec<u8>>, StorageError> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).doing("list a directory")? {
        let name = entry.doing("list a directory")?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// The bytes that everything in a directory takes.
pub(super) fn used(directory: &OwnedFd, device: u64, depth: usize) -> Result<u64, StorageError> {
    if DEPTH_MAX < depth {
        return Err(too_deep());
    }
    let mut bytes = 0u64;
    for name in entries(directory)? {
        let stat = match rustix::fs::statat(directory, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno).doing("look at a file"),
        };
        bytes = bytes.saturating_add(u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512));
        if FileType::from_raw_mode(stat.st_mode as RawMode) != FileType::Directory || stat.st_dev != device {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(inside) = rustix::fs::openat(directory, name.as_slice(), flags, Mode::empty()) {
            bytes = bytes.saturating_add(used(&inside, device, depth + 1)?);
        }
    }
    Ok(bytes)
}
