//! The bytes of a checkpoint: read into memory, or left in their file and looked at there.
//!
//! What is left in a file may be gone by as long as a node runs, and a file can change or be lost meanwhile. So each page
//! of it is summed up in the pass that checks the file as a whole, and later readers read whole pages and checks
//! them against those sums: what was not read as it was then is not handed out, and [`Bytes::has_failed`] says so.

use std::{
    borrow::Cow,
    fmt, io,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::disk::DiskFile;

/// What is read and checked at once.
const PAGE: usize = 4096;
/// How much of them is summed up at once: a multiple of a page.
const PIECE_BYTES: usize = 64 * 1024;
/// How much is read at once where all of them are read.
const PASSING_BYTES: usize = 256 * 1024;

/// Some bytes, and whether some of them could not be read as they were: then what was said of them is not to be gone by.
pub(crate) struct Bytes {
    place: Place,
    has_failed: AtomicBool,
}

enum Place {
    Memory(Vec<u8>),
    File {
        file: Box<dyn DiskFile>,
        length: usize,
        /// The CRC32C of each page; none before [`Bytes::sum`].
        pages: Vec<u32>,
    },
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

    /// Those of a file, which nobody writes into from now on. It may get another name, or none.
    ///
    /// # Errors
    /// Where its length cannot be told.
    pub(crate) fn left_in(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let length = usize::try_from(file.size()?).map_err(io::Error::other)?;
        let place = Place::File { file, length, pages: Vec::new() };
        Ok(Self { place, has_failed: AtomicBool::new(false) })
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
            Place::File { .. } => {
                let mut bytes = Vec::new();
                let begin = self.read_pages(at, count, &mut bytes)?;
                bytes.drain(..at - begin);
                bytes.truncate(count);
                Some(Cow::Owned(bytes))
            }
        }
    }

    /// Reads all pages of a file that have some of these bytes; says where the first of them begins.
    fn read_pages(&self, at: usize, count: usize, to: &mut Vec<u8>) -> Option<usize> {
        let Place::File { file, length, pages } = &self.place else { return None };
        let end = at.checked_add(count).filter(|end| end <= length)?;
        let begin = at / PAGE * PAGE;
        to.clear();
        to.resize(end.next_multiple_of(PAGE).min(*length).saturating_sub(begin), 0);
        let is_whole = file.read_at(to, begin as u64).is_ok_and(|read| read == to.len());
        let sums = pages.iter().skip(begin / PAGE);
        let is_same = is_whole && to.chunks(PAGE).zip(sums).all(|(page, sum)| crc32c::crc32c(page) == *sum);
        if !is_same {
            self.has_failed.store(true, Relaxed);
            to.clear();
        }
        is_same.then_some(begin)
    }

    /// The CRC32C of those from `at` on, behind those that `before` sums up. From now on the pages of a file have to be as
    /// they are.
    pub(crate) fn sum(&mut self, at: usize, before: u32) -> Option<u32> {
        let (mut sum, mut sums, mut piece) = (before, Vec::new(), Vec::new());
        if let Place::Memory(bytes) = &self.place {
            return Some(crc32c::crc32c_append(sum, bytes.get(at..)?));
        }
        for begin in (0..self.len()).step_by(PIECE_BYTES) {
            self.read_pages(begin, PIECE_BYTES.min(self.len() - begin), &mut piece)?;
            sums.extend(piece.chunks(PAGE).map(crc32c::crc32c));
            sum = crc32c::crc32c_append(sum, &piece[at.saturating_sub(begin).min(piece.len())..]);
        }
        if let Place::File { pages, .. } = &mut self.place {
            *pages = sums;
        }
        Some(sum)
    }

    /// To read them from front to back.
    pub(super) fn passing(&self) -> Passing<'_> {
        Passing { bytes: self, begin: 0, read: Vec::new(), at_once: PASSING_BYTES }
    }

    /// To read some that lie near each other.
    pub(super) fn near(&self) -> Passing<'_> {
        Passing { at_once: 1, ..self.passing() }
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

/// Bytes that are asked for from front to back: some of a file are kept, and read once.
pub(super) struct Passing<'b> {
    bytes: &'b Bytes,
    /// Where `read` begins.
    begin: usize,
    read: Vec<u8>,
    at_once: usize,
}

impl Passing<'_> {
    /// As [`Bytes::get`].
    pub(super) fn get(&mut self, at: usize, count: usize) -> Option<&[u8]> {
        let end = at.checked_add(count)?;
        if let Place::Memory(bytes) = &self.bytes.place {
            return bytes.get(at..end);
        }
        if at < self.begin || end > self.begin + self.read.len() {
            let rest = self.bytes.len().checked_sub(at)?;
            self.begin = self.bytes.read_pages(at, count.max(self.at_once.min(rest)), &mut self.read)?;
        }
        self.read.get(at - self.begin..end - self.begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Access, Disk, SimulatedDisk};

    fn left(length: usize) -> (SimulatedDisk, Vec<u8>, Bytes) {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + at / 251) as u8).collect();
        let disk = SimulatedDisk::new();
        disk.create("file").unwrap().write_at(&bytes, 0).unwrap();
        let left = Bytes::left_in(disk.open("file", Access::Read).unwrap()).unwrap();
        (disk, bytes, left)
    }

    #[test]
    fn what_is_left_in_a_file_reads_and_sums_as_what_is_in_memory() {
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1, PIECE_BYTES + 5, PASSING_BYTES + PAGE] {
            let (_, bytes, mut left) = left(length);
            let mut memory = Bytes::of(bytes);
            for at in [0, 1, 128, PAGE, PIECE_BYTES].into_iter().filter(|at| *at <= length) {
                assert_eq!(left.sum(at, 5), memory.sum(at, 5), "{length} from {at}");
            }
            let (mut passing, mut near) = (left.passing(), left.near());
            for (at, count) in [(0, 1), (0, 0), (5, PAGE), (PAGE - 1, 2), (100, 3 * PAGE), (PAGE, 1), (length, 1)] {
                let expected = memory.get(at, count);
                assert_eq!(left.get(at, count), expected, "{length}: {count} at {at}");
                assert_eq!(passing.get(at, count), expected.as_deref(), "{length}: {count} at {at}");
                assert_eq!(near.get(at, count), expected.as_deref(), "{length}: {count} at {at}");
            }
            assert!(!left.has_failed(), "to ask beyond the end is no failure");
        }
    }

    #[test]
    fn a_file_that_is_replaced_is_read_as_it_was() {
        let (disk, bytes, mut left) = left(3 * PAGE);
        left.sum(0, 0).unwrap();
        disk.create("other").unwrap().write_at(&[1; 100], 0).unwrap();
        disk.rename("other", "file").unwrap();
        assert_eq!(left.get(10, 2 * PAGE).as_deref(), bytes.get(10..10 + 2 * PAGE));
        disk.remove("file").unwrap();
        assert_eq!(left.get(10, 2 * PAGE).as_deref(), bytes.get(10..10 + 2 * PAGE));
    }

    #[test]
    fn a_page_that_changed_or_is_gone_is_not_handed_out_and_that_is_told() {
        type Change = fn(&mut Vec<u8>);
        let changes: [Change; 2] = [|bytes| bytes[PAGE + 9] ^= 1, |bytes| bytes.truncate(PAGE + 20)];
        for change in changes {
            let (disk, bytes, mut left) = left(2 * PAGE + 100);
            left.sum(0, 0).unwrap();
            disk.rot("file", change);
            assert_eq!(left.get(8, 8).as_deref(), bytes.get(8..16), "another page is as it was");
            assert!(!left.has_failed());
            assert_eq!(left.get(PAGE + 10, 8), None);
            assert!(left.has_failed());
            assert_eq!(left.passing().get(0, PAGE + 1), None);
            assert_eq!(left.near().get(PAGE, 1), None);
        }
    }

    #[derive(Debug)]
    struct Unreadable;

    impl DiskFile for Unreadable {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            Err(io::Error::other("planned fault"))
        }
        fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            Ok(())
        }
        fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn size(&self) -> io::Result<u64> {
            Ok(100)
        }
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_file_that_gives_errors_has_failed() {
        let mut left = Bytes::left_in(Box::new(Unreadable)).unwrap();
        assert_eq!((left.sum(0, 0), left.get(0, 1)), (None, None));
        assert!(left.has_failed());
    }
}
