//! The replay gate: decides every entry of a journal again and demands the same.
//!
//! One pass forward. For each entry: the state is the fold of its stream's earlier events; command and facts come from the
//! entry; the policy is the revision that it cites, folded alongside; a supervisor's view is folded by a second reading up
//! to the position that it cites. Then verdict and events have to come out byte for byte. After a divergence the pass goes
//! on from what is recorded, so that one fault is not reported once for every entry after it.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_journal::{Entry, EntryKind, Filter, Journal, Position, ReadError, StreamId};
use serde::{Deserialize, Serialize};

use super::{
    Context, Deciders, Divergence, What,
    policies::{Cited, Policies},
    redecide::Redecided,
};
use crate::{
    contract::{Decider, PolicyInForce},
    policy::Document,
    supervisor::machines,
};

/// How to replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Report every divergence instead of ending at the first.
    pub all: bool,
    /// The last entry to look at; none means all.
    pub to: Option<Position>,
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// Entries that were read.
    pub entries: u64,
    /// Entries that were decided again.
    pub decisions: u64,
    /// Entries that nobody decided.
    pub notes: u64,
    /// Entries of kinds that this release does not know, or whose stream could not be followed.
    pub skipped: u64,
    /// The kinds and supervisors among them that nobody here decides.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unknown: BTreeSet<String>,
    /// In order of position; at most one unless all were asked for.
    pub divergences: Vec<Divergence>,
}

impl ReplayReport {
    /// Whether everything came out the same.
    pub fn is_same(&self) -> bool {
        self.divergences.is_empty()
    }
}

/// Why a journal could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    #[error("cancelled")]
    Cancelled,
}

/// Follows a long pass: it is told how many entries of how many are done, and answers whether to go on.
pub type Follow<'a> = &'a dyn Fn(u64, u64) -> bool;

/// After so many entries the one who follows a pass is asked again: a fraction of a millisecond's work.
const FOLLOWED_EVERY: u64 = 64;

/// Replays with the deciders of this release.
///
/// # Errors
/// If an entry cannot be read from the journal. (One that can be read and not understood is a divergence.)
pub fn replay(journal: &dyn Journal, options: &Options) -> Result<ReplayReport, ReplayError> {
    replay_with(journal, options, &mut Deciders::product(journal))
}

/// Replays with these deciders.
///
/// # Errors
/// As [`replay`].
pub fn replay_with(
    journal: &dyn Journal,
    options: &Options,
    deciders: &mut Deciders<'_>,
) -> Result<ReplayReport, ReplayError> {
    run(journal, options, deciders, None, &mut |_| (), &|_, _| true)
}

/// Replays as [`replay`] does, and tells how far it is.
///
/// # Errors
/// As [`replay`], and if the one who follows it ends it.
pub fn replay_followed(
    journal: &dyn Journal,
    options: &Options,
    follow: Follow<'_>,
) -> Result<ReplayReport, ReplayError> {
    run(journal, options, &mut Deciders::product(journal), None, &mut |_| (), follow)
}

/// Replays; with `instead`, under these settings wherever a decision cites a policy. After each entry, what was found so far may
/// be taken away.
pub(super) fn run(
    journal: &dyn Journal,
    options: &Options,
    deciders: &mut Deciders<'_>,
    instead: Option<&Document>,
    take: &mut dyn FnMut(&mut Vec<Divergence>),
    follow: Follow<'_>,
) -> Result<ReplayReport, ReplayError> {
    let mut pass = Pass {
        report: ReplayReport::default(),
        policies: Policies::new(),
        instead: instead.cloned(),
        last: (Position::ZERO, 0),
    };
    let to = options.to.unwrap_or(journal.head().position);
    for entry in journal.read(Position(1), to, &Filter::all()) {
        if pass.report.entries.is_multiple_of(FOLLOWED_EVERY) && !follow(pass.report.entries, to.0) {
            return Err(ReplayError::Cancelled);
        }
        pass.entry(&*entry?, deciders);
        take(&mut pass.report.divergences);
        if !options.all && !pass.report.is_same() {
            pass.report.divergences.truncate(1);
            break;
        }
    }
    Ok(pass.report)
}

/// Who decides a stream: its kind, or the supervisor that it is.
pub(super) fn decided_by(stream: &StreamId) -> &str {
    if stream.kind() == machines::State::KIND { stream.as_str() } else { stream.kind() }
}

struct Pass {
    report: ReplayReport,
    policies: Policies,
    /// Settings that take the place of all that were in force.
    instead: Option<Document>,
    /// Position and time of the entry before.
    last: (Position, u64),
}

impl Pass {
    fn entry(&mut self, entry: &Entry, deciders: &mut Deciders<'_>) {
        let header = &entry.header;
        self.report.entries += 1;
        self.order(entry);
        let decider = deciders.of(&header.stream);
        match (header.meta.kind, decider) {
            (EntryKind::Note, decider) => {
                self.report.notes += 1;
                if let Some(decider) = decider {
                    decider.pass(entry);
                }
            }
            (EntryKind::Decision, None) => {
                self.report.skipped += 1;
                self.report.unknown.insert(decided_by(&header.stream).to_owned());
            }
            (EntryKind::Decision, Some(decider)) => {
                let policy = self.policy(entry);
                let context = Context { policy: policy.as_ref() };
                match decider.redecide(entry, context, &mut self.report.divergences) {
                    Redecided::Decided => self.report.decisions += 1,
                    Redecided::Skipped => self.report.skipped += 1,
                }
            }
        }
        if let Err(error) = self.policies.take_in(entry) {
            self.say(entry, What::Undecodable, format!("a policy revision cannot be read: {error}"));
        }
    }

    /// Positions have no gaps, and time never goes back.
    fn order(&mut self, entry: &Entry) {
        let (position, time_ms) = (entry.header.position, entry.header.meta.time_ms);
        let (last_position, last_ms) = self.last;
        if position != last_position.next() {
            self.say(entry, What::Position, format!("it comes after entry {last_position}"));
        }
        if time_ms < last_ms {
            self.say(entry, What::Time, format!("it is {} ms older than the entry before it", last_ms - time_ms));
        }
        self.last = (position, time_ms.max(last_ms));
    }

    fn policy(&mut self, entry: &Entry) -> Option<Arc<PolicyInForce>> {
        let reference = entry.header.meta.policy.as_ref();
        if let Some(document) = &self.instead {
            return Some(Arc::new(PolicyInForce { reference: reference.cloned(), document: document.clone() }));
        }
        let named =
            || reference.map(|policy| format!("{} revision {}", policy.name, policy.revision)).unwrap_or_default();
        match self.policies.cited(reference) {
            Cited::Found(policy) => Some(policy),
            Cited::Other(policy) => {
                self.say(entry, What::Policy, format!("policy {} is not what it was when it was cited", named()));
                // What is decided is compared under the settings that are there; only the digest differs.
                let reference = reference.cloned();
                Some(Arc::new(PolicyInForce { reference, document: policy.document.clone() }))
            }
            Cited::Missing => {
                self.say(entry, What::Policy, format!("policy {} did not exist when it was cited", named()));
                None
            }
        }
    }

    fn say(&mut self, entry: &Entry, what: What, text: String) {
        self.report.divergences.push(Divergence::new(&entry.header, what, text));
    }
}
