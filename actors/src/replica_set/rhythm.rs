//! When the set is looked at again.

use serde::{Deserialize, Serialize};

use super::Rhythm;
use crate::{schedule::backoff_ms, vocab::derived_uuid};

/// Failed rounds in a row that a timer began. A burst of events that all fail is no reason to wait longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries(pub u32);

/// What began a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Began {
    ByTimer,
    ByEvent,
}

/// How a round ended. Asking the primary to step down counts as failed: the rest has to follow soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    Well,
    Failed,
}

impl Rhythm {
    /// The retries after a round, and how long to wait for the next one, in milliseconds.
    ///
    /// A retry comes up to a tenth earlier, so that several sets that failed together part; `seed` names the set.
    pub fn after(&self, retries: Retries, began: Began, ended: Ended, seed: &str) -> (Retries, u64) {
        if ended == Ended::Well {
            return (Retries(0), self.poll_ms);
        }
        let failed = match began {
            Began::ByTimer => retries.0.saturating_add(1),
            Began::ByEvent => retries.0.max(1),
        };
        let wait = backoff_ms(failed.saturating_add(1), self.retry_first_ms, self.retry_max_ms);
        (Retries(failed), wait - jitter(seed, failed, wait / 10))
    }
}

/// Up to `most`, from a hash: the same set and retry have the same for ever.
fn jitter(seed: &str, retry: u32, most: u64) -> u64 {
    let hash = derived_uuid(&format!("jitter {seed} {retry}")).as_u64_pair().0;
    hash % most.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(began: Began) -> Vec<u64> {
        let mut retries = Retries::default();
        let round = |_| {
            let (next, wait) = Rhythm::default().after(retries, began, Ended::Failed, "set");
            retries = next;
            wait
        };
        (0..9).map(round).collect()
    }

    #[test]
    fn retries_double_up_to_the_limit() {
        for (wait, full_s) in waits(Began::ByTimer).into_iter().zip([2, 4, 8, 16, 32, 64, 128, 256, 300]) {
            let full = full_s * 1_000;
            assert!(wait <= full && wait >= full - full / 10, "{wait} of {full}");
        }
    }

    #[test]
    fn a_burst_of_events_waits_no_longer() {
        assert!(waits(Began::ByEvent).iter().all(|wait| *wait <= 2_000));
    }

    #[test]
    fn a_round_that_went_well_begins_anew() {
        let after = Rhythm::default().after(Retries(7), Began::ByTimer, Ended::Well, "set");
        assert_eq!(after, (Retries(0), 60_000));
    }
}
