//! The C shim, built and read: what a process did to the files below a folder, call by call.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use bailiwick_journal::disk::{Access, Disk, SimulatedDisk};

use crate::{runner::files, workload::Acknowledged};

const SOURCE: &str = include_str!("shim.c");

/// Builds the shim into a folder.
pub fn build(place: &Path) -> Result<PathBuf, String> {
    let (source, library) = (place.join("shim.c"), place.join("shim.so"));
    std::fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .args([&library, &source])
        .args(["-ldl", "-pthread"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("a C compiler is needed ({compiler}): {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(library) } else { Err(format!("{compiler} cannot build the shim: {said}")) }
}

/// One call, names relative to the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Write { name: String, offset: u64, bytes: Vec<u8> },
    SetLen { name: String, length: u64 },
    Create { name: String },
    Rename { from: String, to: String },
    Remove { name: String },
    SyncBegins { name: String, number: u64 },
    SyncEnded { number: u64 },
    Acknowledged(Vec<Acknowledged>),
}

/// Everything a process did, in order.
#[derive(Debug, Default)]
pub struct Recording {
    pub events: Vec<Event>,
    /// At which event each sync had ended well.
    ended: BTreeMap<u64, usize>,
}

impl Recording {
    pub fn read(file: &Path, root: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(file).map_err(|error| format!("no recording: {error}"))?;
        let mut recording = Self::default();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (event, behind) = parse(rest, root).ok_or("a recording that cannot be read")?;
            if let Event::SyncEnded { number } = event {
                recording.ended.insert(number, recording.events.len());
            }
            recording.events.push(event);
            rest = behind;
        }
        Ok(recording)
    }

    /// The disk as the first `cut` calls left it in memory and on the platter, and what was acknowledged by then.
    pub fn replay(&self, base: &Base, cut: usize) -> Result<(SimulatedDisk, Vec<Acknowledged>), String> {
        let disk = base.disk()?;
        let mut told = Vec::new();
        for event in &self.events[..cut] {
            self.apply(event, cut, &disk, &mut told).map_err(|error| format!("{event:?}: {error}"))?;
        }
        Ok((disk, told))
    }

    fn apply(
        &self,
        event: &Event,
        cut: usize,
        disk: &SimulatedDisk,
        told: &mut Vec<Acknowledged>,
    ) -> std::io::Result<()> {
        match event {
            Event::Write { name, offset, bytes } => disk.open(name, Access::Write)?.write_at(bytes, *offset),
            Event::SetLen { name, length } => disk.open(name, Access::Write)?.set_len(*length),
            Event::Create { name } => disk.create(name).map(drop),
            Event::Rename { from, to } => disk.rename(from, to),
            Event::Remove { name } => disk.remove(name),
            // What was written before a sync began is on the platter once it has ended, and nothing is known before.
            Event::SyncBegins { name, number } if self.ended.get(number).is_some_and(|ended| *ended < cut) => {
                match disk.open(name, Access::Write) {
                    Ok(file) => file.sync(),
                    Err(_) => disk.sync_dir(name),
                }
            }
            Event::SyncBegins { .. } | Event::SyncEnded { .. } => Ok(()),
            Event::Acknowledged(more) => {
                told.extend(more);
                Ok(())
            }
        }
    }
}

fn parse<'a>(bytes: &'a [u8], root: &Path) -> Option<(Event, &'a [u8])> {
    let (head, rest) = bytes.split_first_chunk::<21>()?;
    let lengths = [u16::from_le_bytes([head[1], head[2]]), u16::from_le_bytes([head[3], head[4]])];
    let number = u64::from_le_bytes(head[5..13].try_into().ok()?);
    let count = u64::from_le_bytes(head[13..21].try_into().ok()?);
    let (one, rest) = rest.split_at_checked(lengths[0].into())?;
    let (two, rest) = rest.split_at_checked(lengths[1].into())?;
    let (data, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    let relative = |name: &[u8]| {
        let name = str::from_utf8(name).ok()?;
        Some(Path::new(name).strip_prefix(root).ok()?.to_str()?.to_owned())
    };
    let name = || relative(one);
    let event = match head[0] {
        b'W' => Event::Write { name: name()?, offset: number, bytes: data.to_vec() },
        b'T' => Event::SetLen { name: name()?, length: number },
        b'C' => Event::Create { name: name()? },
        b'R' => Event::Rename { from: name()?, to: relative(two)? },
        b'U' => Event::Remove { name: name()? },
        b's' => Event::SyncBegins { name: name()?, number },
        b'S' => Event::SyncEnded { number },
        b'A' => {
            let lines = str::from_utf8(data).ok()?.lines();
            Event::Acknowledged(lines.filter_map(Acknowledged::parse).collect())
        }
        _ => return None,
    };
    Some((event, rest))
}

/// What was on the platter before.
#[derive(Clone, Debug, Default)]
pub struct Base(BTreeMap<String, Vec<u8>>);

impl Base {
    pub fn of(disk: &SimulatedDisk) -> Self {
        Self(disk.contents())
    }

    fn disk(&self) -> Result<SimulatedDisk, String> {
        let disk = SimulatedDisk::new();
        for (name, bytes) in &self.0 {
            let file = disk.create(name).map_err(|error| error.to_string())?;
            file.write_at(bytes, 0).and_then(|()| file.sync()).map_err(|error| error.to_string())?;
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            disk.sync_dir(folder).map_err(|error| error.to_string())?;
        }
        Ok(disk)
    }

    /// Writes it into an empty folder.
    pub fn put(&self, dir: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        for (name, bytes) in &self.0 {
            let path = dir.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }
}

/// Whether a segment of the log is as it was recorded, and longer by zeros: room ahead of a large block is reserved by a
/// call of the system that does not go through the C library, and says nothing about what is in the file.
fn is_reserved_behind(name: &str, seen: &[u8], really: &[u8]) -> bool {
    let is_segment = name.starts_with("log/") && name.ends_with(".log");
    let reserved = really.strip_prefix(seen);
    is_segment && reserved.is_some_and(|reserved| reserved.iter().all(|byte| *byte == 0))
}

/// Whether a recording, played to its end, gives the files that are really there: else the shim misses something.
pub fn agrees(recording: &Recording, base: &Base, dir: &Path) -> Result<(), String> {
    let (disk, _) = recording.replay(base, recording.events.len())?;
    let replayed = disk.contents();
    let really: BTreeMap<String, Vec<u8>> = files(dir)
        .into_iter()
        .filter_map(|file| Some((file.strip_prefix(dir).ok()?.to_str()?.to_owned(), std::fs::read(&file).ok()?)))
        .collect();
    for (name, bytes) in &really {
        let seen = replayed.get(name).map_or(&[][..], Vec::as_slice);
        if !replayed.contains_key(name) || !(seen == bytes || is_reserved_behind(name, seen, bytes)) {
            return Err(format!("the shim has missed a call: {name} differs"));
        }
    }
    let more = replayed.keys().find(|name| !really.contains_key(*name));
    more.map_or(Ok(()), |name| Err(format!("the shim has missed a call: {name} is not there")))
}
