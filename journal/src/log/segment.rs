//! The marks at both ends of a segment file, and the names of segment files.
//!
//! ```text
//!  0 [4]  "bwsg" at the beginning, "bwsl" behind the last block of a full segment
//!  4 u8   format version, 1            16 [16] journal id            48 u64  position: of the first entry / the last
//!  5 [7]  zero                         32 u64  segment, from 1       56 u64  offset of this mark
//! 12 u32  CRC32C over all but these    40 u64  block: the first /    64 [32] chain value before the first block /
//!         four bytes                           the last                      of the last
//!                                                                    96 [32] zero
//! ```

use std::io;

use uuid::Uuid;

use crate::{
    Position,
    disk::{Access, Disk, DiskFile},
    log::compressed::CompressedFile,
};

pub(crate) const MARK_BYTES: usize = 128;
/// The folder of the log.
pub(crate) const LOG_DIR: &str = "log";
/// The folder of a log that is being written anew.
pub(crate) const NEW_DIR: &str = "log.new";
/// What the name of a damaged log begins with, once it is put aside.
pub(crate) const ASIDE: &str = "log.damaged-";
const FORMAT: u8 = 1;

/// Which end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Begin,
    Seal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub end: End,
    pub journal: Uuid,
    pub segment: u32,
    pub block: u64,
    pub position: Position,
    pub offset: u64,
    pub hash: [u8; 32],
}

impl Mark {
    pub(crate) fn encode(&self) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        bytes[..4].copy_from_slice(magic(self.end));
        bytes[4] = FORMAT;
        bytes[16..32].copy_from_slice(self.journal.as_bytes());
        bytes[32..40].copy_from_slice(&u64::from(self.segment).to_le_bytes());
        bytes[40..48].copy_from_slice(&self.block.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.position.0.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.offset.to_le_bytes());
        bytes[64..96].copy_from_slice(&self.hash);
        let sum = crc(&bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The mark at the beginning of `bytes`, if there is a whole one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<MARK_BYTES>()?;
        let end = [End::Begin, End::Seal].into_iter().find(|end| bytes[..4] == *magic(*end))?;
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[4] != FORMAT || crc(bytes).to_le_bytes() != bytes[12..16] {
            return None;
        }
        Some(Self {
            end,
            journal: Uuid::from_slice(&bytes[16..32]).ok()?,
            segment: u32::try_from(number(32)).ok()?,
            block: number(40),
            position: Position(number(48)),
            offset: number(56),
            hash: bytes[64..96].try_into().ok()?,
        })
    }
}

/// What the name of a compressed segment ends in.
const PACKED: &str = ".zst";

/// The name of a segment as it is written.
pub(crate) fn name_of(segment: u32) -> String {
    format!("{LOG_DIR}/{segment:010}.log")
}

/// The name of a segment once it is compressed.
pub(crate) fn compressed_name_of(segment: u32) -> String {
    format!("{}{PACKED}", name_of(segment))
}

/// Opens a segment for reading, whether it is compressed or not.
pub(crate) fn open(disk: &dyn Disk, segment: u32) -> io::Result<Box<dyn DiskFile>> {
    match disk.open(&name_of(segment), Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let compressed = disk.open(&compressed_name_of(segment), Access::Read)?;
            Ok(Box::new(CompressedFile::open(compressed)?))
        }
        file => file,
    }
}

/// Both marks of a segment; none if it is not a full one, or if one is damaged.
pub(crate) fn marks(disk: &dyn Disk, number: u32) -> io::Result<Option<(Mark, Mark)>> {
    let file = open(disk, number)?;
    let (mut first, mut last) = ([0; MARK_BYTES], [0; MARK_BYTES]);
    file.read_at(&mut first, 0)?;
    let at = file.size()?.saturating_sub(MARK_BYTES as u64);
    file.read_at(&mut last, at)?;
    let begin = Mark::decode(&first).filter(|mark| mark.end == End::Begin);
    let seal = Mark::decode(&last).filter(|mark| mark.end == End::Seal && mark.offset == at);
    let same = |(begin, seal): &(Mark, Mark)| begin.segment == seal.segment && begin.journal == seal.journal;
    Ok(begin.zip(seal).filter(same))
}

/// How long a segment's file is, as it is stored.
pub(crate) fn stored_bytes(disk: &dyn Disk, segment: u32) -> io::Result<u64> {
    match disk.open(&name_of(segment), Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk.open(&compressed_name_of(segment), Access::Read)?.size()
        }
        file => file?.size(),
    }
}

/// Removes a segment in either form.
pub(crate) fn remove(disk: &dyn Disk, segment: u32) -> io::Result<()> {
    disk.remove(&name_of(segment))?;
    disk.remove(&compressed_name_of(segment))
}

/// The numbers of the segments that are there, in their order.
pub(crate) fn numbers(disk: &dyn Disk) -> io::Result<Vec<u32>> {
    let mut numbers: Vec<u32> = disk.list(LOG_DIR)?.iter().filter_map(|name| number_of(name)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The segment's number, if this is the name of a segment file inside the log's folder.
fn number_of(file_name: &str) -> Option<u32> {
    numbered(file_name).map(|found| found.0)
}

/// As [`number_of`], and whether it is that of a compressed one.
pub(crate) fn numbered(file_name: &str) -> Option<(u32, bool)> {
    let plain = file_name.strip_suffix(PACKED);
    let digits = plain.unwrap_or(file_name).strip_suffix(".log")?;
    let number = digits.parse().ok()?;
    (digits.len() == 10 && number > 0).then_some((number, plain.is_some()))
}

fn magic(end: End) -> &'static [u8; 4] {
    match end {
        End::Begin => b"bwsg",
        End::Seal => b"bwsl",
    }
}

fn crc(bytes: &[u8; MARK_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}
