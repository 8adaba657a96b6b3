//! `bailiwick journal`: looks after the journal of a stopped node.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use bailiwick_actors::vocab::Timestamp;
use bailiwick_journal::{
    Amount, CheckReport, ExportError, Exported, ImportError, JournalStat, LineProblem, Position, SalvageError, Salvaged,
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Column, OutputError, Table, time},
    progress::say,
    session,
};
use crate::config::journal_dir;

#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Walk the whole journal and look whether anything is lost or was changed; exits with 6 if so
    Check,
    /// Show how much there is of what
    Stat,
    /// Write the whole journal as lines of JSON
    Export(ExportArgs),
    /// Make a journal from exported lines
    Import(ImportArgs),
    /// Make a new journal of what is whole in one that does not open, and name what is missing
    Salvage(SalvageArgs),
}

#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    /// The data directory with the damaged journal, or the journal's own folder; it is only read
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// A new data directory for what is whole
    #[arg(long, value_name = "NEWDIR")]
    into: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file to write; - for the standard output
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file to read; - for the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn main(global: &Global, command: JournalCommand) -> Result<Exit, CliError> {
    let data_dir = session::data_dir(global)?;
    let dir = journal_dir(&data_dir);
    match command {
        JournalCommand::Import(args) => import(global, &data_dir, &dir, &args),
        JournalCommand::Salvage(args) => salvage(global, &args),
        JournalCommand::Check | JournalCommand::Stat | JournalCommand::Export(_) if !dir.exists() => {
            Err(session::no_node(&data_dir))
        }
        JournalCommand::Check => check(global, &dir),
        JournalCommand::Stat => stat(global, &dir),
        JournalCommand::Export(args) => export(&dir, &args),
    }
}

fn check(global: &Global, dir: &Path) -> Result<Exit, CliError> {
    let report = bailiwick_journal::check(dir)?;
    global.output.show(&check_json(&report), || check_table(&report))?;
    if report.is_whole() { Ok(Exit::Ok) } else { Ok(Exit::Integrity) }
}

fn check_json(report: &CheckReport) -> Value {
    json!({
        "journal": report.journal,
        "whole": report.is_whole(),
        "cleanStop": report.clean,
        "position": report.head.position,
        "block": report.head.block,
        "hash": hex(&report.head.hash),
        "epoch": report.epoch,
        "streams": report.streams,
        "segments": report.segments,
        "bytes": report.bytes,
        "mendable": report.mendable.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "problems": report.integrity.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "repair": report.repair.as_ref().map(|repair| json!({
            "blocksFromStore": repair.blocks_from_store,
            "position": repair.head.position,
            "next": repair.to_string(),
        })),
        "store": report.store.to_string(),
        "missingPositions": report.integrity.missing_positions.as_ref().map(range),
        "missing": report.integrity.missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn check_table(report: &CheckReport) -> Table {
    let mut table = fields();
    let whole = match &report.repair {
        Some(repair) => Cell::busy(repair.to_string()),
        None if report.is_whole() => Cell::good("whole"),
        None => Cell::bad("lost or changed history"),
    };
    table.add([Cell::from("history"), whole]);
    let clean = if report.clean { "in order" } else { "not in order; the next start catches up" };
    table.add([Cell::from("last stop"), clean.into()]);
    table.add([Cell::from("journal"), report.journal.to_string().into()]);
    table.add([Cell::from("entries"), report.head.position.to_string().into()]);
    table.add([Cell::from("streams"), report.streams.to_string().into()]);
    table.add([Cell::from("blocks"), report.head.block.to_string().into()]);
    table.add([Cell::from("hash"), hex(&report.head.hash).into()]);
    table.add([Cell::from("writers so far"), report.epoch.to_string().into()]);
    let size = format!("{} bytes in {} segments", report.bytes, report.segments);
    table.add([Cell::from("log"), size.into()]);
    table.add([Cell::from("sled"), report.store.to_string().into()]);
    for problem in &report.mendable {
        table.add([Cell::busy("repaired at the next start"), problem.to_string().into()]);
    }
    for problem in &report.integrity.problems {
        table.add([Cell::bad("problem"), problem.to_string().into()]);
    }
    if let Some((first, last)) = report.integrity.missing_positions {
        table.add([Cell::bad("missing"), format!("entries {first} to {last} at least").into()]);
    }
    for events in &report.integrity.missing {
        table.add([Cell::bad("missing"), events.to_string().into()]);
    }
    table
}

fn fields() -> Table {
    Table::of([Column::always("FIELD"), Column::always("VALUE")])
}

fn stat(global: &Global, dir: &Path) -> Result<Exit, CliError> {
    let stat = bailiwick_journal::stat(dir)?;
    let json = stat_json(&stat);
    global.output.show(&json, || stat_table(&stat))?;
    Ok(Exit::Ok)
}

fn stat_json(stat: &JournalStat) -> Value {
    let amount = |amount: &Amount| json!({"entries": amount.entries, "events": amount.events, "bytes": amount.bytes});
    let kinds: serde_json::Map<String, Value> =
        stat.by_kind.iter().map(|(kind, some)| (kind.clone(), amount(some))).collect();
    let streams: serde_json::Map<String, Value> =
        stat.by_stream.iter().map(|(stream, some)| (stream.to_string(), amount(some))).collect();
    json!({
        "journal": stat.journal,
        "position": stat.head.position,
        "first": time::rfc3339(Timestamp(stat.first_time_ms)),
        "last": time::rfc3339(Timestamp(stat.head.time_ms)),
        "segments": stat.segments,
        "fileBytes": stat.file_bytes,
        "total": amount(&stat.total),
        "kinds": kinds,
        "streams": streams,
    })
}

fn stat_table(stat: &JournalStat) -> Table<5> {
    let mut table = Table::of([
        Column::always("KIND"),
        Column::always("STREAMS"),
        Column::always("ENTRIES"),
        Column::always("EVENTS"),
        Column::always("BYTES"),
    ]);
    let mut add = |name: &str, streams: usize, some: &Amount| {
        let numbers = [some.entries, some.events, some.bytes].map(|number| Cell::from(number.to_string()));
        let [entries, events, bytes] = numbers;
        table.add([Cell::from(name), streams.to_string().into(), entries, events, bytes]);
    };
    for (kind, some) in &stat.by_kind {
        let streams = stat.by_stream.keys().filter(|stream| stream.kind() == kind).count();
        add(kind, streams, some);
    }
    add("all", stat.by_stream.len(), &stat.total);
    table
}

fn export(dir: &Path, args: &ExportArgs) -> Result<Exit, CliError> {
    let to_stdout = args.file == Path::new("-");
    let exported = if to_stdout {
        bailiwick_journal::export(dir, &mut BufWriter::new(io::stdout().lock()))
    } else {
        let unwritable = |error: io::Error| {
            CliError::new(Exit::Error, "unwritable", format!("cannot write {}", args.file.display())).because(&error)
        };
        let mut file = BufWriter::new(File::create(&args.file).map_err(unwritable)?);
        let exported = bailiwick_journal::export(dir, &mut file);
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(unwritable)?;
        exported
    };
    say(&format!("exported {}", words(&exported?)));
    Ok(Exit::Ok)
}

fn import(global: &Global, data_dir: &Path, dir: &Path, args: &ImportArgs) -> Result<Exit, CliError> {
    if is_taken(dir) {
        let message = format!("there is a journal in {} already", data_dir.display());
        return Err(CliError::new(Exit::Refused, "exists", message).next("name an empty place with --data-dir DIR"));
    }
    let imported = if args.file == Path::new("-") {
        bailiwick_journal::import(&mut io::stdin().lock(), dir)
    } else {
        let file = File::open(&args.file).map_err(|error| {
            CliError::new(Exit::Error, "unreadable", format!("cannot read {}", args.file.display())).because(&error)
        })?;
        bailiwick_journal::import(&mut BufReader::new(file), dir)
    }?;
    let json = json!({"journal": imported.journal, "entries": imported.entries, "blocks": imported.blocks, "hash": hex(&imported.hash)});
    global.output.show(&json, || {
        let mut table = fields();
        table.add([Cell::from("imported"), words(&imported).into()]);
        table
    })?;
    Ok(Exit::Ok)
}

/// Whether there is a journal in a folder, whole or not; what else is in the way of a new one is told when it is made.
fn is_taken(dir: &Path) -> bool {
    ["FORMAT", "log", "head"].iter().any(|name| dir.join(name).exists())
}

fn salvage(global: &Global, args: &SalvageArgs) -> Result<Exit, CliError> {
    let below = journal_dir(&args.dir);
    let from = if below.is_dir() { below } else { args.dir.clone() };
    let into = journal_dir(&args.into);
    if is_taken(&into) {
        let message = format!("there is a journal in {} already", args.into.display());
        return Err(CliError::new(Exit::Refused, "exists", message).next("name an empty place with --into NEWDIR"));
    }
    let salvaged = bailiwick_journal::salvage(&from, &into)?;
    global.output.show(&salvaged_json(&salvaged), || salvaged_table(&salvaged))?;
    say(&format!(
        "look at it with --data-dir {}; to go on with it, move {} out of the way and {} into its place",
        args.into.display(),
        from.display(),
        into.display()
    ));
    Ok(Exit::Ok)
}

fn range((first, last): &(Position, Position)) -> Value {
    json!([first, last])
}

fn salvaged_json(salvaged: &Salvaged) -> Value {
    json!({
        "journal": salvaged.journal,
        "entries": salvaged.entries,
        "position": salvaged.head.position,
        "hash": hex(&salvaged.head.hash),
        "unchangedUpTo": salvaged.unchanged,
        "blocksFromLog": salvaged.from_log,
        "blocksFromStore": salvaged.from_store,
        "lost": salvaged.lost.iter().map(range).collect::<Vec<_>>(),
        "cut": salvaged.cut.as_ref().map(range),
        "missing": salvaged.missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "storeTrouble": salvaged.store_trouble,
    })
}

fn salvaged_table(salvaged: &Salvaged) -> Table {
    let mut table = fields();
    let Salvaged { entries, from_log, from_store, unchanged, .. } = salvaged;
    table.add([Cell::from("journal"), salvaged.journal.to_string().into()]);
    table.add([Cell::from("taken over"), format!("{entries} entries; 1 to {unchanged} are as they were").into()]);
    table.add([Cell::from("blocks"), format!("{from_log} from the log, {from_store} from sled").into()]);
    for (first, last) in &salvaged.lost {
        table.add([Cell::bad("lost or left out"), format!("entries {first} to {last}; notes stand there").into()]);
    }
    if let Some((first, last)) = salvaged.cut {
        table.add([Cell::bad("missing at the end"), format!("entries {first} to {last}").into()]);
    }
    for events in &salvaged.missing {
        table.add([Cell::bad("missing"), events.to_string().into()]);
    }
    if let Some(problem) = &salvaged.store_trouble {
        table.add([Cell::bad("sled"), format!("of no use: {problem}").into()]);
    }
    table
}

fn words(exported: &Exported) -> String {
    format!(
        "{} entries in {} blocks of journal {}; hash {}",
        exported.entries,
        exported.blocks,
        exported.journal,
        hex(&exported.hash)
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Open { source } => source.into(),
            ExportError::Read { source } => source.into(),
            ExportError::Write { source } => OutputError::Write(source).into(),
        }
    }
}

impl From<SalvageError> for CliError {
    fn from(error: SalvageError) -> Self {
        match error {
            SalvageError::Source { source } | SalvageError::Target { source } => source.into(),
            SalvageError::Io { .. } => {
                let told = Self::new(Exit::Error, "not-salvaged", error.to_string());
                std::error::Error::source(&error).into_iter().fold(told, |told, cause| told.because(cause))
            }
        }
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        let told = match error {
            ImportError::Line { problem: LineProblem::Newer { .. }, .. } => {
                Self::new(Exit::Error, "not-imported", error.to_string()).next("import it with the release that wrote it")
            }
            ImportError::Line { .. } => Self::new(Exit::Integrity, "not-imported", error.to_string())
                .next("export the journal again: these lines are no export, or not as they were written; no journal was made of them"),
            _ => Self::new(Exit::Error, "not-imported", error.to_string()),
        };
        std::error::Error::source(&error).into_iter().fold(told, |told, cause| told.because(cause))
    }
}
