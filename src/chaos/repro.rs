//! A find as a file: what was run, and what came of it, so that anybody can run it again.
//!
//! It begins with one JSON object. What follows, for a crash over a journal, is that journal up to the crash, in the lines of an
//! export.

use std::{
    fs, io,
    io::{BufRead as _, BufReader, Cursor, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_journal::{ImportError, OpenError, Position, ReadOnlyJournal, disk::SimulatedDisk, import_on};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Ending, InFlight, Perturbed, Plan, Prefixes, PrefixesError, Setup, SweepError, Trial, Unsettled, Verdict,
    perturb::needed, perturb_again, run_once, start_again,
};
use crate::simulation::{ScenarioError, ScenarioFile};

/// The form of the file that is written and read here.
const FORMAT: u32 = 1;
/// The largest object at the beginning of a file, in bytes.
const OBJECT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A find.
#[derive(Clone, Debug, PartialEq)]
pub struct Repro {
    /// The release that found it.
    pub release: String,
    pub found: Found,
    pub what: What,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The chain value over the journal that it left; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
}

impl Found {
    /// Whether everything came to rest as declared.
    pub fn is_settled(&self) -> bool {
        self.verdict == Verdict::Settled
    }
}

/// What is run again.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Scenario(Box<ScenarioFile>),
    /// A start over a journal.
    Crash {
        crash: Crash,
        /// The journal up to there, as it is exported.
        export: Vec<u8>,
    },
    /// A journal gone through again from some entry on.
    Perturbed {
        perturbed: Perturbed,
        /// The journal for as long as things go wrong, as it is exported.
        export: Vec<u8>,
    },
}

/// A start over a journal, up to the crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Crash {
    /// The last entry that was written.
    pub position: u64,
    pub in_flight: InFlight,
    pub seed: u64,
    pub until_ms: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Head {
    bailiwick_repro: u32,
    release: String,
    found: Found,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scenario: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    crash: Option<Crash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    perturbed: Option<Perturbed>,
}

/// Why a find cannot be written, read or run.
#[derive(Debug, thiserror::Error)]
pub enum ReproError {
    #[error("cannot read {path:?}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path:?}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path:?} is not a repro file: {problem}")]
    Malformed { path: PathBuf, problem: String },
    #[error("{path:?} has format {format}, and this release reads format {FORMAT}")]
    Newer { path: PathBuf, format: u64 },
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("the journal in it cannot be taken in")]
    Import(#[from] ImportError),
    #[error("the journal in it does not open")]
    Open(#[from] OpenError),
    #[error(transparent)]
    Prefixes(#[from] PrefixesError),
    #[error("the node could not be started over it")]
    Sweep(#[from] SweepError),
}

impl Repro {
    /// A scenario, and what came of it.
    pub fn of_scenario(file: ScenarioFile, verdict: Verdict, journal: String) -> Self {
        Self::now(Found { verdict, journal: Some(journal) }, What::Scenario(Box::new(file)))
    }

    /// A start over a journal, and what came of it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn of_trial(journal: &ReadOnlyJournal, trial: &Trial, setup: Setup) -> Result<Self, ReproError> {
        let (position, in_flight) = (trial.position, trial.in_flight.clone());
        let crash = Crash { position, in_flight, seed: setup.seed, until_ms: setup.until_ms };
        let export = Prefixes::of(journal)?.export(Position(position))?.into_bytes();
        Ok(Self::now(Found { verdict: verdict(&trial.ending), journal: None }, What::Crash { crash, export }))
    }

    /// A journal gone through again, and what came of it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn of_unsettled(journal: &ReadOnlyJournal, one: &Unsettled, plan: &Plan) -> Result<Self, ReproError> {
        let (position, with) = (one.position, one.with);
        let perturbed = Perturbed { position, with, seed: plan.seed, over_ms: plan.over_ms };
        let export = Prefixes::of(journal)?.export(needed(journal, &perturbed)?)?.into_bytes();
        let found = Found { verdict: one.run.verdict.clone(), journal: Some(one.run.journal.clone()) };
        Ok(Self::now(found, What::Perturbed { perturbed, export }))
    }

    fn now(found: Found, what: What) -> Self {
        Self { release: env!("CARGO_PKG_VERSION").to_owned(), found, what }
    }

    /// Writes it; a file of that name is replaced.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ReproError> {
        let failed = |source| ReproError::Write { path: path.to_owned(), source };
        let (release, found) = (self.release.clone(), self.found.clone());
        let head = Head { bailiwick_repro: FORMAT, release, found, scenario: None, crash: None, perturbed: None };
        let (text, export) = match &self.what {
            What::Scenario(file) => {
                let head = Head { scenario: Some(file.value()), ..head };
                (serde_json::to_string_pretty(&head), &[][..])
            }
            What::Crash { crash, export } => {
                (serde_json::to_string(&Head { crash: Some(crash.clone()), ..head }), &export[..])
            }
            What::Perturbed { perturbed, export } => {
                (serde_json::to_string(&Head { perturbed: Some(perturbed.clone()), ..head }), &export[..])
            }
        };
        let text = text.map_err(|error| failed(error.into()))?;
        let mut file = fs::File::create(path).map_err(failed)?;
        let written = writeln!(file, "{text}").and_then(|()| file.write_all(export));
        written.and_then(|()| file.sync_all()).map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Self, ReproError> {
        let failed = |source| ReproError::Read { path: path.to_owned(), source };
        let malformed = |problem: String| ReproError::Malformed { path: path.to_owned(), problem };
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut objects =
            serde_json::Deserializer::from_reader(BufReader::new((&file).take(OBJECT_BYTES_MAX))).into_iter::<Value>();
        let value = objects.next().ok_or_else(|| malformed("it is empty".to_owned()))?;
        let value = value.map_err(|error| malformed(error.to_string()))?;
        let behind = objects.byte_offset() as u64;
        match value["bailiwickRepro"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => (),
            Some(format) => return Err(ReproError::Newer { path: path.to_owned(), format }),
            None => return Err(malformed("it has no `bailiwickRepro`".to_owned())),
        }
        let head: Head = serde_json::from_value(value).map_err(|error| malformed(error.to_string()))?;
        let mut export = || {
            file.seek(SeekFrom::Start(behind)).map_err(failed)?;
            let (mut rest, mut export) = (BufReader::new(&file), Vec::new());
            rest.skip_until(b'\n').and_then(|_| rest.read_to_end(&mut export)).map_err(failed)?;
            Ok::<_, ReproError>(export)
        };
        let what = match (head.scenario, head.crash, head.perturbed) {
            (Some(scenario), None, None) => What::Scenario(Box::new(ScenarioFile::parse(path, &scenario.to_string())?)),
            (None, Some(crash), None) => What::Crash { crash, export: export()? },
            (None, None, Some(perturbed)) => What::Perturbed { perturbed, export: export()? },
            _ => {
                let problem = "it has to have one of `scenario`, `crash` and `perturbed`";
                return Err(malformed(problem.to_owned()));
            }
        };
        Ok(Self { release: head.release, found: head.found, what })
    }

    /// Runs it again.
    ///
    /// # Errors
    /// If what it has cannot be run.
    pub fn run(&self, path: &Path) -> Result<Found, ReproError> {
        match &self.what {
            What::Scenario(file) => {
                let run = run_once(file, path)?;
                Ok(Found { verdict: run.verdict, journal: Some(run.journal) })
            }
            What::Crash { crash, export } => {
                let journal = opened(export)?;
                let setup = Setup { seed: crash.seed, until_ms: crash.until_ms, ..Setup::default() };
                let trial = start_again(&journal, (Position(crash.position), &crash.in_flight), setup)?;
                let trial = trial.ok_or_else(|| no_end(path, crash.position))?;
                Ok(Found { verdict: verdict(&trial.ending), journal: None })
            }
            What::Perturbed { perturbed, export } => {
                let run = perturb_again(&opened(export)?, perturbed)?;
                let run = run.ok_or_else(|| no_end(path, perturbed.position))?;
                Ok(Found { verdict: run.verdict, journal: Some(run.journal) })
            }
        }
    }
}

fn opened(export: &[u8]) -> Result<ReadOnlyJournal, ReproError> {
    let disk = Arc::new(SimulatedDisk::new());
    import_on(&mut Cursor::new(export), disk.clone())?;
    Ok(ReadOnlyJournal::open_on(disk)?)
}

fn no_end(path: &Path, position: u64) -> ReproError {
    let problem = format!("no block of its journal ends at entry {position}");
    ReproError::Malformed { path: path.to_owned(), problem }
}

/// How a start over a journal ended, as a run.
fn verdict(ending: &Ending) -> Verdict {
    match ending {
        Ending::Converged | Ending::GivenUp { .. } | Ending::AwaitsOperator { .. } => Verdict::Settled,
        Ending::Stuck { entities } => Verdict::Stuck { entities: entities.clone() },
        Ending::Violated { wrong } => Verdict::Violated { wrong: wrong.clone() },
    }
}
