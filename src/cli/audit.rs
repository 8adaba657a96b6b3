//! `bailiwick audit`: decides history again.

mod upgrade;

use std::path::{Path, PathBuf};

use bailiwick_actors::{policy::Document, ports::Clock, vocab::Timestamp};
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
    audit::{Difference, Divergence, Flip, Options, Rehearsal, ReplayReport},
    clock::SystemClock,
    config::journal_dir,
    manifest::{self, ManifestError, Wish},
};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Repeat every decision from what is recorded; exits with 2 if a result differs
    Replay(ReplayArgs),
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
    /// Decide under the policy in this manifest, and show every decision that would differ
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Have another release decide the same journal again, and show every entry that differs: a rehearsal of an upgrade
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["policy", "all"])]
    with: Option<PathBuf>,
}

impl AuditCommand {
    /// Whether a journal on this machine is named.
    pub(super) fn names_journal(&self) -> bool {
        let Self::Replay(args) = self;
        args.journal.is_some()
    }
}

pub(super) fn main(global: &Global, command: AuditCommand) -> Result<Exit, CliError> {
    let AuditCommand::Replay(args) = command;
    let options = Options { all: args.all, to: args.to.map(Position) };
    let is_same = match (&args.with, &args.policy) {
        (Some(program), _) => upgrade::rehearse(global, &args, program, options)?,
        (None, Some(file)) => {
            let query = Query::Rehearse { document: Box::new(policy(file)?), options };
            let rehearsal: Rehearsal = ask(global, args.journal.as_ref(), &query)?;
            global.output.show(&rehearsal, || rehearsed(&rehearsal))?;
            rehearsal.is_same()
        }
        (None, None) => {
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

/// Who names a policy where an export is expected wants to rehearse it.
fn or_policy(error: CliError, file: &Path) -> CliError {
    if policy(file).is_err() {
        return error;
    }
    error.next(format!("it is a policy: rehearse it with `bailiwick audit replay --policy {}`", file.display()))
}

/// The one policy in a manifest.
fn policy(file: &Path) -> Result<Document, CliError> {
    let unusable = |error: ManifestError| {
        CliError { message: "the policy is invalid".into(), ..error.into() }.next("see examples/policy.yaml")
    };
    let sources = manifest::sources(&[file.to_owned()]).map_err(unusable)?;
    let manifest = manifest::parse_open(&sources).map_err(unusable)?;
    let policies: Vec<Document> = manifest
        .documents
        .into_iter()
        .filter_map(|document| match document.wish {
            Wish::Policy { document, .. } => Some(*document),
            _ => None,
        })
        .collect();
    match <[Document; 1]>::try_from(policies) {
        Ok([document]) => Ok(document),
        Err(found) => {
            let message = format!("{} has {} policies; exactly one is needed", file.display(), found.len());
            Err(CliError::new(Exit::Usage, "usage", message).next("see examples/policy.yaml"))
        }
    }
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

fn rehearsed(rehearsal: &Rehearsal) -> Table {
    let mut table = Table::fields();
    let Rehearsal { verdict_flips, event_flips, due_time_flips, .. } = rehearsal;
    let verdict = match (verdict_flips + event_flips, due_time_flips) {
        (0, 0) => Cell::good("every decision would have been the same"),
        (0, _) => Cell::good("every decision would have been the same, some at other times"),
        (1, _) => Cell::bad("1 decision would have been different"),
        (flips, _) => Cell::bad(format!("{flips} decisions would have been different")),
    };
    table.add([Cell::from("under that policy"), verdict]);
    let counted = [
        ("entries", rehearsal.entries),
        ("decisions", rehearsal.decisions),
        ("other answers", *verdict_flips),
        ("other events", *event_flips),
        ("other due times", *due_time_flips),
    ];
    counts(&mut table, &counted);
    for group in &rehearsal.groups {
        let change = match group.flip {
            Flip::Verdict => format!("{} instead of {}", group.redecided, group.recorded),
            Flip::Events => format!("{} with other events", group.recorded),
            Flip::DueTime => format!("{}, due at another time", group.recorded),
        };
        table.add([Cell::from(format!("{} of {}", group.count, group.kind)), change.into()]);
        let is_of = |flip: &&Divergence| {
            let code = |value: &serde_json::Value| value["code"].as_str().unwrap_or_default().to_owned();
            Flip::of(flip) == group.flip
                && flip.stream.kind() == group.kind
                && code(&flip.recorded) == group.recorded
                && code(&flip.redecided) == group.redecided
        };
        for flip in rehearsal.flips.iter().filter(is_of) {
            table.add([Cell::from("  at"), format!("{} {} {}", flip.position, flip.time, flip.stream).into()]);
            for difference in &flip.differences {
                table.add([Cell::from(""), format!("    {}", told(difference, group.flip)).into()]);
            }
        }
    }
    divergences(&mut table, "unsound", &rehearsal.unsound);
    table
}

/// What would have been different: a due time as a moment, anything else as it is stored.
fn told(difference: &Difference, flip: Flip) -> String {
    let moment = |value: &serde_json::Value| value.as_u64().map(|ms| Timestamp(ms).to_string());
    match (flip, moment(&difference.redecided), moment(&difference.recorded)) {
        (Flip::DueTime, Some(redecided), Some(recorded)) => format!("due at {redecided} instead of {recorded}"),
        _ => difference.to_string(),
    }
}
