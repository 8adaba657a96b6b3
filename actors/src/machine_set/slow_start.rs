//! How many are made at once: one, two, four …, so that what fails for all of them fails for few.

use serde::{Deserialize, Serialize};

/// A number of calls in batches that double. A batch is made whole; if one of its calls fails, no other batch follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowStart {
    left: usize,
    batch: usize,
}

impl SlowStart {
    /// `count` calls, `initial` of them in the first batch.
    pub fn new(count: usize, initial: usize) -> Self {
        Self { left: count, batch: count.min(initial) }
    }

    /// How many calls to make now; 0 if it is over.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// What comes after the present batch, in which so many calls failed.
    #[must_use]
    pub fn after(self, failed: usize) -> Self {
        if failed > 0 {
            return Self { left: 0, batch: 0 };
        }
        let left = self.left.saturating_sub(self.batch);
        Self { left, batch: self.batch.saturating_mul(2).min(left) }
    }
}
