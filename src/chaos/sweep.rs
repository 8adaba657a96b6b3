//! A crash at every boundary of a journal, and what comes of it.

use std::{
    collections::BTreeSet,
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use bailiwick_actors::{
    contract::{Decider, StoredError},
    machine_deployment,
    vocab::{Timestamp, sort_by_key},
};
use bailiwick_journal::{
    Entry, EntryKind, Filter, Header, Journal, JournalNote, Position, ReadError, ReadOnlyJournal, StreamId,
};

use super::{Ending, InFlight, Prefixes, PrefixesError, Remembered, Surroundings, Sweep, Trial};
use crate::{
    providers::simulated::World,
    simulation::{Beginning, Observer, Report, Simulation, SimulationError},
};

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

/// As many calls of one boundary happen alone.
const EACH_MAX: usize = 16;

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
    let only = Setup { from: position, to: Some(position), every: NonZeroUsize::MIN, ..setup };
    let (boundaries, around) = boundaries(journal, &prefixes, only)?;
    boundaries.first().map(|boundary| boundary.start(&prefixes, calls, setup, &around)).transpose()
}

/// What is the same for all starts.
struct Around {
    journal: uuid::Uuid,
    surroundings: Surroundings,
}

/// One prefix, with what the world is like at its end.
struct Boundary {
    header: Header,
    remembered: Remembered,
    /// What was given up before.
    given_up: BTreeSet<StreamId>,
    /// What belongs to the journal that this one was imported from.
    taken_over: BTreeSet<StreamId>,
    /// What is an operator's to set going again: it need not become ready.
    left: BTreeSet<StreamId>,
    /// When the last of the holds ends that end in time.
    held_until: Option<Timestamp>,
}

/// Starts a node over every prefix, `setup.workers` at a time. `follow` is called before the first start and after each with
/// how many are done, of how many, and answers whether to go on.
///
/// # Errors
/// If the journal cannot be read, a node could not be simulated at all, or the one who follows it ends it.
pub fn sweep(
    journal: &ReadOnlyJournal,
    setup: Setup,
    follow: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<Sweep, SweepError> {
    let prefixes = Prefixes::of(journal)?;
    let (boundaries, around) = boundaries(journal, &prefixes, setup)?;
    let trials: Vec<(&Boundary, InFlight)> =
        boundaries.iter().flat_map(|boundary| boundary.variants(setup.each_call)).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_cancelled = AtomicBool::new(!follow(0, trials.len()));
    let found = Mutex::new(Vec::with_capacity(trials.len()));
    // What a simulated node logs goes where its sweep's does.
    let log = tracing::dispatcher::get_default(Clone::clone);
    let work = || {
        tracing::dispatcher::with_default(&log, || {
            while !is_cancelled.load(Ordering::SeqCst) {
                let Some((boundary, calls)) = trials.get(next.fetch_add(1, Ordering::SeqCst)) else { break };
                let trial = boundary.start(&prefixes, calls, setup, &around);
                found.lock().unwrap_or_else(PoisonError::into_inner).push(trial);
                if !follow(done.fetch_add(1, Ordering::SeqCst) + 1, trials.len()) {
                    is_cancelled.store(true, Ordering::SeqCst);
                }
            }
        });
    };
    thread::scope(|scope| {
        for _ in 0..setup.workers.get().min(trials.len()) {
            scope.spawn(work);
        }
    });
    if is_cancelled.into_inner() {
        return Err(SweepError::Cancelled);
    }
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
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

fn boundaries(
    journal: &ReadOnlyJournal,
    prefixes: &Prefixes,
    setup: Setup,
) -> Result<(Vec<Boundary>, Around), SweepError> {
    let to = setup.to.unwrap_or(journal.head().position);
    let ends = prefixes.ends().into_iter().filter(|end| setup.from <= *end && *end <= to);
    let ends: BTreeSet<Position> = ends.step_by(setup.every.get()).collect();
    let mut remembered = Remembered::of(journal.id());
    let mut observer = Observer::of(journal.id());
    let mut surroundings = Surroundings::default();
    let mut boundaries = Vec::new();
    for entry in journal.read(Position(1), journal.head().position, &Filter::all()) {
        let entry = entry?;
        surroundings.apply(&entry)?;
        if to < entry.header.position {
            continue;
        }
        if is_import(&entry) {
            // What came before was another node's: no node of this identity ever started there.
            boundaries.clear();
            remembered.forget_asked();
        }
        remembered.apply(&entry)?;
        observer.take_in(&entry)?;
        if ends.contains(&entry.header.position) {
            let end = Timestamp(entry.header.meta.time_ms.saturating_add(setup.until_ms));
            let given_up = observer.given_up().into_iter().collect();
            let left = observer.left_to_operators(end).into_iter().collect();
            let (header, remembered) = (entry.header.clone(), remembered.clone());
            let (taken_over, held_until) = (observer.taken_over().into_iter().collect(), observer.held_until(end));
            boundaries.push(Boundary { header, remembered, given_up, taken_over, left, held_until });
        }
    }
    let around = Around { journal: journal.id(), surroundings };
    Ok((boundaries, around))
}

/// Whether an entry says that all before it was taken over from another journal.
fn is_import(entry: &Entry) -> bool {
    let note = entry.events.first().filter(|_| entry.header.meta.kind == EntryKind::Note);
    note.is_some_and(|note| matches!(JournalNote::decode(note), Ok(JournalNote::ImportedAsNew { .. })))
}

impl Boundary {
    /// Without any call under way there is only one world to start in.
    fn variants(&self, each_call: bool) -> Vec<(&Self, InFlight)> {
        let calls: BTreeSet<String> = self.remembered.in_flight().into_iter().collect();
        let all = (!calls.is_empty()).then_some(InFlight::Happened);
        let is_more = each_call && calls.len() > 1;
        let alone = calls.into_iter().filter(|_| is_more).take(EACH_MAX).map(|one| InFlight::Only(vec![one]));
        let variants = std::iter::once(InFlight::DidNotHappen).chain(all).chain(alone);
        variants.map(|calls| (self, calls)).collect()
    }

    fn start(&self, prefixes: &Prefixes, calls: &InFlight, setup: Setup, around: &Around) -> Result<Trial, SweepError> {
        let position = self.header.position;
        let disk = prefixes.disk(position)?;
        let world = World::with(setup.seed, self.remembered.things(calls));
        for (provider, zones) in around.surroundings.zones(self.remembered.zones()) {
            world.set_zones(&provider, zones.into_iter().collect());
        }
        let world = world.snapshot();
        let mut simulation = Simulation::new(setup.seed);
        simulation.epoch = Timestamp(self.header.meta.time_ms);
        simulation.providers = around.surroundings.providers();
        simulation.secrets = around.surroundings.secrets();
        simulation.devices = Some(around.surroundings.devices());
        simulation.resigned = self.given_up.iter().chain(&self.taken_over).chain(&self.left).cloned().collect();
        let held_ms = self.held_until.map_or(0, |until| until.since(simulation.epoch));
        simulation.until_ms = setup.until_ms.saturating_add(held_ms);
        let sets = self.remembered.sets(calls);
        simulation.beginning = Some(Beginning { disk, journal: around.journal, world, sets });
        let failed = |error| SweepError::Simulation { position, source: Box::new(error) };
        let report = simulation.run().map_err(failed)?;
        Ok(Trial {
            position: position.0,
            stream: self.header.stream.to_string(),
            code: self.header.meta.code.clone(),
            calls: self.remembered.in_flight().len(),
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
