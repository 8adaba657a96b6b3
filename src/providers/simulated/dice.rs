//! Chance from a seed.

/// A small generator (splitmix64): the same seed gives the same throws, for ever and on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice(u64);

impl Dice {
    /// Dice that depend on a seed and a name, so that what one consumer throws does not change what another
    /// one throws.
    pub fn named(seed: u64, name: &str) -> Self {
        let mixed = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut dice = Self(mixed);
        dice.throw();
        dice
    }

    /// The next 64 bits.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.throw().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// One of these; none if there is none.
    pub fn choose<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(usize::try_from(self.below(of.len() as u64)).ok()?)
    }

    /// Whether something that happens in so many of a thousand cases happens now.
    pub fn happens(&mut self, per_mille: u16) -> bool {
        // Thrown in any case, so that turning one fault off leaves the others where they were.
        self.below(1000) < u64::from(per_mille)
    }
}
