//! `bailiwick audit`: decides history again.

mod backtest;
mod gate;
mod upgrade;

use std::path::{Path, PathBuf};

use bailiwick_actors::ports::Clock;
use bailiwick_journal::{Position, ReadOnlyJournal};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Table},
    session,
};
use crate::{
    api::query::Query,
    audit::{Divergence, Options, ReplayReport},
    clock::SystemClock,
    config::journal_dir,
};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Repeat every decision from what is recorded; exits with 2 if a result differs
    Replay(ReplayArgs),
    /// Repeat every decision under another policy, and show what would have been different; exits with 2 if anything would
    Backtest(backtest::BacktestArgs),
}

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// An export, or the journal of a stopped node: its folder, or a data directory [default: that of --data-dir, whose node
    /// may run]
    #[arg(value_name = "JOURNAL")]
    journal: Option<PathBuf>,
    /// Report every divergence, not only the first
    #[arg(long)]
    all: bool,
    /// Stop at this entry
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// Have another release decide the same journal again, and show every entry that differs: a rehearsal of an upgrade
    #[arg(long, value_name = "PROGRAM", conflicts_with = "all")]
    with: Option<PathBuf>,
}

impl AuditCommand {
    /// Whether a journal on this machine is named.
    pub(super) fn names_journal(&self) -> bool {
        match self {
            Self::Replay(args) => args.journal.is_some(),
            Self::Backtest(args) => args.journal.is_some(),
        }
    }
}

pub(super) fn main(global: &Global, command: AuditCommand) -> Result<Exit, CliError> {
    let args = match command {
        AuditCommand::Replay(args) => args,
        AuditCommand::Backtest(args) => return backtest::main(global, &args),
    };
    let options = Options { all: args.all, to: args.to.map(Position) };
    let is_same = match &args.with {
        Some(program) => upgrade::rehearse(global, &args, program, options)?,
        None => {
            let report: ReplayReport = ask(global, args.journal.as_ref(), &Query::Replay { options })?;
            global.output.show(&report, || replayed(&report))?;
            report.is_same()
        }
    };
    Ok(if is_same { Exit::Ok } else { Exit::Differences })
}

/// Asks a journal that is named, or whoever has the one in the data directory: a running node answers beside its work.
fn ask<T: DeserializeOwned>(global: &Global, journal: Option<&PathBuf>, query: &Query) -> Result<T, CliError> {
    let answer = match journal {
        None => session::ask(global, query)?,
        Some(dir) => query.answer_from(&named(dir)?, SystemClock::new().now())?,
    };
    session::read(answer)
}

/// The journal of an export or of a stopped node.
fn named(dir: &Path) -> Result<ReadOnlyJournal, CliError> {
    let below = journal_dir(dir);
    match dir {
        file if file.is_file() => session::open_export(file).map_err(|error| or_policy(error, file)),
        _ if below.is_dir() => session::open_stopped(&below),
        dir if dir.exists() => session::open_stopped(dir),
        dir => {
            let message = format!("there is no journal or export at {}", dir.display());
            let next = "name a complete export, or the data directory of a stopped node";
            Err(CliError::new(Exit::NotFound, "no-journal", message).next(next))
        }
    }
}

/// Who names a policy where an export is expected wants a backtest of it.
fn or_policy(error: CliError, file: &Path) -> CliError {
    if backtest::policy(file).is_err() {
        return error;
    }
    error.next(format!("it is a policy: try it with `bailiwick audit backtest --policy {}`", file.display()))
}

fn counts(table: &mut Table, rows: &[(&'static str, u64)]) {
    for (name, number) in rows {
        table.add([Cell::from(*name), number.to_string().into()]);
    }
}

fn divergences(table: &mut Table, what: &'static str, found: &[Divergence]) {
    for divergence in found {
        for (index, line) in divergence.to_string().lines().enumerate() {
            let name = if index == 0 { Cell::bad(what) } else { Cell::from("") };
            table.add([name, line.into()]);
        }
    }
}

fn replayed(report: &ReplayReport) -> Table {
    let mut table = Table::fields();
    let verdict = match (report.is_same(), report.unknown.is_empty()) {
        (true, true) => Cell::good("the same throughout"),
        (true, false) => Cell::busy("the same, but for the entries of unknown kinds"),
        (false, _) => Cell::bad("diverges"),
    };
    table.add([Cell::from("decided again"), verdict]);
    let counted = [
        ("entries", report.entries),
        ("decisions", report.decisions),
        ("notes", report.notes),
        ("skipped", report.skipped),
    ];
    counts(&mut table, &counted);
    if !report.unknown.is_empty() {
        let names: Vec<&str> = report.unknown.iter().map(String::as_str).collect();
        let text = format!("{}; run the program that registers them to decide these again", names.join(", "));
        table.add([Cell::from("unknown kinds"), Cell::busy(text)]);
    }
    divergences(&mut table, "divergence", &report.divergences);
    table
}
