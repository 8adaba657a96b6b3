//! Which segments have left the log's folder, and where they are.
//!
//! ```text
//! log.begins, written before a segment leaves, so that nobody takes it for lost:
//!  0 [4]  "bwlb"                   16 [16] journal id                   48 u32 length of the archive's path
//!  4 u8   format version, 1        32 u64  the first segment that is    52 u32 zero
//!  5 [7]  zero                             still in the folder          56     the path, then both marks of each
//! 12 u32  CRC32C over all but      40 u64  number of removed segments          removed segment, oldest first
//!         these four bytes
//! ```

use std::{collections::BTreeSet, io, path::PathBuf};

use uuid::Uuid;

use crate::{
    disk::{self, Access, Disk},
    log::segment::{MARK_BYTES, Mark},
};

pub(crate) const FILE: &str = "log.begins";
const FORMAT: u8 = 1;
const FIXED: usize = 56;

/// What `log.begins` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Catalog {
    /// Segments before this one are elsewhere.
    pub first: u32,
    pub archive: Option<PathBuf>,
    /// Both marks of each segment that was removed.
    pub removed: Vec<(Mark, Mark)>,
}

impl Catalog {
    pub(super) fn encode(&self, journal: Uuid) -> Vec<u8> {
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
pub(crate) fn read(disk: &dyn Disk, journal: Uuid) -> io::Result<Option<Catalog>> {
    let file = match disk.open(FILE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let found = Catalog::decode(&disk::read_all(&*file)?);
    if found.is_none() {
        tracing::warn!("{FILE} is damaged; reading the block store instead");
    }
    Ok(found.filter(|found| found.0 == journal).map(|found| found.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Position, log::segment::End, model::codec, tools::hex};

    fn catalog() -> Catalog {
        let journal = Uuid::from_u128(7);
        let mark = |end, segment, block, offset| {
            let position = Position(2 * block);
            Mark { end, journal, segment, block, position, offset, hash: [segment as u8; 32] }
        };
        let removed = (1..=2).map(|segment| {
            let block = u64::from(segment) * 10;
            (mark(End::Begin, segment, block, 0), mark(End::Seal, segment, block + 9, 5_000))
        });
        Catalog { first: 4, archive: Some("/archive".into()), removed: removed.collect() }
    }

    #[test]
    fn the_stored_form_is_as_released() {
        let bytes = catalog().encode(Uuid::from_u128(7));
        assert_eq!(Catalog::decode(&bytes), Some((Uuid::from_u128(7), catalog())));
        assert_eq!(catalog().archived().collect::<Vec<_>>(), [3]);
        assert_eq!(hex::encode(&codec::digest(&bytes)), "4381436e6e67bb0451378881d193edcc");
    }

    #[test]
    fn every_flipped_bit_and_every_shorter_one_is_refused() {
        let bytes = catalog().encode(Uuid::from_u128(7));
        for bit in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Catalog::decode(&other), None, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(Catalog::decode(&bytes[..length]), None, "{length} bytes");
        }
    }
}
