//! Chance that can be repeated.

/// A small generator (splitmix64): the same seed gives the same numbers for ever.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of one thing: a trial of a seed, an append of a writer.
    pub fn of(numbers: &[u64]) -> Self {
        let mut dice = Self(0x0BA1_11F1_CC00_5EED);
        for number in numbers {
            dice.0 = dice.next() ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below `bound`; 0 if there is nothing below.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }

    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        for eight in bytes.chunks_mut(8) {
            eight.copy_from_slice(&self.next().to_le_bytes()[..eight.len()]);
        }
        bytes
    }
}
