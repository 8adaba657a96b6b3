//! One operation at a time on one thing, across processes and crashes.
//!
//! A turn is a lock on a file. Every command that is run gets the locked file as its standard input, and with it a share of
//! the lock. So when a node is killed while it formats a device, the next node cannot begin with that device before
//! the formatting that was left behind has ended.
//!
//! A turn that ends in order is given back by name, not by closing the file: a process that is just being started elsewhere
//! has a copy of every open file for a moment, and would keep the lock for that long.

use std::{
    io,
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags},
    io::Errno,
};

use super::{AbsPath, StorageError, Tag, Tree, error::Doing};

/// The right to work on one thing, until dropped.
#[derive(Debug)]
pub struct Turn {
    lock: OwnedFd,
    /// A command has a share and has not been seen to end.
    is_shared: AtomicBool,
    /// It is somebody else's, who gives it back.
    is_lent: bool,
}

/// Where the locks are, in the storage directory.
const DIRECTORY: &str = "turns";

impl Turn {
    /// Takes the turn at a thing.
    ///
    /// # Errors
    /// [`StorageError::Busy`] if somebody has it, be it a command that a crash left behind.
    pub(super) fn take(tree: &Tree, storage_dir: &AbsPath, tag: &Tag) -> Result<Self, StorageError> {
        let directory = storage_dir.join(DIRECTORY);
        tree.ensure_directory(&directory, Mode::RWXU)?;
        let directory = tree.open_directory(&directory)?;
        let name = tag.to_string();
        loop {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let mode = Mode::RUSR | Mode::WUSR;
            let lock = rustix::fs::openat(&directory, name.as_str(), flags, mode).doing("open a lock")?;
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Err(StorageError::Busy { tag: tag.clone() }),
                locked => locked.doing("take a lock")?,
            }
            // Somebody may have removed the file between opening and locking; then it locks nothing.
            let ours = rustix::fs::fstat(&lock).doing("look at a lock")?;
            match rustix::fs::statat(&directory, name.as_str(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino) => {
                    return Ok(Self { lock, is_shared: AtomicBool::new(false), is_lent: false });
                }
                Ok(_) | Err(Errno::NOENT) => (),
                Err(errno) => return Err(errno).doing("look at a lock"),
            }
        }
    }

    /// A share of somebody else's turn, for the commands that are run in his name.
    pub(super) fn lent(share: OwnedFd) -> Self {
        Self { lock: share, is_shared: AtomicBool::new(false), is_lent: true }
    }

    /// A share for a command. Until [`unshare`](Self::unshare) the command may be running, whatever becomes of us.
    pub(super) fn share(&self) -> io::Result<OwnedFd> {
        let share = rustix::io::fcntl_dupfd_cloexec(&self.lock, 3)?;
        self.is_shared.store(true, Ordering::SeqCst);
        Ok(share)
    }

    /// The command that had a share has ended.
    pub(super) fn unshare(&self) {
        self.is_shared.store(false, Ordering::SeqCst);
    }

    /// Gives the turn back for good: the thing is gone, and its lock goes with it.
    pub(super) fn retire(self, tree: &Tree, storage_dir: &AbsPath, tag: &Tag) -> Result<(), StorageError> {
        tree.remove_file(&storage_dir.join(DIRECTORY).join(&tag.to_string())).map(drop)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_lent && !self.is_shared.load(Ordering::SeqCst) {
            // If this fails, closing the file does it.
            let _ = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
        }
    }
}
