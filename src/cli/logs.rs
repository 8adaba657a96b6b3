//! `bailiwick logs`: what the workloads of a local machine print.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use bailiwick_actors::vocab::Name;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    inside::{directory, machine, unreadable, workload},
    output::OutputError,
};
use crate::{agent::directory::MachineDir, text::harmless};

/// How often a log is looked at that is followed.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct LogsArgs {
    /// A machine of the provider `local`, on this machine
    #[arg(value_name = "MACHINE")]
    machine: String,
    /// The workload; may be left out if there is only one
    #[arg(value_name = "WORKLOAD", conflicts_with = "agent")]
    workload: Option<String>,
    /// Show more as it is printed, until interrupted or the machine is gone
    #[arg(short, long)]
    follow: bool,
    /// Show only so many of the last lines
    #[arg(long, value_name = "LINES")]
    tail: Option<usize>,
    /// What the machine's agent itself says, such as why a workload cannot be started
    #[arg(long)]
    agent: bool,
}

pub(super) fn main(global: &Global, args: LogsArgs) -> Result<Exit, CliError> {
    let machine = machine(&args.machine)?;
    let directory = directory(global, &machine)?;
    let path = if args.agent { directory.agent_log() } else { log_of(&directory, &machine, args.workload.as_deref())? };
    let mut log = Log::open(path);
    let mut text = log.earlier().and_then(|earlier| Ok([earlier, log.more()?].concat()));
    if let Some(lines) = args.tail {
        text = text.map(|text| last_lines(&text, lines).to_vec());
    }
    print(&text.map_err(|error| unreadable(&log.path, &error))?)?;
    while args.follow && directory.path().exists() {
        thread::sleep(LOOK_AGAIN);
        let more = log.more().map_err(|error| unreadable(&log.path, &error))?;
        print(&more)?;
    }
    Ok(Exit::Ok)
}

/// The log of a workload: of each that has printed something, and of each that was declared.
fn log_of(directory: &MachineDir, machine: &Name, named: Option<&str>) -> Result<PathBuf, CliError> {
    let logs = directory.logs();
    let mut all = directory
        .read_tag()
        .ok()
        .flatten()
        .map_or_else(Vec::new, |tag| tag.workloads.into_iter().map(|workload| workload.name).collect());
    for entry in fs::read_dir(&logs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        all.extend(name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok()));
    }
    all.sort_unstable();
    all.dedup();
    Ok(logs.join(format!("{}.log", workload(machine, named, &all)?)))
}

/// Lets bytes through as they are to a program, and harmless to a terminal.
fn print(text: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let printed = if out.is_terminal() {
        let text = String::from_utf8_lossy(text);
        let lines: Vec<_> = text.split('\n').map(harmless).collect();
        out.write_all(lines.join("\n").as_bytes())
    } else {
        out.write_all(text)
    };
    printed.and_then(|()| out.flush()).map_err(|error| OutputError::Write(error).into())
}

fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let ended = text.strip_suffix(b"\n").unwrap_or(text);
    let breaks = ended.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match (lines, breaks.map(|(at, _)| at + 1).nth(lines.saturating_sub(1))) {
        (0, _) => &[],
        (_, begin) => &text[begin.unwrap_or(0)..],
    }
}

/// A log, read as far as it was written. A full one is moved aside and begun anew, or cut.
struct Log {
    path: PathBuf,
    open: Option<File>,
}

impl Log {
    fn open(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    /// What stands in the one before it.
    fn earlier(&self) -> io::Result<Vec<u8>> {
        let mut before = self.path.clone().into_os_string();
        before.push(".1");
        or_nothing(fs::read(PathBuf::from(before)))
    }

    /// What was written since the last time.
    fn more(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Some(file) = &mut self.open {
            let is_cut = file.metadata()?.len() < file.stream_position()?;
            if is_cut {
                file.seek(SeekFrom::Start(0))?;
            }
            file.read_to_end(&mut text)?;
            if is_same(file, &self.path)? {
                return Ok(text);
            }
        }
        self.open = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened?),
        };
        if let Some(file) = &mut self.open {
            file.read_to_end(&mut text)?;
        }
        Ok(text)
    }
}

/// Whether this is still the file of that name.
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        // Just moved aside: the next one comes with the next output.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn or_nothing(read: io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_followed_over_its_ends() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("a.log");
        let mut log = Log::open(path.clone());
        let more = |log: &mut Log| String::from_utf8(log.more().expect("readable")).expect("text");
        // Given nothing, then some
        assert_eq!(more(&mut log), "");
        fs::write(&path, "one\n").expect("written");
        assert_eq!((more(&mut log).as_str(), more(&mut log).as_str()), ("one\n", ""));
        // When it is full and moved aside, then nothing is missed
        let mut held = fs::OpenOptions::new().append(true).open(&path).expect("open");
        held.write_all(b"two\n").expect("written");
        fs::rename(&path, scratch.path().join("a.log.1")).expect("moved");
        assert_eq!(more(&mut log), "two\n");
        fs::write(&path, "three\n").expect("written");
        assert_eq!(more(&mut log), "three\n");
        assert_eq!(log.earlier().expect("readable"), b"one\ntwo\n");
        // When it is cut, it is read from its beginning
        fs::OpenOptions::new().write(true).open(&path).expect("open").set_len(0).expect("cut");
        assert_eq!(more(&mut log), "");
        fs::OpenOptions::new().append(true).open(&path).expect("open").write_all(b"4\n").expect("written");
        assert_eq!(more(&mut log), "4\n");
    }

    #[test]
    fn the_last_lines_are_those_that_are_asked_for() {
        let last = |text: &'static str, lines| std::str::from_utf8(last_lines(text.as_bytes(), lines)).expect("text");
        assert_eq!(last("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(last("a\nb\nc", 1), "c");
        assert_eq!(last("a\nb\n", 5), "a\nb\n");
        assert_eq!(last("a\nb\n", 0), "");
        assert_eq!(last("", 3), "");
    }
}
