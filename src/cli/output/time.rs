//! Points in time and periods, as people read them.

use bailiwick_actors::vocab::Timestamp;

/// RFC 3339 in UTC: `2026-11-21T02:44:00Z`, with milliseconds where there are any.
///
/// Times beyond the year 9999, which nobody means, are shown as the last moment of it.
pub fn rfc3339(time: Timestamp) -> String {
    let ms = i64::try_from(time.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// How long ago something was: `3m12s`. Nothing yet if it lies ahead.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    period(now.since(then))
}

/// A period in its two largest units: `412ms`, `12s`, `3m12s`, `5h03m`, `2d04h`.
pub fn period(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(Timestamp(0)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(Timestamp(1_795_228_800_125)), "2026-11-21T02:40:00.125Z");
        assert!(rfc3339(Timestamp(u64::MAX)).starts_with("9999-12-30T"));
    }

    #[test]
    fn periods_have_two_units_at_most() {
        let cases = [(0, "0ms"), (412, "412ms"), (12_999, "12s"), (192_000, "3m12s"), (18_180_000, "5h03m")];
        for (ms, text) in cases {
            assert_eq!(period(ms), text);
        }
        assert_eq!(period(2 * 86_400_000 + 4 * 3_600_000), "2d04h");
        assert_eq!(age(Timestamp(5), Timestamp(10)), "0ms");
    }
}
