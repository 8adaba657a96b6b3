//! Which time of day the node's recorded times are.
//!
//! Recorded times never go back. If the host's clock was ahead once, the journal's times stay ahead for good: waits, due
//! times and the order of entries rest on them. An operator may record by how much (`bailiwick clock correct`); from then on
//! what people are shown, and the moments that they name, are by the clock again. The record stays as it is.

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{Entry, Journal, JournalNote, NOTE_STREAM, ReadError, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One correction: what was recorded at or after `since_ms` is so much ahead of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Correction {
    /// The entry that records it.
    pub entry: u64,
    /// As recorded, in milliseconds since 1970.
    #[serde(rename = "recordedSince")]
    pub since_ms: u64,
    /// How far the recorded times are ahead, in milliseconds.
    pub back_ms: u64,
}

/// All corrections of a journal, by the recorded time from which each holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar(Vec<Correction>);

impl Calendar {
    /// All that a journal knows by now.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn of(journal: &dyn Journal) -> Result<Self, ReadError> {
        let mut calendar = Self::default();
        let notes = NOTE_STREAM.parse().expect("a valid name");
        for entry in journal.read_stream(&notes, Version(1)) {
            calendar.apply(&*entry?);
        }
        Ok(calendar)
    }

    /// Takes in an entry, if it is a correction.
    pub fn apply(&mut self, entry: &Entry) {
        if entry.header.stream.as_str() != NOTE_STREAM {
            return;
        }
        let Some(Ok(JournalNote::ClockCorrected { since_ms, back_ms })) = entry.events.first().map(JournalNote::decode)
        else {
            return;
        };
        // A later one knows better.
        self.0.retain(|earlier| earlier.since_ms < since_ms);
        self.0.push(Correction { entry: entry.header.position.0, since_ms, back_ms });
    }

    /// The corrections, the oldest first.
    pub fn corrections(&self) -> &[Correction] {
        &self.0
    }

    /// The time of day of a recorded time.
    pub fn shown(&self, recorded: Timestamp) -> Timestamp {
        let correction = self.0.iter().rfind(|correction| correction.since_ms <= recorded.0);
        Timestamp(recorded.0 - correction.map_or(0, |correction| correction.back_ms.min(recorded.0)))
    }

    /// The recorded time of a time of day. Of two that are shown alike, the later one.
    pub fn recorded(&self, shown: Timestamp) -> Timestamp {
        let at = |correction: &Correction| Timestamp(shown.0.saturating_add(correction.back_ms));
        let is_after = |correction: &&Correction| correction.since_ms <= at(correction).0;
        self.0.iter().rfind(is_after).map_or(shown, at)
    }

    /// What the node's time is while the clock shows this; the clock may have been right while the node did not run.
    pub fn going_on(&self, clock: Timestamp) -> Timestamp {
        clock.after(self.0.last().map_or(0, |correction| correction.back_ms))
    }

    /// Puts times of day in the place of recorded times, everywhere in an answer that tells how things are at `now`: in
    /// numbers whose name ends with `Ms`, and in texts, where they stand as this program writes them.
    pub fn tell(&self, answer: &mut Value, now: Timestamp) {
        if !self.0.is_empty() {
            self.tell_value(answer, now);
        }
    }

    fn tell_value(&self, value: &mut Value, now: Timestamp) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value.as_u64() {
                        // Periods are far shorter than the time since 1970.
                        Some(ms) if name.ends_with("Ms") => *value = self.shown(Timestamp(ms)).0.into(),
                        _ => self.tell_value(value, now),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.tell_value(value, now)),
            Value::String(text) => *text = self.told(text, now),
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }

    /// A text that tells how things are at `now`, with times of day.
    pub fn told(&self, text: &str, now: Timestamp) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let (mut told, mut rest) = (String::new(), text);
        'text: while !rest.is_empty() {
            for (length, read) in WRITTEN {
                if let Some(time) = rest.get(..length).and_then(|part| read(part, now)) {
                    told.push_str(&again(&rest[..length], self.shown(time)));
                    rest = &rest[length..];
                    continue 'text;
                }
            }
            let first = rest.chars().next().map_or(rest.len(), char::len_utf8);
            told.push_str(&rest[..first]);
            rest = &rest[first..];
        }
        told
    }
}

type Read = fn(&str, Timestamp) -> Option<Timestamp>;

/// How this program writes times, by length: with milliseconds, to the second, and on the day of the answer without the date.
const WRITTEN: [(usize, Read); 3] = [(24, |text, _| dated(text)), (20, |text, _| dated(text)), (12, of_the_day)];

fn dated(text: &str) -> Option<Timestamp> {
    let time = text.ends_with('Z').then(|| text.parse::<jiff::Timestamp>().ok())??;
    u64::try_from(time.as_millisecond()).ok().map(Timestamp)
}

/// `11:01:01 UTC`, on the day of `now`.
fn of_the_day(text: &str, now: Timestamp) -> Option<Timestamp> {
    let time = text.strip_suffix(" UTC").filter(|time| time.as_bytes()[2] == b':' && time.as_bytes()[5] == b':')?;
    dated(&format!("{}T{time}Z", now.to_string().get(..10)?))
}

/// A time, written as the other one was.
fn again(text: &str, time: Timestamp) -> String {
    let whole = time.to_string();
    match text.len() {
        24 => whole,
        20 => format!("{}Z", &whole[..19.min(whole.len())]),
        _ => format!("{} UTC", whole.get(11..19).unwrap_or(&whole)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const HOUR: u64 = 3_600_000;

    /// Three hours ahead from ten o'clock on, and a day ahead from twenty o'clock on.
    fn calendar() -> Calendar {
        let correction = |entry, since_ms, back_ms| Correction { entry, since_ms, back_ms };
        Calendar(vec![correction(4, 10 * HOUR, 3 * HOUR), correction(9, 20 * HOUR + 24 * HOUR, 24 * HOUR)])
    }

    #[test]
    fn what_was_recorded_since_is_shown_earlier_and_what_was_recorded_before_as_it_is() {
        let shown = |hours| calendar().shown(Timestamp(hours * HOUR)).0 / HOUR;
        assert_eq!([9, 10, 12, 43, 44, 50].map(shown), [9, 7, 9, 40, 20, 26]);
        assert_eq!(calendar().going_on(Timestamp(HOUR)), Timestamp(25 * HOUR));
        assert_eq!(Calendar::default().shown(Timestamp(7)), Timestamp(7));
    }

    #[test]
    fn answers_tell_times_of_day_in_numbers_and_texts_and_leave_the_rest() {
        let (now, due) = (Timestamp(11 * HOUR), Timestamp(12 * HOUR));
        let mut answer = json!({
            "rows": [{"dueMs": due.0, "inMs": 5_000, "count": due.0, "why": format!("given up at {due}, unless Zoe calls; {due}")}],
            "name": "Zürich-Z", "early": "1970-01-01T00:00:00.007Z", "soon": "in 1h00m (12:00:00 UTC), until 1970-01-03T01:00:00Z",
        });
        calendar().tell(&mut answer, now);
        let shown = Timestamp(9 * HOUR);
        let told = json!({
            "rows": [{"dueMs": shown.0, "inMs": 5_000, "count": due.0, "why": format!("given up at {shown}, unless Zoe calls; {shown}")}],
            "name": "Zürich-Z", "early": "1970-01-01T00:00:00.007Z", "soon": "in 1h00m (09:00:00 UTC), until 1970-01-02T01:00:00Z",
        });
        assert_eq!(answer, told);
    }

    #[test]
    fn what_blocks_a_removal_is_told_by_the_clock() {
        use super::super::{Blocker, Fleet};
        let mut fleet = Fleet::default();
        (fleet.calendar, fleet.time) = (calendar(), Timestamp(11 * HOUR));
        let told = |why: &str, since| {
            let blocker = Blocker { entity: String::new(), by: String::new(), why: why.to_owned(), since_ms: since };
            let told = blocker.by_clock(&fleet);
            (told.why, told.since_ms)
        };
        let by_clock = told("they have until 12:00:00 UTC (in 1h00m) to stop", Some(11 * HOUR));
        assert_eq!(by_clock, ("they have until 09:00:00 UTC (in 1h00m) to stop".to_owned(), Some(8 * HOUR)));
    }

    #[test]
    fn how_long_ago_something_was_is_counted_by_the_clock() {
        use super::super::At;
        let known = |hours| At::Ago(hours * HOUR).known(Timestamp(45 * HOUR), &calendar());
        assert_eq!(known(1), At::Time(44 * HOUR));
        // Before the clock was wrong, recorded times are the clock's.
        assert_eq!(known(18), At::Time(3 * HOUR));
        let plain = At::Ago(HOUR).known(Timestamp(45 * HOUR), &Calendar::default());
        assert_eq!(plain, At::Time(44 * HOUR));
    }

    proptest! {
        #[test]
        fn a_time_of_day_leads_back_to_a_recorded_time_that_is_shown_like_it(ms in 0..100 * HOUR, text in "[^0-9]{0,40}") {
            let recorded = calendar().recorded(Timestamp(ms));
            prop_assert_eq!(calendar().shown(recorded), Timestamp(ms));
            prop_assert_eq!(calendar().told(&text, Timestamp(ms)), text);
        }
    }
}
