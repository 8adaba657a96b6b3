//! `bailiwick journal`: looks after a journal, whether its node runs or not.

use std::{
    fmt,
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_journal::{ExportError, Exported, Identity, OpenError, Position, SalvageError, Salvaged, disk::Disk};
use clap::{Args, Subcommand};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Global, backup,
    exit::{CliError, Exit},
    failures::{cannot, is_full, not_imported},
    heads::{self, CheckArgs, Compared, HeadArgs},
    output::{Cell, Column, OutputError, Table},
    progress::say,
    session,
    steady_file::SteadyFile,
};
use crate::{
    api::wire::journal::{Amounts, Checked, Counted, Recoverable},
    client::ClientError,
    config::journal_dir,
    node::place,
    words,
};
use bailiwick_actors::vocab::hex;

#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Check the whole journal for lost or changed entries; exits with 6 if there are any
    ///
    /// Whoever can write all of a journal's files can compute a whole other history. What was signed before and kept elsewhere
    /// shows that: `bailiwick journal head -o json`, or a copy of heads.jsonl.
    Check(CheckArgs),
    /// Sign where the journal stands, to be kept elsewhere
    Head(HeadArgs),
    /// Show sizes and counts
    Stat,
    /// Export the whole journal as lines of JSON
    Export(ExportArgs),
    /// Create a journal from an export
    Import(ImportArgs),
    /// Recover what is intact of a damaged journal into a new one, and list what is missing
    Salvage(SalvageArgs),
}

#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    /// The data directory with the damaged journal, or the journal's own folder; it is only read
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// A new data directory for what is intact
    #[arg(long, value_name = "NEWDIR")]
    into: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file to write; - for standard output
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file to read; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Give it a new identity, to run it beside the exported journal; it never touches what that journal's node created
    #[arg(long)]
    as_new: bool,
}

pub(super) fn main(global: &Global, command: JournalCommand) -> Result<Exit, CliError> {
    match command {
        JournalCommand::Import(args) => {
            let data_dir = session::data_dir(global)?;
            import(global, &data_dir, &journal_dir(&data_dir), &args)
        }
        JournalCommand::Salvage(args) => salvage(global, &args),
        JournalCommand::Check(args) => check(global, &args),
        JournalCommand::Head(args) => heads::head(global, &args),
        JournalCommand::Stat => stat(global),
        JournalCommand::Export(args) => {
            if global.remote.is_none() {
                session::journal_in(&session::data_dir(global)?)?;
            }
            export(global, &args)
        }
    }
}

/// What a running node says of its journal, or what is found in that of a stopped one, or in an export.
fn look<T: DeserializeOwned>(
    global: &Global,
    path: &str,
    stopped: impl FnOnce(&Path) -> Result<T, OpenError>,
    export: impl FnOnce(Arc<dyn Disk>) -> Result<T, OpenError>,
) -> Result<T, CliError> {
    if let Some(file) = session::export_named(global) {
        return Ok(export(session::read_export(&file)?)?);
    }
    match session::ask_path(global, path)? {
        Err(ClientError::NotRunning { .. }) => {
            let data_dir = session::data_dir(global)?;
            let dir = session::journal_in(&data_dir)?;
            stopped(&dir).map_err(|error| session::not_opened(&data_dir, error))
        }
        answer => Ok(answer?),
    }
}

/// What a check found, with what it was held against.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    checked: Checked,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Compared>,
}

fn check(global: &Global, args: &CheckArgs) -> Result<Exit, CliError> {
    let checked: Checked = look(
        global,
        "/v1/journal/check",
        |dir| bailiwick_journal::check(dir).map(|report| Checked::of(&report, false)),
        |disk| bailiwick_journal::check_on(disk).map(|report| Checked::of(&report, false)),
    )?;
    // A journal that does not hold together has no chain to be held against.
    let against = if checked.whole { heads::compare(global, args)? } else { None };
    let is_whole = checked.whole && against.as_ref().is_none_or(|against| against.problems.is_empty());
    let report = Report { checked, against };
    global.output.show(&report, || {
        let mut table = check_table(&report.checked);
        report.against.iter().for_each(|against| against.rows(&mut table));
        table
    })?;
    if is_whole { Ok(Exit::Ok) } else { Ok(Exit::Integrity) }
}

fn check_table(report: &Checked) -> Table {
    let mut table = Table::fields();
    let whole = match &report.repair {
        Some(repair) => Cell::busy(repair.next.as_str()),
        None if report.whole => Cell::good("whole"),
        None => Cell::bad("lost or changed history"),
    };
    table.add([Cell::from("history"), whole]);
    let stop = match (report.running, report.clean_stop) {
        (true, _) => "the node is running; this is what was durable when the check started",
        (false, true) => "clean",
        (false, false) => "unclean; the next start catches up",
    };
    table.add([Cell::from("last stop"), stop.into()]);
    table.add([Cell::from("journal"), report.journal.to_string().into()]);
    table.add([Cell::from("entries"), report.position.to_string().into()]);
    table.add([Cell::from("streams"), report.streams.to_string().into()]);
    table.add([Cell::from("blocks"), report.block.to_string().into()]);
    table.add([Cell::from("hash"), report.hash.as_str().into()]);
    table.add([Cell::from("writers so far"), report.epoch.to_string().into()]);
    let size = format!("{} bytes in {}", report.bytes, words::count(report.segments, "segment"));
    table.add([Cell::from("log"), size.into()]);
    table.add([Cell::from("sled"), report.store.as_str().into()]);
    for problem in &report.mendable {
        table.add([Cell::busy("repaired at the next start"), problem.as_str().into()]);
    }
    for problem in &report.problems {
        table.add([Cell::bad("problem"), problem.as_str().into()]);
    }
    if let Some(Recoverable { affected: (first, last), recoverable, lost }) = &report.recovery {
        let affected = last.0 - first.0 + 1;
        let recovered = format!("bailiwick journal salvage recovers {recoverable} of {affected}");
        table.add([Cell::bad("affected"), format!("{}; {recovered}", from_to(first, last)).into()]);
        for (first, last) in lost {
            table.add([Cell::bad("lost or skipped"), from_to(first, last).into()]);
        }
    }
    for events in &report.missing {
        table.add([Cell::bad("missing"), events.as_str().into()]);
    }
    table
}

fn stat(global: &Global) -> Result<Exit, CliError> {
    let stat: Counted = look(
        global,
        "/v1/journal/stat",
        |dir| bailiwick_journal::stat(dir).map(|stat| Counted::from(&stat)),
        |disk| bailiwick_journal::stat_on(disk).map(|stat| Counted::from(&stat)),
    )?;
    global.output.show(&stat, || stat_table(&stat))?;
    Ok(Exit::Ok)
}

fn stat_table(stat: &Counted) -> Table<5> {
    let mut table = Table::of([
        Column::always("KIND"),
        Column::always("STREAMS"),
        Column::always("ENTRIES"),
        Column::always("EVENTS"),
        Column::always("BYTES"),
    ]);
    let mut add = |name: &str, streams: usize, some: &Amounts| {
        let numbers = [some.entries, some.events, some.bytes].map(|number| Cell::from(number.to_string()));
        let [entries, events, bytes] = numbers;
        table.add([Cell::from(name), streams.to_string().into(), entries, events, bytes]);
    };
    for (kind, some) in &stat.kinds {
        let of_kind = |stream: &&String| stream.split_once('/').is_some_and(|(of, _)| of == kind);
        add(kind, stat.streams.keys().filter(of_kind).count(), some);
    }
    add("all", stat.streams.len(), &stat.total);
    table
}

fn export(global: &Global, args: &ExportArgs) -> Result<Exit, CliError> {
    let exported = if args.file == Path::new("-") {
        backup::export(global, &mut BufWriter::new(io::stdout().lock()))
    } else {
        let unwritable = |error: io::Error| {
            CliError::new(Exit::Error, "unwritable", format!("cannot write {}", args.file.display())).because(&error)
        };
        let file = SteadyFile::create(&args.file).map_err(unwritable)?;
        let mut file = BufWriter::new(file);
        let exported = backup::export(global, &mut file);
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(unwritable)?;
        exported
    };
    say(&format!("exported {}", words(&exported?)));
    Ok(Exit::Ok)
}

fn import(global: &Global, data_dir: &Path, dir: &Path, args: &ImportArgs) -> Result<Exit, CliError> {
    if is_taken(dir) {
        let message = format!("there is already a journal in {}", data_dir.display());
        return Err(
            CliError::new(Exit::Refused, "exists", message).next("choose an empty directory with --data-dir DIR")
        );
    }
    let identity = if args.as_new { Identity::New(Uuid::new_v4()) } else { Identity::Kept };
    let imported = if args.file == Path::new("-") {
        bailiwick_journal::import_as(&mut io::stdin().lock(), dir, identity)
    } else {
        let file = File::open(&args.file).map_err(|error| {
            CliError::new(Exit::Error, "unreadable", format!("cannot read {}", args.file.display())).because(&error)
        })?;
        bailiwick_journal::import_as(&mut BufReader::new(file), dir, identity)
    }
    .map_err(not_imported)?;
    if args.as_new {
        // There is no original that it could be taken for.
        place::note_origin(data_dir, imported.journal, data_dir).map_err(cannot("write into", data_dir))?;
    }
    let json = json!({"journal": imported.journal, "entries": imported.entries, "blocks": imported.blocks, "hash": hex(&imported.hash)});
    global.output.show(&json, || {
        let mut table = Table::fields();
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
    if !is_taken(&from) {
        return Err(session::no_journal(&args.dir)
            .next("name the node's data directory, or the journal's own folder; nothing was created"));
    }
    if is_taken(&into) {
        let message = format!("there is already a journal in {}", args.into.display());
        return Err(
            CliError::new(Exit::Refused, "exists", message).next("choose an empty directory with --into NEWDIR")
        );
    }
    let salvaged = bailiwick_journal::salvage(&from, &into)?;
    global.output.show(&salvaged_json(&salvaged), || salvaged_table(&salvaged))?;
    say(&format!(
        "inspect it with --data-dir {}; to use it, move {} away and {} into its place",
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
    let mut table = Table::fields();
    let Salvaged { entries, from_log, from_store, unchanged, .. } = salvaged;
    table.add([Cell::from("journal"), salvaged.journal.to_string().into()]);
    table.add([Cell::from("recovered"), format!("{entries} entries; 1 to {unchanged} are unchanged").into()]);
    table.add([Cell::from("blocks"), format!("{from_log} from the log, {from_store} from sled").into()]);
    for (first, last) in &salvaged.lost {
        table.add([Cell::bad("lost or skipped"), format!("{}; replaced by notes", from_to(first, last)).into()]);
    }
    if let Some((first, last)) = salvaged.cut {
        table.add([Cell::bad("missing at the end"), from_to(&first, &last).into()]);
    }
    for events in &salvaged.missing {
        table.add([Cell::bad("missing"), events.to_string().into()]);
    }
    if let Some(problem) = &salvaged.store_trouble {
        table.add([Cell::bad("sled"), format!("not usable: {problem}").into()]);
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
            SalvageError::Io { ref source, .. } if is_full(source) => Self::of_system(error.to_string(), source),
            SalvageError::Io { .. } => {
                let told = Self::new(Exit::Error, "not-salvaged", error.to_string());
                std::error::Error::source(&error).into_iter().fold(told, |told, cause| told.because(cause))
            }
        }
    }
}

/// `entries 3 to 7`, or `entry 3`.
fn from_to<T: PartialEq + fmt::Display>(first: &T, last: &T) -> String {
    if first == last { format!("entry {first}") } else { format!("entries {first} to {last}") }
}
