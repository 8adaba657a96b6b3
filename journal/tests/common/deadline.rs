//! A time by which another thread or process has to have done something.

use std::time::{Duration, Instant};

/// A time by which something has to have happened.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    pub fn within(patience: Duration) -> Self {
        Self(Instant::now() + patience)
    }

    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}
