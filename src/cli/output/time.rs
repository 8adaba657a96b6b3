//! Points in time and periods, as people read them.

use bailiwick_actors::vocab::Timestamp;

pub use crate::words::period;

/// RFC 3339 in UTC, with milliseconds: `2026-11-21T02:44:00.000Z`.
///
/// Times beyond the year 9999, which nobody means, are shown as the last moment of it.
pub fn rfc3339(time: Timestamp) -> String {
    let ms = i64::try_from(time.0).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(Timestamp(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(Timestamp(1_795_228_800_125)), "2026-11-21T02:40:00.125Z");
        assert!(rfc3339(Timestamp(u64::MAX)).starts_with("9999-12-30T"));
    }
}
