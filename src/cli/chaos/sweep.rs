//! `bailiwick chaos crash-sweep`: a crash at every boundary of a journal.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use bailiwick_journal::{Position, ReadOnlyJournal};
use clap::Args;

use super::{
    super::{
        Global,
        exit::{CliError, Exit},
        junit::{Case, junit},
        output::{Cell, Table},
        progress::Steps,
        session, wait,
    },
    journal_at, saved,
};
use crate::{
    api::wire::{job::Question, sweep::SweepWish},
    chaos::{Ending, InFlight, Repro, Setup, Sweep, SweepError, Trial, sweep},
    client::ClientError,
    config::journal_dir,
    words::count,
};

#[derive(Debug, Args)]
pub(in crate::cli) struct CrashSweepArgs {
    /// The journal of a stopped node: its folder, a data directory, or an export; it is only read [default: that of --data-dir,
    /// whose node may run]
    #[arg(value_name = "JOURNAL")]
    pub(super) journal: Option<PathBuf>,
    /// Start at this entry
    #[arg(long, value_name = "POSITION", default_value_t = 1)]
    from: u64,
    /// Stop at this entry
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// Only every n-th boundary
    #[arg(long, value_name = "N", default_value = "1")]
    every: NonZeroUsize,
    /// Leave out the starts in which one of several calls under way has happened alone
    #[arg(long)]
    all_or_none: bool,
    /// Write each start that does not converge to a file in this folder, at most ten, to be run again with `bailiwick repro run`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Write the result to this file, in the form of JUnit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time limit to converge, in virtual time: `30m`, `2h`
    #[arg(long, value_name = "TIME", default_value = "2h", value_parser = wait::duration)]
    until: std::time::Duration,
}

pub(super) fn main(global: &Global, args: CrashSweepArgs) -> Result<Exit, CliError> {
    let is_named = args.journal.is_some() || session::export_named(global).is_some();
    // Finds are made here, where their journal is at hand.
    let swept = match is_named || args.save.is_some() {
        true => swept_here(global, &args)?,
        false => match session::ask_job(global, Question::CrashSweep.as_str(), &wish(&args))? {
            Err(ClientError::NotRunning { .. }) => swept_here(global, &args)?,
            answer => session::read(answer?)?,
        },
    };
    if let Some(file) = &args.junit {
        let cases = swept.trials.iter().map(|trial| Case { name: place(trial), trouble: trouble(&trial.ending) });
        junit(file, "crash-sweep", cases)?;
    }
    global.output.show(&swept, || table(&swept))?;
    Ok(if swept.is_good() { Exit::Ok } else { Exit::GateFailed })
}

/// What a running node is asked to do with its own journal.
fn wish(args: &CrashSweepArgs) -> SweepWish {
    SweepWish {
        from: Some(args.from),
        to: args.to,
        every: Some(args.every),
        seed: Some(args.seed),
        each_call: Some(!args.all_or_none),
        until_ms: u64::try_from(args.until.as_millis()).ok(),
    }
}

fn swept_here(global: &Global, args: &CrashSweepArgs) -> Result<Sweep, CliError> {
    let journal = journal_at(global, args.journal.clone())?;
    let setup = Setup {
        seed: args.seed,
        from: Position(args.from),
        to: args.to.map(Position),
        every: args.every,
        each_call: !args.all_or_none,
        until_ms: u64::try_from(args.until.as_millis()).unwrap_or(u64::MAX),
        ..Setup::default()
    };
    let steps = Steps::of("crash-sweep");
    let tell = |done: u64, all: u64| {
        steps.show(done, all);
        true
    };
    let swept = sweep(&journal, setup, &tell)?;
    steps.end();
    if let Some(folder) = &args.save {
        save(folder, &journal, &swept, setup)?;
    }
    Ok(swept)
}

fn save(folder: &Path, journal: &ReadOnlyJournal, swept: &Sweep, setup: Setup) -> Result<(), CliError> {
    let failed = swept.trials.iter().filter(|trial| trouble(&trial.ending).is_some());
    let finds = failed.enumerate().map(|(number, trial)| {
        let name = format!("entry-{}-{number}", trial.position);
        Ok((name, Repro::of_trial(journal, trial, setup)?))
    });
    saved(folder, finds)
}

/// What is wrong with how a start ended; none if nothing is.
fn trouble(ending: &Ending) -> Option<(&'static str, &[String])> {
    match ending {
        Ending::Converged | Ending::GivenUp { .. } | Ending::AwaitsOperator { .. } => None,
        Ending::Stuck { entities } => Some(("stuck", entities)),
        Ending::Violated { wrong } => Some(("violated", wrong)),
    }
}

/// What was named, or what the data directory has.
pub(super) fn opened(global: &Global, named: Option<PathBuf>) -> Result<ReadOnlyJournal, CliError> {
    let export = named.clone().or_else(|| session::export_named(global)).filter(|path| path.is_file());
    if let Some(file) = export {
        return session::open_export(&file);
    }
    let dir = named.map_or_else(|| session::data_dir(global), Ok)?;
    let below = journal_dir(&dir);
    let found = if below.is_dir() { below } else { dir.clone() };
    if found.is_dir() { session::open_stopped(&found) } else { Err(session::no_journal(&dir)) }
}

/// The sums, and every start that did not converge.
fn table(sweep: &Sweep) -> Table {
    let mut table = Table::fields();
    let verdict = match (sweep.is_good(), sweep.given_up, sweep.awaits_operator) {
        (true, 0, 0) => Cell::good("converges from every start"),
        (true, _, 0) => Cell::busy("converges, except for what was given up"),
        (true, 0, _) => Cell::busy("converges, except for what waits for an operator"),
        (true, _, _) => Cell::busy("converges, except for what was given up or waits for an operator"),
        (false, ..) => Cell::bad("does not converge"),
    };
    table.add([Cell::from("the node"), verdict]);
    for (name, number) in [
        ("boundaries", sweep.boundaries),
        ("starts", sweep.trials.len()),
        ("converged", sweep.converged),
        ("given up", sweep.given_up),
        ("waiting", sweep.awaits_operator),
        ("stuck", sweep.stuck),
        ("violated", sweep.violated),
    ] {
        table.add([Cell::from(name), number.to_string().into()]);
    }
    let timed = sweep.trials.iter().filter_map(|trial| Some((trial.converged_ms?, trial.position)));
    if let Some((converged_ms, position)) = timed.max_by_key(|(converged_ms, _)| *converged_ms) {
        let text = format!("{} s after a start at entry {position}", converged_ms.div_ceil(1_000));
        table.add([Cell::from("slowest"), text.into()]);
    }
    for trial in &sweep.trials {
        let (name, lines) = match &trial.ending {
            Ending::Converged => continue,
            Ending::GivenUp { entities } => (Cell::from("given up"), entities),
            Ending::AwaitsOperator { entities } => (Cell::from("waiting"), entities),
            Ending::Stuck { entities } => (Cell::bad("stuck"), entities),
            Ending::Violated { wrong } => (Cell::bad("violated"), wrong),
        };
        table.add([name, place(trial).into()]);
        for line in lines {
            table.add([Cell::from(""), Cell::from(format!("  {line}"))]);
        }
    }
    table
}

fn place(trial: &Trial) -> String {
    let Trial { position, stream, code, calls, in_flight, .. } = trial;
    let happened = match (calls, in_flight) {
        (0, _) => "nothing was under way".to_owned(),
        (calls, InFlight::DidNotHappen) => format!("{} under way, which did not happen", count(*calls, "call")),
        (calls, InFlight::Happened) => format!("{} under way, which happened", count(*calls, "call")),
        (calls, InFlight::Only(objects)) => {
            format!("{} under way, of which only that for {} happened", count(*calls, "call"), objects.join(", "))
        }
    };
    format!("after entry {position} ({stream}: {code}), {happened}")
}

impl From<SweepError> for CliError {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Read(error) => error.into(),
            error => CliError::new(Exit::Error, "chaos", "cannot sweep the journal")
                .because(&error)
                .next("run `bailiwick journal check` and `bailiwick audit replay` on it first"),
        }
    }
}
