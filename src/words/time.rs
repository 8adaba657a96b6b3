//! Points in time, for people.

/// A point in time as RFC 3339 with milliseconds, in UTC: `2026-01-31T12:00:00.000Z`.
///
/// What lies beyond the year 9999 has no such form and is written as a number of milliseconds.
pub fn rfc3339(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("{ms} ms"), |time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn known_moments_are_written_as_everybody_writes_them() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_007), "2000-02-29T00:00:00.007Z");
        assert_eq!(rfc3339(u64::MAX), "18446744073709551615 ms");
    }
}
