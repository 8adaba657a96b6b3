//! What another policy would have decided.
//!
//! Every decision is taken again from exactly what was known then, the history before it included, with other settings.
//! What comes out differently is a flip. History itself is not told anew: after a flip the next decision again starts from
//! what is recorded, so every flip stands for itself.

use std::collections::BTreeMap;

use bailiwick_journal::Journal;
use serde::{Deserialize, Serialize};

use super::{Deciders, Divergence, Options, ReplayError, ReplayReport, What, pass::run};
use crate::policy::Document;

/// What a rehearsal found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// Entries that were read.
    pub entries: u64,
    /// Entries that were decided again.
    pub decisions: u64,
    /// Entries that could not be decided again.
    pub skipped: u64,
    /// How often each answer would have become another, the most frequent first.
    pub groups: Vec<FlipGroup>,
    /// Every decision that comes out differently, in order of position.
    pub flips: Vec<Divergence>,
    /// What does not fit whatever the settings are: the journal or the rules have changed. A replay says more.
    pub unsound: Vec<Divergence>,
}

/// Decisions that flip in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlipGroup {
    /// The kind of entity: `machine`.
    pub kind: String,
    /// The recorded answer, by its code.
    pub recorded: String,
    /// The answer under the other settings; the same code if only events differ.
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

/// Decides a journal again under these settings.
///
/// # Errors
/// As [`replay`](super::replay).
pub fn rehearse(journal: &dyn Journal, document: &Document, options: &Options) -> Result<Rehearsal, ReplayError> {
    let options = Options { all: true, ..*options };
    let report = run(journal, &options, &mut Deciders::product(journal), Some(document))?;
    Ok(Rehearsal::from(report))
}

impl From<ReplayReport> for Rehearsal {
    fn from(report: ReplayReport) -> Self {
        let ReplayReport { entries, decisions, skipped, divergences, .. } = report;
        let depends_on_settings = |found: &Divergence| {
            matches!(found.what, What::Verdict | What::MissingEvent | What::SurplusEvent | What::Events)
        };
        let (flips, unsound): (Vec<_>, Vec<_>) = divergences.into_iter().partition(depends_on_settings);
        Self { entries, decisions, skipped, groups: groups(&flips), flips, unsound }
    }
}

fn groups(flips: &[Divergence]) -> Vec<FlipGroup> {
    let code = |value: &serde_json::Value| value["code"].as_str().unwrap_or_default().to_owned();
    let mut groups: BTreeMap<(String, String, String), FlipGroup> = BTreeMap::new();
    for flip in flips {
        let (kind, recorded, redecided) = (flip.stream.kind().to_owned(), code(&flip.recorded), code(&flip.redecided));
        let group = groups.entry((kind.clone(), recorded.clone(), redecided.clone())).or_insert_with(|| FlipGroup {
            kind,
            recorded,
            redecided,
            count: 0,
            first: flip.position,
        });
        group.count += 1;
    }
    let mut groups: Vec<FlipGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.first));
    groups
}
