//! What lies under log, head, snapshots and `FORMAT`: a folder of files, real or simulated.
//!
//! Names are relative to the journal's folder and use `/` (`log/0000000001.log`). There is no hidden state: what was
//! written is not durable before [`DiskFile::sync`], and a new name not before [`Disk::sync_dir`].

pub mod crash;
#[cfg(feature = "testing")]
mod faulty;
pub(crate) mod free_space;
mod network;
mod os;
mod simulated;

use std::{fmt, io};

#[cfg(feature = "testing")]
pub use faulty::{Fault, FaultyDisk};
pub use free_space::room;
pub use os::OsDisk;
pub(crate) use os::stamp_of;
pub use simulated::SimulatedDisk;

/// A folder of files.
pub trait Disk: Send + Sync + fmt::Debug {
    /// The names in a folder (`""` is the journal's own), sorted; empty if there is no such folder.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Makes a file, empty, and its folder if that is missing. An existing file is emptied.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file; without `writable` nothing is written through it, ever.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file or a folder another name, replacing a file that has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file, or a folder with all that is in it. What is not there is no error.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// What is left on the disk.
    fn space(&self) -> io::Result<Space>;
    /// Whether what a journal was opened in is still there.
    ///
    /// # Errors
    /// If it was removed, whatever is at its path by now.
    fn is_there(&self) -> io::Result<()> {
        Ok(())
    }
    /// The name of the network file system that this lies on, if it does.
    fn network_file_system(&self) -> Option<&'static str> {
        None
    }
    /// What would tell that a file was written into, without reading it; none if this disk cannot say, or if there is
    /// no such file.
    ///
    /// # Errors
    /// As the disk's.
    fn stamp(&self, _name: &str) -> io::Result<Option<Stamp>> {
        Ok(None)
    }
    /// Takes the journal's lock file for as long as the answer is kept.
    fn lock(&self, how: LockMode) -> Result<Lock, LockError>;
    /// Where this is, for messages.
    fn path(&self) -> std::path::PathBuf;
}

/// One open file. All calls may be made from several threads.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Fills the buffer from `offset`; returns less than its length only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Reserves the range and fills it with zeros, so that writing into it changes no metadata.
    fn allocate(&self, from: u64, to: u64) -> io::Result<()>;
    /// Reserves the range, which reads as zeros, so that writing into it finds room. A sync after such a write changes
    /// metadata.
    ///
    /// # Errors
    /// As the disk's.
    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        self.allocate(from, to)
    }
    /// Cuts or extends the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// The file's length in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Makes content and length durable (`fdatasync`). After an error the file's state is unknown and must not be
    /// synced again: the kernel may have dropped what it could not write.
    fn sync(&self) -> io::Result<()>;
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// What is left on a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    pub free: u64,
    pub total: u64,
}

/// Length and time of the last writing of a file. Two that are equal say that nobody has written into it by ordinary
/// means; a disk that loses or changes bytes by itself does not change them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// In bytes.
    pub size: u64,
    /// In nanoseconds since 1970; on a simulated disk a number of its own.
    pub written: u64,
}

/// How the journal's folder is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// By a writer, which puts its process id into the lock file.
    Exclusive,
    /// By readers of a stopped journal; writes nothing.
    Shared,
}

/// The lock; dropped, it is free again.
pub struct Lock {
    /// Lets go when dropped.
    pub(crate) _held: Box<dyn std::any::Any + Send + Sync>,
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

/// Why the lock was not given.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it: its process id, as far as it can be read.
    Held {
        holder: String,
    },
    /// Nobody has it, but somebody reads.
    Read,
    Io(io::Error),
}

/// The whole content of a file.
pub(crate) fn read_all(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    let size = usize::try_from(file.size()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; size];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Writes a small file so that it is there in full or not at all: another name, sync, rename, sync of the folder.
pub(crate) fn write_whole(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
    write_whole_by(disk, name, |file| file.write_at(bytes, 0).map(|()| true)).map(|_| ())
}

/// As [`write_whole`], of a file that is written piece by piece; if that says false, the file that was there stays.
pub(crate) fn write_whole_by(
    disk: &dyn Disk,
    name: &str,
    write: impl FnOnce(&dyn DiskFile) -> io::Result<bool>,
) -> io::Result<bool> {
    let temporary = format!("{name}.tmp");
    let file = disk.create(&temporary)?;
    if !write(&*file)? {
        disk.remove(&temporary)?;
        return Ok(false);
    }
    file.sync()?;
    disk.rename(&temporary, name)?;
    disk.sync_dir(folder_of(name))?;
    Ok(true)
}

pub(crate) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}
