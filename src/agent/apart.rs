//! Workloads that run as a user of their own.
//!
//! That user gets to its workload's directory, to the storage that the workload uses and to nothing else that is a node's: the
//! directories that lead there can be entered by its group and listed by nobody but their owner, and what lies beside them is
//! closed. So a workload can neither read a token or the node's key, nor open a socket of the node, nor signal the node or an
//! agent.

use std::{
    ffi::CString,
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, openat, statat};

use super::user::WorkloadUser;

/// Directories within directories: a tree that is deeper is not gone through.
const DEPTH_MAX: usize = 128;

/// A volume's image or device, or where a filesystem is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lent {
    pub path: PathBuf,
    pub read_only: bool,
}

/// Whom workloads run as, and where everything of the node lies.
#[derive(Clone, Debug)]
pub struct Apart {
    pub user: WorkloadUser,
    pub data_dir: PathBuf,
    /// Where the machine's volumes are linked.
    pub volumes: PathBuf,
}

impl Apart {
    /// Hands a workload's directory and storage over to the user. Blocks.
    pub(super) fn hand_over(&self, work: &Path, storage: &[Lent]) -> io::Result<()> {
        let data_dir = self.data_dir.canonicalize()?;
        let work = work.canonicalize()?;
        self.user.let_through(&data_dir, &work)?;
        self.user.give(&work)?;
        self.user.let_in(&self.volumes)?;
        for lent in storage {
            // What is attached is found through a link in the machine's directory.
            let path = lent.path.canonicalize()?;
            self.user.let_through(&data_dir, &path)?;
            let found = fs::symlink_metadata(&path)?;
            match lent.read_only {
                // A device stays the node's: the next volume under its number would be open to this user as well.
                _ if !found.is_file() && !found.is_dir() => (),
                false => self.user.give(&path)?,
                true if found.is_file() => self.user.let_read(&path)?,
                true => (),
            }
        }
        Ok(())
    }
}

impl WorkloadUser {
    /// This command runs as this user, in no further groups.
    pub(crate) fn run(self, command: &mut Command) {
        // The standard library drops all other groups where it changes the user and may.
        command.gid(self.gid).uid(self.uid);
    }

    /// The first directory on the way to this one, itself included, that this user cannot enter.
    ///
    /// # Errors
    /// If one of them cannot be examined.
    pub(crate) fn stopped_at(self, path: &Path) -> io::Result<Option<&Path>> {
        let mut way: Vec<&Path> = path.ancestors().filter(|on_it| !on_it.as_os_str().is_empty()).collect();
        way.reverse();
        for directory in way {
            if !self.may_enter(&fs::metadata(directory)?) {
                return Ok(Some(directory));
            }
        }
        Ok(None)
    }

    fn may_enter(self, found: &Metadata) -> bool {
        let bit = match (found.uid() == self.uid, found.gid() == self.gid) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        found.mode() & bit != 0
    }

    /// From now on this user may enter a directory; to list it stays its owner's.
    ///
    /// # Errors
    /// If it is no directory, or cannot be changed.
    pub(crate) fn let_in(self, directory: &Path) -> io::Result<()> {
        let directory = open(directory, OFlags::DIRECTORY)?;
        let found = directory.metadata()?;
        if self.may_enter(&found) {
            return Ok(());
        }
        let mode = found.mode() & 0o7777;
        if found.gid() == self.gid {
            return directory.set_permissions(Permissions::from_mode(mode | 0o010));
        }
        if mode & 0o070 != 0 {
            // Its group has a use of its own, which must not be taken away.
            return directory.set_permissions(Permissions::from_mode(mode | 0o001));
        }
        fchown(&directory, None, Some(self.gid))?;
        directory.set_permissions(Permissions::from_mode(mode | 0o010))
    }

    /// The same for everything between one directory and what is below it.
    ///
    /// # Errors
    /// As [`let_in`](Self::let_in).
    pub(crate) fn let_through(self, from: &Path, to: &Path) -> io::Result<()> {
        let between = to.ancestors().skip(1).take_while(|on_the_way| on_the_way.starts_with(from));
        between.into_iter().try_for_each(|directory| self.let_in(directory))
    }

    /// From now on this user may read a file, and nobody else but its owner.
    ///
    /// # Errors
    /// If it is no regular file, or cannot be changed.
    pub(crate) fn let_read(self, file: &Path) -> io::Result<()> {
        let file = open_file(file)?;
        fchown(&file, Some(0), Some(self.gid))?;
        file.set_permissions(Permissions::from_mode(0o640))
    }

    /// From now on this file is this user's, or this directory with everything in it, as far as its filesystem goes.
    ///
    /// A directory that is this user's already is not gone through again: it became so after all that is in it. Links and
    /// devices in it stay whose they are.
    ///
    /// # Errors
    /// If it is neither, cannot be changed, or is too deep.
    pub(crate) fn give(self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path)?.is_file() {
            return fchown(open_file(path)?, Some(self.uid), Some(self.gid));
        }
        let root = open(path, OFlags::DIRECTORY)?;
        let found = root.metadata()?;
        if found.uid() == self.uid {
            return Ok(());
        }
        self.give_content(root.as_fd().try_clone_to_owned()?, found.dev(), 0)?;
        fchown(&root, Some(self.uid), Some(self.gid))
    }

    fn give_content(self, directory: OwnedFd, device: u64, depth: usize) -> io::Result<()> {
        if depth == DEPTH_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "too many directories within directories"));
        }
        for entry in Dir::read_from(&directory)? {
            let name: CString = entry?.file_name().to_owned();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let found = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = FileType::from_raw_mode(found.st_mode);
            if found.st_dev != device || !matches!(kind, FileType::RegularFile | FileType::Directory) {
                continue;
            }
            if kind == FileType::Directory {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                self.give_content(openat(&directory, &name, flags, Mode::empty())?, device, depth + 1)?;
            }
            let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
            chownat(&directory, &name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(())
    }
}

fn open(path: &Path, kind: OFlags) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | kind;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn open_file(path: &Path) -> io::Result<File> {
    let file = open(path, OFlags::empty())?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
    }
}
