//! A scenario on many bad days: each has a phase in which things go wrong, by a seed's choice, and then a calm in which
//! everything has to come to be as declared, and then to rest.

mod draw;
mod shrink;
#[cfg(test)]
mod tests;

use std::{
    num::NonZeroUsize,
    ops::RangeInclusive,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use bailiwick_actors::vocab::hex;
use bailiwick_journal::{StreamId, digest};
use serde::{Deserialize, Serialize};
use tracing::dispatcher::{self, Dispatch};

use super::parallel::{Follow, in_parallel};
use crate::{
    simulation::{Report, ScenarioError, ScenarioFile, Simulation},
    text::with_causes,
};
pub use shrink::{Shrunk, shrink};

pub(super) const MINUTE_MS: u64 = 60_000;
/// How often what was given up is tried again once all is calm: every ten minutes.
pub(super) const RETRIES: u64 = 6;
/// How long a node has to settle once all is calm: longer than the longest wait between two attempts.
pub(super) const CALM_MS: u64 = 10 * 60 * MINUTE_MS;
/// Once all is as declared, nothing happens for this long.
pub(super) const REST_MS: u64 = 60 * MINUTE_MS;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Everything is as declared, or waits for an operator, and has come to rest.
    Settled,
    /// Something is that must never be: an orphan, a duplicate, a decision that does not replay.
    Violated { wrong: Vec<String> },
    /// Something is not as declared, long after all was calm.
    Stuck { entities: Vec<String> },
    /// All is as declared, and the node goes on deciding.
    Restless { last: String },
    /// The node could not be simulated to the end.
    Broken { problem: String },
}

impl Verdict {
    /// As it is called.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Violated { .. } => "violated",
            Self::Stuck { .. } => "stuck",
            Self::Restless { .. } => "restless",
            Self::Broken { .. } => "broken",
        }
    }

    /// What it is about, one line each.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Settled => Vec::new(),
            Self::Violated { wrong: lines } | Self::Stuck { entities: lines } => lines.clone(),
            Self::Restless { last: line } | Self::Broken { problem: line } => vec![line.clone()],
        }
    }
}

/// One run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub seed: u64,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub entries: u64,
    pub crashes: u64,
    /// Virtual time, in milliseconds.
    pub virtual_ms: u64,
    /// The chain value over the whole journal: equal for equal histories.
    pub journal: String,
}

/// How many runs came to what.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sums {
    pub settled: usize,
    pub violated: usize,
    pub stuck: usize,
    pub restless: usize,
    pub broken: usize,
    pub crashes: u64,
    /// Virtual time of all, in milliseconds.
    pub virtual_ms: u64,
    /// One value over the journals that all runs left, in their order: equal for equal histories.
    pub history: String,
}

impl Sums {
    /// How many there were.
    pub fn count(&self) -> usize {
        self.settled + self.violated + self.stuck + self.restless + self.broken
    }

    pub(super) fn add(&mut self, run: &Run) {
        let number = match run.verdict {
            Verdict::Settled => &mut self.settled,
            Verdict::Violated { .. } => &mut self.violated,
            Verdict::Stuck { .. } => &mut self.stuck,
            Verdict::Restless { .. } => &mut self.restless,
            Verdict::Broken { .. } => &mut self.broken,
        };
        *number += 1;
        self.crashes += run.crashes;
        self.virtual_ms += run.virtual_ms;
        self.history = hex(&digest(format!("{}{}", self.history, run.journal).as_bytes()));
    }
}

/// What came of all runs.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Runs {
    #[serde(flatten)]
    pub sums: Sums,
    /// Those that did not settle, in order of their seeds.
    pub failed: Vec<Run>,
}

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("cancelled")]
    Cancelled,
}

/// The scenario as it is run with a seed: with everything that goes wrong, written out.
///
/// # Errors
/// If the scenario is none.
pub fn day(file: &ScenarioFile, path: &Path, seed: u64, is_drawn: bool) -> Result<ScenarioFile, ScenarioError> {
    Ok(draw::bad_day(file, &file.scenario(path)?, seed, is_drawn))
}

/// Runs a scenario once for each seed, `workers` at a time. `follow` is called after each with how many are done, of how many,
/// and answers whether to go on.
///
/// # Errors
/// If the scenario is none, or the one who follows it ends it.
pub fn run_all(
    file: &ScenarioFile,
    path: &Path,
    (seeds, is_drawn): (RangeInclusive<u64>, bool),
    workers: NonZeroUsize,
    follow: Follow<'_>,
) -> Result<Runs, RunError> {
    let scenario = file.scenario(path)?;
    let count = seeds.end().saturating_sub(*seeds.start()).saturating_add(1);
    let one = |at: usize| run_once(&draw::bad_day(file, &scenario, seeds.start() + at as u64, is_drawn), path);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut runs = Runs::default();
    for run in in_parallel(count, workers, follow, &one).ok_or(RunError::Cancelled)? {
        let run = run?;
        runs.sums.add(&run);
        runs.failed.extend((run.verdict != Verdict::Settled).then_some(run));
    }
    Ok(runs)
}

/// Runs what is written in a file, to its end.
///
/// # Errors
/// If it is no scenario.
pub fn run_once(file: &ScenarioFile, path: &Path) -> Result<Run, ScenarioError> {
    Ok(run_to_end(Simulation::of(file.scenario(path)?)))
}

/// Runs it, with operators who insist.
pub(super) fn run_to_end(simulation: Simulation) -> Run {
    let simulation = Simulation { operators_insist: true, ..simulation };
    let seed = simulation.seed;
    let broken = |problem: String| Run {
        seed,
        verdict: Verdict::Broken { problem },
        entries: 0,
        crashes: 0,
        virtual_ms: 0,
        journal: String::new(),
    };
    // What a node logs on a bad day is told by its journal as well.
    let quietly = || dispatcher::with_default(&Dispatch::none(), || simulation.run());
    match catch_unwind(AssertUnwindSafe(quietly)) {
        Err(_) => broken("the node panicked".to_owned()),
        Ok(Err(error)) => broken(with_causes(&error)),
        Ok(Ok(report)) => Run {
            seed,
            entries: report.entries,
            crashes: report.crashes,
            virtual_ms: report.virtual_ms,
            journal: report.journal_hash.clone(),
            verdict: judged(report),
        },
    }
}

/// The worst that is to be said.
fn judged(report: Report) -> Verdict {
    if !report.wrong.is_empty() {
        return Verdict::Violated { wrong: report.wrong };
    }
    let status = |stream: &StreamId| report.statuses.get(stream.as_str()).copied().unwrap_or("undeclared");
    let is_of_operator = |stream: &StreamId| report.awaited.contains_key(stream) || report.left.contains(stream);
    let is_busy = |stream: &&StreamId| !report.resting.contains_key(*stream) && !is_of_operator(stream);
    let busy = report.unready.iter().filter(is_busy).map(|stream| format!("{stream} is {}", status(stream)));
    let entities: Vec<String> = busy.collect();
    if !entities.is_empty() {
        return Verdict::Stuck { entities };
    }
    let last = report.story.iter().rev().find(|line| line.stream.is_some());
    match last.filter(|_| report.quiet_ms < REST_MS) {
        Some(line) => Verdict::Restless { last: line.to_string() },
        None => Verdict::Settled,
    }
}
