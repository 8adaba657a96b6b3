//! Reads a file piece by piece: a reader of a segment holds a quarter of a MiB of it, not all of it.

use std::io;

use crate::disk::DiskFile;

/// How much is read at once, and kept.
const PIECE_BYTES: usize = 256 * 1024;

/// A piece of a file, which is moved to where somebody wants to read. The file is as long as it was when this was made.
#[derive(Debug)]
pub(crate) struct Window<'f> {
    file: &'f dyn DiskFile,
    file_bytes: u64,
    /// Where `bytes` begin in the file.
    begin: u64,
    bytes: Vec<u8>,
}

impl<'f> Window<'f> {
    pub(crate) fn new(file: &'f dyn DiskFile) -> io::Result<Self> {
        Ok(Self { file, file_bytes: file.size()?, begin: 0, bytes: Vec::new() })
    }

    /// So many bytes from an offset on; fewer where the file ends before.
    pub(crate) fn at(&mut self, offset: u64, count: usize) -> io::Result<&[u8]> {
        let end = offset.saturating_add(count as u64).min(self.file_bytes);
        let is_here = self.begin <= offset && end <= self.begin + self.bytes.len() as u64;
        if !is_here {
            self.move_to(offset, count.max(PIECE_BYTES))?;
        }
        let first = (offset - self.begin).min(self.bytes.len() as u64) as usize;
        let behind = self.bytes.len().min(first + count);
        Ok(&self.bytes[first..behind])
    }

    /// Whatever is asked for next is read anew.
    pub(crate) fn forget(&mut self) {
        self.bytes.clear();
    }

    /// Whether only zeros stand from an offset on.
    pub(crate) fn is_blank_from(&mut self, mut offset: u64) -> io::Result<bool> {
        loop {
            let bytes = self.at(offset, PIECE_BYTES)?;
            if bytes.is_empty() {
                return Ok(true);
            }
            if bytes.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            offset += bytes.len() as u64;
        }
    }

    /// The first place from an offset on at which these two bytes stand.
    pub(crate) fn find(&mut self, wanted: [u8; 2], mut offset: u64) -> io::Result<Option<u64>> {
        loop {
            let bytes = self.at(offset, PIECE_BYTES)?;
            if let Some(at) = bytes.windows(2).position(|two| two == wanted) {
                return Ok(Some(offset + at as u64));
            }
            if bytes.len() < PIECE_BYTES {
                return Ok(None);
            }
            // The last byte may be the first of the two.
            offset += bytes.len() as u64 - 1;
        }
    }

    fn move_to(&mut self, offset: u64, count: usize) -> io::Result<()> {
        let rest = self.file_bytes.saturating_sub(offset);
        let count = count.min(usize::try_from(rest).unwrap_or(usize::MAX));
        if self.bytes.capacity() > 2 * PIECE_BYTES && count <= PIECE_BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.bytes.resize(count, 0);
        self.begin = offset;
        let read = self.file.read_at(&mut self.bytes, offset)?;
        self.bytes.truncate(read);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::{Access, Disk, SimulatedDisk};

    /// A file of zeros, but for these places.
    fn file(bytes: usize, others: &[(usize, u8)]) -> (Box<dyn DiskFile>, Vec<u8>) {
        let mut content = vec![0; bytes];
        others.iter().for_each(|(at, byte)| content[at % bytes] = *byte);
        let disk = SimulatedDisk::new();
        disk.create("file").unwrap().write_at(&content, 0).unwrap();
        (disk.open("file", Access::Read).unwrap(), content)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_window_reads_what_stands_there(
            bytes in 1usize..3 * PIECE_BYTES,
            others in prop::collection::vec((any::<usize>(), any::<u8>()), 0..8),
            asked in prop::collection::vec((0usize..4 * PIECE_BYTES, 0usize..2 * PIECE_BYTES), 1..12),
        ) {
            let (file, content) = file(bytes, &others);
            let mut window = Window::new(&*file).unwrap();
            for (offset, count) in asked {
                let rest = content.get(offset..).unwrap_or(&[]);
                prop_assert_eq!(window.at(offset as u64, count).unwrap(), &rest[..count.min(rest.len())]);
                prop_assert_eq!(window.is_blank_from(offset as u64).unwrap(), rest.iter().all(|byte| *byte == 0));
            }
            prop_assert!(window.bytes.capacity() <= 4 * PIECE_BYTES);
        }

        #[test]
        fn two_bytes_are_found_where_they_stand_first(
            bytes in 2usize..3 * PIECE_BYTES,
            places in prop::collection::vec(any::<usize>(), 0..4),
            border in any::<bool>(),
            from in 0usize..3 * PIECE_BYTES,
        ) {
            let mut places: Vec<usize> = places.into_iter().map(|place| place % (bytes - 1)).collect();
            if border && bytes > PIECE_BYTES {
                places.push(PIECE_BYTES - 1);
            }
            let others: Vec<_> = places.iter().flat_map(|at| [(*at, b'b'), (*at + 1, b'w')]).collect();
            let (file, content) = file(bytes, &others);
            let found = Window::new(&*file).unwrap().find(*b"bw", from as u64).unwrap();
            let rest = content.get(from..).unwrap_or(&[]);
            let wanted = rest.windows(2).position(|two| two == b"bw").map(|at| (from + at) as u64);
            prop_assert_eq!(found, wanted);
        }
    }
}
