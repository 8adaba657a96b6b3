//! How long to wait before an attempt.

/// How long to wait before attempt `attempt` begins, in milliseconds, counted from the end of the attempt before it.
///
/// The first attempt waits for nothing. The second waits `first_ms`; every later one twice as long as the one before it,
/// and never longer than `max_ms`. A `max_ms` below `first_ms` bounds the second attempt too.
///
/// # Panics
/// If `attempt` is 0: attempts are counted from 1.
///
/// Source: Juju's storage provisioner (30 s, doubled, at most 30 min).
///
/// ```
/// use bailiwick_actors::schedule::backoff_ms;
/// let waits: Vec<u64> = (1..=5).map(|attempt| backoff_ms(attempt, 30_000, 200_000)).collect();
/// assert_eq!(waits, [0, 30_000, 60_000, 120_000, 200_000]);
/// ```
pub fn backoff_ms(attempt: u32, first_ms: u64, max_ms: u64) -> u64 {
    assert!(attempt > 0, "attempts are counted from 1");
    if attempt == 1 {
        return 0;
    }
    let doubled = 2u64.checked_pow(attempt - 2).and_then(|factor| first_ms.checked_mul(factor));
    // A first wait of nothing stays nothing, however often it is doubled.
    let unbounded = if first_ms == 0 { 0 } else { doubled.unwrap_or(u64::MAX) };
    unbounded.min(max_ms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::backoff_ms;

    #[test]
    fn the_first_attempt_waits_for_nothing() {
        assert_eq!(backoff_ms(1, 10_000, 180_000), 0);
    }

    #[test]
    fn waits_double_up_to_the_limit() {
        let waits: Vec<u64> = (2..=7).map(|attempt| backoff_ms(attempt, 10_000, 180_000)).collect();
        assert_eq!(waits, [10_000, 20_000, 40_000, 80_000, 160_000, 180_000]);
    }

    #[test]
    fn a_limit_below_the_first_wait_holds() {
        assert_eq!(backoff_ms(2, 10_000, 3_000), 3_000);
    }

    proptest! {
        #[test]
        fn waits_never_shrink_and_never_exceed_the_limit(attempt in 1u32.., first in any::<u64>(), max in any::<u64>()) {
            let wait = backoff_ms(attempt, first, max);
            prop_assert!(wait <= max);
            prop_assert!(attempt == u32::MAX || wait <= backoff_ms(attempt + 1, first, max));
        }
    }
}
