//! Workloads that run as a user of their own.
//!
//! That user gets to its workload's directory, to the storage that the workload uses and to nothing else that is a node's: the
//! directories that lead there can be entered by its group and listed by nobody but their owner, and what lies beside them is
//! closed. So a workload can neither read a token or the node's key, nor open a socket of the node, nor signal the node or an
//! agent.

use std::{
    ffi::CString,
    fs::{self, File, Metadata, Permissions},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            fs::{MetadataExt, PermissionsExt, fchown},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, openat, statat};

use super::{files::open_without_links, user::WorkloadUser};

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
            // What is attached is found through a link in the machine's directory, which no workload can change.
            let path = lent.path.canonicalize()?;
            // What is not the node's is nobody's to give: a device, which the next volume under its number would be, too, or
            // whatever else a provider names.
            if !path.starts_with(&data_dir) {
                continue;
            }
            self.user.let_through(&data_dir, &path)?;
            match lent.read_only {
                false => self.user.give(&path)?,
                true if path.is_file() => self.user.let_read(&path)?,
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
        let directory = open_without_links(directory, OFlags::DIRECTORY)?;
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
        let root = open_without_links(path, OFlags::empty())?;
        let found = root.metadata()?;
        if found.is_file() {
            return fchown(&root, Some(self.uid), Some(self.gid));
        }
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

fn open_file(path: &Path) -> io::Result<File> {
    let file = open_without_links(path, OFlags::empty())?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink};

    use super::*;

    const USER: WorkloadUser = WorkloadUser { uid: 64_990, gid: 64_991 };

    /// Only root can give anything to anybody; where `BAILIWICK_CI` is set, nobody else may run this.
    fn is_root() -> bool {
        let is_root = rustix::process::geteuid().is_root();
        if !is_root {
            assert!(std::env::var_os("BAILIWICK_CI").is_none(), "only root can try this");
            writeln!(io::stderr().lock(), "NOT TESTED FOR REAL: only root can give files to another user").unwrap();
        }
        is_root
    }

    fn owner(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().uid()
    }

    #[test]
    fn what_is_given_is_what_lies_there_and_not_where_links_lead() {
        if !is_root() {
            return;
        }
        // given a filesystem that root wrote to, with a link out of it, and one on the way to another
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("data/files/deep/er")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        for file in ["data/files/one", "data/files/deep/er/two", "outside/precious", "data/closed"] {
            fs::write(at(file), "1").unwrap();
        }
        symlink(at("outside"), at("data/files/deep/link")).unwrap();
        symlink(at("outside"), at("data/elsewhere")).unwrap();
        fs::create_dir_all(at("data/work")).unwrap();
        let apart = Apart { user: USER, data_dir: at("data"), volumes: at("data/work") };
        let lent = |name: &str, read_only| Lent { path: at(name), read_only };
        // when it is handed over, with what is not the node's, and twice
        let all = [lent("data/files", false), lent("outside", false), lent("data/elsewhere", false)];
        apart.hand_over(&at("data/work"), &all).unwrap();
        apart.hand_over(&at("data/work"), &all).unwrap();
        // then all of it is the user's, and nothing else
        for given in ["data/files", "data/files/one", "data/files/deep/er/two", "data/work"] {
            assert_eq!(owner(&at(given)), USER.uid, "{given}");
        }
        for kept in ["outside", "outside/precious", "data", "data/closed", "data/files/deep/link"] {
            assert_eq!(owner(&at(kept)), 0, "{kept}");
        }
        // A link in the place of a directory is not followed, whoever put it there meanwhile.
        assert!(USER.give(&at("data/elsewhere/precious")).is_err());
        assert!(USER.let_in(&at("data/elsewhere")).is_err());
        assert_eq!(owner(&at("outside/precious")), 0);
        // What may only be read is nobody's to write.
        apart.hand_over(&at("data/work"), &[lent("data/files/one", true)]).unwrap();
        let read_only = fs::metadata(at("data/files/one")).unwrap();
        assert_eq!((read_only.uid(), read_only.gid(), read_only.mode() & 0o777), (0, USER.gid, 0o640));
    }

    #[test]
    fn who_cannot_enter_a_directory_on_the_way_is_told_which() {
        let scratch = tempfile::tempdir().unwrap();
        let closed = scratch.path().canonicalize().unwrap().join("closed");
        fs::create_dir_all(closed.join("below")).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(closed.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(USER.stopped_at(&closed.join("below")).unwrap(), Some(closed.as_path()));
        fs::set_permissions(&closed, Permissions::from_mode(0o711)).unwrap();
        assert_eq!(USER.stopped_at(&closed.join("below")).unwrap(), None);
    }
}
