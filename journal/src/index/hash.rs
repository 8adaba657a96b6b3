//! A fast keyed hash for the maps of the index: every append looks up a dozen keys on the one commit thread.
//!
//! Stream names and command ids come from outside, so the key is drawn by chance for each map: nobody can choose keys
//! that fall together. Nothing depends on the order of these maps.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes hashers with one key of its own.
#[derive(Clone, Debug)]
pub(crate) struct Keyed([u64; 2]);

impl Default for Keyed {
    fn default() -> Self {
        let chance = RandomState::new();
        Self([chance.hash_one(1u8), chance.hash_one(2u8)])
    }
}

impl BuildHasher for Keyed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { state: self.0[0], key: self.0[1] | 1 }
    }
}

/// Folds eight bytes at a time by a multiplication to 128 bits.
#[derive(Debug)]
pub(crate) struct Folded {
    state: u64,
    key: u64,
}

impl Folded {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.key ^ 0x9E37_79B9_7F4A_7C15);
        self.state = (product as u64) ^ (product >> 64) as u64 ^ word.rotate_left(29);
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // With the length, so that trailing zeros count.
        self.fold(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, byte: u8) {
        self.fold(u64::from(byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.fold(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.fold(number as u64);
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * 0xA076_1D64_78BD_642F_u128;
        product as u64 ^ (product >> 64) as u64
    }
}

/// A value that depends on the bytes alone: for what is stored sorted by it. Somebody who chooses bytes that fall together
/// makes a search among them no worse than one among all.
pub(crate) fn fixed(bytes: &[u8]) -> u64 {
    let mut hasher = Folded { state: 0x243F_6A88_85A3_08D3, key: 0x1319_8A2E_0370_7345 };
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_that_differ_a_little_fall_apart() {
        let keyed = Keyed::default();
        let names = (0..100_000u32).map(|number| format!("machine/{number}"));
        let hashes: HashSet<u64> = names.map(|name| keyed.hash_one(name)).collect();
        assert!(hashes.len() > 99_990, "{}", hashes.len());
        // Maps take the low bits for the place and the high ones for the tag.
        let low: HashSet<u64> = (0..65_536u64).map(|number| keyed.hash_one(number) & 0xFFFF).collect();
        let high: HashSet<u64> = (0..65_536u64).map(|number| keyed.hash_one(number) >> 48).collect();
        assert!(low.len() > 38_000 && high.len() > 38_000, "{} {}", low.len(), high.len());
    }

    #[test]
    fn a_stored_value_never_changes() {
        assert_eq!([fixed(b""), fixed(b"machine/0")], [16_407_173_874_357_814_569, 4_921_262_092_635_920_544]);
    }

    #[test]
    fn lengths_and_maps_count() {
        let (one, other) = (Keyed::default(), Keyed::default());
        assert_ne!(one.hash_one([0u8; 3].as_slice()), one.hash_one([0u8; 4].as_slice()));
        assert_ne!(one.hash_one("machine/0"), other.hash_one("machine/0"));
    }
}
