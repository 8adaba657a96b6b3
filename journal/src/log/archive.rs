//! Segments of the log that are no longer in its folder: moved to an archive, or removed because the block store has
//! them durably. A reader of the log finds them all the same, under their names. `log.begins` tells which they are; it is
//! written before a segment leaves, so that nobody takes it for lost.
//!
//! A removed segment is read as it was: its marks from this file, its blocks from the store. What the store does not
//! have reads as bytes that are no block, so that a reader of the log finds the damage where it is. Without this file
//! the blocks before the first segment count as missing, and are filled in from the store.

mod catalog;

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use uuid::Uuid;

use crate::{
    blocks::BlockReader,
    disk::{self, Access, Disk, DiskFile, Lock, LockError, LockMode, OsDisk, Space, Stamp},
    format::frame::{self, HEADER_BYTES},
    log::segment::{self, LOG_DIR},
};
pub(crate) use catalog::{Catalog, FILE, read};

/// What fills the place of bytes that cannot be read: no block begins like this, and it is not blank either.
const UNREADABLE: u8 = 0xFF;

/// The journal's folder, with what of its log is elsewhere.
pub(crate) struct ArchiveOverlay {
    inner: Arc<dyn Disk>,
    journal: Uuid,
    catalog: Mutex<Catalog>,
    /// Where the blocks of removed segments are read from, while that is possible.
    source: RwLock<Option<Arc<dyn BlockReader>>>,
}

impl ArchiveOverlay {
    pub(crate) fn new(inner: Arc<dyn Disk>, journal: Uuid, catalog: Catalog) -> Self {
        Self { inner, journal, catalog: Mutex::new(catalog), source: RwLock::new(None) }
    }

    pub(crate) fn catalog(&self) -> Catalog {
        self.lock_catalog().clone()
    }

    /// Writes down, durably, that segments are leaving.
    pub(crate) fn set_catalog(&self, catalog: Catalog) -> io::Result<()> {
        disk::write_whole(&*self.inner, FILE, &catalog.encode(self.journal))?;
        *self.lock_catalog() = catalog;
        Ok(())
    }

    /// Segments that were removed are read from here from now on; answers with what was there before.
    pub(crate) fn set_source(&self, source: Option<Arc<dyn BlockReader>>) -> Option<Arc<dyn BlockReader>> {
        std::mem::replace(&mut *self.source.write().unwrap_or_else(PoisonError::into_inner), source)
    }

    /// Which archived segment is not where it should be.
    pub(crate) fn missing(&self) -> Option<ArchiveError> {
        let catalog = self.catalog();
        let path = catalog.archive.clone()?;
        let there = OsDisk::new(&path).list("").unwrap_or_default();
        let here = self.inner.list(LOG_DIR).unwrap_or_default();
        let found = |names: &[String]| -> BTreeSet<u32> {
            names.iter().filter_map(|name| Some(segment::numbered(name)?.0)).collect()
        };
        let (there, here) = (found(&there), found(&here));
        let mut archived = catalog.archived();
        let lost = archived.find(|number| !there.contains(number) && !here.contains(number));
        lost.map(|segment| ArchiveError::NotInArchive { path, segment })
    }

    /// The segment's bytes as they were, as far as the store has them.
    fn removed(&self, number: u32) -> Option<io::Result<Box<dyn DiskFile>>> {
        let marks = self.lock_catalog().removed.iter().find(|marks| marks.0.segment == number).copied()?;
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(source) = source else {
            return Some(Err(io::Error::other(ArchiveError::OnlyInStore { segment: number })));
        };
        let (begin, seal) = marks;
        let mut bytes = begin.encode().to_vec();
        for block in begin.block..=seal.block {
            let found = source.read(&[block]).pop().flatten();
            let sound = found.filter(|bytes| {
                frame::check(bytes).is_ok_and(|(_, records)| bytes.len() == HEADER_BYTES + records.len())
            });
            match sound {
                Some(frame) => bytes.extend_from_slice(&frame),
                // What follows is found again behind it.
                None => bytes.push(UNREADABLE),
            }
        }
        bytes.extend_from_slice(&seal.encode());
        Some(Ok(Box::new(RebuiltSegment(bytes))))
    }

    fn lock_catalog(&self) -> MutexGuard<'_, Catalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number and the archive of a segment that is there and not in the folder.
    fn archived(&self, name: &str) -> Option<(u32, PathBuf, String)> {
        let file = name.strip_prefix(LOG_DIR)?.strip_prefix('/')?;
        let (number, _) = segment::numbered(file)?;
        let catalog = self.lock_catalog();
        let removed = catalog.removed.iter().any(|marks| marks.0.segment == number);
        let path = catalog.archive.clone().filter(|_| number < catalog.first && !removed)?;
        Some((number, path, file.to_owned()))
    }
}

/// Why a segment that is elsewhere cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("segment {segment} of the log is not in its archive {path:?}")]
    NotInArchive { path: PathBuf, segment: u32 },
    #[error("segment {segment} of the log was removed, and the block store that has it is not open")]
    OnlyInStore { segment: u32 },
}

impl ArchiveError {
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl Disk for ArchiveOverlay {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = self.inner.list(dir)?;
        if dir != LOG_DIR {
            return Ok(names);
        }
        let catalog = self.catalog();
        let here: Vec<u32> = names.iter().filter_map(|name| Some(segment::numbered(name)?.0)).collect();
        let is_here = |number: u32| here.contains(&number);
        let plain = |number: u32| segment::name_of(number).replacen("log/", "", 1);
        let removed = catalog.removed.iter().map(|marks| marks.0.segment);
        names.extend(removed.clone().filter(|number| !is_here(*number)).map(plain));
        if let Some(archive) = &catalog.archive {
            let wanted = |name: &String| {
                let found = segment::numbered(name).map(|found| found.0);
                found.is_some_and(|number| {
                    number < catalog.first && !is_here(number) && !removed.clone().any(|other| other == number)
                })
            };
            names.extend(OsDisk::new(archive).list("")?.into_iter().filter(wanted));
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.inner.create(name)
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        match self.inner.open(name, access) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && access == Access::Read => {
                if let Some((segment, path, file)) = self.archived(name) {
                    let compressed = file.ends_with(".zst");
                    let gone = || io::Error::other(ArchiveError::NotInArchive { path: path.clone(), segment });
                    return OsDisk::new(&path).open(&file, access).map_err(|error| match error.kind() {
                        // Its other form is asked for next.
                        io::ErrorKind::NotFound if !compressed => error,
                        io::ErrorKind::NotFound => gone(),
                        _ => error,
                    });
                }
                let file = name.strip_prefix(LOG_DIR).and_then(|rest| rest.strip_prefix('/'));
                let plain = file.and_then(segment::numbered).filter(|found| !found.1);
                plain.and_then(|(number, _)| self.removed(number)).unwrap_or(Err(error))
            }
            opened => opened,
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)?;
        if name == FILE {
            // The log is whole in its folder.
            *self.lock_catalog() = Catalog::default();
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn space(&self) -> io::Result<Space> {
        self.inner.space()
    }

    fn is_there(&self) -> io::Result<()> {
        self.inner.is_there()
    }

    fn network_file_system(&self) -> Option<&'static str> {
        self.inner.network_file_system()
    }

    fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        match self.inner.stamp(name)? {
            None => match self.archived(name) {
                Some((_, path, file)) => OsDisk::new(path).stamp(&file),
                None => Ok(None),
            },
            found => Ok(found),
        }
    }

    fn lock(&self, how: LockMode) -> Result<Lock, LockError> {
        self.inner.lock(how)
    }

    fn path(&self) -> PathBuf {
        self.inner.path()
    }
}

impl fmt::Debug for ArchiveOverlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArchiveOverlay").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// A segment that was put together from the store.
#[derive(Debug)]
struct RebuiltSegment(Vec<u8>);

impl DiskFile for RebuiltSegment {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let count = buffer.len().min(self.0.len() - from);
        buffer[..count].copy_from_slice(&self.0[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn allocate(&self, _from: u64, _to: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn sync(&self) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// The archive's path as it is written down: whole, so that it means the same from everywhere.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the archive's path is no text")),
    }
}
