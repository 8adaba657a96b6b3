//! The real disk.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use rustix::fs::{AtFlags, FallocateFlags, StatxFlags};

use super::network;
use super::{Access, Disk, DiskFile, Lock, LockError, LockMode, Space, Stamp};

const LOCK_FILE: &str = "lock";

/// A folder of the operating system. It and its files are readable by their owner only.
///
/// Once the folder that was locked is removed, nothing more is made, renamed or removed: what somebody put at its path
/// meanwhile is another journal's.
#[derive(Clone, Debug)]
pub struct OsDisk {
    root: PathBuf,
    /// The folder itself, as long as it is locked by a writer.
    locked: Arc<Mutex<Weak<File>>>,
}

impl OsDisk {
    /// Uses a folder; nothing is touched yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), locked: Arc::default() }
    }

    /// Makes the folder if it is missing, with its parents, and makes its name durable.
    ///
    /// # Errors
    /// As the operating system's.
    pub fn make_root(&self) -> io::Result<()> {
        if self.root.is_dir() {
            return Ok(());
        }
        make_dir(&self.root)?;
        match self.root.canonicalize()?.parent() {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    }

    fn full(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }

    /// The same, of what is to be changed.
    fn ours(&self, name: &str) -> io::Result<PathBuf> {
        let locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        match locked.map(|folder| names_of(&folder)).transpose()? {
            Some(0) => Err(io::Error::new(ErrorKind::NotFound, "the journal's folder was removed while it was in use")),
            _ => Ok(self.full(name)),
        }
    }
}

impl Disk for OsDisk {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let folder = match fs::read_dir(self.full(dir)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut names = Vec::new();
        for entry in folder {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let path = self.ours(name)?;
        if let Some(folder) = path.parent()
            && !folder.is_dir()
        {
            // A root that somebody removed is not made again by a write that still goes there.
            fs::metadata(&self.root)?;
            make_dir(folder)?;
            self.sync_dir(super::folder_of(super::folder_of(name)))?;
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
        Ok(Box::new(OsFile(file)))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(access == Access::Write).open(self.full(name))?;
        Ok(Box::new(OsFile(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.ours(from)?, self.full(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.ours(name)?;
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        File::open(self.full(dir))?.sync_all()
    }

    fn space(&self) -> io::Result<Space> {
        let stat = rustix::fs::statvfs(&self.root)?;
        Ok(Space { free: stat.f_bavail * stat.f_frsize, total: stat.f_blocks * stat.f_frsize })
    }

    fn is_there(&self) -> io::Result<()> {
        self.ours("").map(drop)
    }

    fn network_file_system(&self) -> Option<&'static str> {
        // A file system that does not say what it is, is taken for a local one.
        let stat = rustix::fs::statfs(&self.root).ok()?;
        network::network_file_system(stat.f_type.cast_unsigned()).or_else(|| {
            let device = fs::metadata(&self.root).ok()?.dev();
            let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
            let mounts = fs::read("/proc/self/mountinfo").ok()?;
            network::network_mount(&String::from_utf8_lossy(&mounts), &device)
        })
    }

    fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        stamp_of(&self.full(name))
    }

    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        let path = self.full(LOCK_FILE);
        if how == LockMode::Shared {
            return Ok(Lock { _held: Box::new(lock_shared(&path)?) });
        }
        let folder = Arc::new(File::open(&self.root).map_err(LockError::Io)?);
        let file = lock_exclusive(&path)?;
        *self.locked.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&folder);
        Ok(Lock { _held: Box::new((file, folder)) })
    }

    fn path(&self) -> PathBuf {
        self.root.clone()
    }
}

/// Length and time of the last writing of a file, if there is one.
pub(crate) fn stamp_of(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(found) => {
            let nanoseconds = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
            Ok(Some(Stamp { size: found.len(), written: nanoseconds.cast_unsigned() }))
        }
    }
}

fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn lock_exclusive(path: &Path) -> Result<Locked, LockError> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let mut file = opened.map_err(LockError::Io)?;
    taken(&mut file, File::try_lock).map_err(|error| if_read(&file, error))?;
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(LockError::Io)?;
    Ok(Locked(file))
}

/// A process that can read beside the holders knows that these only read, too.
fn if_read(file: &File, error: LockError) -> LockError {
    match error {
        // The lock goes with the file, which is closed before the caller has the answer.
        LockError::Held { .. } if file.try_lock_shared().is_ok() => LockError::Read,
        error => error,
    }
}

fn lock_shared(path: &Path) -> Result<Option<Locked>, LockError> {
    let mut file = match File::open(path) {
        // A copy without its lock file is held by nobody.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(LockError::Io)?,
    };
    taken(&mut file, File::try_lock_shared)?;
    Ok(Some(Locked(file)))
}

/// Unlocks by a call of its own: a child process that is just being started shares the open file for a moment, and
/// closing ours alone would leave the lock with it.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // If it fails, closing the file releases the lock a moment later.
        let _ = self.0.unlock();
    }
}

fn taken(file: &mut File, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<(), LockError> {
    match lock(file) {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Its holder may not have written its number yet, or be a reader, which writes none.
            let _ = file.take(32).read_to_string(&mut text);
            let pid = text.trim();
            let holder = if pid.is_empty() { "unknown".to_owned() } else { pid.to_owned() };
            Err(LockError::Held { holder })
        }
    }
}

#[derive(Debug)]
struct OsFile(File);

impl DiskFile for OsFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.0.read_at(&mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        // Reserving first tells a full disk before anything is written; file systems that cannot reserve are written to.
        reserved(&self.0, from, to)?;
        zero(&self.0, from, to)
    }

    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        if reserved(&self.0, from, to)? { Ok(()) } else { zero(&self.0, from, to) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// What nobody finds any more is not durable: somebody may have removed the folder while a node runs in it.
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()?;
        if names_of(&self.0)? == 0 {
            return Err(io::Error::new(ErrorKind::NotFound, "the file was removed while it was in use"));
        }
        Ok(())
    }
}

/// How many names a file has. Nothing else is asked for: asking for its times makes the next write give it new
/// ones, more finely than the clock ticks (Linux 6.13), and a write with its sync takes 160 µs instead of 120.
fn names_of(file: &File) -> io::Result<u64> {
    let found = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::NLINK).ok();
    match found.filter(|found| StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::NLINK)) {
        Some(found) => Ok(found.stx_nlink.into()),
        // An old kernel, or a sandbox that does not know the call.
        None => Ok(file.metadata()?.nlink()),
    }
}

/// Whether the file system can reserve room, and has.
fn reserved(file: &File, from: u64, to: u64) -> io::Result<bool> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), from, to.saturating_sub(from)) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn zero(file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; 256 * 1024];
    let mut at = from;
    while at < to {
        let count = zeros.len().min(usize::try_from(to - at).unwrap_or(usize::MAX));
        file.write_all_at(&zeros[..count], at)?;
        at += count as u64;
    }
    Ok(())
}
