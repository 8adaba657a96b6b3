//! How much one agent may have recorded.

use crate::vocab::Timestamp;

/// So many bytes at once, and so many more as time passes: an agent whose conditions flap, or that joins over and over, is
/// recorded as it is from time to time, not each time. What is not recorded now comes again with its next report.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    left: u64,
    at: Timestamp,
}

impl Allowance {
    /// Bytes at once: hundreds of ordinary reports, or two of the largest.
    pub const BURST: u64 = 256 * 1024;
    /// Bytes a second over time: about an ordinary report each second, 44 MB a day.
    pub const PER_SECOND: u64 = 512;

    /// All of it is left.
    pub fn new(now: Timestamp) -> Self {
        Self { left: Self::BURST, at: now }
    }

    /// Whether nothing of it is used any more.
    pub fn is_full(&self, now: Timestamp) -> bool {
        let seconds = now.since(self.at) / 1_000;
        self.left.saturating_add(Self::PER_SECOND.saturating_mul(seconds)) >= Self::BURST
    }

    /// Whether so many bytes may be recorded now; they are taken if so. What is larger than all that may be saved up is
    /// taken once nothing was for long enough.
    pub fn take(&mut self, bytes: u64, now: Timestamp) -> bool {
        let seconds = now.since(self.at) / 1_000;
        let more = Self::PER_SECOND.saturating_mul(seconds);
        self.left = self.left.saturating_add(more).min(Self::BURST);
        // The rest of a second counts towards the next.
        self.at = self.at.after(seconds * 1_000);
        let is_enough = self.left >= bytes.min(Self::BURST);
        if is_enough {
            self.left -= bytes.min(Self::BURST);
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_and_then_so_much_a_second_however_often_it_is_tried() {
        let start = Timestamp(1_000_000);
        let mut allowance = Allowance::new(start);
        let taken = |allowance: &mut Allowance, from_ms: u64, to_ms: u64| {
            let tries = (from_ms..to_ms).map(|ms| start.after(ms));
            tries.filter(|now| allowance.take(1_024, *now)).count()
        };
        assert_eq!(taken(&mut allowance, 0, 1_000), 256, "the burst");
        assert_eq!(taken(&mut allowance, 1_000, 21_000), 10, "then one every two seconds");
        assert_eq!(taken(&mut allowance, 10_000_000, 10_000_300), 256, "and after a long rest the burst again");
    }

    #[test]
    fn what_is_larger_than_the_burst_has_to_wait_for_all_of_it() {
        let start = Timestamp(1_000_000);
        let mut allowance = Allowance::new(start);
        assert!(allowance.take(10 * Allowance::BURST, start));
        assert!(!allowance.take(10 * Allowance::BURST, start.after(500_000)));
        assert!(allowance.take(10 * Allowance::BURST, start.after(513_000)));
    }
}
