//! How much there is in a journal, by kind and by stream.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

use crate::{
    Head, Journal, OpenError, ReadOnlyJournal, StreamId,
    core::Core,
    disk::Disk,
    format::frame::{self, HEADER_BYTES},
};

/// How much there is in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalStat {
    pub journal: Uuid,
    pub head: Head,
    /// The first entry's time, in milliseconds.
    pub first_time_ms: u64,
    pub segments: usize,
    /// Bytes of all segment files, what is filled ahead included.
    pub file_bytes: u64,
    pub total: Amount,
    pub by_kind: BTreeMap<String, Amount>,
    pub by_stream: BTreeMap<StreamId, Amount>,
}

/// Some of a journal's entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub entries: u64,
    pub events: u64,
    /// Encoded bytes.
    pub bytes: u64,
}

/// Counts what is in the journal in a folder.
///
/// # Errors
/// As [`ReadOnlyJournal::open`].
pub fn stat(dir: &Path) -> Result<JournalStat, OpenError> {
    stat_of(&ReadOnlyJournal::open(dir)?, dir.to_owned())
}

/// As [`stat`], on any disk.
///
/// # Errors
/// As [`ReadOnlyJournal::open`].
pub fn stat_on(disk: Arc<dyn Disk>) -> Result<JournalStat, OpenError> {
    let path = disk.path();
    stat_of(&ReadOnlyJournal::open_on(disk)?, path)
}

fn stat_of(journal: &ReadOnlyJournal, path: PathBuf) -> Result<JournalStat, OpenError> {
    let size = Size { segments: journal.segments, bytes: journal.file_bytes };
    count(&journal.core, journal, size, path, |_| ())
}

/// The log's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub segments: usize,
    pub bytes: u64,
}

/// Counts what is in a journal by now; `after` is called after every block.
pub(crate) fn count(
    core: &Core,
    journal: &dyn Journal,
    size: Size,
    path: PathBuf,
    mut after: impl FnMut(u64),
) -> Result<JournalStat, OpenError> {
    let mut stat = JournalStat {
        journal: journal.id(),
        head: journal.head(),
        first_time_ms: 0,
        segments: size.segments,
        file_bytes: size.bytes,
        total: Amount::default(),
        by_kind: BTreeMap::new(),
        by_stream: BTreeMap::new(),
    };
    for number in 1..=stat.head.block {
        let unreadable = |problem: String| OpenError::Io {
            action: "read the log in",
            path: path.clone(),
            source: std::io::Error::other(problem),
        };
        let block = core.load_in_passing(number).map_err(|error| unreadable(error.to_string()))?;
        for record in frame::records(&block.bytes()[HEADER_BYTES..]) {
            let record = record.map_err(|problem| unreadable(problem.to_owned()))?;
            let stream = record.stream_text().ok().and_then(|text| text.parse::<StreamId>().ok());
            let stream = stream.ok_or_else(|| unreadable("a stream has no valid name".into()))?;
            let amount = Amount { entries: 1, events: u64::from(record.events()), bytes: record.bytes() as u64 };
            if stat.total.entries == 0 {
                stat.first_time_ms = record.time_ms();
            }
            stat.total.add(amount);
            stat.by_kind.entry(stream.kind().to_owned()).or_default().add(amount);
            stat.by_stream.entry(stream).or_default().add(amount);
        }
        after(number);
    }
    Ok(stat)
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.events += other.events;
        self.bytes += other.bytes;
    }
}
