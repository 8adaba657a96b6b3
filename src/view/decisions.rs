//! How many decisions there were, by what came of them.

use std::collections::BTreeMap;

use bailiwick_journal::{Header, Outcome};

/// Counts decisions: by the kind of what was decided about, by the outcome, and by the code of the reason. Codes are the
/// product's own words, so there are only so many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decisions(BTreeMap<String, BTreeMap<String, [u64; OUTCOMES.len()]>>);

const OUTCOMES: [(Outcome, &str); 3] =
    [(Outcome::Done, "done"), (Outcome::Nothing, "nothing"), (Outcome::Refused, "refused")];

impl Decisions {
    /// Counts one.
    pub(super) fn count(&mut self, header: &Header) {
        let (kind, code) = (header.stream.kind(), header.meta.code.as_str());
        let Some(place) = OUTCOMES.iter().position(|(outcome, _)| *outcome == header.meta.outcome) else { return };
        // Nearly every one is like an earlier one: names are copied only for the first of them.
        if let Some(counts) = self.0.get_mut(kind).and_then(|codes| codes.get_mut(code)) {
            counts[place] += 1;
            return;
        }
        self.0.entry(kind.to_owned()).or_default().entry(code.to_owned()).or_default()[place] += 1;
    }

    /// Kind, outcome, reason and number of those that there were.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &'static str, &str, u64)> {
        self.0.iter().flat_map(|(kind, codes)| {
            codes.iter().flat_map(move |(code, counts)| {
                let told = OUTCOMES.iter().zip(counts).filter(|(_, count)| **count > 0);
                told.map(move |((_, outcome), count)| (kind.as_str(), *outcome, code.as_str(), *count))
            })
        })
    }
}
