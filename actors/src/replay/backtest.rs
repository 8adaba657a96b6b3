//! What another policy would have decided.
//!
//! Every decision is taken again from exactly what was known then, the history before it included, with other settings.
//! What comes out differently is a flip. History itself is not told anew: after a flip the next decision again starts from
//! what is recorded, so every flip stands for itself.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::Journal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Deciders, Difference, Divergence, Follow, Options, ReplayError, What,
    pass::{decided_by, run},
};
use crate::{
    policy::Document,
    vocab::{Call, sort_by_key},
};

/// No more flips than this are kept with all that differs, and no more unsound entries; all are counted.
pub const KEPT_MAX: usize = 1_000;

/// What a backtest found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Backtest {
    /// Entries that were read.
    pub entries: u64,
    /// Entries that were decided again.
    pub decisions: u64,
    /// Entries that could not be decided again.
    pub skipped: u64,
    /// Decisions with another answer, or with other events.
    pub verdict_flips: u64,
    pub event_flips: u64,
    /// Decisions that only differ in when something is due.
    pub due_time_flips: u64,
    /// What providers would have been called for besides, or would not have been called for. Of a flip each counts; what would
    /// have followed from it is not told.
    pub calls: BTreeMap<Call, CallFlips>,
    /// How often each answer would have become another: other answers first, other due times last.
    pub groups: Vec<FlipGroup>,
    /// Decisions that come out differently, in order of position: the first thousand.
    pub flips: Vec<Divergence>,
    /// How often something does not fit whatever the settings are: the journal or the rules have changed.
    pub unsound_entries: u64,
    /// The first thousand of these. A replay says more.
    pub unsound: Vec<Divergence>,
}

/// What flips do to one kind of call of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallFlips {
    /// Decisions that flip with such a call, one more or one less.
    pub flips: u64,
    /// Calls under the other settings only, and under the recorded ones only. Each decision counts by itself: what would have been
    /// done at once, and was put off in three decisions, counts three times.
    pub gained: u64,
    pub lost: u64,
}

/// How a decision flips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Flip {
    /// Another answer.
    Verdict,
    /// The same answer, with other events.
    Events,
    /// The same answer and the same events, due at another time: it would have waited longer, or less long.
    DueTime,
}

impl Flip {
    /// How this decision flips.
    pub fn of(flip: &Divergence) -> Self {
        // What is due later is called `until` in every event; no other time in an event depends on settings.
        let is_due_time = |found: &Difference| {
            let name = found.field.rsplit('.').next();
            name == Some("until") && found.recorded.is_number() && found.redecided.is_number()
        };
        match flip.what {
            What::Verdict => Self::Verdict,
            _ if code(&flip.recorded) != code(&flip.redecided) => Self::Verdict,
            _ if !flip.differences.is_empty() && flip.differences.iter().all(is_due_time) => Self::DueTime,
            _ => Self::Events,
        }
    }
}

/// Decisions that flip in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FlipGroup {
    pub flip: Flip,
    /// The kind of entity, or the supervisor: `machine`, `supervisor/machines`.
    pub kind: String,
    /// The recorded answer, by its code.
    pub recorded: String,
    /// The answer under the other settings; the same code unless the verdict flips.
    pub redecided: String,
    /// What providers are called for under the other settings only, and under the recorded ones only.
    pub gained: Vec<Call>,
    pub lost: Vec<Call>,
    pub count: u64,
    /// The first of them.
    pub first: u64,
}

impl FlipGroup {
    /// The group that a flip belongs to, with nothing counted yet.
    pub fn of(flip: &Divergence) -> Self {
        let distinct = |calls: &[Call]| calls.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        Self {
            flip: Flip::of(flip),
            kind: decided_by(&flip.stream).to_owned(),
            recorded: code(&flip.recorded).to_owned(),
            redecided: code(&flip.redecided).to_owned(),
            gained: distinct(&flip.gained),
            lost: distinct(&flip.lost),
            count: 0,
            first: flip.position,
        }
    }

    /// Whether a flip is one of these.
    pub fn has(&self, flip: &Divergence) -> bool {
        Self { count: self.count, first: self.first, ..Self::of(flip) } == *self
    }
}

impl Backtest {
    /// Whether every decision comes out as it is recorded.
    pub fn is_same(&self) -> bool {
        self.flips() == 0 && self.unsound_entries == 0
    }

    /// How many decisions come out differently.
    pub fn flips(&self) -> u64 {
        self.verdict_flips + self.event_flips + self.due_time_flips
    }

    fn count(&mut self, found: Divergence) {
        let depends_on_settings =
            matches!(found.what, What::Verdict | What::MissingEvent | What::SurplusEvent | What::Events);
        if !depends_on_settings {
            self.unsound_entries += 1;
            if self.unsound.len() < KEPT_MAX {
                self.unsound.push(found);
            }
            return;
        }
        match Flip::of(&found) {
            Flip::Verdict => self.verdict_flips += 1,
            Flip::Events => self.event_flips += 1,
            Flip::DueTime => self.due_time_flips += 1,
        }
        for call in Call::ALL {
            let of = |calls: &[Call]| calls.iter().filter(|known| **known == call).count() as u64;
            let (gained, lost) = (of(&found.gained), of(&found.lost));
            if gained + lost > 0 {
                let counted = self.calls.entry(call).or_default();
                counted.flips += 1;
                counted.gained += gained;
                counted.lost += lost;
            }
        }
        match self.groups.iter_mut().find(|group| group.has(&found)) {
            Some(group) => group.count += 1,
            None => self.groups.push(FlipGroup { count: 1, ..FlipGroup::of(&found) }),
        }
        if self.flips.len() < KEPT_MAX {
            self.flips.push(found);
        }
    }
}

/// Decides a journal again under these settings, and tells how far it is.
///
/// # Errors
/// As [`replay`](super::replay), and if the one who follows it ends it.
pub fn backtest(
    journal: &dyn Journal,
    document: &Document,
    options: &Options,
    follow: Follow<'_>,
) -> Result<Backtest, ReplayError> {
    let options = Options { all: true, ..*options };
    let mut told = Backtest::default();
    let mut take = |found: &mut Vec<Divergence>| found.drain(..).for_each(|one| told.count(one));
    let report = run(journal, &options, &mut Deciders::product(journal), Some(document), &mut take, follow)?;
    (told.entries, told.decisions, told.skipped) = (report.entries, report.decisions, report.skipped);
    // What counts more comes first: other answers, then other events, then other due times; each the most frequent first.
    sort_by_key(&mut told.groups, |group| (group.flip, std::cmp::Reverse(group.count), group.first));
    Ok(told)
}

fn code(answer: &Value) -> &str {
    answer["code"].as_str().unwrap_or_default()
}
