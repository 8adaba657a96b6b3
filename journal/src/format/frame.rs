//! The stored form of one block: what one group of appends became, and the unit of the hash chain.
//!
//! ```text
//!  0 [4]  "bwbk"                       16 [16] journal id            64 [32] chain value before this block
//!  4 u8   format version, 1            32 u64  block, from 1         96 [32] chain value of this block
//!  5 u8   codec of the bodies          40 u64  first position       128      records, one after the other
//!  6 u8   packing of the records, 0    48 u64  writer epoch
//!  7 u8   zero                         56 u32  number of entries
//!  8 u32  length of the records        60 u32  zero
//! 12 u32  CRC32C over all but these four bytes
//! ```
//!
//! The chain value is BLAKE3 over bytes 0..12, 16..96 and the records; before block 1 it is BLAKE3 of the journal id.

use uuid::Uuid;

use crate::{CODEC_BINCODE_FIXED, Position, format::record::Record};

pub(crate) const HEADER_BYTES: usize = 128;
pub(crate) const MAGIC: [u8; 4] = *b"bwbk";
pub(crate) const FORMAT: u8 = 1;
/// The longest records of one block: one append of the largest size beside a full group. Bounds what damage can make
/// a reader allocate.
pub(crate) const RECORDS_BYTES_MAX: usize = 24 * 1024 * 1024;

/// What the chain begins with.
pub(crate) fn genesis(journal: Uuid) -> [u8; 32] {
    *blake3::hash(journal.as_bytes()).as_bytes()
}

/// What a block says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub journal: Uuid,
    pub block: u64,
    pub first: Position,
    pub epoch: u64,
    pub count: u32,
    pub records_bytes: u32,
    pub previous: [u8; 32],
    pub hash: [u8; 32],
}

/// Why bytes are no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// Only zeros: nothing was ever written here.
    Blank,
    /// No magic, or too short.
    NoFrame,
    /// Written by a later version.
    Newer { format: u8 },
    /// Length, checksum or hash do not fit.
    Damaged,
}

/// The first bytes of `bytes` as a frame's header, checked as far as possible without the records.
pub(crate) fn peek(bytes: &[u8]) -> Result<FrameHeader, FrameError> {
    let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
        let blank = bytes.iter().all(|byte| *byte == 0);
        return Err(if blank { FrameError::Blank } else { FrameError::NoFrame });
    };
    if head.iter().all(|byte| *byte == 0) {
        return Err(FrameError::Blank);
    }
    if head[..4] != MAGIC {
        return Err(FrameError::NoFrame);
    }
    let header = FrameHeader {
        journal: Uuid::from_bytes(part(head, 16)),
        block: u64::from_le_bytes(part(head, 32)),
        first: Position(u64::from_le_bytes(part(head, 40))),
        epoch: u64::from_le_bytes(part(head, 48)),
        count: u32::from_le_bytes(part(head, 56)),
        records_bytes: u32::from_le_bytes(part(head, 8)),
        previous: part(head, 64),
        hash: part(head, 96),
    };
    if header.records_bytes as usize > RECORDS_BYTES_MAX {
        return Err(FrameError::Damaged);
    }
    Ok(header)
}

/// The frame at the beginning of `bytes`, checked in full: header, records, and its length.
pub(crate) fn check(bytes: &[u8]) -> Result<(FrameHeader, &[u8]), FrameError> {
    let header = peek(bytes)?;
    let length = HEADER_BYTES + header.records_bytes as usize;
    let frame = bytes.get(..length).ok_or(FrameError::Damaged)?;
    check_header(frame, crc(frame))?;
    Ok((header, &frame[HEADER_BYTES..]))
}

/// As [`check`], of a frame that lies in pieces, with its header in the first one and with nothing behind it.
pub(crate) fn check_pieces<'p>(pieces: impl Iterator<Item = &'p [u8]> + Clone) -> Result<FrameHeader, FrameError> {
    let first = pieces.clone().next().unwrap_or(&[]);
    let header = peek(first)?;
    let length = HEADER_BYTES + header.records_bytes as usize;
    if pieces.clone().map(<[u8]>::len).sum::<usize>() != length {
        return Err(FrameError::Damaged);
    }
    let sum = pieces.skip(1).fold(crc(first), crc32c::crc32c_append);
    check_header(first, sum)?;
    Ok(header)
}

/// What a frame's header says beside its numbers; `sum` is the checksum that it should have.
fn check_header(frame: &[u8], sum: u32) -> Result<(), FrameError> {
    if sum.to_le_bytes() != frame[12..16] {
        return Err(FrameError::Damaged);
    }
    if frame[4] > FORMAT {
        return Err(FrameError::Newer { format: frame[4] });
    }
    let plain = frame[4] == FORMAT && frame[5] == CODEC_BINCODE_FIXED && frame[6] == 0 && frame[7] == 0;
    if !plain || frame[60..64] != [0; 4] {
        return Err(FrameError::Damaged);
    }
    Ok(())
}

/// Whether a checked frame's chain value is that of its content.
pub(crate) fn hash_fits(frame: &[u8]) -> bool {
    frame.len() >= HEADER_BYTES && frame[96..128] == chain_value(frame)
}

/// Completes a frame whose records already stand behind [`HEADER_BYTES`] bytes of room; returns its chain value.
pub(crate) fn seal(frame: &mut [u8], header: &FrameHeader) -> [u8; 32] {
    let records_bytes = (frame.len() - HEADER_BYTES) as u32;
    frame[..4].copy_from_slice(&MAGIC);
    frame[4..8].copy_from_slice(&[FORMAT, CODEC_BINCODE_FIXED, 0, 0]);
    frame[8..12].copy_from_slice(&records_bytes.to_le_bytes());
    frame[16..32].copy_from_slice(header.journal.as_bytes());
    frame[32..40].copy_from_slice(&header.block.to_le_bytes());
    frame[40..48].copy_from_slice(&header.first.0.to_le_bytes());
    frame[48..56].copy_from_slice(&header.epoch.to_le_bytes());
    frame[56..60].copy_from_slice(&header.count.to_le_bytes());
    frame[60..64].fill(0);
    frame[64..96].copy_from_slice(&header.previous);
    let hash = chain_value(frame);
    frame[96..128].copy_from_slice(&hash);
    let sum = crc(frame);
    frame[12..16].copy_from_slice(&sum.to_le_bytes());
    hash
}

/// The records of a checked frame, by their order.
pub(crate) fn records(bytes: &[u8]) -> impl Iterator<Item = Result<Record<'_>, &'static str>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match Record::at(rest) {
            Ok((record, behind)) => {
                rest = behind;
                Some(Ok(record))
            }
            Err(problem) => {
                rest = &[];
                Some(Err(problem))
            }
        }
    })
}

/// The chain value and the checksum that a frame should have.
#[cfg(feature = "testing")]
pub(crate) fn values(frame: &[u8]) -> ([u8; 32], u32) {
    (chain_value(frame), crc(frame))
}

fn chain_value(frame: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&frame[..12]).update(&frame[16..96]).update(&frame[HEADER_BYTES..]);
    *hasher.finalize().as_bytes()
}

fn crc(frame: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&frame[..12]), &frame[16..])
}

fn part<const N: usize>(head: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    head[at..at + N].try_into().expect("the part lies inside the header")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(records: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; HEADER_BYTES];
        frame.extend_from_slice(records);
        let header = FrameHeader {
            journal: Uuid::from_u128(1),
            block: 1,
            first: Position(1),
            epoch: 1,
            count: 1,
            records_bytes: 0,
            previous: genesis(Uuid::from_u128(1)),
            hash: [0; 32],
        };
        seal(&mut frame, &header);
        frame
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let frame = sealed(b"some records, which are not looked into");
        assert!(check(&frame).is_ok() && hash_fits(&frame));
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(check(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_shortened_frame_is_refused() {
        let frame = sealed(b"records");
        for length in 0..frame.len() {
            assert!(check(&frame[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn zeros_are_blank_and_a_later_format_is_named() {
        assert_eq!(check(&[0; 300]).unwrap_err(), FrameError::Blank);
        let mut later = sealed(b"records");
        later[4] = 2;
        let sum = crc(&later);
        later[12..16].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(check(&later).unwrap_err(), FrameError::Newer { format: 2 });
    }

    #[test]
    fn short_bytes_are_blank_or_no_frame() {
        assert_eq!(check(&[0; 50]).unwrap_err(), FrameError::Blank);
        assert_eq!(check(&[1; 50]).unwrap_err(), FrameError::NoFrame);
        assert_eq!(check(&[1; 300]).unwrap_err(), FrameError::NoFrame);
    }

    #[test]
    fn records_are_bounded_by_the_largest_append_beside_a_full_group() {
        assert_eq!(RECORDS_BYTES_MAX, 25_165_824);
        let mut frame = sealed(b"records");
        frame[8..12].copy_from_slice(&(RECORDS_BYTES_MAX as u32).to_le_bytes());
        assert!(peek(&frame).is_ok());
        frame[8..12].copy_from_slice(&(RECORDS_BYTES_MAX as u32 + 1).to_le_bytes());
        assert_eq!(peek(&frame).unwrap_err(), FrameError::Damaged);
    }

    #[test]
    fn what_this_version_does_not_write_is_refused_with_a_right_checksum_too() {
        for at in [4, 5, 6, 7, 60, 61, 62, 63] {
            let mut other = sealed(b"records");
            other[at] = if at == 4 { 0 } else { other[at] + 1 };
            let sum = crc(&other);
            other[12..16].copy_from_slice(&sum.to_le_bytes());
            assert_eq!(check(&other).unwrap_err(), FrameError::Damaged, "byte {at}");
        }
    }

    #[test]
    fn a_right_checksum_over_a_wrong_chain_value_is_seen() {
        let mut other = sealed(b"records");
        other[100] ^= 1;
        let sum = crc(&other);
        other[12..16].copy_from_slice(&sum.to_le_bytes());
        assert!(check(&other).is_ok() && !hash_fits(&other));
        assert!(!hash_fits(&other[..50]));
    }

    #[test]
    fn hostile_records_are_refused_without_a_panic() {
        let mut seed = 7u64;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> 60) as u8
                })
                .collect();
            for record in records(&bytes).take(1000) {
                let _ = record.map(|record| (record.header(), record.entry(), record.stream_text().map(str::len)));
            }
        }
    }
}
