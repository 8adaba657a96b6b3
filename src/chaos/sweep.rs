//! A crash at every boundary of a journal, and what comes of it.

use std::{num::NonZeroUsize, thread};

use bailiwick_actors::{
    contract::{Decider, StoredError},
    machine_deployment,
    vocab::sort_by_key,
};
use bailiwick_journal::{Journal, Position, ReadError, ReadOnlyJournal, StreamId};

use super::{
    Ending, InFlight, Prefixes, PrefixesError, Sweep, Trial,
    boundary::{Around, Boundary, boundaries},
    parallel::{Follow, in_parallel},
};
use crate::simulation::{Report, SimulationError};

/// How to sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    pub seed: u64,
    /// Only prefixes that end at or after this position.
    pub from: Position,
    /// Only prefixes that end at or before this position; none means all.
    pub to: Option<Position>,
    /// Only every n-th prefix.
    pub every: NonZeroUsize,
    /// Whether each call that is under way happens alone as well, beside none and all of them.
    pub each_call: bool,
    /// How long a node has to converge, in milliseconds of virtual time: from its start on, or from the end of what is held for
    /// less than that. What is held for longer need not become ready.
    pub until_ms: u64,
    /// How many nodes are simulated at a time. What comes out does not depend on it.
    pub workers: NonZeroUsize,
}

impl Default for Setup {
    /// Every prefix, two hours each: longer than the longest wait between two attempts. As many nodes at a time as there are
    /// processors.
    fn default() -> Self {
        let workers = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            seed: 1,
            from: Position(1),
            to: None,
            every: NonZeroUsize::MIN,
            each_call: true,
            until_ms: 7_200_000,
            workers,
        }
    }
}

/// Why a sweep could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Prefixes(#[from] PrefixesError),
    #[error("the journal cannot be read")]
    Read(#[from] ReadError),
    #[error("the journal cannot be understood")]
    Stored(#[from] StoredError),
    #[error("the node could not be simulated from entry {position} on")]
    Simulation { position: Position, source: Box<SimulationError> },
    #[error("cancelled")]
    Cancelled,
}

/// Starts a node over one prefix, as a sweep does; none if no prefix ends there.
///
/// # Errors
/// As [`sweep`].
pub fn start_again(
    journal: &ReadOnlyJournal,
    (position, calls): (Position, &InFlight),
    setup: Setup,
) -> Result<Option<Trial>, SweepError> {
    let prefixes = Prefixes::of(journal)?;
    let ends = prefixes.ends().into_iter().filter(|end| *end == position).collect();
    let (boundaries, around) = boundaries(journal, &ends, setup.until_ms)?;
    boundaries.first().map(|boundary| boundary.start(&prefixes, calls, setup, &around)).transpose()
}

/// Starts a node over every prefix, `setup.workers` at a time. `follow` is called before the first start and after each with
/// how many are done, of how many, and answers whether to go on.
///
/// # Errors
/// If the journal cannot be read, a node could not be simulated at all, or the one who follows it ends it.
pub fn sweep(journal: &ReadOnlyJournal, setup: Setup, follow: Follow<'_>) -> Result<Sweep, SweepError> {
    let prefixes = Prefixes::of(journal)?;
    let to = setup.to.unwrap_or(journal.head().position);
    let ends = prefixes.ends().into_iter().filter(|end| setup.from <= *end && *end <= to);
    let (boundaries, around) = boundaries(journal, &ends.step_by(setup.every.get()).collect(), setup.until_ms)?;
    let trials: Vec<(&Boundary, InFlight)> =
        boundaries.iter().flat_map(|boundary| boundary.variants(setup.each_call)).collect();
    let start = |at: usize| {
        let (boundary, calls) = &trials[at];
        boundary.start(&prefixes, calls, setup, &around)
    };
    let found = in_parallel(trials.len(), setup.workers, follow, &start).ok_or(SweepError::Cancelled)?;
    let mut sweep = Sweep { boundaries: boundaries.len(), ..Sweep::default() };
    for trial in found {
        let trial = trial?;
        match &trial.ending {
            Ending::Converged => sweep.converged += 1,
            Ending::GivenUp { .. } => sweep.given_up += 1,
            Ending::AwaitsOperator { .. } => sweep.awaits_operator += 1,
            Ending::Stuck { .. } => sweep.stuck += 1,
            Ending::Violated { .. } => sweep.violated += 1,
        }
        sweep.trials.push(trial);
    }
    sort_by_key(&mut sweep.trials, |trial| (trial.position, trial.in_flight.clone()));
    Ok(sweep)
}

impl Boundary {
    fn start(&self, prefixes: &Prefixes, calls: &InFlight, setup: Setup, around: &Around) -> Result<Trial, SweepError> {
        let position = self.header.position;
        let simulation = self.simulation(prefixes, calls, (setup.seed, setup.until_ms), around)?;
        let failed = |error| SweepError::Simulation { position, source: Box::new(error) };
        let report = simulation.run().map_err(failed)?;
        Ok(Trial {
            position: position.0,
            stream: self.header.stream.to_string(),
            code: self.header.meta.code.clone(),
            calls: self.calls(),
            in_flight: calls.clone(),
            converged_ms: report.converged_ms,
            virtual_ms: report.virtual_ms,
            ending: self.ending(report),
        })
    }

    /// What came of it, the worst first.
    fn ending(&self, report: Report) -> Ending {
        if !report.wrong.is_empty() {
            return Ending::Violated { wrong: report.wrong };
        }
        let status = |stream: &StreamId| report.statuses.get(stream.as_str()).copied().unwrap_or("undeclared");
        let newly =
            |stream: &StreamId| if report.given_up.contains(stream) { ", given up after the start" } else { "" };
        // The window of its rollout opens after the end: until then it is as it should be.
        let awaits_window =
            |stream: &StreamId| stream.kind() == machine_deployment::State::KIND && status(stream) == "waiting";
        // A simulated provider gives no reason to give anything up: what was given up after the start is stuck.
        let awaited = |stream: &StreamId| report.awaited.get(stream).filter(|it| !report.given_up.contains(&it.by));
        let is_busy = |stream: &&StreamId| {
            !report.resting.contains_key(*stream) && awaited(stream).is_none() && !awaits_window(stream)
        };
        let busy = report.unready.iter().filter(is_busy);
        let stuck: Vec<String> =
            busy.map(|stream| format!("{stream} is {}{}", status(stream), newly(stream))).collect();
        if !stuck.is_empty() {
            return Ending::Stuck { entities: stuck };
        }
        // Its time was over at the start; that it is kept for diagnosis since then is not that nobody cares.
        let before = |stream: &StreamId| self.given_up.contains(stream) && status(stream) != "kept";
        let is_given_up = |stream: &StreamId| {
            before(stream) || report.not_offered.contains(stream) || self.taken_over.contains(stream)
        };
        let because_given_up = report.resting.iter().filter(|(_, reason)| is_given_up(reason));
        let told = because_given_up.map(|(stream, reason)| {
            let how = if self.taken_over.contains(reason) {
                "stays with the journal that this one was imported from"
            } else if before(reason) {
                "was given up before the start"
            } else {
                "was given up after the start: its provider cannot do it"
            };
            if stream == reason {
                format!("{stream} {how}")
            } else {
                format!("{stream} waits for {reason}, which {how}")
            }
        });
        let given_up: Vec<String> = told.collect();
        let commands = report.unready.iter().filter_map(|stream| Some((stream, awaited(stream)?)));
        let told = commands.map(|(stream, it)| format!("{stream}: {}; run `{}`", it.because, it.command));
        let waiting: Vec<String> = told.collect();
        match (given_up.is_empty(), waiting.is_empty()) {
            (true, true) => Ending::Converged,
            (true, false) => Ending::AwaitsOperator { entities: waiting },
            (false, _) => Ending::GivenUp { entities: [given_up, waiting].concat() },
        }
    }
}
