//! Says of most things that are not in a set that they are not there, from a little over a byte for each that is: a
//! Bloom filter whose bits for one thing lie in one word.

/// Bits in memory for each thing in the set: of things that are not there, about one in thirty is said to be perhaps.
const BITS: usize = 10;
const BITS_SET: u32 = 4;
/// Bits of a mix that say which bit of a word.
const BIT_OF_WORD: u32 = u64::BITS.ilog2();

#[derive(Default)]
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    pub(super) fn new(count: usize) -> Self {
        Self { words: vec![0; (count * BITS).div_ceil(64).max(1)] }
    }

    pub(super) fn add(&mut self, mix: u64) {
        let at = self.word(mix);
        self.words[at] |= bits(mix);
    }

    /// False only if nothing with this mix was added. One that was never made knows nothing.
    pub(super) fn may_have(&self, mix: u64) -> bool {
        self.words.is_empty() || self.words[self.word(mix)] & bits(mix) == bits(mix)
    }

    /// By the high bits of the mix; its low bits choose those in the word.
    fn word(&self, mix: u64) -> usize {
        ((u128::from(mix) * self.words.len() as u128) >> 64) as usize
    }
}

fn bits(mix: u64) -> u64 {
    (0..BITS_SET).fold(0, |bits, number| bits | 1 << ((mix >> (number * BIT_OF_WORD)) % u64::from(u64::BITS)))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::index::hash;

    #[test]
    fn all_that_was_added_is_there_and_little_else() {
        let mix = |number: u64| hash::fixed(Uuid::from_u64_pair(number, number ^ 77).as_bytes());
        for count in [0, 1, 7, 20_000] {
            let mut filter = Filter::new(count as usize);
            (0..count).for_each(|number| filter.add(mix(number)));
            assert!((0..count).all(|number| filter.may_have(mix(number))));
            let others = (count..count + 10_000).filter(|number| filter.may_have(mix(*number))).count();
            assert!(others < 800, "{others} of 10,000 beside {count}");
        }
        assert!(Filter::default().may_have(3));
    }
}
