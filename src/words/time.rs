//! Points in time and lengths of time, for people.

use bailiwick_actors::vocab::Timestamp;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Says that a text is no point in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no time: expected something like 2026-01-31T12:00:00Z (UTC; seconds may have a fraction)")]
pub struct InvalidTime {
    /// The text, cut to 80 characters.
    pub text: String,
}

/// A point in time as RFC 3339 with milliseconds, in UTC: `2026-01-31T12:00:00.000Z`.
pub fn rfc3339(ms: u64) -> String {
    let (year, month, day) = civil(ms / DAY_MS);
    let rest = ms % DAY_MS;
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, millis) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// Reads a point in time; without a fraction or seconds it means the beginning of that second or minute.
///
/// # Errors
/// If the text is no RFC 3339 time in UTC of the years 1970 to 9999.
pub fn parse_time(text: &str) -> Result<Timestamp, InvalidTime> {
    parse(text).map(Timestamp).ok_or_else(|| InvalidTime { text: text.chars().take(80).collect() })
}

fn parse(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, time.strip_suffix(['Z', 'z']).or_else(|| time.strip_suffix("+00:00"))?),
        None => (text, "00:00"),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let fits = parts.next().is_none() && (1970..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1;
    if !fits || day > month_days(year, month) {
        return None;
    }
    let mut parts = time.split(':');
    let (hours, minutes) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (seconds, millis) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (digits(text, 2)?, 0),
            Some((seconds, fraction)) => (digits(seconds, 2)?, thousandths(fraction)?),
        },
    };
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some(days(year, month, day) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis)
}

fn digits(text: &str, count: usize) -> Option<u64> {
    let all = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

fn thousandths(fraction: &str) -> Option<u64> {
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<3}")[..3].parse().ok()
}

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date, and back. Source: Howard Hinnant, "chrono-compatible low-level date algorithms".
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// A length of time in its two largest units: `350ms`, `12s`, `3m12s`, `5h`, `2d4h`.
pub fn lasting(ms: u64) -> String {
    if ms < 1_000 {
        return format!("{ms}ms");
    }
    let seconds = ms / 1_000;
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| {
        if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit}{small}{small_unit}") }
    };
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => two(seconds / 60, "m", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds / 60 % 60, "m"),
        _ => two(seconds / 86_400, "d", seconds / 3_600 % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_moments_are_written_as_everybody_writes_them() {
        let known = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
        ];
        for (ms, text) in known {
            assert_eq!(rfc3339(ms), text);
            assert_eq!(parse_time(text), Ok(Timestamp(ms)));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "yesterday", "2025-02-29T00:00:00Z", "2025-13-01", "2025-01-01T24:00:00Z", "2025-01-01T00:00:00"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        assert_eq!(parse_time("2026-01-31").unwrap(), parse_time("2026-01-31T00:00Z").unwrap());
    }

    #[test]
    fn lengths_have_at_most_two_units() {
        let lengths = [999, 1_000, 61_000, 3_600_000, 90_000_000].map(lasting);
        assert_eq!(lengths, ["999ms", "1s", "1m1s", "1h", "1d1h"]);
    }

    proptest! {
        #[test]
        fn a_written_time_is_read_back(ms in 0..253_402_300_800_000u64) {
            prop_assert_eq!(parse_time(&rfc3339(ms)).unwrap(), Timestamp(ms));
        }
    }
}
