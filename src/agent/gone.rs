//! Whether a machine still has its directory.
//!
//! Nobody finds an agent again whose directory is gone: no node lists it, none ends it. So it ends by itself; but only when
//! it is certain. A file that was removed has no name any more, and whoever holds it open sees that (`st_nlink` is 0),
//! whatever is at its path by then: the directory of a later attempt at the same machine has the same path. A directory
//! that was moved away may be on its way back, so it is waited for; one that cannot be read now says nothing.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    time::Duration,
};

use rustix::{fs::OFlags, process::Signal};
use tokio::time::sleep;

use super::{
    directory::{HeldLock, MachineDir, Presence},
    group,
};

/// How often it is looked.
const PAUSE: Duration = Duration::from_secs(1);

/// A directory that is not at its path on so many looks in a row is given up.
const MISSING_MAX: u32 = 10;

/// Why the machine is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    Removed,
    Moved,
}

/// What one look has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    There,
    /// The directory or its lock has no name any more.
    Removed,
    /// Both still have a name somewhere, and at the directory's path is nothing, or another one.
    Missing,
    /// It cannot be read, which says nothing of whether it is there.
    Unreadable,
}

/// The directory of a machine, as its agent holds it.
#[derive(Debug)]
pub(super) struct Hold<'a> {
    directory: &'a MachineDir,
    opened: File,
    lock: &'a HeldLock,
    missing: u32,
}

impl<'a> Hold<'a> {
    /// Holds a directory whose lock is held.
    pub(super) fn of(directory: &'a MachineDir, lock: &'a HeldLock) -> io::Result<Self> {
        let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(directory.path())?;
        Ok(Self { directory, opened, lock, missing: 0 })
    }

    /// Waits until it is certain that the directory is gone.
    pub(super) async fn gone(mut self) -> Gone {
        loop {
            if let Some(gone) = self.take_in(self.look()) {
                return gone;
            }
            sleep(PAUSE).await;
        }
    }

    fn look(&self) -> Seen {
        // The lock as well: a directory that somebody is writing into may be emptied and stay.
        let (Ok(opened), Ok(lock)) = (self.opened.metadata(), self.lock.file().metadata()) else {
            return Seen::Unreadable;
        };
        if opened.nlink() == 0 || lock.nlink() == 0 {
            return Seen::Removed;
        }
        match fs::symlink_metadata(self.directory.lock()) {
            Ok(named) if (named.dev(), named.ino()) == (lock.dev(), lock.ino()) => Seen::There,
            Ok(_) => Seen::Missing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Seen::Missing,
            Err(_) => Seen::Unreadable,
        }
    }

    fn take_in(&mut self, seen: Seen) -> Option<Gone> {
        self.missing = if seen == Seen::Missing { self.missing + 1 } else { 0 };
        match seen {
            Seen::Removed => Some(Gone::Removed),
            Seen::Missing if self.missing >= MISSING_MAX => Some(Gone::Moved),
            Seen::Missing | Seen::There | Seen::Unreadable => None,
        }
    }
}

impl Gone {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "the machine's directory was removed",
            Self::Moved => "the machine's directory was moved away and did not come back",
        }
    }
}

/// Ends what left the workloads' groups, as the node does when it deletes a machine: no node will find it here.
pub(super) fn end_rest(directory: &MachineDir) {
    // What another agent runs in a new directory at the same path looks the same.
    if !matches!(directory.presence(), Ok(Presence::Absent)) {
        return;
    }
    for process in group::survivors(directory).unwrap_or_default() {
        if process.pid != std::process::id() {
            let _ = process.signal(Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_actors::vocab::EffectId;

    use super::*;

    /// A machine's directory with its lock, in a scratch directory.
    fn machine(scratch: &tempfile::TempDir) -> MachineDir {
        let directory = MachineDir::new(scratch.path().join("machine"), EffectId(uuid::Uuid::from_u128(1)));
        fs::create_dir(directory.path()).unwrap();
        fs::write(directory.lock(), "").unwrap();
        directory
    }

    #[test]
    fn what_was_removed_is_gone_at_once_whatever_is_in_its_place() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = machine(&scratch);
        let lock = directory.try_lock().unwrap().expect("nobody else holds it");
        let mut hold = Hold::of(&directory, &lock).unwrap();
        assert_eq!(hold.take_in(hold.look()), None);
        fs::remove_dir_all(directory.path()).unwrap();
        let _later = machine(&scratch);
        assert_eq!(hold.take_in(hold.look()), Some(Gone::Removed));
    }

    #[test]
    fn a_directory_without_its_lock_is_gone_although_somebody_still_writes_there() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = machine(&scratch);
        let lock = directory.try_lock().unwrap().expect("nobody else holds it");
        let mut hold = Hold::of(&directory, &lock).unwrap();
        fs::write(directory.path().join("written"), "").unwrap();
        fs::remove_file(directory.lock()).unwrap();
        assert_eq!(hold.take_in(hold.look()), Some(Gone::Removed));
    }

    #[test]
    fn what_was_moved_away_may_come_back_for_a_while() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = machine(&scratch);
        let lock = directory.try_lock().unwrap().expect("nobody else holds it");
        let mut hold = Hold::of(&directory, &lock).unwrap();
        let aside = scratch.path().join("aside");
        fs::rename(directory.path(), &aside).unwrap();
        for _ in 1..MISSING_MAX {
            assert_eq!((hold.look(), hold.take_in(hold.look())), (Seen::Missing, None));
        }
        fs::rename(&aside, directory.path()).unwrap();
        assert_eq!(hold.take_in(hold.look()), None, "it is back, and the looks count anew");
        fs::rename(directory.path(), &aside).unwrap();
        let looks: Vec<_> = (0..MISSING_MAX).map(|_| hold.take_in(hold.look())).collect();
        assert_eq!(looks.iter().position(|gone| *gone == Some(Gone::Moved)), Some(MISSING_MAX as usize - 1));
    }

    #[test]
    fn another_directory_in_its_place_is_not_it() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = machine(&scratch);
        let lock = directory.try_lock().unwrap().expect("nobody else holds it");
        let hold = Hold::of(&directory, &lock).unwrap();
        assert_eq!(hold.look(), Seen::There);
        fs::rename(directory.path(), scratch.path().join("aside")).unwrap();
        let _copy = machine(&scratch);
        assert_eq!(hold.look(), Seen::Missing);
    }

    #[test]
    fn what_cannot_be_read_is_not_gone() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = machine(&scratch);
        let lock = directory.try_lock().unwrap().expect("nobody else holds it");
        let mut hold = Hold::of(&directory, &lock).unwrap();
        for _ in 0..3 * MISSING_MAX {
            assert_eq!(hold.take_in(Seen::Unreadable), None);
        }
        for _ in 0..MISSING_MAX {
            assert_eq!((hold.take_in(Seen::Missing), hold.take_in(Seen::Unreadable)), (None, None));
        }
    }
}
