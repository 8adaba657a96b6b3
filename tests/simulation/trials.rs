//! Which seeds a test tries.

use std::ops::Range;

/// Seeds, from 0; or the one that somebody wants to see.
pub struct Trials {
    pub seeds: Range<u64>,
    /// Whether it is the one of `SEED`.
    pub is_single: bool,
}

/// The seed `SEED`, or the first `SEEDS`, or as many as a test tries of itself.
pub fn trials(usual: u64) -> Trials {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SEED") {
        Some(seed) => Trials { seeds: seed..seed + 1, is_single: true },
        None => Trials { seeds: 0..number("SEEDS").unwrap_or(usual), is_single: false },
    }
}
