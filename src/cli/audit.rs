//! `bailiwick audit`: decides history again.

use std::path::PathBuf;

use bailiwick_journal::{Position, ReadOnlyJournal};
use clap::{Args, Subcommand};

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, Table},
    session,
};
use crate::{
    api::query::Query,
    audit::{Options, ReplayError, ReplayReport, replay},
    config::journal_dir,
};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Decide every entry again from what is recorded; exits with 2 if anything comes out otherwise
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The journal of a stopped node: its folder, or a data directory [default: the data directory's, also while its node runs]
    #[arg(value_name = "JOURNAL")]
    journal: Option<PathBuf>,
    /// Report every divergence, not only the first
    #[arg(long)]
    all: bool,
    /// Only up to this entry
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
}

pub(super) fn main(global: &Global, command: AuditCommand) -> Result<Exit, CliError> {
    let AuditCommand::Replay(args) = command;
    let options = Options { all: args.all, to: args.to.map(Position) };
    let report = match &args.journal {
        Some(dir) => {
            let below = journal_dir(dir);
            let journal = ReadOnlyJournal::open(if below.is_dir() { &below } else { dir })?;
            replay(&journal, &options)?
        }
        // A running node does it beside its work, a stopped one's journal is read from here.
        None => serde_json::from_value(session::ask(global, &Query::Replay { options })?).map_err(|error| {
            CliError::new(Exit::Error, "broken-answer", "the node's answer cannot be read")
                .because(&error)
                .next("is the node of the same release as this program?")
        })?,
    };
    global.output.show(&report, || table(&report))?;
    Ok(if report.is_same() { Exit::Ok } else { Exit::Differences })
}

fn table(report: &ReplayReport) -> Table {
    let mut table = Table::of([Column::always("FIELD"), Column::always("VALUE")]);
    let verdict = if report.is_same() { Cell::good("the same throughout") } else { Cell::bad("diverges") };
    table.add([Cell::from("decided again"), verdict]);
    for (name, number) in [
        ("entries", report.entries),
        ("decisions", report.decisions),
        ("notes", report.notes),
        ("skipped", report.skipped),
    ] {
        table.add([Cell::from(name), number.to_string().into()]);
    }
    for divergence in &report.divergences {
        for (index, line) in divergence.to_string().lines().enumerate() {
            let name = if index == 0 { Cell::bad("divergence") } else { Cell::from("") };
            table.add([name, line.into()]);
        }
    }
    table
}

impl From<ReplayError> for CliError {
    fn from(error: ReplayError) -> Self {
        let ReplayError::Read(error) = error;
        error.into()
    }
}
