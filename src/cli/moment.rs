//! Which moment `--at` means.

use bailiwick_actors::vocab::Timestamp;
use jiff::{Span, SpanRelativeTo, civil, tz::TimeZone};

use crate::text::cut;

/// A moment of the journal: the state after an entry, or as it was at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the entry with this position.
    Position(u64),
    /// At this time, what happened in that very millisecond included.
    Time(Timestamp),
    /// So many milliseconds ago: the node knows when that was.
    Ago(u64),
}

/// Says that a text names no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a moment: expected a position (1234 or @1234), a time (2026-11-21T02:40:00Z), a time of today in UTC \
     (14:30 or 14:30:05), or how long ago (-2h, -1h30m){}", .meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
)]
pub struct InvalidMoment {
    /// The text, cut to 80 letters.
    pub text: String,
    /// What it may have meant.
    pub meant: Option<String>,
}

impl Moment {
    /// Reads what people write after `--at`.
    ///
    /// A plain number is a position, never a time. A time of day means today, in UTC. RFC 3339 times need `Z` or an
    /// offset.
    ///
    /// # Errors
    /// If it is none of these, or lies before 1970.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, InvalidMoment> {
        let meant = || ago_ms(text).map(|_| format!("-{text}"));
        read(text.trim(), now).ok_or_else(|| InvalidMoment { text: cut(text, 80).into_owned(), meant: meant() })
    }
}

fn read(text: &str, now: Timestamp) -> Option<Moment> {
    if text == "now" {
        return Some(Moment::Ago(0));
    }
    let digits = text.strip_prefix('@').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits.parse().ok().map(Moment::Position);
    }
    if let Some(ago) = text.strip_prefix('-') {
        return ago_ms(ago).map(Moment::Ago);
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return timestamp(time);
    }
    // A time of day has two digits before its first colon; that tells it from everything else that the parser would take.
    let is_time_of_day = text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit() || b == b':') && text.contains(':');
    let time_of_day: civil::Time = is_time_of_day.then(|| text.parse().ok())??;
    let today = jiff::Timestamp::from_millisecond(i64::try_from(now.0).ok()?).ok()?.to_zoned(TimeZone::UTC).date();
    timestamp(today.to_datetime(time_of_day).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn ago_ms(text: &str) -> Option<u64> {
    // The number alone would be an age in no unit; a second sign would point ahead.
    if !text.starts_with(|letter: char| letter.is_ascii_digit()) || text.len() > 80 {
        return None;
    }
    // Days may have other lengths elsewhere; in UTC each has 24 hours.
    let span = text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(span.as_millis()).ok()
}

fn timestamp(time: jiff::Timestamp) -> Option<Moment> {
    u64::try_from(time.as_millisecond()).ok().map(|ms| Moment::Time(Timestamp(ms)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-21T02:40:00Z.
    const NOW: Timestamp = Timestamp(1_795_228_800_000);

    fn time(text: &str) -> u64 {
        match Moment::parse(text, NOW) {
            Ok(Moment::Time(time)) => time.0,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_are_positions() {
        assert_eq!(Moment::parse("1234", NOW), Ok(Moment::Position(1234)));
        assert_eq!(Moment::parse("@0", NOW), Ok(Moment::Position(0)));
    }

    #[test]
    fn times_are_rfc_3339() {
        assert_eq!(time("2026-11-21T02:40:00Z"), NOW.0);
        assert_eq!(time("2026-11-21 03:40:00.5+01:00"), NOW.0 + 500);
        assert_eq!(Moment::parse("now", NOW), Ok(Moment::Ago(0)));
    }

    #[test]
    fn a_time_of_day_is_today_in_utc() {
        assert_eq!(time("02:30"), NOW.0 - 600_000);
        assert_eq!(time("02:40:05"), NOW.0 + 5_000);
    }

    #[test]
    fn a_minus_points_back() {
        let day_ms = 86_400_000;
        for (text, ms) in [
            ("-2h", 7_200_000),
            ("-1h30m", 5_400_000),
            ("-500ms", 500),
            ("-2d", 2 * day_ms),
            // As ages are printed.
            ("-1d02h", day_ms + 7_200_000),
        ] {
            assert_eq!(Moment::parse(text, NOW), Ok(Moment::Ago(ms)));
        }
    }

    #[test]
    fn a_forgotten_minus_is_noticed() {
        let said = Moment::parse("5m", NOW).expect_err("no moment").to_string();
        assert!(said.ends_with("did you mean -5m?"), "{said}");
    }

    #[test]
    fn anything_else_is_no_moment() {
        for text in
            ["", "yesterday", "2h", "--2h", "-2", "25:00", "2026-11-21T02:40:00", "1960-01-01T00:00:00Z", "12:3"]
        {
            assert!(Moment::parse(text, NOW).is_err(), "{text}: {:?}", Moment::parse(text, NOW));
        }
        assert!(Moment::parse("99999999999999999999", NOW).is_err());
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in ".{0,40}", now in any::<u64>()) {
            let _ = Moment::parse(&text, Timestamp(now));
        }

        #[test]
        fn a_printed_time_reads_back(ms in 0u64..253_000_000_000_000) {
            let text = crate::cli::output::time::rfc3339(Timestamp(ms));
            prop_assert_eq!(Moment::parse(&text, NOW), Ok(Moment::Time(Timestamp(ms))));
        }
    }
}
