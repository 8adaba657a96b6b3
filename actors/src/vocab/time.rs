//! Points in time, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The point `ms` milliseconds later.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here; 0 if `earlier` is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// RFC 3339 with milliseconds, in UTC: `2026-01-31T12:00:00.000Z`. What lies beyond the year 9999 has no such form and is
/// written as a number of milliseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match i64::try_from(self.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()) {
            Some(time) => write!(f, "{time:.3}"),
            None => write!(f, "{} ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn known_moments_are_written_as_everybody_writes_them() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp(951_782_400_007).to_string(), "2000-02-29T00:00:00.007Z");
        assert_eq!(Timestamp(u64::MAX).to_string(), format!("{} ms", u64::MAX));
    }
}
