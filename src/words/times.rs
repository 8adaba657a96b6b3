//! Periods, and moments that are to come: how long until then, and when that is.

use std::time::Duration;

use bailiwick_actors::vocab::Timestamp;

/// When something is due, as of `now`: `in 9m12s (11:01:01 UTC)`.
pub fn due(now: Timestamp, at: Timestamp) -> String {
    match at.since(now) {
        0 => format!("now (due since {})", clock(now, at)),
        left => format!("in {} ({})", period(left), clock(now, at)),
    }
}

/// Until when something goes on, as of `now`: `until 11:01:01 UTC (in 9m12s)`.
pub fn until(now: Timestamp, at: Timestamp) -> String {
    match at.since(now) {
        0 => format!("until {} (already past)", clock(now, at)),
        left => format!("until {} (in {})", clock(now, at), period(left)),
    }
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

/// A period as a manifest writes it: `1h30m`, `500ms`.
pub fn written_period(ms: u64) -> String {
    let told = jiff::SignedDuration::try_from(Duration::from_millis(ms)).map(|period| format!("{period:#}"));
    told.map_or_else(|_| format!("{ms}ms"), |told| told.replace(' ', ""))
}

/// The time of day where the day is the same, else the date as well; to the second.
fn clock(now: Timestamp, at: Timestamp) -> String {
    const DAY_MS: u64 = 86_400_000;
    let text = at.to_string();
    match text.split_once('T').zip(text.split_once('.')) {
        Some(((_, time), _)) if now.0 / DAY_MS == at.0 / DAY_MS => {
            format!("{} UTC", time.split('.').next().unwrap_or(time))
        }
        Some((_, (whole, _))) => format!("{whole}Z"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-23T10:51:49.000Z.
    const NOW: Timestamp = Timestamp(1_795_431_109_000);

    #[test]
    fn what_is_to_come_is_told_with_how_long_and_when() {
        let at = NOW.after(552_907);
        assert_eq!(due(NOW, at), "in 9m12s (11:01:01 UTC)");
        assert_eq!(until(NOW, at), "until 11:01:01 UTC (in 9m12s)");
        assert_eq!(due(NOW, NOW.after(86_400_000)), "in 1d00h (2026-11-24T10:51:49Z)");
        assert_eq!(due(NOW, NOW.after(7)), "in 7ms (10:51:49 UTC)");
    }

    #[test]
    fn what_is_due_is_told_as_that() {
        let earlier = Timestamp(NOW.0 - 5_000);
        assert_eq!(due(NOW, NOW), "now (due since 10:51:49 UTC)");
        assert_eq!(due(NOW, earlier), "now (due since 10:51:44 UTC)");
        assert_eq!(until(NOW, earlier), "until 10:51:44 UTC (already past)");
    }

    #[test]
    fn times_that_have_no_date_are_numbers() {
        assert_eq!(due(NOW, Timestamp(u64::MAX)), format!("in {} ({} ms)", period(u64::MAX - NOW.0), u64::MAX));
    }

    #[test]
    fn periods_have_two_units_at_most() {
        let cases = [(0, "0ms"), (412, "412ms"), (12_999, "12s"), (192_000, "3m12s"), (18_180_000, "5h03m")];
        for (ms, text) in cases {
            assert_eq!(period(ms), text);
        }
        assert_eq!(period(2 * 86_400_000 + 4 * 3_600_000), "2d04h");
    }
}
