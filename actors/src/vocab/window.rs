//! Times of the week at which something may be done: on saturdays and sundays from 22:00, for four hours. All in UTC.
//!
//! A list of days and hours, and no cron expression: that it never opens, or that two of them overlap, is seen before it is
//! in force, and it reads the same to everybody.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// Milliseconds of one.
const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
const WEEK: u64 = 7 * DAY;
/// The first of January 1970 was a Thursday.
const MONDAY_BEFORE_1970: u64 = 3 * DAY;

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// A time that comes round every week, on each of these days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// The days on which it opens.
    pub days: BTreeSet<Day>,
    /// When it opens, in minutes after midnight.
    pub from_minute: u16,
    /// How long it is open, also into the next day.
    pub for_ms: u64,
}

/// Windows in which something may be done; none of them means at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Windows(pub Vec<Window>);

/// Why windows make no sense. The windows are given by their places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWindows {
    #[error("window {0} names no day, so it never opens")]
    NoDay(usize),
    #[error("window {0} is open for less than a minute")]
    TooShort(usize),
    #[error("window {0} opens after the end of the day")]
    NoTimeOfDay(usize),
    #[error("window {0} is still open when it opens again")]
    OverlapsItself(usize),
    #[error("window {1} overlaps window {0}")]
    Overlap(usize, usize),
    #[error("there are more than {most} windows")]
    TooMany { most: usize },
}

/// One opening in the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Opening {
    /// After the beginning of Monday.
    from_ms: u64,
    for_ms: u64,
    /// The place of its window.
    of: usize,
}

impl Day {
    pub const ALL: [Self; 7] = [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    /// As a manifest names it: `mon`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Windows {
    /// The most windows of one list.
    pub const MOST: usize = 32;
    /// The shortest window: what begins in it takes its time as well.
    pub const SHORTEST_MS: u64 = MINUTE;

    /// Whether each of them opens, and no two at the same time.
    ///
    /// # Errors
    /// If they make no sense.
    pub fn check(&self) -> Result<(), BadWindows> {
        if self.0.len() > Self::MOST {
            return Err(BadWindows::TooMany { most: Self::MOST });
        }
        for (place, window) in self.0.iter().enumerate() {
            match window {
                Window { days, .. } if days.is_empty() => return Err(BadWindows::NoDay(place)),
                Window { for_ms, .. } if *for_ms < Self::SHORTEST_MS => return Err(BadWindows::TooShort(place)),
                Window { from_minute: 1_440.., .. } => return Err(BadWindows::NoTimeOfDay(place)),
                _ => (),
            }
        }
        self.overlap()
    }

    /// Each opening has to be over when the next one comes, also that of the next week.
    fn overlap(&self) -> Result<(), BadWindows> {
        let mut openings: Vec<Opening> = self.openings().collect();
        openings.sort_unstable();
        let next = openings.iter().skip(1).copied().chain(openings.first().map(|first| first.again()));
        for (opening, next) in openings.iter().zip(next) {
            let (one, other) = (opening.of.min(next.of), opening.of.max(next.of));
            match opening.from_ms.saturating_add(opening.for_ms) > next.from_ms {
                true if one == other => return Err(BadWindows::OverlapsItself(one)),
                true => return Err(BadWindows::Overlap(one, other)),
                false => (),
            }
        }
        Ok(())
    }

    /// When the next window opens; none if one is open, or there are none and any time will do.
    pub fn opens(&self, now: Timestamp) -> Option<Timestamp> {
        let at = now.0.saturating_add(MONDAY_BEFORE_1970) % WEEK;
        let ago = |opening: &Opening| (at + WEEK - opening.from_ms) % WEEK;
        if self.openings().any(|opening| ago(&opening) < opening.for_ms) {
            return None;
        }
        self.openings().map(|opening| now.after(WEEK - ago(&opening))).min()
    }

    fn openings(&self) -> impl Iterator<Item = Opening> {
        self.0.iter().enumerate().flat_map(|(of, window)| {
            window.days.iter().map(move |day| Opening {
                from_ms: *day as u64 * DAY + u64::from(window.from_minute) * MINUTE,
                for_ms: window.for_ms,
                of,
            })
        })
    }
}

impl Opening {
    fn again(self) -> Self {
        Self { from_ms: self.from_ms + WEEK, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: u64 = 60 * MINUTE;
    /// Friday, 2026-01-02T00:00:00Z.
    const FRIDAY: Timestamp = Timestamp(1_767_312_000_000);

    fn window(days: &[Day], from: u16, for_ms: u64) -> Window {
        Window { days: days.iter().copied().collect(), from_minute: from, for_ms }
    }

    /// Saturdays and sundays at ten in the evening, for four hours.
    fn weekend() -> Windows {
        Windows(vec![window(&[Day::Sat, Day::Sun], 22 * 60, 4 * HOUR)])
    }

    #[test]
    fn a_window_is_open_over_midnight_and_the_next_one_is_known() {
        let (saturday, sunday, next) =
            (FRIDAY.after(46 * HOUR), FRIDAY.after(70 * HOUR), FRIDAY.after(46 * HOUR + WEEK));
        for (at, opens) in [
            (FRIDAY, Some(saturday)),
            (Timestamp(saturday.0 - 1), Some(saturday)),
            (saturday, None),
            (saturday.after(4 * HOUR - 1), None),
            (saturday.after(4 * HOUR), Some(sunday)),
            (sunday.after(3 * HOUR), None),
            (sunday.after(4 * HOUR), Some(next)),
        ] {
            assert_eq!(weekend().opens(at), opens, "{at}");
        }
    }

    #[test]
    fn without_windows_any_time_will_do() {
        assert_eq!(Windows::default().opens(FRIDAY), None);
        assert_eq!(Windows::default().check(), Ok(()));
    }

    #[test]
    fn what_never_opens_or_overlaps_is_told() {
        let all = Day::ALL;
        let many = (0..33).map(|number| window(&[Day::Mon], number * 2, MINUTE)).collect();
        for (windows, problem) in [
            (vec![window(&[], 0, HOUR)], BadWindows::NoDay(0)),
            (vec![window(&all, 0, HOUR), window(&all, 120, 0)], BadWindows::TooShort(1)),
            (vec![window(&all, 1_440, HOUR)], BadWindows::NoTimeOfDay(0)),
            (vec![window(&all, 0, 25 * HOUR)], BadWindows::OverlapsItself(0)),
            (vec![window(&[Day::Sun], 0, WEEK + 1)], BadWindows::OverlapsItself(0)),
            (vec![window(&[Day::Sun], 0, u64::MAX)], BadWindows::OverlapsItself(0)),
            (vec![window(&[Day::Mon], 0, HOUR), window(&[Day::Sun], 1_400, HOUR)], BadWindows::Overlap(0, 1)),
            (many, BadWindows::TooMany { most: 32 }),
        ] {
            assert_eq!(Windows(windows.clone()).check(), Err(problem), "{windows:?}");
        }
        let touching = vec![window(&[Day::Sat], 1_380, HOUR), window(&[Day::Sun], 0, 6 * HOUR)];
        assert_eq!(Windows(touching).check(), Ok(()));
        assert_eq!(Windows(vec![window(&[Day::Tue], 0, WEEK)]).check(), Ok(()), "it is always open");
        assert_eq!(weekend().check(), Ok(()));
    }

    proptest! {
        #[test]
        fn what_is_closed_opens_within_a_week_and_not_before(
            days in prop::collection::btree_set(prop::sample::select(Day::ALL.to_vec()), 1..4),
            from_minute in 0_u16..1_440, for_ms in MINUTE..DAY, now in any::<u32>(), before in 1_u64..WEEK,
        ) {
            let windows = Windows(vec![Window { days, from_minute, for_ms }]);
            let now = Timestamp(u64::from(now) * 1_000);
            if let Some(opens) = windows.opens(now) {
                prop_assert!(now < opens && opens.since(now) <= WEEK);
                prop_assert_eq!(windows.opens(opens), None, "it is open then");
                prop_assert_eq!(windows.opens(Timestamp(opens.0 - before.min(opens.since(now)))), Some(opens));
            }
        }
    }
}
