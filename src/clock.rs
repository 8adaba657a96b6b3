//! The only reader of the wall clock.

use std::{
    sync::Mutex,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bailiwick_actors::{ports::Clock, vocab::Timestamp};

/// How far the wall clock may be ahead of ours before we follow it at once: ten seconds.
const DRIFT_MS_MAX: u64 = 10_000;

/// Real time that never goes back.
///
/// Waits must not end early because somebody sets the clock, so the time is that of the start plus what has passed on the
/// monotonic clock. A wall clock that is slowly drawn ahead (by a time service) is followed; one that is set back, or set
/// ahead by more than ten seconds, is followed only at the next start. No start goes back behind the journal's last entry.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
    base_ms: Mutex<u64>,
}

impl SystemClock {
    /// A clock that begins with the wall clock's time.
    pub fn new() -> Self {
        Self { started: Instant::now(), base_ms: Mutex::new(wall_ms()) }
    }

    fn passed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let mut base_ms = self.base_ms.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now_ms = base_ms.saturating_add(self.passed_ms());
        let ahead_ms = wall_ms().saturating_sub(now_ms);
        if ahead_ms <= DRIFT_MS_MAX {
            *base_ms += ahead_ms;
            return Timestamp(now_ms + ahead_ms);
        }
        Timestamp(now_ms)
    }

    fn wall(&self) -> Timestamp {
        Timestamp(wall_ms())
    }

    fn go_on_from(&self, moment: Timestamp) {
        let mut base_ms = self.base_ms.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *base_ms = (*base_ms).max(moment.0.saturating_sub(self.passed_ms()));
    }
}

fn wall_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_from_the_journals_last_entry_and_the_wall_clock_is_told_apart() {
        let clock = SystemClock::new();
        let ahead = clock.now().after(3 * 3_600_000);
        clock.go_on_from(ahead);
        let now = clock.now();
        assert!(ahead <= now && now.since(ahead) < 60_000, "{now:?} goes on from {ahead:?}");
        assert!(clock.wall() < ahead);
        clock.go_on_from(Timestamp(1));
        assert!(now <= clock.now());
    }
}
