//! The commands that were answered and that no checkpoint in use holds, in at most 48 bytes each: a node remembers a day of
//! them, and has to stay small.
//!
//! What is known of each lies in the order of the positions, which are counted on without a gap, so that nothing says them.
//! They are found through their places: the low half of a position and a piece of the id's mix, 6 bytes, in shards that are
//! sorted by that piece. A place is only where to look; the id itself decides.

use std::{collections::VecDeque, hash::BuildHasher};

use uuid::Uuid;

use crate::{Answered, Position, index::hash::Keyed};

/// Commands that lie in one piece.
pub(super) type Piece = Vec<Known>;

/// How many commands lie in one piece.
const PIECE: usize = 512;
const SHARD_BITS: u32 = 11;

#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The position of the oldest that is remembered.
    first: u64,
    /// How many of the first piece are forgotten.
    forgotten: usize,
    pieces: VecDeque<Piece>,
    /// None before there is anything.
    shards: Vec<Vec<Place>>,
    keyed: Keyed,
}

/// What is known of one: times are milliseconds in 6 bytes, enough for 8,900 years.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    id: [u8; 16],
    command_hash: [u8; 16],
    time_ms: [u8; 6],
}

impl Known {
    fn new(id: Uuid, command_hash: [u8; 16], time_ms: u64) -> Self {
        let [a, b, c, d, e, f, ..] = time_ms.min((1 << 48) - 1).to_le_bytes();
        Self { id: id.into_bytes(), command_hash, time_ms: [a, b, c, d, e, f] }
    }

    fn time_ms(&self) -> u64 {
        let [a, b, c, d, e, f] = self.time_ms;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

/// Where to look for an id: a piece of its mix, and the low half of its position in two halves, so that it takes 6 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    tag: u16,
    low: u16,
    high: u16,
}

impl Place {
    fn new(tag: u16, position: u64) -> Self {
        Self { tag, low: position as u16, high: (position >> 16) as u16 }
    }

    /// The position, if none before `first` is meant.
    fn position(self, first: u64) -> u64 {
        let half = u32::from(self.low) | u32::from(self.high) << 16;
        first + u64::from(half.wrapping_sub(first as u32))
    }
}

impl Answers {
    pub(super) fn get(&self, id: &Uuid) -> Option<(Answered, u64)> {
        let position = self.position_of(id)?;
        let known = self.known(position)?;
        let answered = Answered { position: Position(position), command_hash: known.command_hash };
        Some((answered, known.time_ms()))
    }

    /// Takes in the answer at the position behind the last one's; an id that is here already means the new one from now on.
    pub(super) fn push(&mut self, id: Uuid, answered: Answered, time_ms: u64) {
        let position = answered.position.0;
        if self.pieces.is_empty() {
            self.first = position;
            self.forgotten = 0;
        }
        debug_assert_eq!(position, self.first + self.len() as u64, "positions have no gap");
        if self.shards.is_empty() {
            self.shards.resize_with(1 << SHARD_BITS, Vec::new);
        }
        let before = self.position_of(&id);
        let (shard, tag) = self.place(&id);
        let shard = &mut self.shards[shard];
        if let Some(before) = before {
            remove(shard, Place::new(tag, before));
        }
        if shard.len() == shard.capacity() {
            shard.reserve_exact(shard.len() / 16 + 1);
        }
        let at = shard.partition_point(|place| place.tag <= tag);
        shard.insert(at, Place::new(tag, position));
        if self.pieces.back().is_none_or(|piece| piece.len() == PIECE) {
            self.pieces.push_back(Vec::with_capacity(PIECE));
        }
        if let Some(piece) = self.pieces.back_mut() {
            piece.push(Known::new(id, answered.command_hash, time_ms));
        }
    }

    /// Forgets from the oldest on what was answered before this time.
    pub(super) fn forget_before(&mut self, oldest_kept_ms: u64) {
        while let Some(known) = self.known(self.first).copied()
            && known.time_ms() < oldest_kept_ms
        {
            let (shard, tag) = self.place(&Uuid::from_bytes(known.id));
            // If the id was used anew since, its place is another one.
            remove(&mut self.shards[shard], Place::new(tag, self.first));
            self.first += 1;
            self.forgotten += 1;
            if self.pieces.front().is_some_and(|piece| piece.len() == self.forgotten) {
                self.pieces.pop_front();
                self.forgotten = 0;
            }
        }
    }

    /// Gives up what is not behind this position, and hands over what that was. Its places mean nothing any more; their room
    /// is given back by [`Answers::give_back`].
    pub(super) fn give_up(&mut self, until: u64) -> Vec<Piece> {
        let count = until.saturating_add(1).saturating_sub(self.first).min(self.len() as u64);
        self.first += count;
        self.forgotten += count as usize;
        let mut given_up = Vec::new();
        while let Some(piece) = self.pieces.pop_front_if(|piece| piece.len() <= self.forgotten) {
            self.forgotten -= piece.len();
            given_up.push(piece);
        }
        self.pieces.shrink_to(2 * self.pieces.len());
        given_up
    }

    /// Gives back the room of places that mean nothing any more, in one of so many parts.
    pub(super) fn give_back(&mut self, part: usize, parts: usize) {
        let (first, count) = (self.first, self.len() as u64);
        for shard in self.shards.iter_mut().skip(part).step_by(parts) {
            shard.retain(|place| place.position(first) - first < count);
            shard.shrink_to(shard.len() + shard.len() / 16);
        }
    }

    /// The answer at a position, if its id has not been used anew since.
    pub(super) fn at(&self, position: u64) -> Option<(Uuid, (Answered, u64))> {
        let id = Uuid::from_bytes(self.known(position)?.id);
        let found = self.get(&id)?;
        (found.0.position.0 == position).then_some((id, found))
    }

    /// The positions of all, each id once, with the mixes of their ids, by mix and id.
    pub(super) fn sorted_by(&self, mix: impl Fn(&Uuid) -> u64) -> Vec<(u64, u64)> {
        let behind = self.first + self.len() as u64;
        let mut found = Vec::with_capacity(self.len());
        found.extend((self.first..behind).filter_map(|position| Some((mix(&self.at(position)?.0), position))));
        let id = |position: u64| self.known(position).map(|known| known.id);
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| id(a.1).cmp(&id(b.1))));
        found
    }

    fn len(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum::<usize>() - self.forgotten
    }

    fn known(&self, position: u64) -> Option<&Known> {
        let at = usize::try_from(position.checked_sub(self.first)?).ok()? + self.forgotten;
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }

    fn position_of(&self, id: &Uuid) -> Option<u64> {
        let (shard, tag) = self.place(id);
        let shard = self.shards.get(shard)?;
        let at = shard.partition_point(|place| place.tag < tag);
        let same = shard[at..].iter().take_while(|place| place.tag == tag);
        let mut positions = same.map(|place| place.position(self.first));
        positions.find(|position| self.known(*position).is_some_and(|known| known.id == *id.as_bytes()))
    }

    fn place(&self, id: &Uuid) -> (usize, u16) {
        let mix = self.keyed.hash_one(id);
        ((mix >> (64 - SHARD_BITS)) as usize, (mix >> (48 - SHARD_BITS)) as u16)
    }

    /// How many bytes it holds on the heap.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        let pieces: usize = self.pieces.iter().map(|piece| piece.capacity() * size_of::<Known>()).sum();
        let shards: usize = self.shards.iter().map(|shard| shard.capacity() * size_of::<Place>()).sum();
        let tables =
            self.pieces.capacity() * size_of::<Vec<Known>>() + self.shards.capacity() * size_of::<Vec<Place>>();
        pieces + shards + tables
    }
}

fn remove(shard: &mut Vec<Place>, place: Place) {
    let at = shard.partition_point(|other| other.tag < place.tag);
    if let Some(behind) =
        shard[at..].iter().take_while(|other| other.tag == place.tag).position(|other| *other == place)
    {
        shard.remove(at + behind);
    }
    if shard.len() < shard.capacity() / 2 {
        shard.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: [u8; 16] = [7; 16];

    fn id(number: u64) -> Uuid {
        Uuid::from_u64_pair(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number)
    }

    fn filled(from: u64, count: u64) -> Answers {
        let mut answers = Answers::default();
        for position in from..from + count {
            answers.push(id(position), Answered { position: Position(position), command_hash: HASH }, position);
        }
        answers
    }

    #[test]
    fn at_most_48_bytes_a_remembered_command_however_many_there_are() {
        let mut answers = filled(1, 100_000);
        let mut most = 0;
        for position in 100_001..=300_000 {
            answers.push(id(position), Answered { position: Position(position), command_hash: HASH }, position);
            if position % 1_000 == 0 {
                most = most.max(answers.bytes() * 100 / answers.len());
            }
        }
        assert!(most <= 4_800, "{most} hundredths of a byte");
        answers.forget_before(200_001);
        assert_eq!(answers.len(), 100_000);
        assert!(answers.bytes() <= 100_000 * 48, "what was forgotten is given back: {}", answers.bytes());
        answers.forget_before(u64::MAX);
        assert!(answers.bytes() < 100_000, "{}", answers.bytes());
    }

    #[test]
    fn what_is_given_up_is_not_found_and_its_room_is_given_back() {
        for (until, left) in [(0, 10_000u64), (700, 9_300), (5_120, 4_880), (9_999, 1), (10_000, 0), (20_000, 0)] {
            let mut answers = filled(1, 10_000);
            let taken: usize = answers.give_up(until).iter().map(Vec::len).sum();
            let holds = |answers: &Answers, behind: u64| {
                let found = (1..=behind).filter(|position| answers.get(&id(*position)).is_some());
                assert!(found.eq(until + 1..=behind), "until {until}");
            };
            assert!(taken as u64 <= until && taken as u64 + 512 > 10_000 - left, "until {until}: {taken}");
            assert_eq!(answers.len() as u64, left);
            holds(&answers, 10_000);
            (0..64).for_each(|part| answers.give_back(part, 64));
            holds(&answers, 10_000);
            let places: u64 = answers.shards.iter().map(|shard| shard.len() as u64).sum();
            assert_eq!(places, left, "until {until}");
            assert!(answers.bytes() as u64 <= 100_000 + left * 48, "until {until}: {}", answers.bytes());
            for position in 10_001..=10_700 {
                answers.push(id(position), Answered { position: Position(position), command_hash: HASH }, position);
            }
            assert!(answers.get(&id(10_700)).is_some());
            assert_eq!(answers.sorted_by(|_| 0).len() as u64, left + 700);
        }
    }

    #[test]
    fn each_is_found_by_its_id_until_it_is_forgotten_across_the_end_of_32_bits() {
        let first = u64::from(u32::MAX) - 1_000;
        let mut answers = filled(first, 2_000);
        answers.forget_before(first + 700);
        for position in first..first + 2_000 {
            let found = answers.get(&id(position)).map(|(answered, time_ms)| (answered.position.0, time_ms));
            assert_eq!(found, (position >= first + 700).then_some((position, position)));
        }
        assert_eq!(answers.sorted_by(|_| 0).len(), 1_300);
        assert_eq!(answers.get(&id(5)), None);
    }

    #[test]
    fn an_id_that_is_used_anew_means_the_new_one() {
        let mut answers = filled(1, 1_000);
        answers.push(id(10), Answered { position: Position(1_001), command_hash: [9; 16] }, 1_001);
        let found =
            |answers: &Answers| answers.get(&id(10)).map(|(answered, _)| (answered.position.0, answered.command_hash));
        assert_eq!(found(&answers), Some((1_001, [9; 16])));
        answers.forget_before(1_001);
        assert_eq!(found(&answers), Some((1_001, [9; 16])));
        assert_eq!(answers.sorted_by(|_| 0).len(), 1);
    }
}
