//! `bailiwick repro`: a find, run again.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
};
use crate::chaos::{Found, Repro};

#[derive(Debug, Subcommand)]
pub(super) enum ReproCommand {
    /// Run finds again; exits with 3 if one does not come out as it did where it was found
    Run(RunArgs),
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The files, as `bailiwick chaos` wrote them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Check that they settle by now, as they do once the fault is mended
    #[arg(long)]
    settled: bool,
}

/// One of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Again {
    file: PathBuf,
    release: String,
    found: Found,
    now: Found,
    same: bool,
}

pub(super) fn main(global: &Global, command: ReproCommand) -> Result<Exit, CliError> {
    let ReproCommand::Run(args) = command;
    let mut all = Vec::new();
    for file in args.files {
        let repro = Repro::read(&file)?;
        let now = repro.run(&file)?;
        let same = now.verdict == repro.found.verdict;
        all.push(Again { file, release: repro.release, found: repro.found, now, same });
    }
    let is_good = all.iter().all(|one| if args.settled { one.now.is_settled() } else { one.same });
    global.output.show(&all, || table(&all))?;
    Ok(if is_good { Exit::Ok } else { Exit::GateFailed })
}

fn table(all: &[Again]) -> Table<5> {
    let mut table = Table::of(["FILE", "FOUND BY", "FOUND", "NOW", "SAME"].map(Column::always));
    for one in all {
        let now = one.now.verdict.as_str();
        let now = if one.now.is_settled() { Cell::good(now) } else { Cell::bad(now) };
        let same = if one.same { "yes" } else { "no" };
        let file = one.file.display().to_string();
        table.add([file.into(), one.release.as_str().into(), one.found.verdict.as_str().into(), now, same.into()]);
        for line in one.now.verdict.lines() {
            table.add([Cell::from(""), "".into(), "".into(), format!("  {line}").into(), "".into()]);
        }
    }
    table
}
