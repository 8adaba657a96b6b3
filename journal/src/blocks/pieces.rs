//! A block in the pieces in which a store holds it: lent where the store can lend, so that reading copies nothing but
//! what lies across two of them.

use std::{borrow::Cow, fmt, ops::ControlFlow};

use crate::format::{
    frame::{self, FrameError, FrameHeader, HEADER_BYTES},
    record::{Malformed, Record},
};

/// The bytes of one block, in one piece or several.
#[derive(Clone, Default)]
pub struct Pieces(Vec<Piece>);

#[derive(Clone)]
enum Piece {
    Own(Vec<u8>),
    Lent(sled::IVec),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl Pieces {
    /// A block in one piece.
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self(vec![Piece::Own(bytes)])
    }

    pub(super) fn push(&mut self, lent: sled::IVec) {
        self.0.push(Piece::Lent(lent));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.0.iter().map(Piece::bytes)
    }

    /// The length of all of them together, in bytes.
    pub fn len(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes behind one another; copied only if they lie in several pieces.
    pub(crate) fn joined(&self) -> Cow<'_, [u8]> {
        match &self.0[..] {
            [one] => Cow::Borrowed(one.bytes()),
            several => Cow::Owned(several.iter().map(Piece::bytes).collect::<Vec<_>>().concat()),
        }
    }

    /// As a block of its own, copied unless there is nobody else who has it.
    pub fn into_bytes(mut self) -> Vec<u8> {
        match (self.0.pop(), self.0.is_empty()) {
            (Some(Piece::Own(bytes)), true) => bytes,
            (last, _) => {
                self.0.extend(last);
                self.joined().into_owned()
            }
        }
    }

    /// The block that they are, checked in full.
    pub(crate) fn check(&self) -> Result<FrameHeader, FrameError> {
        frame::check_pieces(self.iter())
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(<[u8]>::len)).finish()
    }
}

/// Shows the records of a checked block in their order, until the visitor breaks off. The header lies in the first piece;
/// a record that lies across pieces is put together.
pub(crate) fn each_record<'p, E: From<Malformed>>(
    mut pieces: impl Iterator<Item = &'p [u8]>,
    mut visit: impl FnMut(&Record<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<ControlFlow<()>, E> {
    let mut rest = pieces.next().and_then(|first| first.get(HEADER_BYTES..)).unwrap_or(&[]);
    let mut across = Vec::new();
    loop {
        while let Some(length) = whole_record(rest) {
            let (record, behind) = Record::at(&rest[..length])?;
            debug_assert!(behind.is_empty(), "a record ends where its length says");
            if visit(&record)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = &rest[length..];
        }
        let begun = !rest.is_empty();
        across.clear();
        across.extend_from_slice(rest);
        rest = loop {
            let Some(piece) = pieces.next() else {
                return if begun {
                    Err("a record's length is impossible".into())
                } else {
                    Ok(ControlFlow::Continue(()))
                };
            };
            if !begun {
                break piece;
            }
            let (taken, behind) = piece.split_at(missing(&across, piece));
            across.extend_from_slice(taken);
            if let Some(length) = whole_record(&across) {
                // Its length may have been known only with this piece, which then may hold less or more of it.
                debug_assert_eq!(length, across.len(), "no more was taken than what was missing");
                break behind;
            }
        };
        if begun {
            let (record, _) = Record::at(&across)?;
            if visit(&record)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// The length of the record at the beginning of `bytes`, if all of it is there.
fn whole_record(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    // What is shorter than its own length field is reported by the code that looks into it.
    (length <= bytes.len()).then_some(length.max(4).min(bytes.len()))
}

/// How much of `piece` belongs to the record that has begun.
fn missing(begun: &[u8], piece: &[u8]) -> usize {
    let mut field = [0; 4];
    let known = begun.len().min(4);
    field[..known].copy_from_slice(&begun[..known]);
    let Some(more) = piece.get(..4 - known) else { return piece.len() };
    field[known..].copy_from_slice(more);
    let length = (u32::from_le_bytes(field) as usize).max(4);
    length.saturating_sub(begun.len()).min(piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    /// A block of three records of different lengths, checked in full.
    fn block() -> Vec<u8> {
        let mut frame = vec![0; HEADER_BYTES];
        for (number, bytes) in [1usize, 90, 7].into_iter().enumerate() {
            let at = frame.len();
            let draft = crate::testing::draft("machine/0", 0, 5, &vec![number as u64; bytes]);
            crate::format::record::encode(&draft, &mut frame);
            crate::format::record::place(&mut frame[at..], Position(number as u64 + 1), crate::Version(1));
        }
        let header = FrameHeader {
            journal: uuid::Uuid::from_u128(1),
            block: 1,
            first: Position(1),
            epoch: 1,
            count: 3,
            records_bytes: 0,
            previous: [0; 32],
            hash: [0; 32],
        };
        frame::seal(&mut frame, &header);
        frame
    }

    fn positions(pieces: &Pieces) -> Result<Vec<(u64, usize)>, Malformed> {
        let mut shown = Vec::new();
        let visit = |record: &Record<'_>| {
            shown.push((record.entry()?.header.position.0, record.bytes()));
            Ok::<_, Malformed>(ControlFlow::Continue(()))
        };
        each_record(pieces.iter(), visit).map(|_| shown)
    }

    fn in_pieces_of(bytes: &[u8], first: usize, each: usize) -> Pieces {
        let (first, rest) = bytes.split_at(first);
        let mut pieces = Pieces::default();
        pieces.push(first.into());
        rest.chunks(each).for_each(|piece| pieces.push(piece.into()));
        pieces
    }

    #[test]
    fn however_a_block_is_cut_it_is_the_same() {
        let bytes = block();
        let whole = Pieces::whole(bytes.clone());
        let shown = positions(&whole).unwrap();
        assert_eq!(shown.iter().map(|one| one.0).collect::<Vec<_>>(), [1, 2, 3]);
        let cuts = (HEADER_BYTES..=bytes.len()).map(|first| (first, bytes.len()));
        for (first, each) in cuts.chain((1..40).map(|each| (HEADER_BYTES, each))) {
            let pieces = in_pieces_of(&bytes, first, each);
            assert_eq!(positions(&pieces), Ok(shown.clone()), "{first}, then {each} at a time");
            assert_eq!(pieces.check(), whole.check());
            assert_eq!(
                (pieces.len(), pieces.joined(), pieces.clone().into_bytes()),
                (bytes.len(), bytes[..].into(), bytes.clone())
            );
        }
    }

    #[test]
    fn what_is_cut_off_or_too_much_is_refused() {
        let bytes = block();
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Pieces::whole(longer.clone()).check(), Err(FrameError::Damaged));
        assert_eq!(in_pieces_of(&longer, bytes.len(), 1).check(), Err(FrameError::Damaged));
        let mut last_before = 0;
        for length in HEADER_BYTES..bytes.len() {
            for each in [1, 50, bytes.len()] {
                let pieces = in_pieces_of(&bytes[..length], HEADER_BYTES, each);
                assert_eq!(pieces.check(), Err(FrameError::Damaged));
                match positions(&pieces) {
                    Ok(shown) => last_before = shown.len(),
                    Err(problem) => assert_eq!(problem, "a record's length is impossible"),
                }
            }
        }
        assert_eq!(last_before, 2, "a block that ends with a record shows those before");
    }

    #[test]
    fn a_flipped_bit_is_seen_in_every_piece() {
        let bytes = block();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(in_pieces_of(&flipped, HEADER_BYTES, 100).check().is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_visitor_breaks_off() {
        let pieces = in_pieces_of(&block(), HEADER_BYTES, 60);
        let mut seen = 0;
        let broken = each_record(pieces.iter(), |_| {
            seen += 1;
            Ok::<_, Malformed>(if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        assert_eq!((broken, seen), (Ok(ControlFlow::Break(())), 2));
    }
}
