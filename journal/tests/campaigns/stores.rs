//! Journals that are damaged by the campaigns: stopped in order or killed, with a yesterday, and with what they hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use bailiwick_journal::{
    Entry, Journal, LocalJournal, Position, ProblemKind, ReadOnlyJournal, Settings, Snapshot, Snapshots, Threads,
    Version, append_blocking, check,
};
use uuid::Uuid;

use crate::{
    dice::Dice,
    kill,
    runner::copy,
    workload::{self, Acknowledged, AppendId, Shape},
};

const SEGMENT_BYTES: u64 = 32 * 1024;

/// One journal as it is found in the morning.
pub struct Store {
    pub dir: PathBuf,
    /// The same folder as it was when it was stopped the day before.
    pub yesterday: PathBuf,
    pub killed: bool,
    /// There is a torn write behind the last block, and only the head file says that nothing else is missing.
    pub torn: bool,
    /// All that can be read of it.
    pub entries: Vec<Arc<Entry>>,
    /// How many of them must never be missed.
    pub acknowledged: usize,
    pub tip_block: u64,
    /// The block store has the blocks up to this one.
    pub stored_block: u64,
    pub snapshot: Snapshot,
}

pub fn settings() -> Settings {
    workload::settings(Threads::Own, SEGMENT_BYTES)
}

/// Makes one, in folders below `place`.
pub fn make(place: &Path, killed: bool, dice: &mut Dice) -> Result<Store, String> {
    let (dir, yesterday) = (place.join("today"), place.join("yesterday"));
    let problem = |error: &dyn std::fmt::Display| error.to_string();
    write(&dir, workload::ID, 0, 30 + dice.below(60))?;
    let snapshot = Snapshot {
        stream: "machine/0-0".parse().map_err(|error| problem(&error))?,
        version: Version(1),
        position: Position(2),
        schema: 1,
        fingerprint: 7,
        state: dice.bytes(5_000),
    };
    Snapshots::in_dir(&dir).save(&snapshot).map_err(|error| problem(&error))?;
    copy(&dir, &yesterday).map_err(|error| problem(&error))?;
    let mut told = Vec::new();
    if killed {
        // A short life first, so that there is a killed life on top of a killed one.
        for life in 1..=2 {
            told.extend(kill::killed(&dir, life, SEGMENT_BYTES / 1024, 20 + dice.below(60))?);
        }
    } else {
        write(&dir, workload::ID, 1, 30 + dice.below(60))?;
    }
    let found = check(&dir).map_err(|error| problem(&error))?;
    let torn = found.mendable.iter().any(|mendable| mendable.kind == ProblemKind::TornTail);
    let journal = ReadOnlyJournal::open(&dir).map_err(|error| problem(&error))?;
    let entries = workload::read_all(&journal)?;
    workload::verify(&entries, &told)?;
    let tip_block = journal.head().block;
    drop(journal);
    let acknowledged = if killed { behind_last(&entries, &told) } else { entries.len() };
    let aside = place.join("aside");
    copy(&dir, &aside).map_err(|error| problem(&error))?;
    // Read in full, so that it says what the store had.
    let settings = Settings { index_checkpoint: false, ..settings() };
    let opened = LocalJournal::open(workload::config(&aside, settings));
    let (_, report) = opened.map_err(|error| problem(&error))?;
    let stored_block = tip_block - report.caught_up_blocks;
    Ok(Store { dir, yesterday, killed, torn, entries, acknowledged, tip_block, stored_block, snapshot })
}

/// Appends, and stops in order.
pub fn write(dir: &Path, id: Uuid, life: u32, count: u64) -> Result<(), String> {
    let config = bailiwick_journal::Config { id: Some(id), ..workload::config(dir, settings()) };
    let (journal, _) = LocalJournal::open(config).map_err(|error| error.to_string())?;
    append(&journal, life, count)?;
    journal.close().map_err(|error| error.to_string())
}

/// Appends of one writer, mostly small ones.
pub fn append(journal: &LocalJournal, life: u32, count: u64) -> Result<(), String> {
    append_and_tell(journal, life, count, |_| ())
}

/// As [`append`], and tells of each when it was acknowledged.
pub fn append_and_tell(
    journal: &LocalJournal,
    life: u32,
    count: u64,
    mut tell: impl FnMut(Acknowledged),
) -> Result<(), String> {
    let mut versions = BTreeMap::new();
    for sequence in 0..count as u32 {
        let shape = match sequence % 16 {
            15 => Shape::BigGroup,
            7 => Shape::Big,
            number => Shape::ALL[number as usize % 2],
        };
        let append = AppendId { life, writer: 0, sequence, shape };
        let appended =
            append_blocking(journal, append.drafts(journal, &mut versions)).map_err(|error| error.to_string())?;
        tell(Acknowledged { append, position: appended.entries()[0].header.position.0 });
    }
    Ok(())
}

/// How many entries there are up to the end of the last acknowledged append.
fn behind_last(entries: &[Arc<Entry>], told: &[Acknowledged]) -> usize {
    let last = told.iter().map(|told| told.position).max().unwrap_or(0) as usize;
    let prefix = |entry: &Arc<Entry>| entry.header.meta.command_id.as_bytes()[..10].to_vec();
    let Some(first) = last.checked_sub(1).and_then(|at| entries.get(at)) else { return 0 };
    let group = prefix(first);
    last + entries[last..].iter().take_while(|entry| prefix(entry) == group).count()
}

/// The newest block in a segment file, as far as it is not compressed.
pub fn newest_block(file: &Path) -> Option<u64> {
    let bytes = std::fs::read(file).ok()?;
    let mut at = 128;
    let mut newest = None;
    while bytes.get(at..at + 4) == Some(b"bwbk") {
        newest = Some(u64::from_le_bytes(bytes.get(at + 32..at + 40)?.try_into().ok()?));
        at += 128 + u32::from_le_bytes(bytes.get(at + 8..at + 12)?.try_into().ok()?) as usize;
    }
    newest
}

/// Gives the files that an index checkpoint names the times that it says they had, where they have the length that it says:
/// a disk that keeps a file's time and loses what was not synced of its content is the worst that may be found.
pub fn times_as_remembered(dir: &Path) -> std::io::Result<()> {
    let Ok(bytes) = std::fs::read(dir.join("index.checkpoint")) else { return Ok(()) };
    let number = |at: usize, count: usize| {
        let found = bytes.get(at..at + count).unwrap_or(&[]);
        found.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let (segments, stored, mut at) = (number(112, 4), number(116, 4), 128);
    let mut named = Vec::new();
    for _ in 0..segments.min(1 << 16) {
        let ending = if number(at + 4, 4) == 1 { ".log.zst" } else { ".log" };
        named.push((format!("log/{:010}{ending}", number(at, 4)), number(at + 8, 8), number(at + 16, 8)));
        at += 24;
    }
    for _ in 0..stored.min(1 << 16) {
        let length = number(at, 2) as usize;
        let name = String::from_utf8_lossy(bytes.get(at + 2..at + 2 + length).unwrap_or(&[])).into_owned();
        named.push((format!("sled/{name}"), number(at + 2 + length, 8), number(at + 10 + length, 8)));
        at += 18 + length;
    }
    for (name, length, time) in named {
        let Ok(file) = std::fs::File::options().write(true).open(dir.join(name)) else { continue };
        if file.metadata()?.len() == length {
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_nanos(time))?;
        }
    }
    Ok(())
}

/// A hash of every file below a folder, the lock file left aside.
pub fn hashes(dir: &Path) -> BTreeSet<(PathBuf, u64, [u8; 16])> {
    let relevant = crate::runner::files(dir).into_iter().filter(|file| !file.ends_with("lock"));
    let hashed = relevant.map(|file| {
        let bytes = std::fs::read(&file).unwrap_or_default();
        (file, bytes.len() as u64, bailiwick_journal::digest(&bytes))
    });
    hashed.collect()
}
