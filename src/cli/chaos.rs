//! `bailiwick chaos`: what a journal or a scenario goes through when everything goes wrong.

mod junit;
mod run;
mod shrink;
mod sweep;

use std::{fs, path::Path};

use clap::Subcommand;

use super::{
    Global,
    exit::{CliError, Exit},
    progress::say,
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
    /// Leave out of a find what it does not need
    Shrink(shrink::ShrinkArgs),
}

impl ChaosCommand {
    /// Whether files on this machine are named.
    pub(super) fn names_files(&self) -> bool {
        match self {
            Self::CrashSweep(args) => args.journal.is_some(),
            Self::Run(_) | Self::Shrink(_) => true,
        }
    }
}

pub(super) fn main(global: &Global, command: ChaosCommand) -> Result<Exit, CliError> {
    match command {
        ChaosCommand::CrashSweep(args) => sweep::main(global, args),
        ChaosCommand::Run(args) => run::main(global, args),
        ChaosCommand::Shrink(args) => shrink::main(global, args),
    }
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
