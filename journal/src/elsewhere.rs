//! Segments of the log that are no longer in its folder: moved to an archive, or removed because the block store has
//! them durably. Whoever reads the log finds them all the same, under their names.
//!
//! ```text
//! log.begins, written before a segment leaves, so that nobody takes it for lost:
//!  0 [4]  "bwlb"                   16 [16] journal id                   48 u32 length of the archive's path
//!  4 u8   format version, 1        32 u64  the first segment that is    52 u32 zero
//!  5 [7]  zero                             still in the folder          56     the path, then both marks of each
//! 12 u32  CRC32C over all but      40 u64  number of removed segments          removed segment, oldest first
//!         these four bytes
//! ```
//!
//! A removed segment is read as it was: its marks from this file, its blocks from the store. What the store does not
//! have reads as bytes that are no block, so that whoever reads the log finds the damage where it is. Without this file
//! the blocks before the first segment count as missing, and are filled in from the store.

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
    frame::{self, HEADER_BYTES},
    segment::{self, LOG_DIR, MARK_BYTES, Mark},
};

pub(crate) const FILE: &str = "log.begins";
const FORMAT: u8 = 1;
const FIXED: usize = 56;
/// What stands where nothing can be read: no block begins like this, and it is not blank either.
const UNREADABLE: u8 = 0xFF;

/// What `log.begins` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begins {
    /// Segments before this one are elsewhere.
    pub first: u32,
    pub archive: Option<PathBuf>,
    /// Both marks of each segment that was removed.
    pub removed: Vec<(Mark, Mark)>,
}

impl Begins {
    fn encode(&self, journal: Uuid) -> Vec<u8> {
        let path = self.archive.as_deref().map_or("", |path| path.to_str().unwrap_or(""));
        let mut bytes = vec![0; FIXED];
        bytes[..4].copy_from_slice(b"bwlb");
        bytes[4] = FORMAT;
        bytes[16..32].copy_from_slice(journal.as_bytes());
        bytes[32..40].copy_from_slice(&u64::from(self.first).to_le_bytes());
        bytes[40..48].copy_from_slice(&(self.removed.len() as u64).to_le_bytes());
        bytes[48..52].copy_from_slice(&(path.len() as u32).to_le_bytes());
        bytes.extend_from_slice(path.as_bytes());
        for (begin, seal) in &self.removed {
            bytes.extend_from_slice(&begin.encode());
            bytes.extend_from_slice(&seal.encode());
        }
        let sum = crc(&bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The segments that are in the archive.
    pub(crate) fn archived(&self) -> impl Iterator<Item = u32> {
        let removed: BTreeSet<u32> = self.removed.iter().map(|marks| marks.0.segment).collect();
        (1..self.first).filter(move |number| !removed.contains(number))
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<(Uuid, Self)> {
        let fixed = bytes.first_chunk::<FIXED>()?;
        if fixed[..4] != *b"bwlb" || fixed[4] != FORMAT || crc(bytes).to_le_bytes() != fixed[12..16] {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(fixed[at..at + 8].try_into().expect("eight bytes"));
        let length = u32::from_le_bytes(fixed[48..52].try_into().ok()?) as usize;
        let (path, marks) = bytes[FIXED..].split_at_checked(length)?;
        let (marks, rest) = marks.as_chunks::<{ 2 * MARK_BYTES }>();
        if !rest.is_empty() || marks.len() as u64 != number(40) {
            return None;
        }
        let both = |pair: &[u8; 2 * MARK_BYTES]| Mark::decode(pair).zip(Mark::decode(&pair[MARK_BYTES..]));
        let removed = marks.iter().map(both).collect::<Option<_>>()?;
        let path = str::from_utf8(path).ok()?;
        let archive = (!path.is_empty()).then(|| PathBuf::from(path));
        Some((
            Uuid::from_slice(&fixed[16..32]).ok()?,
            Self { first: u32::try_from(number(32)).ok()?, archive, removed },
        ))
    }
}

fn crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}

/// What `log.begins` says; none if there is none of this journal, or if it is damaged.
pub(crate) fn read(disk: &dyn Disk, journal: Uuid) -> io::Result<Option<Begins>> {
    let file = match disk.open(FILE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let found = Begins::decode(&disk::read_all(&*file)?);
    if found.is_none() {
        tracing::warn!("{FILE} is damaged; what it tells of is looked for in the block store");
    }
    Ok(found.filter(|found| found.0 == journal).map(|found| found.1))
}

/// The journal's folder, with what of its log is elsewhere.
pub(crate) struct Whole {
    inner: Arc<dyn Disk>,
    journal: Uuid,
    begins: Mutex<Begins>,
    /// Where the blocks of removed segments are read from, while that is possible.
    source: RwLock<Option<Arc<dyn BlockReader>>>,
}

impl Whole {
    pub(crate) fn new(inner: Arc<dyn Disk>, journal: Uuid, begins: Begins) -> Self {
        Self { inner, journal, begins: Mutex::new(begins), source: RwLock::new(None) }
    }

    pub(crate) fn begins(&self) -> Begins {
        self.lock_begins().clone()
    }

    /// Writes down, durably, that segments are leaving.
    pub(crate) fn set_begins(&self, begins: Begins) -> io::Result<()> {
        disk::write_whole(&*self.inner, FILE, &begins.encode(self.journal))?;
        *self.lock_begins() = begins;
        Ok(())
    }

    /// Segments that were removed are read from here from now on; answers with what was there before.
    pub(crate) fn set_source(&self, source: Option<Arc<dyn BlockReader>>) -> Option<Arc<dyn BlockReader>> {
        std::mem::replace(&mut *self.source.write().unwrap_or_else(PoisonError::into_inner), source)
    }

    /// Which archived segment is not where it should be.
    pub(crate) fn missing(&self) -> Option<ElsewhereError> {
        let begins = self.begins();
        let path = begins.archive.clone()?;
        let there = OsDisk::new(&path).list("").unwrap_or_default();
        let here = self.inner.list(LOG_DIR).unwrap_or_default();
        let found = |names: &[String]| -> BTreeSet<u32> {
            names.iter().filter_map(|name| Some(segment::numbered(name)?.0)).collect()
        };
        let (there, here) = (found(&there), found(&here));
        let mut archived = begins.archived();
        let lost = archived.find(|number| !there.contains(number) && !here.contains(number));
        lost.map(|segment| ElsewhereError::NotInArchive { path, segment })
    }

    /// The segment's bytes as they were, as far as the store has them.
    fn removed(&self, number: u32) -> Option<io::Result<Box<dyn DiskFile>>> {
        let marks = self.lock_begins().removed.iter().find(|marks| marks.0.segment == number).copied()?;
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(source) = source else {
            return Some(Err(io::Error::other(ElsewhereError::OnlyInStore { segment: number })));
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
        Some(Ok(Box::new(Remembered(bytes))))
    }

    fn lock_begins(&self) -> MutexGuard<'_, Begins> {
        self.begins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number and the archive of a segment that is there and not in the folder.
    fn archived(&self, name: &str) -> Option<(u32, PathBuf, String)> {
        let file = name.strip_prefix(LOG_DIR)?.strip_prefix('/')?;
        let (number, _) = segment::numbered(file)?;
        let begins = self.lock_begins();
        let removed = begins.removed.iter().any(|marks| marks.0.segment == number);
        let path = begins.archive.clone().filter(|_| number < begins.first && !removed)?;
        Some((number, path, file.to_owned()))
    }
}

/// Why a segment that is elsewhere cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ElsewhereError {
    #[error("segment {segment} of the log is not in its archive {path:?}")]
    NotInArchive { path: PathBuf, segment: u32 },
    #[error("segment {segment} of the log was removed, and the block store that has it is not open")]
    OnlyInStore { segment: u32 },
}

impl ElsewhereError {
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl Disk for Whole {
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = self.inner.list(dir)?;
        if dir != LOG_DIR {
            return Ok(names);
        }
        let begins = self.begins();
        let here: Vec<u32> = names.iter().filter_map(|name| Some(segment::numbered(name)?.0)).collect();
        let is_here = |number: u32| here.contains(&number);
        let plain = |number: u32| segment::name_of(number).replacen("log/", "", 1);
        let removed = begins.removed.iter().map(|marks| marks.0.segment);
        names.extend(removed.clone().filter(|number| !is_here(*number)).map(plain));
        if let Some(archive) = &begins.archive {
            let wanted = |name: &String| {
                let found = segment::numbered(name).map(|found| found.0);
                found.is_some_and(|number| {
                    number < begins.first && !is_here(number) && !removed.clone().any(|other| other == number)
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
                    let packed = file.ends_with(".zst");
                    let gone = || io::Error::other(ElsewhereError::NotInArchive { path: path.clone(), segment });
                    return OsDisk::new(&path).open(&file, access).map_err(|error| match error.kind() {
                        // Its other form is asked for next.
                        io::ErrorKind::NotFound if !packed => error,
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
            *self.lock_begins() = Begins::default();
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn space(&self) -> io::Result<Space> {
        self.inner.space()
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

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whole").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// A segment that was put together from the store.
#[derive(Debug)]
struct Remembered(Vec<u8>);

impl DiskFile for Remembered {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Position, codec, hex, segment::End};

    fn begins() -> Begins {
        let journal = Uuid::from_u128(7);
        let mark = |end, segment, block, offset| {
            let position = Position(2 * block);
            Mark { end, journal, segment, block, position, offset, hash: [segment as u8; 32] }
        };
        let removed = (1..=2).map(|segment| {
            let block = u64::from(segment) * 10;
            (mark(End::Begin, segment, block, 0), mark(End::Seal, segment, block + 9, 5_000))
        });
        Begins { first: 4, archive: Some("/archive".into()), removed: removed.collect() }
    }

    #[test]
    fn the_stored_form_is_as_released() {
        let bytes = begins().encode(Uuid::from_u128(7));
        assert_eq!(Begins::decode(&bytes), Some((Uuid::from_u128(7), begins())));
        assert_eq!(begins().archived().collect::<Vec<_>>(), [3]);
        assert_eq!(hex::encode(&codec::digest(&bytes)), "4381436e6e67bb0451378881d193edcc");
    }

    #[test]
    fn every_flipped_bit_and_every_shorter_one_is_refused() {
        let bytes = begins().encode(Uuid::from_u128(7));
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Begins::decode(&other), None, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(Begins::decode(&bytes[..length]), None, "{length} bytes");
        }
    }
}
