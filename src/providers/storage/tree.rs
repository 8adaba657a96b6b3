//! Files and directories, reached without ever following a link.
//!
//! A path is walked part by part from an open root, each part opened relative to the one before. A link anywhere on the
//! way, whether it stood there before or was put there this instant, ends the walk. Names, once reached, are used relative
//! to the directory that was opened, so that nobody can swap it in between.

mod deep;

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, Stat},
    io::Errno,
};

use super::{AbsPath, StorageError, error::Doing};

/// All that can be reached from one directory, by absolute paths that begin there.
#[derive(Debug)]
pub struct Tree {
    root: OwnedFd,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Directory,
    File {
        bytes: u64,
        /// Whether it is ours alone: our user's, and under one name.
        is_ours: bool,
    },
    /// A link, a device, a pipe or a socket.
    Other,
}

/// No record of ours comes near this.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const UNFINISHED: &str = ".new-";

impl Tree {
    /// The tree of this machine.
    pub fn system() -> io::Result<Self> {
        Self::at(Path::new("/"))
    }

    /// A tree whose root is this directory. Paths cannot lead out of it.
    pub fn at(root: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())? })
    }

    /// A directory, as something that others can be reached from.
    pub(super) fn reach(&self, path: &AbsPath) -> Result<OwnedFd, StorageError> {
        let mut here = self.root.try_clone().doing("reach a directory")?;
        for part in path.parts() {
            here = match rustix::fs::openat(&here, part, WALK, Mode::empty()) {
                Ok(next) => next,
                Err(errno) => return Err(Self::why_not(&here, part, path, errno)),
            };
        }
        Ok(here)
    }

    fn why_not(here: &OwnedFd, part: &str, path: &AbsPath, errno: Errno) -> StorageError {
        let found = rustix::fs::statat(here, part, AtFlags::SYMLINK_NOFOLLOW).ok();
        match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
            Some(FileType::Symlink) => {
                StorageError::UnsafePath { path: path.clone(), why: "a part of it is a symbolic link" }
            }
            Some(kind) if kind != FileType::Directory => StorageError::NotADirectory { path: path.clone() },
            _ => StorageError::Io { doing: "reach a directory", source: errno.into() },
        }
    }

    /// A directory, opened for reading and syncing.
    pub(super) fn open_directory(&self, path: &AbsPath) -> Result<OwnedFd, StorageError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(self.reach(path)?, ".", flags, Mode::empty()).doing("open a directory")
    }

    /// The directory that something is in, and its name there.
    fn place<'p>(&self, path: &'p AbsPath) -> Result<(OwnedFd, &'p str), StorageError> {
        match (path.parent(), path.name()) {
            (Some(parent), Some(name)) => Ok((self.open_directory(&parent)?, name)),
            _ => Err(StorageError::UnsafePath { path: path.clone(), why: "it is the root" }),
        }
    }

    /// What is there. A missing directory on the way is nothing, too.
    pub fn look(&self, path: &AbsPath) -> Result<Found, StorageError> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(error) if is_not_found(&error) => return Ok(Found::Nothing),
            Err(error) => return Err(error),
        };
        match rustix::fs::statat(&place.0, place.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(found(&stat)),
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(errno) => Err(errno).doing("look at a path"),
        }
    }

    /// Makes a directory and those above it that are missing; one that is there is fine.
    pub fn ensure_directory(&self, path: &AbsPath, mode: Mode) -> Result<(), StorageError> {
        let mut here = self.root.try_clone().doing("reach a directory")?;
        for part in path.parts() {
            let made = match rustix::fs::mkdirat(&here, part, mode) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                // A directory that is there counts even where nothing may be made.
                Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) if stands(&here, part) => false,
                Err(errno) => return Err(errno).doing("make a directory"),
            };
            let next = match rustix::fs::openat(&here, part, WALK, Mode::empty()) {
                Ok(next) => next,
                Err(errno) => return Err(Self::why_not(&here, part, path, errno)),
            };
            if made {
                sync(&here)?;
            }
            here = next;
        }
        Ok(())
    }

    /// Refuses a path on which somebody else could put a link between our look and a command that walks it again: every
    /// directory on it has to belong to root or us, and others may write there only if they cannot rename what is ours.
    pub fn ensure_trusted(&self, path: &AbsPath) -> Result<(), StorageError> {
        let us = rustix::process::geteuid().as_raw();
        let untrusted = |why| StorageError::UnsafePath { path: path.clone(), why };
        let mut here = self.root.try_clone().doing("reach a directory")?;
        for part in path.parts() {
            let stat = rustix::fs::fstat(&here).doing("look at a directory")?;
            let is_writable = stat.st_mode & (Mode::WGRP | Mode::WOTH).as_raw_mode() != 0;
            let is_sticky = stat.st_mode & Mode::SVTX.as_raw_mode() != 0;
            if stat.st_uid != 0 && stat.st_uid != us {
                return Err(untrusted("a directory on the way belongs to another user"));
            }
            if is_writable && !is_sticky {
                return Err(untrusted("other users may change a directory on the way"));
            }
            here = match rustix::fs::openat(&here, part, WALK, Mode::empty()) {
                Ok(next) => next,
                Err(errno) => return Err(Self::why_not(&here, part, path, errno)),
            };
        }
        Ok(())
    }

    /// Whether two paths lead to one directory, as they do if one is bound to the other.
    pub fn is_same_directory(&self, one: &AbsPath, other: &AbsPath) -> Result<bool, StorageError> {
        let id = |path: &AbsPath| match self.reach(path) {
            Ok(directory) => {
                let stat = rustix::fs::fstat(&directory).doing("look at a directory")?;
                Ok(Some((stat.st_dev, stat.st_ino)))
            }
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        };
        let one = id(one)?;
        Ok(one.is_some() && one == id(other)?)
    }

    /// Whether a directory has nothing in it.
    pub fn is_empty(&self, path: &AbsPath) -> Result<bool, StorageError> {
        Ok(self.names(path)?.is_empty())
    }

    /// What a directory has in it, sorted. Names that are not UTF-8 are none of ours and are shown as such.
    pub fn names(&self, path: &AbsPath) -> Result<Vec<String>, StorageError> {
        let mut names = Vec::new();
        for entry in Dir::new(self.open_directory(path)?).doing("list a directory")? {
            let entry = entry.doing("list a directory")?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Makes an empty file for us alone; one of ours that is there is fine.
    pub fn ensure_file(&self, path: &AbsPath) -> Result<(), StorageError> {
        let (directory, name) = self.place(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(_) => sync(&directory),
            Err(Errno::EXIST) => match self.look(path)? {
                Found::File { is_ours: true, .. } => Ok(()),
                _ => Err(StorageError::UnsafePath { path: path.clone(), why: "something else is in its place" }),
            },
            Err(errno) => Err(errno).doing("make a file"),
        }
    }

    /// Reads a small file; none if nothing is there.
    pub fn read(&self, path: &AbsPath) -> Result<Option<Vec<u8>>, StorageError> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(error) if is_not_found(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&place.0, place.1, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(StorageError::BadRecord { path: path.clone() }),
            Err(errno) => return Err(errno).doing("open a file"),
        };
        if !file.metadata().doing("look at a file")?.is_file() {
            return Err(StorageError::BadRecord { path: path.clone() });
        }
        let mut content = Vec::new();
        let read = file.take(RECORD_BYTES_MAX + 1).read_to_end(&mut content).doing("read a file")?;
        if RECORD_BYTES_MAX < read as u64 {
            return Err(StorageError::BadRecord { path: path.clone() });
        }
        Ok(Some(content))
    }

    /// Puts a file in place with its whole content: a reader sees the old content or the new, also after a crash.
    pub fn write(&self, path: &AbsPath, content: &[u8], mode: Mode) -> Result<(), StorageError> {
        let (directory, name) = self.place(path)?;
        let unfinished = format!("{UNFINISHED}{name}");
        match rustix::fs::unlinkat(&directory, unfinished.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => (),
            Err(errno) => return Err(errno).doing("remove an unfinished file"),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, unfinished.as_str(), flags, mode).doing("make a file")?;
        let mut file = File::from(file);
        file.write_all(content).doing("write a file")?;
        file.sync_all().doing("sync a file")?;
        rustix::fs::renameat(&directory, unfinished.as_str(), &directory, name).doing("put a file in place")?;
        sync(&directory)
    }

    /// Removes the files that a crash left half-written in a directory. Nobody may be writing there.
    pub fn clear_unfinished(&self, directory: &AbsPath) -> Result<(), StorageError> {
        for name in self.names(directory)?.iter().filter(|name| name.starts_with(UNFINISHED)) {
            self.remove_file(&directory.join(name))?;
        }
        Ok(())
    }

    /// Gives something another name, where nothing has that name.
    pub fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), StorageError> {
        let (old, old_name) = self.place(from)?;
        let (new, new_name) = self.place(to)?;
        rustix::fs::renameat_with(&old, old_name, &new, new_name, RenameFlags::NOREPLACE).doing("rename a file")?;
        sync(&new)?;
        sync(&old)
    }

    /// Removes a file or link, not what it leads to. Says whether there was one.
    pub fn remove_file(&self, path: &AbsPath) -> Result<bool, StorageError> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(error) if is_not_found(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        match rustix::fs::unlinkat(&place.0, place.1, AtFlags::empty()) {
            Ok(()) => sync(&place.0).map(|()| true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno).doing("remove a file"),
        }
    }

    /// Removes a directory that is empty; one that is not there is fine.
    pub fn remove_empty_directory(&self, path: &AbsPath) -> Result<(), StorageError> {
        let (directory, name) = self.place(path)?;
        match rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR) {
            Ok(()) => sync(&directory),
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno).doing("remove a directory"),
        }
    }

    /// Removes a directory with all that is in it, following no links and entering no other filesystem.
    pub fn remove_directory(&self, path: &AbsPath) -> Result<(), StorageError> {
        let (directory, name) = match self.place(path) {
            Ok(place) => place,
            Err(error) if is_not_found(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let device = rustix::fs::fstat(&directory).doing("look at a directory")?.st_dev;
        deep::remove_all(&directory, name.as_bytes(), device, 0)?;
        sync(&directory)
    }

    /// The bytes that may still be written to the filesystem that a directory is on.
    pub fn bytes_free(&self, path: &AbsPath) -> Result<u64, StorageError> {
        let stat = rustix::fs::fstatvfs(self.open_directory(path)?).doing("ask for free space")?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// The bytes that a directory and all that is in it take; links are not followed, other filesystems not entered.
    pub fn bytes_used(&self, path: &AbsPath) -> Result<u64, StorageError> {
        let directory = self.open_directory(path)?;
        let device = rustix::fs::fstat(&directory).doing("look at a directory")?.st_dev;
        deep::used(&directory, device, 0)
    }

    /// Puts a link in place; one that is there and leads to the same is fine.
    pub fn ensure_link(&self, path: &AbsPath, target: &AbsPath) -> Result<(), StorageError> {
        let (directory, name) = self.place(path)?;
        match rustix::fs::symlinkat(target.as_str(), &directory, name) {
            Ok(()) => sync(&directory),
            Err(Errno::EXIST) if self.is_link_to(path, target)? => Ok(()),
            Err(Errno::EXIST) => Err(StorageError::NotEmpty { path: path.clone() }),
            Err(errno) => Err(errno).doing("make a link"),
        }
    }

    /// Whether there is a link that leads exactly there.
    pub fn is_link_to(&self, path: &AbsPath, target: &AbsPath) -> Result<bool, StorageError> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(error) if is_not_found(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let found = rustix::fs::readlinkat(&place.0, place.1, Vec::new());
        Ok(found.is_ok_and(|found| found.to_bytes() == target.as_str().as_bytes()))
    }
}

fn found(stat: &Stat) -> Found {
    let us = rustix::process::geteuid().as_raw();
    match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::Directory => Found::Directory,
        FileType::RegularFile => Found::File {
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            is_ours: stat.st_uid == us && stat.st_nlink == 1,
        },
        _ => Found::Other,
    }
}

fn stands(here: &OwnedFd, part: &str) -> bool {
    rustix::fs::statat(here, part, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Makes a change of names in a directory durable.
fn sync(directory: &impl AsFd) -> Result<(), StorageError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(directory, ".", flags, Mode::empty()).doing("open a directory")?;
    rustix::fs::fsync(directory).doing("sync a directory")
}

fn is_not_found(error: &StorageError) -> bool {
    matches!(error, StorageError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn path(text: &str) -> AbsPath {
        text.parse().unwrap()
    }

    #[test]
    fn no_link_is_followed_wherever_it_stands() {
        let (scratch, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("precious"), "1").unwrap();
        fs::create_dir(scratch.path().join("real")).unwrap();
        symlink(outside.path(), scratch.path().join("link")).unwrap();
        symlink(outside.path().join("precious"), scratch.path().join("real/file")).unwrap();
        symlink("../../../../../..", scratch.path().join("real/up")).unwrap();
        let tree = Tree::at(scratch.path()).unwrap();
        for to in ["/link/precious", "/real/up/etc/passwd", "/link/new", "/real/up/tmp/x"] {
            assert!(tree.look(&path(to)).is_err(), "{to}");
            assert!(tree.read(&path(to)).is_err(), "{to}");
            assert!(tree.write(&path(to), b"2", Mode::RUSR).is_err(), "{to}");
            assert!(tree.remove_file(&path(to)).is_err(), "{to}");
            assert!(tree.remove_directory(&path(to)).is_err(), "{to}");
            assert!(tree.ensure_directory(&path(to), Mode::RWXU).is_err(), "{to}");
            assert!(tree.ensure_file(&path(to)).is_err(), "{to}");
        }
        assert_eq!(tree.look(&path("/real/file")).unwrap(), Found::Other);
        assert!(tree.read(&path("/real/file")).is_err());
        assert!(tree.ensure_file(&path("/real/file")).is_err());
        tree.write(&path("/real/file"), b"mine", Mode::RUSR).unwrap();
        tree.remove_directory(&path("/real")).unwrap();
        tree.remove_directory(&path("/link")).unwrap();
        assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "1");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_others_may_change_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().unwrap();
        let tree = Tree::at(scratch.path()).unwrap();
        fs::create_dir_all(scratch.path().join("open/mine")).unwrap();
        let mode = |mode| fs::set_permissions(scratch.path().join("open"), fs::Permissions::from_mode(mode)).unwrap();
        for (bits, trusted) in [(0o755, true), (0o777, false), (0o775, false), (0o1777, true)] {
            mode(bits);
            assert_eq!(tree.ensure_trusted(&path("/open/mine")).is_ok(), trusted, "{bits:o}");
        }
    }

    #[test]
    fn a_record_is_whole_small_and_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let tree = Tree::at(scratch.path()).unwrap();
        fs::write(scratch.path().join(".new-x"), "torn").unwrap();
        tree.write(&path("/x"), b"one", Mode::RUSR).unwrap();
        tree.write(&path("/x"), b"two", Mode::RUSR).unwrap();
        assert_eq!(tree.read(&path("/x")).unwrap().unwrap(), b"two");
        assert_eq!(tree.read(&path("/y/z")).unwrap(), None);
        File::create(scratch.path().join("giant")).unwrap().set_len(RECORD_BYTES_MAX + 1).unwrap();
        assert!(tree.read(&path("/giant")).is_err());
        assert_eq!(tree.names(&path("/")).unwrap(), ["giant", "x"]);
    }
}
