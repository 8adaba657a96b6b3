//! Appends whose whole content follows from their id, so that whoever finds one knows what it must look like.

mod full;

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use bailiwick_journal::{
    Body, Draft, Entry, EntryKind, Journal, LocalJournal, Meta, NOTE_STREAM, Outcome, PolicyRef, Position, Snapshot,
    Snapshots, StreamId, VerificationProgress, Version, digest,
};
use uuid::Uuid;

use crate::dice::Dice;
pub use full::*;

pub const ID: Uuid = Uuid::from_u128(0xB417);
const TIME_MS: u64 = 1_000;
const STREAMS_EACH: u64 = 5;

/// How large an append is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    Small,
    /// Up to five drafts, one stream each.
    Group,
    /// Bodies of up to 60 KiB.
    Big,
    BigGroup,
}

impl Shape {
    pub const ALL: [Self; 4] = [Self::Small, Self::Group, Self::Big, Self::BigGroup];

    fn of(number: u64) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

/// Names one append: the number of the process, of the writer in it, and of the append of that writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppendId {
    pub life: u32,
    pub writer: u16,
    pub sequence: u32,
    pub shape: Shape,
}

/// One draft of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    append: AppendId,
    index: u8,
    count: u8,
}

impl AppendId {
    /// How many drafts it has.
    fn count(self) -> u8 {
        match self.shape {
            Shape::Small | Shape::Big => 1,
            Shape::Group | Shape::BigGroup => 2 + self.dice(0).below(4) as u8,
        }
    }

    fn dice(self, index: u64) -> Dice {
        Dice::of(&[u64::from(self.life), u64::from(self.writer), u64::from(self.sequence), self.shape as u64, index])
    }

    /// A saved state that says when it was saved, and with what.
    pub fn snapshot(self) -> Snapshot {
        let mut dice = self.dice(u64::MAX);
        let count = dice.index(9_000);
        Snapshot {
            stream: format!("machine/{}-0", self.writer).parse().expect("a valid stream"),
            version: Version(u64::from(self.sequence) + 1),
            position: Position(u64::from(self.life) + 1),
            schema: 1 + self.shape as u16,
            fingerprint: 7,
            state: dice.bytes(count),
        }
    }

    /// What the command ids of all its drafts begin with.
    pub fn first_bytes(self) -> [u8; 11] {
        let id = Part { append: self, index: 0, count: 1 }.command_id();
        let mut first = [0; 11];
        first.copy_from_slice(&id.as_bytes()[..11]);
        first
    }

    /// The drafts, on top of the versions that the journal has now, or will have: `versions` is moved on.
    pub fn drafts(self, journal: &dyn Journal, versions: &mut BTreeMap<StreamId, Version>) -> Vec<Draft> {
        let count = self.count();
        let mut drafts = Vec::new();
        for index in 0..count {
            let mut draft = Part { append: self, index, count }.draft();
            let version = versions.entry(draft.stream.clone()).or_insert_with(|| journal.version(&draft.stream));
            draft.expected = *version;
            *version = version.plus(draft.events.len() as u64);
            drafts.push(draft);
        }
        drafts
    }
}

impl Part {
    fn command_id(self) -> Uuid {
        let Self { append: AppendId { life, writer, sequence, shape }, index, count } = self;
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&life.to_be_bytes());
        bytes[4..6].copy_from_slice(&writer.to_be_bytes());
        bytes[6..10].copy_from_slice(&sequence.to_be_bytes());
        bytes[10..13].copy_from_slice(&[shape as u8, index, count]);
        bytes[13..].copy_from_slice(b"cam");
        Uuid::from_bytes(bytes)
    }

    fn of(command_id: Uuid) -> Option<Self> {
        let bytes = command_id.as_bytes();
        let append = AppendId {
            life: u32::from_be_bytes(bytes[..4].try_into().ok()?),
            writer: u16::from_be_bytes(bytes[4..6].try_into().ok()?),
            sequence: u32::from_be_bytes(bytes[6..10].try_into().ok()?),
            shape: Shape::of(u64::from(bytes[10]))?,
        };
        let part = Self { append, index: bytes[11], count: bytes[12] };
        (part.command_id() == command_id && part.count == append.count()).then_some(part)
    }

    fn draft(self) -> Draft {
        let Self { append, index, .. } = self;
        let mut dice = append.dice(1 + u64::from(index));
        let body = |bytes| Body { schema: 1, bytes };
        let command = body(format!("{append} draft {index}").into_bytes());
        let big = matches!(append.shape, Shape::Big | Shape::BigGroup);
        let events: Vec<Body> = (0..dice.below(4)).map(|_| body(some_bytes(&mut dice, big, 48))).collect();
        let policy = dice.one_in(3).then(|| PolicyRef { name: "default".into(), revision: 1, digest: [7; 16] });
        let meta = Meta {
            kind: EntryKind::Decision,
            outcome: if events.is_empty() { Outcome::Nothing } else { Outcome::Done },
            code: "tried".into(),
            time_ms: TIME_MS,
            command_id: self.command_id(),
            command_hash: digest(&command.bytes),
            cause: dice.one_in(2).then_some(Position(1)),
            principal: format!("writer:{}", append.writer),
            policy,
            view: dice.one_in(2).then_some(Position(1)),
            cites: Vec::new(),
        };
        let stream = (u64::from(append.sequence) + u64::from(index)) % STREAMS_EACH;
        Draft {
            stream: format!("machine/{}-{stream}", append.writer).parse().expect("a valid stream"),
            expected: Version::ZERO,
            meta,
            command,
            facts: body(some_bytes(&mut dice, big, 120)),
            verdict: body(some_bytes(&mut dice, false, 60)),
            events,
        }
    }
}

fn some_bytes(dice: &mut Dice, big: bool, usual: u64) -> Vec<u8> {
    let below = if big && dice.one_in(2) { 60 * 1024 } else { usual };
    let count = dice.below(below) as usize;
    dice.bytes(count)
}

impl fmt::Display for AppendId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { life, writer, sequence, shape } = self;
        write!(f, "append {life} {writer} {sequence} {}", *shape as u8)
    }
}

/// An append that somebody was told is durable: what it is, and where its first entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acknowledged {
    pub append: AppendId,
    pub position: u64,
}

impl Acknowledged {
    /// As one line; a line cut by a kill is told by its end.
    pub fn line(self) -> String {
        let Self { append: AppendId { life, writer, sequence, shape }, position } = self;
        format!("ack {life} {writer} {sequence} {} {position} .\n", shape as u8)
    }

    pub fn parse(line: &str) -> Option<Self> {
        let rest = line.trim_end().strip_prefix("ack ")?.strip_suffix(" .")?;
        let numbers: Vec<u64> = rest.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [life, writer, sequence, shape, position] = numbers[..] else { return None };
        let append = AppendId {
            life: u32::try_from(life).ok()?,
            writer: u16::try_from(writer).ok()?,
            sequence: u32::try_from(sequence).ok()?,
            shape: Shape::of(shape)?,
        };
        Some(Self { append, position })
    }
}

/// What a journal was found to hold, once nothing was found wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    pub entries: u64,
    /// Appends that are there although nobody was told so.
    pub unacknowledged: u64,
}

/// Holds what is in a journal against what was acknowledged: nothing lost, no gap, no torn group, no wrong byte, and of
/// each writer the beginning of what it handed in.
pub fn verify(entries: &[Arc<Entry>], acknowledged: &[Acknowledged]) -> Result<Found, String> {
    let mut versions: BTreeMap<&StreamId, Version> = BTreeMap::new();
    let mut appends: BTreeMap<AppendId, u64> = BTreeMap::new();
    let mut open: Option<Part> = None;
    for (entry, position) in entries.iter().zip(1u64..) {
        let header = &entry.header;
        if header.position != Position(position) {
            return Err(format!("a gap: position {position} is {}", header.position));
        }
        let version = versions.entry(&header.stream).or_default();
        if header.first_version != version.next() {
            return Err(format!("a gap: {} goes from version {version} to {}", header.stream, header.first_version));
        }
        *version = header.last_version();
        if header.stream.as_str() == NOTE_STREAM {
            if let Some(part) = open {
                return Err(format!("a torn group: {} is followed by a note", part.append));
            }
            continue;
        }
        let part = Part::of(header.meta.command_id).ok_or_else(|| format!("entry {position} was never handed in"))?;
        let follows = match open {
            None => part.index == 0,
            Some(before) => part.append == before.append && part.index == before.index + 1,
        };
        if !follows {
            return Err(format!(
                "a torn group: {} part {} at entry {position} follows {open:?}",
                part.append, part.index
            ));
        }
        if part.index == 0 {
            appends.insert(part.append, position);
        }
        open = (part.index + 1 < part.count).then_some(part);
        same(entry, &part.draft())
            .map_err(|what| format!("wrong data at entry {position} ({}): {what}", part.append))?;
    }
    if let Some(part) = open {
        return Err(format!("a torn group: {} ends with part {} of {}", part.append, part.index + 1, part.count));
    }
    for told in acknowledged {
        match appends.get(&told.append) {
            Some(position) if *position == told.position => (),
            Some(position) => {
                return Err(format!("{} was told to be at {}, is at {position}", told.append, told.position));
            }
            None => return Err(format!("LOST: {}, acknowledged at {}", told.append, told.position)),
        }
    }
    whole_beginnings(appends.keys())?;
    let told: std::collections::BTreeSet<AppendId> = acknowledged.iter().map(|told| told.append).collect();
    let unacknowledged = appends.keys().filter(|append| !told.contains(append)).count() as u64;
    Ok(Found { entries: entries.len() as u64, unacknowledged })
}

/// Of each writer of each process: 0, 1, 2 … without a hole.
fn whole_beginnings<'a>(appends: impl Iterator<Item = &'a AppendId>) -> Result<(), String> {
    let mut next: BTreeMap<(u32, u16), u32> = BTreeMap::new();
    // Ordered by life, writer and sequence.
    for append in appends {
        let expected = next.entry((append.life, append.writer)).or_default();
        if append.sequence != *expected {
            return Err(format!("a gap: {append} is there and number {expected} of that writer is not"));
        }
        *expected += 1;
    }
    Ok(())
}

fn same(entry: &Entry, draft: &Draft) -> Result<(), &'static str> {
    if entry.header.stream != draft.stream {
        Err("the stream")
    } else if entry.header.meta != draft.meta {
        Err("the header")
    } else if entry.command != draft.command {
        Err("the command")
    } else if entry.facts != draft.facts {
        Err("the facts")
    } else if entry.verdict != draft.verdict {
        Err("the verdict")
    } else if entry.events != draft.events {
        Err("the events")
    } else {
        Ok(())
    }
}

/// Every entry of a journal, or what is wrong.
pub fn read_all(journal: &dyn Journal) -> Result<Vec<Arc<Entry>>, String> {
    // A note may come behind it meanwhile.
    let to = journal.head().position;
    let read = journal.read(Position(1), to, &bailiwick_journal::Filter::all());
    let entries: Vec<_> =
        read.collect::<Result<_, _>>().map_err(|error| format!("an entry cannot be read: {error}"))?;
    if entries.len() as u64 != to.0 {
        return Err(format!("{} entries were read of {to}", entries.len()));
    }
    Ok(entries)
}

/// What may be found behind an opening by a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    NothingToRepair,
    WhatCanBeRepaired,
}

/// Waits until everything was read behind an opening by a checkpoint; whether something had to be repaired.
pub fn is_right_behind(journal: &LocalJournal, behind: Behind) -> Result<bool, String> {
    let read = journal.wait_for_verification();
    if read != VerificationProgress::Done {
        let failed = journal.stats().failed;
        return Err(format!("found behind the opening and not repaired: {failed:?}"));
    }
    let newest = NOTE_STREAM.parse().ok().and_then(|stream| journal.read_stream_back(&stream).next());
    let repaired = newest.and_then(Result::ok).is_some_and(|note| note.header.meta.code == "history-repaired");
    if repaired && behind == Behind::NothingToRepair {
        return Err("something was repaired behind the opening, and nothing was damaged".into());
    }
    Ok(repaired)
}

/// Every saved state is one that was saved, or is taken as missing; how many there are.
pub fn snapshots_are_whole(dir: &Path, writers: u16) -> Result<u64, String> {
    let snapshots = Snapshots::in_dir(dir);
    let mut whole = 0;
    for writer in 0..writers {
        let stream = format!("machine/{writer}-0").parse().map_err(|_| "no stream")?;
        let Some(found) = snapshots.load(&stream, Version(u64::MAX)) else { continue };
        let saved = AppendId {
            life: found.position.0.saturating_sub(1) as u32,
            writer,
            sequence: found.version.0.saturating_sub(1) as u32,
            shape: Shape::of(u64::from(found.schema.saturating_sub(1))).ok_or("WRONG DATA in a snapshot")?,
        };
        if saved.snapshot() != found {
            return Err(format!("WRONG DATA in the snapshot after {saved}"));
        }
        whole += 1;
    }
    Ok(whole)
}
