//! Signed heads: `journal head` asks for one, and `journal check --against FILE` holds a journal against those that were kept.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use bailiwick_journal::{Head, Journal, Position, ReadOnlyJournal};
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

use super::{
    Global,
    exit::{CliError, Exit},
    output::{Cell, Table},
    session,
};
use crate::{
    api::wire::journal::SignedHead,
    client::ClientError,
    signing::{HEADS, verified},
};
use bailiwick_actors::vocab::{Timestamp, hex};

/// The largest file of heads, in bytes: some fifty thousand.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug, Args)]
pub(super) struct HeadArgs {
    /// The block after which it stood like that [default: the last one]
    #[arg(long, value_name = "NUMBER")]
    block: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Signed heads that were kept elsewhere, a line of JSON each: the journal must have stood like that
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// The public key that must have signed them [default: whichever they name]
    #[arg(long, value_name = "HEX", requires = "against")]
    key: Option<String>,
}

/// How a journal was held against heads that were kept.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Compared {
    /// How many were looked at.
    heads: usize,
    /// The last entry that one of them proves to be as it was.
    proven: Option<Position>,
    keys: BTreeSet<String>,
    /// What differs.
    pub problems: Vec<String>,
}

pub(super) fn head(global: &Global, args: &HeadArgs) -> Result<Exit, CliError> {
    let signed = match signed(global, args.block)? {
        Some(signed) => signed,
        None => last_kept(global, args.block)?,
    };
    global.output.show(&signed, || {
        let mut table = Table::fields();
        let SignedHead { journal, position, block, hash, time_ms, key, signature } = &signed;
        table.add([Cell::from("journal"), journal.to_string().into()]);
        table.add([Cell::from("entry"), format!("{position} ({})", Timestamp(*time_ms)).into()]);
        table.add([Cell::from("block"), block.to_string().into()]);
        table.add([Cell::from("hash"), hash.as_str().into()]);
        table.add([Cell::from("key"), key.as_str().into()]);
        table.add([Cell::from("signature"), signature.as_str().into()]);
        table
    })?;
    Ok(Exit::Ok)
}

/// What a running node signs now; none if none runs.
fn signed(global: &Global, block: Option<u64>) -> Result<Option<SignedHead>, CliError> {
    if session::export_named(global).is_some() {
        return Err(CliError::usage("an export has no key to sign with").next("name the data directory of its node"));
    }
    let after = block.map(|block| format!("?block={block}")).unwrap_or_default();
    match session::ask_path(global, &format!("/v1/journal/head{after}"))? {
        Err(ClientError::NotRunning { .. }) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

/// The last one that the node signed before it stopped.
fn last_kept(global: &Global, block: Option<u64>) -> Result<SignedHead, CliError> {
    let data_dir = session::data_dir(global)?;
    session::journal_in(&data_dir)?;
    let kept = read(&data_dir.join(HEADS))?;
    let wanted = kept.into_iter().rfind(|head| block.is_none_or(|block| head.block == block));
    wanted.ok_or_else(|| {
        CliError::new(Exit::NotFound, "not-found", "the node is stopped, and heads.jsonl has no such head")
            .next("start the node, and ask again")
    })
}

/// Holds a journal against the heads that are named; none if none are.
pub(super) fn compare(global: &Global, args: &CheckArgs) -> Result<Option<Compared>, CliError> {
    let Some(file) = &args.against else { return Ok(None) };
    let kept = read(file)?;
    if kept.is_empty() {
        return Err(bad(file, 1, "there is no head in it"));
    }
    let stood = Stood::open(global)?;
    let mut compared = Compared { heads: kept.len(), proven: None, keys: BTreeSet::new(), problems: Vec::new() };
    for (at, signed) in kept.iter().enumerate() {
        let head = verified(signed).map_err(|error| bad(file, at + 1, &error.to_string()))?;
        if args.key.as_ref().is_some_and(|key| !key.eq_ignore_ascii_case(&signed.key)) {
            return Err(bad(file, at + 1, &format!("it was signed with another key: {}", signed.key)));
        }
        compared.keys.insert(signed.key.clone());
        match differs(&stood, signed.journal, &head)? {
            None => compared.proven = compared.proven.max(Some(head.position)),
            Some(problem) => compared.problems.push(problem),
        }
    }
    Ok(Some(compared))
}

/// What is different from what was signed, if anything is.
fn differs(stood: &Stood<'_>, journal: Uuid, head: &Head) -> Result<Option<String>, CliError> {
    let signed = format!("the head signed after entry {} ({})", head.position, Timestamp(head.time_ms));
    let (id, found) = stood.after(head.block)?;
    Ok(match found {
        _ if id != journal => Some(format!("{signed} is of another journal: {journal}")),
        None => Some(format!("{signed} lies past the end of the journal: entries were removed")),
        Some((position, hash)) if (position, hash.as_str()) != (head.position, &hex(&head.hash)) => {
            Some(format!("{signed} does not match the journal: an entry up to there was changed, added or removed"))
        }
        Some(_) => None,
    })
}

impl Compared {
    pub(super) fn rows(&self, table: &mut Table) {
        let matching = self.heads - self.problems.len();
        let proven = match self.proven {
            Some(position) => format!("; entries 1 to {position} are as they were signed"),
            None => String::new(),
        };
        let told = format!("{matching} of {} match{proven}", self.heads);
        let told = if self.problems.is_empty() { Cell::good(told) } else { Cell::bad(told) };
        table.add([Cell::from("signed heads"), told]);
        for key in &self.keys {
            table.add([Cell::from("signed with"), key.as_str().into()]);
        }
        for problem in &self.problems {
            table.add([Cell::bad("problem"), problem.as_str().into()]);
        }
    }
}

/// A journal that can be asked where it stood after a block.
enum Stood<'g> {
    Running(&'g Global),
    Stopped(Box<ReadOnlyJournal>),
}

impl<'g> Stood<'g> {
    fn open(global: &'g Global) -> Result<Self, CliError> {
        if let Some(file) = session::export_named(global) {
            return Ok(Self::Stopped(Box::new(session::open_export(&file)?)));
        }
        if signed(global, None)?.is_some() {
            return Ok(Self::Running(global));
        }
        Ok(Self::Stopped(Box::new(session::open_named(global)?)))
    }

    /// The journal, and its last entry and chain value then; none if it has no such block.
    fn after(&self, block: u64) -> Result<(Uuid, Option<(Position, String)>), CliError> {
        match self {
            Self::Running(global) => match signed(global, Some(block)) {
                Ok(Some(SignedHead { journal, position, hash, .. })) => Ok((journal, Some((position, hash)))),
                Ok(None) => Err(CliError::new(Exit::NotRunning, "not-running", "the node has stopped meanwhile")
                    .next("run the command again")),
                Err(error) if error.code == "not-found" => {
                    let now = signed(global, None)?.map(|head| head.journal).unwrap_or_default();
                    Ok((now, None))
                }
                Err(error) => Err(error),
            },
            Self::Stopped(journal) => {
                let found = journal.head_after(block);
                let id = journal.id();
                Ok((id, found?.map(|head| (head.position, hex(&head.hash)))))
            }
        }
    }
}

/// The heads in a file, a line each.
fn read(file: &Path) -> Result<Vec<SignedHead>, CliError> {
    let unreadable = |error: std::io::Error| {
        CliError::new(Exit::NoInput, "unreadable", format!("cannot read {}", file.display())).because(&error)
    };
    let mut text = String::new();
    let bytes = File::open(file).and_then(|open| open.take(BYTES_MAX + 1).read_to_string(&mut text));
    if BYTES_MAX < bytes.map_err(unreadable)? as u64 {
        return Err(bad(file, 1, "the file is larger than 16 MiB"));
    }
    // One that was printed with `-o json` has several lines.
    if let Ok(one) = serde_json::from_str::<SignedHead>(&text) {
        return Ok(vec![one]);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| bad(file, at + 1, &error.to_string()))).collect()
}

fn bad(file: &Path, line: usize, why: &str) -> CliError {
    CliError::new(Exit::BadInput, "bad-head", format!("line {line} of {} proves nothing: {why}", file.display()))
        .next("give what `bailiwick journal head -o json` printed, or a copy of heads.jsonl in a data directory")
}
