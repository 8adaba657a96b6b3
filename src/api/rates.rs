//! How often one principal may ask: one that asks more is told when to come back, and nobody else waits for it.
//!
//! Each has a bucket per kind of request, which fills at a steady rate and holds a burst. The node's owner has none: he may do
//! anything to the node as it is. Nobody who is not known has one either: who was not let in is [counted](super::denials) once
//! for all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bailiwick_actors::vocab::Timestamp;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// Something is to change.
    Change,
    Question,
    /// An agent reports.
    Report,
    /// An agent asks for storage jobs, or tells how they went: nothing that the node has not asked for itself.
    Jobs,
}

impl Asked {
    /// How many there may be in a second, and how many at once.
    ///
    /// An agent reports every two seconds, and once for every change that it sees; each report may be an entry of the journal.
    /// A change is an entry at least.
    fn rate(self) -> (u64, u64) {
        match self {
            Self::Change => (50, 200),
            Self::Question => (100, 400),
            Self::Report => (5, 60),
            Self::Jobs => (100, 1_000),
        }
    }
}

/// So many principals are remembered; a full bucket is as good as none, so these are forgotten first.
const REMEMBERED_MAX: usize = 8_192;

/// The buckets of all.
#[derive(Debug, Default)]
pub(super) struct Rates {
    buckets: Mutex<HashMap<(Arc<str>, Asked), Bucket>>,
}

/// What is left to one principal, in thousandths of a request.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: u64,
    at: Timestamp,
}

impl Bucket {
    fn full(asked: Asked, now: Timestamp) -> Self {
        Self { left: asked.rate().1 * 1_000, at: now }
    }

    /// As it is now.
    fn filled(self, asked: Asked, now: Timestamp) -> Self {
        let (rate, burst) = asked.rate();
        let more = now.since(self.at).saturating_mul(rate);
        Self { left: self.left.saturating_add(more).min(burst * 1_000), at: now.max(self.at) }
    }
}

impl Rates {
    /// Takes one request of a principal.
    ///
    /// # Errors
    /// In how many milliseconds there is one again.
    pub(super) fn take(&self, who: &Arc<str>, asked: Asked, now: Timestamp) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED_MAX {
            buckets.retain(|(_, asked), bucket| bucket.filled(*asked, now).left < Bucket::full(*asked, now).left);
        }
        let bucket = buckets.entry((who.clone(), asked)).or_insert_with(|| Bucket::full(asked, now));
        *bucket = bucket.filled(asked, now);
        match bucket.left.checked_sub(1_000) {
            Some(left) => {
                bucket.left = left;
                Ok(())
            }
            None => Err((1_000 - bucket.left).div_ceil(asked.rate().0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these are taken one after the other.
    fn taken(rates: &Rates, who: &str, asked: Asked, now: u64) -> usize {
        let who: Arc<str> = who.into();
        (0..10_000).take_while(|_| rates.take(&who, asked, Timestamp(now)).is_ok()).count()
    }

    #[test]
    fn a_principal_has_a_burst_and_then_what_the_rate_brings_and_the_others_have_theirs() {
        let rates = Rates::default();
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 1_000), 200);
        assert_eq!(rates.take(&"account:ada".into(), Asked::Change, Timestamp(1_000)), Err(20));
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 1_019), 0, "too early");
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 1_020), 1, "when it was told to come back");
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 2_020), 50);
        assert_eq!(taken(&rates, "account:ada", Asked::Question, 2_020), 400, "questions are counted by themselves");
        assert_eq!(taken(&rates, "account:eve", Asked::Change, 2_020), 200);
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 3_600_000), 200, "no more than a burst");
        assert_eq!(taken(&rates, "account:ada", Asked::Change, 3_000_000), 0, "a clock that goes back brings nothing");
    }

    #[test]
    fn whoever_asks_no_more_is_forgotten() {
        let rates = Rates::default();
        for number in 0..3 * REMEMBERED_MAX as u64 {
            rates.take(&format!("machine:{number}").into(), Asked::Report, Timestamp(number * 10)).expect("its first");
        }
        assert!(rates.buckets.lock().expect("unpoisoned").len() <= REMEMBERED_MAX);
    }
}
