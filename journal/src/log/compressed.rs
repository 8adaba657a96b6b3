//! A full segment of the log, compressed: the same bytes, in pieces that are read one by one.
//!
//! ```text
//!  0 [4]  "bwpk"                        16 [16] journal id     40 u64  length of the segment before
//!  4 u8   format version, 1             32 u64  segment        48 u32  length of a piece before
//!  5 u8   method, 1: zstd                                      52 u32  number of pieces
//!  6 [6]  zero                                                 56 [8]  zero
//! 12 u32  CRC32C over header and table, but these four bytes
//! 64      the table: for each piece, u32 length here, u32 CRC32C of its bytes here; then the pieces
//! ```
//!
//! Nothing is decompressed before its checksum has been found right. A piece that is damaged reads as bytes that are no
//! block, so that a reader of the log finds damage where it is, and nothing else.

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;

use crate::disk::DiskFile;

const HEADER_BYTES: usize = 64;
const FORMAT: u8 = 1;
const METHOD_ZSTD: u8 = 1;
const LEVEL: i32 = 3;
const PIECE_BYTES: usize = 256 * 1024;
/// The longest segment, and with it the largest table, that is believed.
const SEGMENT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Pieces that are kept decompressed.
const KEPT: usize = 8;
/// What fills the place of bytes that cannot be read: no block begins like this, and it is not blank either.
const UNREADABLE: u8 = 0xFF;

/// Writes the compressed form of a whole segment into an empty file, piece by piece: a node that is small stays so.
pub(crate) fn compress(from: &dyn DiskFile, to: &dyn DiskFile, journal: Uuid, segment: u32) -> io::Result<()> {
    let length = from.size()?;
    let count = length.div_ceil(PIECE_BYTES as u64) as usize;
    let mut head = vec![0; HEADER_BYTES + count * 8];
    head[..4].copy_from_slice(b"bwpk");
    head[4..6].copy_from_slice(&[FORMAT, METHOD_ZSTD]);
    head[16..32].copy_from_slice(journal.as_bytes());
    head[32..40].copy_from_slice(&u64::from(segment).to_le_bytes());
    head[40..48].copy_from_slice(&length.to_le_bytes());
    head[48..52].copy_from_slice(&(PIECE_BYTES as u32).to_le_bytes());
    head[52..56].copy_from_slice(&(count as u32).to_le_bytes());
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut offset = head.len() as u64;
    for number in 0..count {
        let read = from.read_at(&mut piece, (number * PIECE_BYTES) as u64)?;
        let bytes = compressor.compress(&piece[..read])?;
        to.write_at(&bytes, offset)?;
        offset += bytes.len() as u64;
        let at = HEADER_BYTES + number * 8;
        head[at..at + 4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        head[at + 4..at + 8].copy_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    }
    let sum = crc(&head);
    head[12..16].copy_from_slice(&sum.to_le_bytes());
    to.write_at(&head, 0)?;
    to.sync()
}

/// A compressed segment that reads as the segment it was.
pub(crate) struct CompressedFile {
    file: Box<dyn DiskFile>,
    /// None if header or table cannot be read.
    layout: Option<Layout>,
    kept: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
}

#[derive(Debug)]
struct Layout {
    bytes: u64,
    piece_bytes: usize,
    /// Offset, length and checksum.
    pieces: Vec<(u64, u32, u32)>,
}

impl CompressedFile {
    /// Reads header and table.
    pub(crate) fn open(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let layout = read_layout(&*file)?;
        Ok(Self { file, layout, kept: Mutex::default() })
    }

    fn piece(&self, layout: &Layout, number: usize) -> io::Result<Arc<Vec<u8>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, piece)) = kept.iter().find(|(other, _)| *other == number) {
            return Ok(piece.clone());
        }
        let (offset, length, sum) = layout.pieces[number];
        let expected = (layout.bytes - (number * layout.piece_bytes) as u64).min(layout.piece_bytes as u64) as usize;
        let mut bytes = vec![0; length as usize];
        let read = self.file.read_at(&mut bytes, offset)?;
        let sound = read == bytes.len() && crc32c::crc32c(&bytes) == sum;
        let plain = if sound { zstd::bulk::decompress(&bytes, expected).ok() } else { None };
        let plain = plain.filter(|plain| plain.len() == expected).unwrap_or_else(|| vec![UNREADABLE; expected]);
        let piece = Arc::new(plain);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((number, piece.clone()));
        Ok(piece)
    }
}

fn read_layout(file: &dyn DiskFile) -> io::Result<Option<Layout>> {
    let mut header = [0; HEADER_BYTES];
    let read = file.read_at(&mut header, 0)?;
    let u32_at = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let bytes = u64::from_le_bytes(header[40..48].try_into().expect("eight bytes"));
    let (piece_bytes, count) = (u32_at(48) as usize, u32_at(52) as usize);
    let known = read == HEADER_BYTES && header[..6] == [b'b', b'w', b'p', b'k', FORMAT, METHOD_ZSTD];
    let fits = piece_bytes > 0
        && piece_bytes <= SEGMENT_BYTES_MAX as usize
        && bytes <= SEGMENT_BYTES_MAX
        && bytes.div_ceil(piece_bytes.max(1) as u64) == count as u64;
    let table_bytes = count.saturating_mul(8);
    if !known || !fits || table_bytes as u64 > file.size()? {
        return Ok(None);
    }
    let mut all = vec![0; HEADER_BYTES + table_bytes];
    let read = file.read_at(&mut all, 0)?;
    if read != all.len() || crc(&all).to_le_bytes() != all[12..16] {
        return Ok(None);
    }
    let mut pieces = Vec::with_capacity(count);
    let mut offset = all.len() as u64;
    let (words, _) = all[HEADER_BYTES..].as_chunks::<4>();
    for pair in words.chunks_exact(2) {
        let (length, sum) = (u32::from_le_bytes(pair[0]), u32::from_le_bytes(pair[1]));
        // zstd makes nothing much longer; a table that says so was not written by us.
        if length as usize > piece_bytes + piece_bytes / 8 + 1024 {
            return Ok(None);
        }
        pieces.push((offset, length, sum));
        offset += u64::from(length);
    }
    Ok(Some(Layout { bytes, piece_bytes, pieces }))
}

impl DiskFile for CompressedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let size = self.size()?;
        let count = buffer.len().min(usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX));
        let Some(layout) = &self.layout else {
            buffer[..count].fill(UNREADABLE);
            return Ok(count);
        };
        let mut done = 0;
        while done < count {
            let at = offset as usize + done;
            let piece = self.piece(layout, at / layout.piece_bytes)?;
            let inside = at % layout.piece_bytes;
            let part = (piece.len() - inside).min(count - done);
            buffer[done..done + part].copy_from_slice(&piece[inside..inside + part]);
            done += part;
        }
        Ok(count)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(read_only())
    }

    fn allocate(&self, _from: u64, _to: u64) -> io::Result<()> {
        Err(read_only())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Err(read_only())
    }

    /// The length of the segment as it was; some bytes that cannot be read if nobody knows it.
    fn size(&self) -> io::Result<u64> {
        self.layout.as_ref().map_or_else(|| self.file.size(), |layout| Ok(layout.bytes))
    }

    fn sync(&self) -> io::Result<()> {
        Err(read_only())
    }
}

impl fmt::Debug for CompressedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedFile").field("file", &self.file).finish_non_exhaustive()
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a compressed segment is never written into")
}

/// Whether a compressed segment reads as the segment it was made of.
pub(crate) fn is_same(compressed: Box<dyn DiskFile>, segment: &dyn DiskFile) -> io::Result<bool> {
    let compressed = CompressedFile::open(compressed)?;
    let length = segment.size()?;
    if compressed.layout.is_none() || compressed.size()? != length {
        return Ok(false);
    }
    let (mut ours, mut theirs) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    for offset in (0..length).step_by(PIECE_BYTES) {
        let (read, other) = (compressed.read_at(&mut ours, offset)?, segment.read_at(&mut theirs, offset)?);
        if read != other || ours[..read] != theirs[..read] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn crc(header_and_table: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&header_and_table[..12]), &header_and_table[16..])
}
