//! `bailiwick audit replay --with OTHER`: what another release would have decided, before it takes over.
//!
//! Both programs decide one and the same export again; the other one is a process of its own, and sees nothing but that file.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use bailiwick_actors::ports::Clock;
use serde::{Deserialize, Serialize};

use super::{ReplayArgs, named};
use crate::{
    api::query::Query,
    audit::Options,
    cli::{
        Global, backup,
        exit::{CliError, Exit},
        failures::cannot,
        output::{Cell, Column, Table},
        scratch::Scratch,
        session,
    },
    clock::SystemClock,
    text::cut,
    words::readable,
};

/// More than this is never read of what the other one prints.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Of what it says of an error, the end.
const TOLD_LINES: usize = 4;

/// What a replay found, as any release tells it: what others tell beside it does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Replayed {
    entries: u64,
    decisions: u64,
    notes: u64,
    skipped: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    #[serde(skip_serializing)]
    divergences: Vec<Found>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Found {
    position: u64,
    stream: String,
    text: String,
}

/// Two releases compared over one journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Compared {
    program: PathBuf,
    version: String,
    this: Replayed,
    other: Replayed,
    /// In the order of the entries.
    differences: Vec<Difference>,
}

/// An entry that does not come out as it is recorded, in one of them at least.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Difference {
    entry: u64,
    stream: String,
    /// What differs from the record in this release; null if nothing does.
    this: Option<String>,
    /// The same of the other one.
    other: Option<String>,
}

impl Compared {
    /// Whether both decide as it is recorded, and about the same entries.
    fn is_same(&self) -> bool {
        self.differences.is_empty() && self.this == self.other
    }
}

/// Replays with the other program and with this one.
pub(super) fn rehearse(global: &Global, args: &ReplayArgs, program: &Path, options: Options) -> Result<bool, CliError> {
    let program = program.canonicalize().map_err(|error| {
        let message = format!("there is no program at {}", program.display());
        CliError::new(Exit::NoInput, "unreadable", message).because(&error)
    })?;
    let made = Scratch::make();
    let scratch = made.map_err(cannot("make a directory in", &std::env::temp_dir()))?;
    let export = exported(global, args, &scratch)?;
    let other = replayed_by(&program, &export, options, &scratch)?;
    let query = Query::Replay { options: Options { all: true, ..options } };
    let this = query.answer_from(&session::open_export(&export)?, SystemClock::new().now())?;
    let this: Replayed = session::read(this)?;
    let differences = differences(&this, &other);
    let compared = Compared { version: version(&program)?, program, this, other, differences };
    global.output.show(&compared, || table(&compared))?;
    Ok(compared.is_same())
}

/// The journal as a file that both can read.
fn exported(global: &Global, args: &ReplayArgs, scratch: &Scratch) -> Result<PathBuf, CliError> {
    let file = scratch.path().join("journal.ndjson");
    let create = || File::create(&file).map(BufWriter::new).map_err(cannot("write", &file));
    match (&args.journal, session::export_named(global)) {
        (Some(export), _) if export.is_file() => return Ok(export.clone()),
        (None, Some(export)) => return Ok(export),
        (Some(dir), _) => {
            named(dir)?.export_told(&mut create()?, &readable)?;
        }
        (None, None) => {
            let mut to = create()?;
            backup::export(global, &mut to)?;
            to.flush().map_err(cannot("write", &file))?;
        }
    }
    Ok(file)
}

/// The program, told nothing by the environment that is meant for this one.
fn quiet(program: &Path) -> Command {
    let mut command = Command::new(program);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("BAILIWICK_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn replayed_by(program: &Path, export: &Path, options: Options, scratch: &Scratch) -> Result<Replayed, CliError> {
    let said = scratch.path().join("said");
    let mut command = quiet(program);
    command.args(["audit", "replay", "--all", "-o", "json"]);
    command.args(options.to.map(|to| format!("--to={to}"))).arg("--").arg(export);
    command.stderr(File::create(&said).map_err(cannot("write", &said))?);
    let (answer, code) = run(&mut command).map_err(|error| {
        let message = format!("cannot run {}", program.display());
        CliError::new(Exit::Error, "not-replayed", message).because(&error).next("name a program of another release")
    })?;
    let is_answer = code == Some(i32::from(Exit::Ok.code())) || code == Some(i32::from(Exit::Differences.code()));
    let refused = |why: String, mut causes: Vec<String>| {
        let error = CliError::new(Exit::Error, "not-replayed", format!("{} {why}", program.display()));
        causes.retain(|cause| !cause.is_empty());
        CliError { causes, ..error }
            .next("an earlier release may not read what this one wrote; upgrade to one that replays this journal")
    };
    if !is_answer {
        let code = code.map_or("it was killed".to_owned(), |code| format!("exit code {code}"));
        let said = fs::read(&said).map_err(cannot("read", &said))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        let last = lines.iter().skip(lines.len().saturating_sub(TOLD_LINES));
        return Err(refused(
            format!("cannot replay this journal ({code})"),
            last.map(|line| cut(line.trim(), 400).into()).collect(),
        ));
    }
    serde_json::from_slice(&answer)
        .map_err(|error| refused("does not answer with a replay".to_owned(), vec![error.to_string()]))
}

/// What a command printed, and its exit code.
fn run(command: &mut Command) -> io::Result<(Vec<u8>, Option<i32>)> {
    let mut child = command.spawn()?;
    let mut answer = Vec::new();
    // The pipe closes with this function: whoever prints more than is read of it ends.
    let read = child.stdout.take().map(|out| out.take(ANSWER_BYTES_MAX).read_to_end(&mut answer));
    let ended = child.wait()?;
    read.transpose()?;
    Ok((answer, ended.code()))
}

fn version(program: &Path) -> Result<String, CliError> {
    let ran = run(quiet(program).arg("--version").stderr(Stdio::null())).map_err(cannot("run", program))?;
    let text = String::from_utf8_lossy(&ran.0).into_owned();
    Ok(cut(text.lines().next().unwrap_or_default(), 80).into())
}

fn differences(this: &Replayed, other: &Replayed) -> Vec<Difference> {
    let mut found: BTreeMap<(u64, &str), Difference> = BTreeMap::new();
    let sides = this.divergences.iter().map(|one| (true, one)).chain(other.divergences.iter().map(|one| (false, one)));
    for (is_this, Found { position, stream, text }) in sides {
        let difference = found.entry((*position, stream)).or_insert_with(|| Difference {
            entry: *position,
            stream: stream.clone(),
            this: None,
            other: None,
        });
        let side = if is_this { &mut difference.this } else { &mut difference.other };
        *side = Some(side.take().map_or(text.clone(), |before| format!("{before}; {text}")));
    }
    found.into_values().collect()
}

fn table(compared: &Compared) -> Table<3> {
    let Compared { this, other, version, differences, .. } = compared;
    let mut table = Table::of(["WHAT", "THIS RELEASE", "THE OTHER"].map(Column::always));
    let verdict = |replayed: &Replayed| {
        if replayed.divergences.is_empty() { Cell::good("as recorded") } else { Cell::bad("diverges") }
    };
    table.add(["release".into(), format!("bailiwick {}", env!("CARGO_PKG_VERSION")).into(), version.into()]);
    table.add(["decided again".into(), verdict(this), verdict(other)]);
    let counts = [
        ("entries", this.entries, other.entries),
        ("decisions", this.decisions, other.decisions),
        ("notes", this.notes, other.notes),
        ("skipped", this.skipped, other.skipped),
    ];
    for (name, this, other) in counts {
        let cell = if this == other { Cell::from(other.to_string()) } else { Cell::bad(other.to_string()) };
        table.add([name.into(), this.to_string().into(), cell]);
    }
    if !this.unknown.is_empty() || !other.unknown.is_empty() {
        table.add(["unknown kinds".into(), this.unknown.join(", ").into(), other.unknown.join(", ").into()]);
    }
    for Difference { entry, stream, this, other } in differences {
        let side = |text: &Option<String>| text.as_ref().map_or(Cell::good("as recorded"), Cell::bad);
        table.add([format!("@{entry} {stream}").into(), side(this), side(other)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(divergences: &[(u64, &str, &str)]) -> Replayed {
        let found = |&(position, stream, text): &(u64, &str, &str)| Found {
            position,
            stream: stream.into(),
            text: text.into(),
        };
        let divergences = divergences.iter().map(found).collect();
        Replayed { entries: 9, decisions: 7, notes: 2, skipped: 0, unknown: Vec::new(), divergences }
    }

    fn compared(this: Replayed, other: Replayed) -> Compared {
        let differences = differences(&this, &other);
        Compared { program: "other".into(), version: "bailiwick 9".into(), this, other, differences }
    }

    #[test]
    fn what_differs_is_told_by_entry_with_both_sides() {
        let this = replayed(&[(4, "machine/a", "x")]);
        let other = replayed(&[(2, "machine/b", "y"), (4, "machine/a", "z"), (4, "machine/a", "w")]);
        let found: Vec<_> =
            compared(this, other).differences.into_iter().map(|found| (found.entry, found.this, found.other)).collect();
        assert_eq!(found, [(2, None, Some("y".into())), (4, Some("x".into()), Some("z; w".into()))]);
    }

    #[test]
    fn who_decides_about_fewer_entries_is_not_the_same() {
        let fewer = Replayed { decisions: 6, skipped: 1, ..replayed(&[]) };
        assert!(compared(replayed(&[]), replayed(&[])).is_same());
        assert!(!compared(replayed(&[]), fewer).is_same());
        let both = replayed(&[(4, "machine/a", "x")]);
        assert!(!compared(both.clone(), both).is_same(), "the record itself is not what this release decides");
    }

    #[test]
    fn what_a_later_release_tells_beside_it_does_not_matter() {
        let text = r#"{"entries": 1, "decisions": 1, "notes": 0, "skipped": 0, "new": 7, "divergences": [
            {"position": 1, "stream": "machine/a", "text": "t", "what": "never-heard-of"}]}"#;
        let read: Replayed = serde_json::from_str(text).expect("a replay");
        assert_eq!(read.divergences[0].text, "t");
    }
}
