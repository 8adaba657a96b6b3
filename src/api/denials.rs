//! What was denied to whom, counted until it is noted in the journal.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::{
    shell::{DenialNote, Denied},
    vocab::Timestamp,
};

use crate::handle::Handle;

/// So many kinds of denial are told apart between two notes; the others are counted.
const KEPT_MAX: usize = 32;
/// The longest name of a caller or of a route in a note, in bytes: both may come from outside.
const NAME_BYTES_MAX: usize = 128;
/// How long at least between two notes, in milliseconds: a flood of denials is one entry a minute.
const NOTE_EVERY_MS: u64 = 60_000;

/// The denials since the last note.
#[derive(Debug, Default)]
pub(super) struct Denials(Mutex<Since>);

#[derive(Debug, Default)]
struct Since {
    /// Who, what, why; and how often.
    counts: BTreeMap<(String, String, String), u64>,
    others: u64,
    first: Option<Timestamp>,
    noted: Option<Timestamp>,
}

impl Denials {
    /// Counts one. Logs the first of its kind since the last note.
    pub fn count(&self, who: &str, what: &str, why: &str, now: Timestamp) {
        let short = |text: &str| {
            let end = (0..=NAME_BYTES_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text[..end].escape_debug().to_string()
        };
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.first.get_or_insert(now);
        let key = (short(who), short(what), short(why));
        let is_full = since.counts.len() >= KEPT_MAX;
        match since.counts.get_mut(&key) {
            Some(count) => *count += 1,
            None if is_full => since.others += 1,
            None => {
                tracing::warn!(who = key.0, what = key.1, why = key.2, "denied");
                since.counts.insert(key, 1);
            }
        }
    }

    /// Whether there is something to be noted by now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.first.is_some() && since.noted.is_none_or(|noted| now >= noted.after(NOTE_EVERY_MS))
    }

    /// What is to be noted now; none if nothing was denied, or the last note is too fresh.
    fn due(&self, now: Timestamp, at_end: bool) -> Option<DenialNote> {
        if !self.is_due(now) && !at_end {
            return None;
        }
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = since.first?;
        let Since { counts, others, .. } = mem::replace(&mut *since, Since { noted: Some(now), ..Since::default() });
        let denied = counts.into_iter().map(|((who, what, why), count)| Denied { who, what, why, count }).collect();
        Some(DenialNote { since: first, denied, others })
    }

    /// Takes back what could not be noted.
    fn keep(&self, note: DenialNote) {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.first = Some(note.since);
        since.others += note.others;
        for Denied { who, what, why, count } in note.denied {
            *since.counts.entry((who, what, why)).or_default() += count;
        }
    }

    /// Notes in the journal what was denied since the last note, if it is time for it; at the end of the node in any case.
    pub fn note(&self, node: &Handle, at_end: bool) {
        let Some(note) = self.due(node.now(), at_end) else { return };
        if let Err(error) = node.note_denials(&note) {
            tracing::warn!(%error, denials = note.count(), "denials are not in the journal yet");
            self.keep(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(second: u64) -> Timestamp {
        Timestamp(second * 1_000)
    }

    #[test]
    fn a_flood_of_denials_is_one_note_a_minute_and_none_is_lost_in_the_sum() {
        let denials = Denials::default();
        let mut notes = Vec::new();
        for number in 0..100_000u64 {
            let now = Timestamp(number * 3);
            denials.count(&format!("10.0.0.{}", number % 200), "POST /v1/apply", "unknown-token", now);
            notes.extend(denials.due(now, false));
        }
        assert!(notes.len() <= 6, "{} notes in 300 s", notes.len());
        notes.extend(denials.due(at(300), true));
        assert_eq!(notes.iter().map(DenialNote::count).sum::<u64>(), 100_000);
        assert!(notes.iter().all(|note| note.denied.len() <= KEPT_MAX));
        assert_eq!(denials.due(at(1_000), true), None, "nothing was denied since");
    }

    #[test]
    fn the_first_denial_is_noted_at_once_and_what_cannot_be_noted_is_kept() {
        let denials = Denials::default();
        denials.count("account:ada\n", "POST /v1/apply", "forbidden", at(1));
        let note = denials.due(at(1), false).expect("the first is due at once");
        assert_eq!((note.since, note.denied[0].who.as_str()), (at(1), "account:ada\\n"));
        denials.keep(note);
        denials.count("account:ada\n", "POST /v1/apply", "forbidden", at(2));
        assert_eq!(denials.due(at(2), false), None, "not within the minute");
        let note = denials.due(at(61), false).expect("a minute later");
        assert_eq!((note.since, note.count()), (at(1), 2));
    }
}
