//! Points in time and periods, as people read them.

use bailiwick_actors::vocab::Timestamp;

pub use crate::words::period;

/// RFC 3339 in UTC, with milliseconds: `2026-11-21T02:44:00.000Z`, as wherever else this program writes times.
///
/// Times beyond the year 9999, which nobody means, are shown as the last moment of it.
pub fn rfc3339(time: Timestamp) -> String {
    let last = u64::try_from(jiff::Timestamp::MAX.as_millisecond()).unwrap_or(u64::MAX);
    Timestamp(time.0.min(last)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(Timestamp(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(Timestamp(1_795_228_800_125)), "2026-11-21T02:40:00.125Z");
        assert_eq!(rfc3339(Timestamp(1_795_228_800_120)), "2026-11-21T02:40:00.120Z");
        assert!(rfc3339(Timestamp(u64::MAX)).starts_with("9999-12-30T"));
    }
}
