//! A journal's own history, gone through again from some entry on while something goes wrong.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt, num::NonZeroUsize, str::FromStr, thread};

use bailiwick_actors::{shell::AnyCommand, vocab::Name};
use bailiwick_journal::{Entry, Filter, Journal, Outcome, Position, ReadOnlyJournal, StreamId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    InFlight, Prefixes, Run, Sums, SweepError, Verdict,
    boundary::{Boundary, boundaries},
    parallel::{Follow, in_parallel},
    run::{CALM_MS, MINUTE_MS, REST_MS, RETRIES, run_to_end},
};
use crate::{
    providers::simulated::{Dice, Faults},
    simulation::{CrashAt, CrashKind, DiskSpace, Ends, Happening, Planned, Simulation},
};

/// Crashes come at one of the first points: a few dozen calls and appends.
const POINTS: u64 = 200;

/// Something that goes wrong all the time, until all is calm. Stale, unobserved and intermediate states are those of Sieve (Sun
/// et al., OSDI 2022).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Perturbation {
    /// Lists are older than they could be.
    Stale,
    /// Lists fail while an instance vanishes and another one dies: nobody sees it happen.
    Unobserved,
    /// The node is killed between the steps of what it does.
    Intermediate,
    /// Answers are lost after the call has happened, so it is made once more.
    Duplicate,
    /// Answers come in any order, minutes late.
    Reorder,
    /// Every call takes minutes, and some never end.
    Slow,
    /// Bulk calls break off, give too few answers, and lists leave things out.
    PartialBulk,
    /// The wall clock jumps forwards and back, and the host sleeps.
    Clock,
    /// The disk is full now and then.
    DiskFull,
    /// Writing to the disk fails, until the node is started again.
    IoError,
    /// The host loses power between the steps of what the node does.
    PowerCut,
    /// Lookups say that nobody knows, answers are miscounted, and calls that failed have happened.
    ProviderLies,
}

impl Perturbation {
    /// Each of them.
    pub const ALL: [Self; 12] = [
        Self::Stale,
        Self::Unobserved,
        Self::Intermediate,
        Self::Duplicate,
        Self::Reorder,
        Self::Slow,
        Self::PartialBulk,
        Self::Clock,
        Self::DiskFull,
        Self::IoError,
        Self::PowerCut,
        Self::ProviderLies,
    ];

    /// As it is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Unobserved => "unobserved",
            Self::Intermediate => "intermediate",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Slow => "slow",
            Self::PartialBulk => "partial-bulk",
            Self::Clock => "clock",
            Self::DiskFull => "disk-full",
            Self::IoError => "io-error",
            Self::PowerCut => "power-cut",
            Self::ProviderLies => "provider-lies",
        }
    }

    /// What its providers do wrong meanwhile.
    fn faults(self) -> Option<Faults> {
        let usual = Faults::default();
        let faults = match self {
            Self::Stale => Faults { stale_list_per_mille: 500, ..usual },
            Self::Unobserved => Faults { fail_list_per_mille: 1_000, ..usual },
            Self::Duplicate => Faults { lost_answer_per_mille: 500, ..usual },
            Self::Reorder => Faults { latency_ms: (1, 4 * MINUTE_MS), ..usual },
            Self::Slow => Faults { latency_ms: (MINUTE_MS, 3 * MINUTE_MS), hang_per_mille: 50, ..usual },
            Self::PartialBulk => {
                Faults { break_off_per_mille: 300, miscount_per_mille: 100, partial_list_per_mille: 300, ..usual }
            }
            Self::ProviderLies => Faults {
                unknown_lookup_per_mille: 300,
                miscount_per_mille: 200,
                lost_answer_per_mille: 200,
                partial_list_per_mille: 200,
                ..usual
            },
            Self::Intermediate | Self::Clock | Self::DiskFull | Self::IoError | Self::PowerCut => return None,
        };
        Some(faults)
    }

    /// Lays it over a run, from its start until all is calm.
    fn lay(self, on: &mut Simulation, over_ms: u64, running: &[Name]) {
        let mut dice = Dice::named(on.seed, self.as_str());
        if let Some(faults) = self.faults() {
            let misbehave = |provider: &Name| (0, misbehaving(provider, &faults));
            let all: Vec<_> = on.providers.iter().map(misbehave).collect();
            plan(on, all);
        }
        let some_time = |dice: &mut Dice| dice.below(over_ms.max(1));
        match self {
            Self::Unobserved => {
                let ends: [fn(Name) -> Happening; 2] = [Happening::Vanish, Happening::Kill];
                let first = usize::try_from(dice.below((running.len() as u64).max(1))).unwrap_or(0);
                let chosen = running.iter().cycle().skip(first).take(running.len());
                let all: Vec<_> =
                    chosen.zip(ends).map(|(machine, end)| (some_time(&mut dice), end(machine.clone()))).collect();
                plan(on, all);
            }
            Self::Intermediate => crashes(on, &mut dice, CrashKind::Kill),
            Self::PowerCut => crashes(on, &mut dice, CrashKind::PowerCut),
            Self::Clock => {
                let forward = i64::try_from(dice.below(48 * 60 * MINUTE_MS)).unwrap_or(0);
                let for_ms = dice.below(20 * MINUTE_MS);
                let jumps = [Happening::Jump { by_ms: forward }, Happening::Jump { by_ms: -forward / 2 }];
                let all = jumps.into_iter().chain([Happening::Suspend { for_ms }]);
                let all: Vec<_> = all.map(|what| (some_time(&mut dice), what)).collect();
                plan(on, all);
            }
            Self::DiskFull => {
                for _ in 0..3 {
                    let (from, for_ms) = (some_time(&mut dice), 1_000 + dice.below(5 * MINUTE_MS));
                    // Nothing that goes wrong outlasts the time for it.
                    let to = (from + for_ms).min(over_ms);
                    plan(on, [(from, disk(DiskSpace::Full)), (to, disk(DiskSpace::Free))]);
                }
            }
            Self::IoError => {
                let from = some_time(&mut dice);
                let to = (from + MINUTE_MS).min(over_ms);
                let again = [(to, disk(DiskSpace::Free)), (to, power_cut())];
                plan(on, [(from, disk(DiskSpace::Failing))].into_iter().chain(again));
            }
            Self::Stale | Self::Duplicate | Self::Reorder | Self::Slow | Self::PartialBulk | Self::ProviderLies => (),
        }
    }
}

impl fmt::Display for Perturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Says that a word is no perturbation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use one or more of {}", Perturbation::ALL.map(Perturbation::as_str).join(","))]
pub struct UnknownPerturbation;

impl FromStr for Perturbation {
    type Err = UnknownPerturbation;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == word).ok_or(UnknownPerturbation)
    }
}

fn misbehaving(provider: &Name, faults: &Faults) -> Happening {
    Happening::Misbehave { provider: provider.clone(), faults: Box::new(faults.clone()) }
}

fn disk(space: DiskSpace) -> Happening {
    Happening::Disk(space)
}

fn power_cut() -> Happening {
    Happening::Crash(CrashKind::PowerCut)
}

fn plan(on: &mut Simulation, all: impl IntoIterator<Item = (u64, Happening)>) {
    on.script.extend(all.into_iter().map(|(at_ms, what)| Planned { at_ms, what }));
}

fn crashes(on: &mut Simulation, dice: &mut Dice, kind: CrashKind) {
    let points: BTreeSet<u64> = (0..5).map(|_| 1 + dice.below(POINTS)).collect();
    on.crashes = points.into_iter().map(|point| CrashAt { point, kind }).collect();
}

/// What is gone through again, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub with: Vec<Perturbation>,
    /// Only from entries whose stream or code has this in it.
    pub at: Option<String>,
    /// From so many places of the journal, spread over it.
    pub places: NonZeroUsize,
    /// For how long things go wrong, in milliseconds of virtual time. What people asked of the node within that time they ask for
    /// again.
    pub over_ms: u64,
    pub seed: u64,
    /// How many nodes are simulated at a time. What comes out does not depend on it.
    pub workers: NonZeroUsize,
}

impl Plan {
    /// Ten places, half an hour each.
    pub fn new(with: Vec<Perturbation>) -> Self {
        let places = NonZeroUsize::new(10).unwrap_or(NonZeroUsize::MIN);
        let workers = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { with, at: None, places, over_ms: 30 * MINUTE_MS, seed: 1, workers }
    }
}

/// One run of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Perturbed {
    /// The last entry that was kept.
    pub position: u64,
    pub with: Perturbation,
    pub seed: u64,
    pub over_ms: u64,
}

/// A run that did not settle.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unsettled {
    pub position: u64,
    pub stream: String,
    pub code: String,
    pub with: Perturbation,
    #[serde(flatten)]
    pub run: Run,
}

/// What came of all of them.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PerturbedRuns {
    /// The entries after which nodes were started.
    pub places: Vec<u64>,
    /// How often somebody asked for the same as then.
    pub asked: usize,
    #[serde(flatten)]
    pub sums: Sums,
    pub failed: Vec<Unsettled>,
}

/// Goes through a journal again from each place with each perturbation. `follow` is called before the first run and after each
/// with how many are done, of how many, and answers whether to go on.
///
/// # Errors
/// If the journal cannot be read or a node could not be started over it, or whoever follows it ends it.
pub fn perturb(journal: &ReadOnlyJournal, wanted: &Plan, follow: Follow<'_>) -> Result<PerturbedRuns, SweepError> {
    let prefixes = Prefixes::of(journal)?;
    let ends = places(journal, &prefixes, wanted)?;
    let (boundaries, around) = boundaries(journal, &ends, wanted.over_ms + CALM_MS)?;
    let mut given = Vec::with_capacity(boundaries.len());
    for boundary in &boundaries {
        given.push(asked_then(journal, boundary, wanted.over_ms)?);
    }
    let each = |at: usize| -> Result<(usize, Perturbation, Run), SweepError> {
        let (at, with) = (at / wanted.with.len(), wanted.with[at % wanted.with.len()]);
        let (seed, over_ms) = (wanted.seed, wanted.over_ms);
        let simulation =
            boundaries[at].simulation(&prefixes, &InFlight::Happened, (seed, over_ms + CALM_MS), &around)?;
        Ok((at, with, perturbed(simulation, (with, over_ms), &given[at], &boundaries[at].running())))
    };
    let count = boundaries.len() * wanted.with.len();
    let mut runs = PerturbedRuns {
        places: boundaries.iter().map(|boundary| boundary.header.position.0).collect(),
        asked: given.iter().map(Vec::len).sum(),
        ..PerturbedRuns::default()
    };
    for one in in_parallel(count, wanted.workers, follow, &each).ok_or(SweepError::Cancelled)? {
        let (at, with, run) = one?;
        runs.sums.add(&run);
        if run.verdict != Verdict::Settled {
            let header = &boundaries[at].header;
            let (stream, code) = (header.stream.to_string(), header.meta.code.clone());
            runs.failed.push(Unsettled { position: header.position.0, stream, code, with, run });
        }
    }
    Ok(runs)
}

/// One of these runs again; none if no prefix of the journal ends there.
///
/// # Errors
/// As [`perturb`].
pub fn perturb_again(journal: &ReadOnlyJournal, of: &Perturbed) -> Result<Option<Run>, SweepError> {
    let prefixes = Prefixes::of(journal)?;
    let position = Position(of.position);
    let ends = prefixes.ends().into_iter().filter(|end| *end == position).collect();
    let until_ms = of.over_ms.saturating_add(CALM_MS);
    let (boundaries, around) = boundaries(journal, &ends, until_ms)?;
    let Some(boundary) = boundaries.first() else { return Ok(None) };
    let given = asked_then(journal, boundary, of.over_ms)?;
    let simulation = boundary.simulation(&prefixes, &InFlight::Happened, (of.seed, until_ms), &around)?;
    Ok(Some(perturbed(simulation, (of.with, of.over_ms), &given, &boundary.running())))
}

/// The last entry that a run needs, for the commands that were given then: the end of a block.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn needed(journal: &ReadOnlyJournal, of: &Perturbed) -> Result<Position, SweepError> {
    let mut begun = None;
    let ends = Prefixes::of(journal)?.ends();
    let mut last = Position(of.position);
    for header in journal.read_headers(last, journal.head().position, &Filter::all()) {
        let header = header?;
        let time_ms = header.meta.time_ms;
        if time_ms.saturating_sub(*begun.get_or_insert(time_ms)) > of.over_ms {
            break;
        }
        last = header.position;
    }
    let end = ends.iter().find(|end| last <= **end).copied();
    Ok(end.unwrap_or(journal.head().position))
}

/// The ends of prefixes from which it goes on, spread evenly.
fn places(journal: &ReadOnlyJournal, prefixes: &Prefixes, wanted: &Plan) -> Result<BTreeSet<Position>, SweepError> {
    let mut ends: Vec<Position> = prefixes.ends();
    if let Some(text) = &wanted.at {
        let mut of = BTreeSet::new();
        for header in journal.read_headers(Position(1), journal.head().position, &Filter::all()) {
            let header = header?;
            if header.stream.as_str().contains(text) || header.meta.code.contains(text) {
                of.insert(header.position);
            }
        }
        ends.retain(|end| of.contains(end));
    }
    let (count, places) = (ends.len(), wanted.places.get().min(ends.len()));
    // The first and the last are among them.
    Ok((0..places).map(|number| ends[number * (count - 1) / (places - 1).max(1)]).collect())
}

/// What people asked of the node within this time after the place, and when.
type Given = Vec<(u64, String, Vec<(StreamId, AnyCommand)>)>;

fn asked_then(journal: &ReadOnlyJournal, boundary: &Boundary, over_ms: u64) -> Result<Given, SweepError> {
    let begun_ms = boundary.header.meta.time_ms;
    let mut given: Given = Vec::new();
    let mut last: Option<Uuid> = None;
    for entry in journal.read(boundary.header.position.next(), journal.head().position, &Filter::all()) {
        let entry = entry?;
        let meta = &entry.header.meta;
        let at_ms = meta.time_ms.saturating_sub(begun_ms);
        if over_ms < at_ms {
            break;
        }
        let Some(command) = of_person(&entry)? else { continue };
        let one = (entry.header.stream.clone(), command);
        match given.last_mut().filter(|_| last == Some(meta.command_id)) {
            Some((.., commands)) => commands.push(one),
            None => given.push((at_ms, meta.principal.clone(), vec![one])),
        }
        last = Some(meta.command_id);
    }
    Ok(given)
}

/// The command that a person gave, and that was taken.
fn of_person(entry: &Entry) -> Result<Option<AnyCommand>, SweepError> {
    let meta = &entry.header.meta;
    let is_person = ["uid:", "account:", "operator"].iter().any(|prefix| meta.principal.starts_with(prefix));
    if !is_person || meta.cause.is_some() || meta.outcome != Outcome::Done {
        return Ok(None);
    }
    Ok(AnyCommand::load(entry.header.stream.kind(), &entry.command)?)
}

/// The run: while it goes wrong people ask for what they asked for then, and afterwards it has to settle.
fn perturbed(mut simulation: Simulation, (with, over_ms): (Perturbation, u64), given: &Given, running: &[Name]) -> Run {
    with.lay(&mut simulation, over_ms, running);
    let asked = given.iter().cloned().map(|(at_ms, by, commands)| (at_ms, Happening::Asked { by, commands }));
    plan(&mut simulation, asked);
    let again = (1..=RETRIES).map(|round| (over_ms + round * 10 * MINUTE_MS, Happening::RetryFailed));
    plan(&mut simulation, [(over_ms, Happening::Calm), (over_ms, disk(DiskSpace::Free))].into_iter().chain(again));
    simulation.script.sort_by_key(|planned| planned.at_ms);
    simulation.ends = Ends::WhenQuiet { for_ms: REST_MS };
    run_to_end(simulation)
}
