//! What another policy would have decided.
//!
//! Every decision is taken again from exactly what was known then, the history before it included, with other settings.
//! What comes out differently is a flip. History itself is not told anew: after a flip the next decision again starts from
//! what is recorded, so every flip stands for itself.

use std::collections::BTreeMap;

use bailiwick_journal::Journal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Deciders, Difference, Divergence, Follow, Options, ReplayError, ReplayReport, What, pass::run};
use crate::{policy::Document, vocab::sort_by_key};

/// What a rehearsal found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
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
    /// How often each answer would have become another: other answers first, other due times last.
    pub groups: Vec<FlipGroup>,
    /// Every decision that comes out differently, in order of position.
    pub flips: Vec<Divergence>,
    /// What does not fit whatever the settings are: the journal or the rules have changed. A replay says more.
    pub unsound: Vec<Divergence>,
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
    /// The kind of entity: `machine`.
    pub kind: String,
    /// The recorded answer, by its code.
    pub recorded: String,
    /// The answer under the other settings; the same code unless the verdict flips.
    pub redecided: String,
    pub count: u64,
    /// The first of them.
    pub first: u64,
}

impl Rehearsal {
    /// Whether every decision comes out as it is recorded.
    pub fn is_same(&self) -> bool {
        self.flips.is_empty() && self.unsound.is_empty()
    }
}

/// Decides a journal again under these settings, and tells how far it is.
///
/// # Errors
/// As [`replay`](super::replay), and if the one who follows it ends it.
pub fn rehearse(
    journal: &dyn Journal,
    document: &Document,
    options: &Options,
    follow: Follow<'_>,
) -> Result<Rehearsal, ReplayError> {
    let options = Options { all: true, ..*options };
    let report = run(journal, &options, &mut Deciders::product(journal), Some(document), follow)?;
    Ok(Rehearsal::from(report))
}

impl From<ReplayReport> for Rehearsal {
    fn from(report: ReplayReport) -> Self {
        let ReplayReport { entries, decisions, skipped, divergences, .. } = report;
        let depends_on_settings = |found: &Divergence| {
            matches!(found.what, What::Verdict | What::MissingEvent | What::SurplusEvent | What::Events)
        };
        let (flips, unsound): (Vec<_>, Vec<_>) = divergences.into_iter().partition(depends_on_settings);
        let count = |wanted: Flip| flips.iter().filter(|flip| Flip::of(flip) == wanted).count() as u64;
        Self {
            entries,
            decisions,
            skipped,
            verdict_flips: count(Flip::Verdict),
            event_flips: count(Flip::Events),
            due_time_flips: count(Flip::DueTime),
            groups: groups(&flips),
            flips,
            unsound,
        }
    }
}

/// What counts more comes first: other answers, then other events, then other due times; each the most frequent first.
fn groups(flips: &[Divergence]) -> Vec<FlipGroup> {
    let mut groups: BTreeMap<(Flip, String, String, String), FlipGroup> = BTreeMap::new();
    for found in flips {
        let (flip, kind) = (Flip::of(found), found.stream.kind().to_owned());
        let (recorded, redecided) = (code(&found.recorded).to_owned(), code(&found.redecided).to_owned());
        let key = (flip, kind.clone(), recorded.clone(), redecided.clone());
        let new = || FlipGroup { flip, kind, recorded, redecided, count: 0, first: found.position };
        groups.entry(key).or_insert_with(new).count += 1;
    }
    let mut groups: Vec<FlipGroup> = groups.into_values().collect();
    sort_by_key(&mut groups, |group| (group.flip, std::cmp::Reverse(group.count), group.first));
    groups
}

fn code(answer: &Value) -> &str {
    answer["code"].as_str().unwrap_or_default()
}
