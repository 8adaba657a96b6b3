//! A journal as lines of JSON: for leaving, for bug reports, for chaos runs.
//!
//! The first line names the journal; then comes each block with its chain values, followed by its entries; the last line
//! counts. A body's bytes are hexadecimal; beside them stands what they say, for people and other programs, as far as whoever
//! exports can read them. Only the bytes count: [`crate::tools::import`] makes a journal of it that has the same hashes.

use std::{
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Body, CODEC_BINCODE_FIXED, Cite, Entry, EntryKind, Journal, LocalJournal, OpenError, Outcome, PolicyRef, Position,
    ReadError, ReadOnlyJournal, StreamId, Version,
    core::Core,
    format::frame::{self, HEADER_BYTES},
    tools::hex,
};

/// The version of this form.
pub(crate) const EXPORT_FORMAT: u32 = 2;

/// Why a journal could not be written out.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot open the journal")]
    Open { source: OpenError },
    #[error("cannot read the journal")]
    Read { source: ReadError },
    #[error("cannot write the export")]
    Write { source: io::Error },
}

/// What was written out or taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    pub journal: Uuid,
    pub blocks: u64,
    pub entries: u64,
    /// The chain value of the last block.
    pub hash: [u8; 32],
}

/// What the bodies of an entry say, as JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readable {
    pub command: Option<Value>,
    pub facts: Option<Value>,
    pub verdict: Option<Value>,
    /// One per event.
    pub events: Vec<Value>,
}

/// Reads what the bodies of an entry say; none for an entry that it does not know.
pub type Tell<'t> = &'t dyn Fn(&Entry) -> Option<Readable>;

/// Writes the journal in a stopped node's folder as lines.
///
/// # Errors
/// If it cannot be opened for reading, or read, or written.
pub fn export(dir: &Path, to: &mut impl Write) -> Result<Exported, ExportError> {
    let journal = ReadOnlyJournal::open(dir).map_err(|source| ExportError::Open { source })?;
    journal.export(to)
}

fn nothing(_: &Entry) -> Option<Readable> {
    None
}

impl ReadOnlyJournal {
    /// Writes the journal as lines.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn export(&self, to: &mut impl Write) -> Result<Exported, ExportError> {
        self.export_told(to, &nothing)
    }

    /// As [`Self::export`], with what `tell` reads of the bodies.
    ///
    /// # Errors
    /// As [`Self::export`].
    pub fn export_told(&self, to: &mut impl Write, tell: Tell<'_>) -> Result<Exported, ExportError> {
        write(&self.core, self, to, tell)
    }
}

impl LocalJournal {
    /// Writes what is durable by now as lines.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn export(&self, to: &mut impl Write) -> Result<Exported, ExportError> {
        self.export_told(to, &nothing)
    }

    /// As [`Self::export`], with what `tell` reads of the bodies.
    ///
    /// # Errors
    /// As [`Self::export`].
    pub fn export_told(&self, to: &mut impl Write, tell: Tell<'_>) -> Result<Exported, ExportError> {
        write(self.core(), self, to, tell)
    }
}

fn write(core: &Core, journal: &dyn Journal, to: &mut impl Write, tell: Tell<'_>) -> Result<Exported, ExportError> {
    let head = journal.head();
    let failed = |source| ExportError::Write { source };
    put(to, &FirstLine { format: EXPORT_FORMAT, journal: journal.id(), codec: CODEC_BINCODE_FIXED }).map_err(failed)?;
    for number in 1..=head.block {
        let block = core.load_in_passing(number).map_err(|source| ExportError::Read { source })?;
        write_block(&block.bytes(), to, tell)?;
    }
    let end = EndLine { end: End { blocks: head.block, entries: head.position.0, hash: hex::encode(&head.hash) } };
    put(to, &end).and_then(|()| to.flush()).map_err(failed)?;
    Ok(Exported { journal: journal.id(), blocks: head.block, entries: head.position.0, hash: head.hash })
}

fn write_block(bytes: &[u8], to: &mut impl Write, tell: Tell<'_>) -> Result<(), ExportError> {
    let failed = |source| ExportError::Write { source };
    let damaged = |problem: &str| ExportError::Read {
        source: ReadError::Damaged { position: Position::ZERO, problem: problem.to_owned() },
    };
    let header = frame::peek(bytes).map_err(|_| damaged("a block changed while it was read"))?;
    let line = BlockLine {
        block: header.block,
        first: header.first,
        count: header.count,
        epoch: header.epoch,
        previous: hex::encode(&header.previous),
        hash: hex::encode(&header.hash),
    };
    put(to, &line).map_err(failed)?;
    for record in frame::records(&bytes[HEADER_BYTES..]) {
        let entry = record.and_then(|record| record.entry()).map_err(damaged)?;
        let readable = tell(&entry).unwrap_or_default();
        put(to, &EntryLine::of(&entry, readable)).map_err(failed)?;
    }
    Ok(())
}

fn put(to: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    to.write_all(b"\n")
}

/// What the first line of an export of any format has.
#[derive(Debug, Deserialize)]
pub(crate) struct ExportFormat {
    #[serde(rename = "bailiwick-journal")]
    pub format: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstLine {
    #[serde(rename = "bailiwick-journal")]
    pub format: u32,
    pub journal: Uuid,
    pub codec: u8,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockLine {
    pub block: u64,
    pub first: Position,
    pub count: u32,
    pub epoch: u64,
    pub previous: String,
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine {
    pub end: End,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub blocks: u64,
    pub entries: u64,
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryLine {
    pub position: Position,
    pub stream: StreamId,
    pub first_version: Version,
    pub kind: EntryKind,
    pub outcome: Outcome,
    pub code: String,
    pub time_ms: u64,
    pub command_id: Uuid,
    pub command_hash: String,
    pub cause: Option<Position>,
    pub principal: String,
    pub policy: Option<PolicyLine>,
    pub view: Option<Position>,
    pub cites: Vec<Cite>,
    pub command: BodyLine,
    pub facts: BodyLine,
    pub verdict: BodyLine,
    pub events: Vec<BodyLine>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyLine {
    pub name: String,
    pub revision: u64,
    pub digest: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyLine {
    pub schema: u16,
    pub hex: String,
    /// What it says. Nobody believes it: the bytes count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

impl EntryLine {
    fn of(entry: &Entry, readable: Readable) -> Self {
        let header = &entry.header;
        let meta = &header.meta;
        let events = readable.events.into_iter().map(Some).chain(std::iter::repeat(None));
        let policy = |policy: &PolicyRef| PolicyLine {
            name: policy.name.clone(),
            revision: policy.revision,
            digest: hex::encode(&policy.digest),
        };
        Self {
            position: header.position,
            stream: header.stream.clone(),
            first_version: header.first_version,
            kind: meta.kind,
            outcome: meta.outcome,
            code: meta.code.clone(),
            time_ms: meta.time_ms,
            command_id: meta.command_id,
            command_hash: hex::encode(&meta.command_hash),
            cause: meta.cause,
            principal: meta.principal.clone(),
            policy: meta.policy.as_ref().map(policy),
            view: meta.view,
            cites: meta.cites.clone(),
            command: BodyLine::of(&entry.command, readable.command),
            facts: BodyLine::of(&entry.facts, readable.facts),
            verdict: BodyLine::of(&entry.verdict, readable.verdict),
            events: entry.events.iter().zip(events).map(|(event, json)| BodyLine::of(event, json)).collect(),
        }
    }
}

impl BodyLine {
    fn of(body: &Body, json: Option<Value>) -> Self {
        Self { schema: body.schema, hex: hex::encode(&body.bytes), json }
    }
}
