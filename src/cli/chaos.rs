//! `bailiwick chaos`: what a journal or a scenario goes through when everything goes wrong.

mod live;
mod perturb;
mod run;
mod shrink;
mod sweep;

use std::{
    fs,
    io::Cursor,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use bailiwick_journal::{ReadOnlyJournal, disk::SimulatedDisk, import_on};
use clap::{Args, Subcommand};

use super::{
    Global, backup,
    exit::{CliError, Exit},
    progress::say,
    session,
};
use crate::chaos::{Repro, ReproError};

/// The ending of the name of a find's file.
const ENDING: &str = "bwrepro";
/// As many finds are written to a folder.
const SAVED_MAX: usize = 10;

#[derive(Debug, Subcommand)]
pub(super) enum ChaosCommand {
    /// Crash at every boundary of a journal, restart in virtual time, and check that the node converges; exits with 3 if it
    /// does not
    CrashSweep(sweep::CrashSweepArgs),
    /// Run a scenario on many bad days, each drawn from a seed: things go wrong for a while, then everything has to settle; exits
    /// with 3 if it does not
    Run(run::RunArgs),
    /// Go through a journal again from several places while something goes wrong, then check that everything settles; exits with
    /// 3 if it does not
    Perturb(perturb::PerturbArgs),
    /// Leave out of a find what it does not need
    Shrink(shrink::ShrinkArgs),
    /// Start a real node in a folder of its own, kill it, stop it and its agents for a while, and check that all becomes ready
    /// and nothing is left over; exits with 3 if not
    Live(live::LiveArgs),
    /// What undoes it if `live` is gone
    #[command(hide = true)]
    Guard(live::GuardArgs),
}

/// How many runs are made and what is kept of them.
#[derive(Debug, Args)]
struct ManyArgs {
    /// Write each run that does not settle to a file in this folder, at most ten, to be run again with `bailiwick repro run`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Write the result to this file, in the form of JUnit
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// How many runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
}

impl ManyArgs {
    fn workers(&self) -> NonZeroUsize {
        self.workers.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

impl ChaosCommand {
    /// Whether files on this machine are named.
    pub(super) fn names_files(&self) -> bool {
        match self {
            Self::CrashSweep(args) => args.journal.is_some(),
            Self::Perturb(args) => args.journal.is_some(),
            Self::Run(_) | Self::Shrink(_) | Self::Live(_) | Self::Guard(_) => true,
        }
    }
}

pub(super) fn main(global: &Global, command: ChaosCommand) -> Result<Exit, CliError> {
    match command {
        ChaosCommand::CrashSweep(args) => sweep::main(global, args),
        ChaosCommand::Perturb(args) => perturb::main(global, args),
        ChaosCommand::Run(args) => run::main(global, args),
        ChaosCommand::Shrink(args) => shrink::main(global, args),
        ChaosCommand::Live(args) => live::main(global, &args),
        ChaosCommand::Guard(args) => live::guard_main(&args),
    }
}

/// The journal that was named, or the one of the data directory as it is now, whose node may go on working.
fn journal_at(global: &Global, named: Option<PathBuf>) -> Result<ReadOnlyJournal, CliError> {
    if named.is_some() || session::export_named(global).is_some() {
        return sweep::opened(global, named);
    }
    let mut lines = Vec::new();
    backup::export(global, &mut lines)?;
    let disk = Arc::new(SimulatedDisk::new());
    import_on(&mut Cursor::new(lines), disk.clone()).map_err(|error| {
        CliError::new(Exit::TryAgain, "export-ended-early", "the node's export cannot be read").because(&error)
    })?;
    Ok(ReadOnlyJournal::open_on(disk)?)
}

/// Writes finds to a folder, and tells what to do with them.
fn saved(folder: &Path, finds: impl Iterator<Item = Result<(String, Repro), ReproError>>) -> Result<(), CliError> {
    let mut finds = finds.peekable();
    if finds.peek().is_none() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| {
        CliError::new(Exit::Disk, "unwritable", format!("cannot create {}", folder.display())).because(&error)
    })?;
    for find in finds.take(SAVED_MAX) {
        let (name, find) = find?;
        let path = folder.join(format!("{name}.{ENDING}"));
        find.write(&path)?;
        say(&format!("saved; run it again with `bailiwick repro run {}`", path.display()));
    }
    Ok(())
}

impl From<ReproError> for CliError {
    fn from(error: ReproError) -> Self {
        match &error {
            ReproError::Write { path, source } => {
                Self::new(Exit::Disk, "unwritable", format!("cannot write {}", path.display())).because(source)
            }
            ReproError::Read { path, source } => {
                Self::new(Exit::NoInput, "unreadable", format!("cannot read {}", path.display())).because(source)
            }
            _ => Self::new(Exit::BadInput, "bad-repro", "cannot run this find").because(&error).next(
                "use a file that `bailiwick chaos run --save`, `chaos crash-sweep --save` or `chaos shrink` has written",
            ),
        }
    }
}
