//! `bailiwick backup`, and the journal as it comes from a running node.

use std::{
    fs,
    io::{self, BufReader, BufWriter, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
};

use bailiwick_journal::{Exported, Identity, ReadOnlyJournal};
use clap::Args;
use rustix::process::setpriority_process;
use serde_json::json;

use super::{
    Global,
    exit::{CliError, Exit},
    failures::{cannot, not_imported},
    output::{Cell, Table},
    provider::REMEMBERED,
    session,
};
use crate::{
    client::ClientError,
    config::{enrolment_dir, exec_dir, journal_dir},
    node::place,
    signing::{HEADS, SIGNING_KEY},
    words::readable,
};
use bailiwick_actors::vocab::hex;

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// A new directory; a node can be started in it
    #[arg(value_name = "NEWDIR")]
    into: PathBuf,
}

/// How much less urgent it is than a node, from 0 to 19.
const NICE: i32 = 10;

pub(super) fn main(global: &Global, args: BackupArgs) -> Result<Exit, CliError> {
    let data_dir = session::data_dir(global)?;
    session::journal_in(&data_dir)?;
    let is_new = make(&args.into)?;
    give_way();
    let (exported, files) = match copy_all(global, &data_dir, &args.into) {
        Ok(copied) => copied,
        Err(error) => {
            // Half a backup is none, and would be in the way of the next one.
            if let Err(left) = clear(&args.into, is_new) {
                tracing::warn!(error = %left, into = %args.into.display(), "cannot remove what a failed backup left");
            }
            return Err(error);
        }
    };
    let json = json!({
        "directory": args.into,
        "journal": exported.journal,
        "position": exported.entries,
        "hash": hex(&exported.hash),
        "files": files,
    });
    global.output.show(&json, || {
        let mut table = Table::fields();
        table.add([
            Cell::from("backed up"),
            format!("journal {}, entries 1 to {}", exported.journal, exported.entries).into(),
        ]);
        table.add([Cell::from("into"), args.into.display().to_string().into()]);
        table.add([Cell::from("files"), files.join(", ").into()]);
        let left = "the data of machines, volumes and providers, in local and exec";
        table.add([Cell::from("left out"), left.into()]);
        let restore = "stop the node, then copy the files listed here into its data directory";
        table.add([Cell::from("to restore"), restore.into()]);
        table
    })?;
    Ok(Exit::Ok)
}

/// Copies all that a backup has; the names of what that is.
fn copy_all(global: &Global, data_dir: &Path, into: &Path) -> Result<(Exported, Vec<String>), CliError> {
    // The heads first: the journal may go on meanwhile, and has to have stood like each of them.
    let heads = copy(&data_dir.join(HEADS), &into.join(HEADS))?;
    let exported = copy_journal(global, &journal_dir(into))?;
    let mut files = vec!["journal".to_owned()];
    files.extend(heads.then(|| HEADS.to_owned()));
    for name in ["node.key", SIGNING_KEY, "config.toml", "providers.yaml"] {
        if copy(&data_dir.join(name), &into.join(name))? {
            files.push(name.to_owned());
        }
    }
    let noted = place::note_origin(data_dir, exported.journal, into);
    noted.map_err(cannot("write into", into))?;
    if copy_enrolment(&enrolment_dir(data_dir), &enrolment_dir(into))? {
        files.push("enrolment".into());
    }
    if copy_providers(&exec_dir(data_dir), &exec_dir(into))? {
        files.push("exec".into());
    }
    sync(into)?;
    Ok((exported, files))
}

/// Removes what is in a directory that was empty before, and the directory if it was not there.
fn clear(into: &Path, is_new: bool) -> io::Result<()> {
    if is_new {
        return fs::remove_dir_all(into);
    }
    for entry in fs::read_dir(into)? {
        let entry = entry?;
        let is_dir = entry.file_type()?.is_dir();
        if is_dir { fs::remove_dir_all(entry.path())? } else { fs::remove_file(entry.path())? }
    }
    Ok(())
}

/// The node that works meanwhile comes first: this thread, and those that it starts, are less urgent. Where the system
/// refuses, the work is done all the same.
fn give_way() {
    let _ = setpriority_process(None, NICE);
}

/// A new directory, or an empty one, for its owner only; whether it is new.
fn make(into: &Path) -> Result<bool, CliError> {
    match fs::DirBuilder::new().mode(0o700).create(into) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut found = fs::read_dir(into).map_err(cannot("read", into))?;
            if found.next().is_some() {
                let message = format!("{} is not empty", into.display());
                return Err(
                    CliError::new(Exit::Refused, "exists", message).next("choose a new directory; nothing was written")
                );
            }
            Ok(false)
        }
        made => made.map(|()| true).map_err(cannot("make", into)),
    }
}

/// Copies a file for its owner only; false if there is none.
fn copy(from: &Path, to: &Path) -> Result<bool, CliError> {
    let mut content = Vec::new();
    match fs::File::open(from).and_then(|mut file| file.read_to_end(&mut content)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.map_err(cannot("read", from))?,
    };
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        file.write_all(&content)?;
        file.sync_all()
    };
    write().map_err(cannot("write", to))?;
    Ok(true)
}

/// The commands of providers that were named on a command line; what these keep beside them is their own.
fn copy_providers(from: &Path, to: &Path) -> Result<bool, CliError> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.map_err(cannot("read", from))?,
    };
    let mut some = false;
    for entry in entries {
        let entry = entry.map_err(cannot("read", from))?;
        let command = entry.path().join(REMEMBERED);
        if !command.exists() {
            continue;
        }
        let into = to.join(entry.file_name());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&into).map_err(cannot("make", &into))?;
        some |= copy(&command, &into.join(REMEMBERED))?;
        sync(&into)?;
    }
    Ok(some)
}

/// What machines join with that are being made right now.
fn copy_enrolment(from: &Path, to: &Path) -> Result<bool, CliError> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.map_err(cannot("read", from))?,
    };
    fs::DirBuilder::new().mode(0o700).create(to).map_err(cannot("make", to))?;
    let mut some = false;
    for entry in entries {
        let entry = entry.map_err(cannot("read", from))?;
        // One that was used meanwhile is gone, and not needed.
        some |= copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    sync(to)?;
    Ok(some)
}

fn sync(dir: &Path) -> Result<(), CliError> {
    fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(cannot("write", dir))
}

/// Makes a journal in a new folder of what is durable by now, whether the node runs or not.
fn copy_journal(global: &Global, into: &Path) -> Result<Exported, CliError> {
    let runtime = |message| move |error: io::Error| CliError::new(Exit::Error, "runtime", message).because(&error);
    let (lines, to) = io::pipe().map_err(runtime("cannot make a pipe"))?;
    let importing = {
        let into = into.to_owned();
        let import = move || bailiwick_journal::import_as(&mut BufReader::new(lines), &into, Identity::Kept);
        thread::Builder::new().name("import".into()).spawn(import).map_err(runtime("cannot start a thread"))?
    };
    let mut to = BufWriter::new(to);
    let exported = export(global, &mut to);
    // Whoever imports sees the end of the lines now.
    drop(to);
    let imported = importing.join().map_err(|_| CliError::new(Exit::Error, "runtime", "the import ended early"))?;
    match (exported, imported) {
        // Nobody took the lines any more: why not is what counts.
        (Err(error), Err(why)) if error.is_closed_pipe() => Err(not_imported(why)),
        (exported, imported) => exported.and(imported.map_err(not_imported)),
    }
}

/// Writes the lines of an export: of a running node, or of the journal of a stopped one.
pub(super) fn export(global: &Global, to: &mut impl Write) -> Result<Exported, CliError> {
    let client = session::client(global)?;
    give_way();
    let streamed = session::block_on(async {
        let mut lines = client.get_lines("/v1/journal/export").await?;
        let mut last = String::new();
        while let Some(line) = lines.next_line().await? {
            let written = to.write_all(line.as_bytes()).and_then(|()| to.write_all(b"\n"));
            if let Err(error) = written {
                return Ok(Err(error));
            }
            last = line;
        }
        Ok(to.flush().map(|()| last))
    })?;
    match streamed {
        Ok(Ok(last)) => counted(global, &last),
        Ok(Err(error)) => Err(super::output::OutputError::Write(error).into()),
        Err(ClientError::NotRunning { .. }) => {
            let data_dir = session::data_dir(global)?;
            let opened = ReadOnlyJournal::open(&journal_dir(&data_dir));
            let opened = opened.map_err(|error| session::not_opened(&data_dir, error))?;
            let journal = session::say_repair(opened, &journal_dir(&data_dir));
            Ok(journal.export_told(to, &readable)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// What the last line of an export says; without it, the connection broke off.
fn counted(global: &Global, last: &str) -> Result<Exported, CliError> {
    let early = || {
        CliError::new(Exit::TryAgain, "export-ended-early", "the node's export ended early")
            .next("retry; the node's log says why it ended")
    };
    let end: serde_json::Value = serde_json::from_str(last).map_err(|_| early())?;
    let number = |name: &str| end["end"][name].as_u64();
    let bytes = end["end"]["hash"].as_str().and_then(unhex);
    let (Some(blocks), Some(entries), Some(hash)) = (number("blocks"), number("entries"), bytes) else {
        return Err(early());
    };
    let node: serde_json::Value = session::block_on(session::client(global)?.get_json("/v1/node"))??;
    let journal = node["journal"].as_str().and_then(|id| id.parse().ok()).ok_or_else(early)?;
    Ok(Exported { journal, blocks, entries, hash })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(text).ok().map(Into::into)
}
