//! A disk that fails at its operation number n, for tests that try every n.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Access, Disk, DiskFile, Lock, LockError, LockMode, Space, Stamp};

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done; an input/output error is returned.
    Error,
    /// Nothing is done; the disk is said to be full.
    Full,
    /// Half of a write reaches the disk, then an error is returned.
    ShortWrite,
}

/// Passes everything on, except for one operation, which fails. What changes or syncs something is counted, from 1.
#[derive(Clone, Debug)]
pub struct FaultyDisk {
    inner: Arc<dyn Disk>,
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct Plan {
    counted: AtomicU64,
    fail_at: u64,
    fault: Fault,
}

impl FaultyDisk {
    /// Lets operation `fail_at` fail; 0 lets none fail.
    pub fn new(inner: Arc<dyn Disk>, fail_at: u64, fault: Fault) -> Self {
        Self { inner, plan: Arc::new(Plan { counted: AtomicU64::new(0), fail_at, fault }) }
    }

    /// How many operations there were.
    pub fn operations(&self) -> u64 {
        self.plan.counted.load(Ordering::Relaxed)
    }
}

impl Plan {
    fn fails(&self) -> bool {
        self.counted.fetch_add(1, Ordering::Relaxed) + 1 == self.fail_at
    }

    fn error(&self) -> io::Error {
        match self.fault {
            Fault::Full => io::ErrorKind::StorageFull.into(),
            Fault::Error | Fault::ShortWrite => io::Error::other("planned fault"),
        }
    }

    fn pass(&self) -> io::Result<()> {
        if self.fails() { Err(self.error()) } else { Ok(()) }
    }
}

impl Disk for FaultyDisk {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.plan.pass()?;
        let inner = self.inner.create(name)?;
        Ok(Box::new(FaultyFile { inner, plan: self.plan.clone() }))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let inner = self.inner.open(name, access)?;
        Ok(Box::new(FaultyFile { inner, plan: self.plan.clone() }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.remove(name)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.sync_dir(dir)
    }

    fn space(&self) -> io::Result<Space> {
        self.inner.space()
    }

    fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        self.inner.stamp(name)
    }

    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        self.inner.lock(how)
    }

    fn path(&self) -> PathBuf {
        self.inner.path()
    }
}

#[derive(Debug)]
struct FaultyFile {
    inner: Box<dyn DiskFile>,
    plan: Arc<Plan>,
}

impl DiskFile for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !self.plan.fails() {
            return self.inner.write_at(bytes, offset);
        }
        if self.plan.fault == Fault::ShortWrite {
            self.inner.write_at(&bytes[..bytes.len() / 2], offset)?;
        }
        Err(self.plan.error())
    }

    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.allocate(from, to)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.set_len(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn sync(&self) -> io::Result<()> {
        self.plan.pass()?;
        self.inner.sync()
    }
}
