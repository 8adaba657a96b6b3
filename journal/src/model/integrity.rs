//! What `open` and `check` report: each problem by kind and place, and what is missing of each stream.

use std::fmt;

use crate::{Position, StreamId, Version};

/// What was found wrong. Nothing has been changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    pub problems: Vec<Problem>,
    /// Events that are known to have existed, by stream.
    pub missing: Vec<MissingEvents>,
    /// The first position behind the last entry that follows without a gap from the first, and the last that is known to
    /// have been there: what is between is missing, unreadable, or behind damage.
    pub missing_positions: Option<(Position, Position)>,
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// The file, relative to the journal's folder.
    pub file: String,
    /// Where in the file, in bytes.
    pub offset: Option<u64>,
    /// The first and last block that this concerns.
    pub blocks: Option<(u64, u64)>,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Bytes that are no block stand where a block should be.
    LogDamaged,
    /// The log ends before a block that is known to have been acknowledged.
    LogCut,
    /// Blocks are missing between others.
    BlocksMissing,
    /// A sound block does not follow from the one before it.
    ChainBroken,
    /// A sound block holds entries that cannot be read or are out of order.
    RecordMalformed,
    /// A block or segment belongs to another journal.
    ForeignBlock,
    /// The beginning of a segment cannot be read.
    SegmentBeginDamaged,
    /// A full segment has no seal.
    SealDamaged,
    /// Bytes behind the last acknowledged block: a crash inside a write.
    TornTail,
    /// The log was written by a later version.
    NewerFormat { format: u8 },
    /// Log and block store hold different blocks of one number.
    StoreDiffers,
    /// The block store has lost, or never had, what it should have.
    StoreDamaged,
    /// The head file names another block than the log has.
    HeadDiffers,
    /// The head file is missing or cannot be read.
    HeadDamaged,
    /// The `FORMAT` file is missing or cannot be read.
    FormatDamaged,
    /// A file is missing that a journal always has.
    FileMissing,
    /// The file knows of newer blocks than log and head file do: those two were put back to an older state.
    RolledBack,
}

/// Events that are missing of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEvents {
    pub stream: StreamId,
    pub first: Version,
    pub last: Version,
    /// Missing entries of the stream that are known, those without events included.
    pub entries: u64,
    /// The events of those entries. Where the range has more, entries are missing that nobody could read.
    pub events: u64,
}

impl MissingEvents {
    /// Nothing yet of a stream that is whole up to this version: what comes behind it is missing.
    pub(crate) fn behind(stream: StreamId, whole: Version) -> Self {
        Self { stream, first: whole.next(), last: whole, entries: 0, events: 0 }
    }

    /// One more entry that is missing: how many events it has, and the stream's version after it.
    pub(crate) fn lose(&mut self, events: u64, last: Version) {
        self.last = self.last.max(last);
        self.entries += 1;
        self.events += events;
    }

    /// Whether entries are missing besides those that are known.
    fn has_more(&self) -> bool {
        self.events < self.last.0.saturating_add(1).saturating_sub(self.first.0)
    }
}

impl IntegrityReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for IntegrityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() {
            return f.write_str("no problem found");
        }
        let problems: Vec<String> = self.problems.iter().map(Problem::to_string).collect();
        f.write_str(&problems.join("; "))?;
        if let Some((first, last)) = self.missing_positions {
            write!(f, "; affected: entries {first} to {last}")?;
        }
        for missing in self.missing.iter().take(10) {
            write!(f, "; {missing}")?;
        }
        if self.missing.len() > 10 {
            write!(f, "; and of {} more streams", self.missing.len() - 10)?;
        }
        f.write_str(
            ". Nothing was changed. Next: `bailiwick journal check` lists everything; restore a backup or an export, or recover \
             what is intact with `bailiwick journal salvage DIR --into NEWDIR`",
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.kind)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        match self.blocks {
            Some((first, last)) if first == last => write!(f, " (block {first})"),
            Some((first, last)) => write!(f, " (blocks {first} to {last})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::LogDamaged => "damaged block",
            Self::LogCut => "ends before an acknowledged block",
            Self::BlocksMissing => "blocks are missing",
            Self::ChainBroken => "a block does not follow from the one before",
            Self::RecordMalformed => "a block holds entries that cannot be read",
            Self::ForeignBlock => "belongs to another journal",
            Self::SegmentBeginDamaged => "damaged beginning",
            Self::SealDamaged => "damaged seal",
            Self::TornTail => "torn write behind the last block",
            Self::NewerFormat { format } => return write!(f, "has format {format}, which is newer"),
            Self::StoreDiffers => "holds another block than the log",
            Self::StoreDamaged => "damaged block store",
            Self::HeadDiffers => "names another block than the log has",
            Self::HeadDamaged => "missing or damaged head",
            Self::FormatDamaged => "missing or damaged FORMAT",
            Self::FileMissing => "missing",
            Self::RolledBack => "knows of newer blocks than log and head file, which were restored to an older state",
        };
        f.write_str(text)
    }
}

impl fmt::Display for MissingEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, first, last, entries, .. } = self;
        let noun = if *entries == 1 { "entry" } else { "entries" };
        let entries = if self.has_more() { format!("at least {entries}") } else { entries.to_string() };
        if last < first {
            write!(f, "{stream}: {entries} {noun} without events")
        } else if last == first {
            write!(f, "{stream}: event {first} ({entries} {noun})")
        } else {
            write!(f, "{stream}: events {first} to {last} ({entries} {noun})")
        }
    }
}
