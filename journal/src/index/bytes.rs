//! The bytes of a checkpoint: read into memory, or left in their file and looked at there.
//!
//! Whoever makes one checkpoint of another goes through the old one once and keeps nothing of it.

use std::{
    borrow::Cow,
    fmt, io,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{disk::DiskFile, window::Window};

/// How much of them is summed up at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Some bytes, and whether some of them could not be read: then what was said of them is not to be gone by.
pub(crate) struct Bytes {
    place: Place,
    has_failed: AtomicBool,
}

enum Place {
    Memory(Vec<u8>),
    File { file: Box<dyn DiskFile>, length: usize },
}

impl Default for Bytes {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl Bytes {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self { place: Place::Memory(bytes), has_failed: AtomicBool::new(false) }
    }

    /// Those of a file, which nobody writes into from now on.
    ///
    /// # Errors
    /// Where its length cannot be told.
    pub(crate) fn left_in(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let length = usize::try_from(file.size()?).map_err(io::Error::other)?;
        Ok(Self { place: Place::File { file, length }, has_failed: AtomicBool::new(false) })
    }

    pub(crate) fn len(&self) -> usize {
        match &self.place {
            Place::Memory(bytes) => bytes.len(),
            Place::File { length, .. } => *length,
        }
    }

    /// So many of them; none where they end before, or cannot be read.
    pub(crate) fn get(&self, at: usize, count: usize) -> Option<Cow<'_, [u8]>> {
        match &self.place {
            Place::Memory(bytes) => bytes.get(at..at.checked_add(count)?).map(Cow::Borrowed),
            Place::File { file, length } => {
                at.checked_add(count).filter(|end| end <= length)?;
                let mut bytes = vec![0; count];
                self.fully(file.read_at(&mut bytes, at as u64), count)?;
                Some(Cow::Owned(bytes))
            }
        }
    }

    fn fully(&self, read: io::Result<usize>, count: usize) -> Option<()> {
        let is_whole = read.is_ok_and(|read| read == count);
        self.has_failed.fetch_or(!is_whole, Relaxed);
        is_whole.then_some(())
    }

    /// The CRC32C of those from `at` on, behind those that `before` sums up.
    pub(crate) fn sum(&self, mut at: usize, before: u32) -> Option<u32> {
        let mut sum = before;
        while at < self.len() {
            let piece = self.get(at, PIECE_BYTES.min(self.len() - at))?;
            sum = crc32c::crc32c_append(sum, &piece);
            at += piece.len();
        }
        Some(sum)
    }

    /// For whoever goes through them from front to back.
    pub(super) fn passing(&self) -> Passing<'_> {
        let window = match &self.place {
            Place::Memory(_) => None,
            Place::File { file, .. } => Some(Window::new(&**file)),
        };
        Passing { bytes: self, window }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Relaxed)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Bytes that are asked for from front to back, read in large pieces.
pub(super) struct Passing<'b> {
    bytes: &'b Bytes,
    /// None where they are in memory.
    window: Option<io::Result<Window<'b>>>,
}

impl Passing<'_> {
    /// As [`Bytes::get`].
    pub(super) fn get(&mut self, at: usize, count: usize) -> Option<&[u8]> {
        match (&mut self.window, &self.bytes.place) {
            (None, Place::Memory(bytes)) => bytes.get(at..at.checked_add(count)?),
            (Some(Ok(window)), Place::File { length, .. }) => {
                at.checked_add(count).filter(|end| end <= length)?;
                let read = window.at(at as u64, count);
                self.bytes.fully(read.as_ref().map(|bytes| bytes.len()).map_err(|error| error.kind().into()), count)?;
                read.ok()
            }
            _ => {
                self.bytes.has_failed.store(true, Relaxed);
                None
            }
        }
    }
}
