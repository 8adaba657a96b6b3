//! Makes a journal of exported lines, with the same hashes, or says which line does not fit.

use std::{
    io::{self, BufRead, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

use crate::{
    Body, CODEC_BINCODE_FIXED, Draft, Exported, Head, Meta, OpenError, PolicyRef, Position, Settings, Version,
    commit::request,
    disk::{Disk, LockMode, OsDisk},
    format::{
        frame::{self, FrameHeader, HEADER_BYTES, RECORDS_BYTES_MAX},
        head_file::HeadFile,
        head_record::HeadRecord,
        reached::REACHED_FILE,
        record,
    },
    index::Index,
    log::commit_log::{Log, LogError, Tip},
    model::note,
    open::{self, format_file},
    tools::{
        export::{BlockLine, BodyLine, EXPORT_FORMAT, EndLine, EntryLine, ExportFormat, FirstLine},
        hex,
    },
};

/// The longest line that is read, in bytes: an entry of the largest size in hexadecimal digits, what it says beside them, and
/// its header.
const LINE_BYTES_MAX: u64 = 8 * (Draft::APPEND_BYTES_MAX as u64) + 1024 * 1024;

/// Why lines were not taken in. What had been written before is removed again.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line does not fit.
    #[error("line {line}: {problem}")]
    Line { line: u64, problem: LineProblem },
    /// The lines could not be read.
    #[error("cannot read line {line}")]
    Read { line: u64, source: io::Error },
    /// The folder is in use or not empty.
    #[error("cannot import into {path:?}")]
    Target { path: PathBuf, source: Box<OpenError> },
    /// The journal could not be written.
    #[error("cannot write the journal in {path:?}")]
    Write { path: PathBuf, source: io::Error },
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    #[error("it is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    #[error("not JSON")]
    NotJson,
    #[error("not what an export has here: {detail}")]
    Malformed { detail: String },
    #[error("the export has format {format}, this version reads {EXPORT_FORMAT}")]
    Newer { format: u32 },
    #[error("{what} is out of order or over a limit")]
    Invalid { what: &'static str },
    #[error("the block's entries do not give its hash")]
    HashDiffers,
    #[error("the export is truncated")]
    EndsEarly,
    #[error("data follows the end of the export")]
    BehindTheEnd,
}

/// Which journal the lines become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The same one, with the same hashes: it takes the place of the one that was exported, which must not go on.
    Kept,
    /// One of its own with this id, which goes on beside the one that was exported. Its entries are the same, and its
    /// blocks name it, so that their hashes are others; a note at its end says what it was made of.
    New(Uuid),
}

/// Makes a journal in a new or empty folder from exported lines.
///
/// # Errors
/// See [`ImportError`].
pub fn import(from: &mut impl BufRead, dir: &Path) -> Result<Exported, ImportError> {
    import_as(from, dir, Identity::Kept)
}

/// As [`import`], as this journal.
///
/// # Errors
/// See [`ImportError`].
pub fn import_as(from: &mut impl BufRead, dir: &Path, identity: Identity) -> Result<Exported, ImportError> {
    let disk = OsDisk::new(dir);
    disk.make_root().map_err(|source| ImportError::Write { path: dir.to_owned(), source })?;
    import_onto(from, Arc::new(disk), identity)
}

/// As [`import`], on any disk.
///
/// # Errors
/// See [`ImportError`].
pub fn import_on(from: &mut impl BufRead, disk: Arc<dyn Disk>) -> Result<Exported, ImportError> {
    import_onto(from, disk, Identity::Kept)
}

fn import_onto(from: &mut impl BufRead, disk: Arc<dyn Disk>, identity: Identity) -> Result<Exported, ImportError> {
    let path = disk.path();
    let target = |source| ImportError::Target { path: path.clone(), source: Box::new(source) };
    let names = disk.list("").map_err(open::io_error(&*disk, "list")).map_err(target)?;
    if let Some(other) = names.iter().find(|name| *name != "lock") {
        let problem = format!("it is not empty: it holds {other:?}");
        return Err(target(OpenError::Foreign { path: disk.path(), problem }));
    }
    let _lock = open::take_lock(&*disk, LockMode::Exclusive).map_err(target)?;
    let imported = Import { lines: Lines { from, line: 0 }, disk: disk.clone(), identity }.run();
    if imported.is_err() {
        // Without FORMAT it is no journal; the remains would only be in the way of the next attempt.
        for name in ["log", "head", REACHED_FILE, "FORMAT.tmp", "FORMAT"] {
            if let Err(error) = disk.remove(name) {
                tracing::warn!(%error, name, "cannot remove what a failed import left");
            }
        }
    }
    imported
}

struct Import<'r, R> {
    lines: Lines<'r, R>,
    disk: Arc<dyn Disk>,
    identity: Identity,
}

impl<R: BufRead> Import<'_, R> {
    fn run(mut self) -> Result<Exported, ImportError> {
        let exported = self.first_line()?;
        let journal = match self.identity {
            Identity::Kept => exported,
            Identity::New(id) => id,
        };
        let segment_bytes = Settings::default().segment_bytes;
        // Where the exported chain is, and where ours is; the same unless the journal gets a new id.
        let (mut read, mut tip) = (Tip::genesis(exported), Tip::genesis(journal));
        let mut log =
            Log::create(self.disk.clone(), journal, segment_bytes, 1, tip).map_err(|error| self.log_error(error))?;
        let mut index = Index::default();
        let mut epoch = 0;
        loop {
            let text = self.lines.next()?.ok_or_else(|| self.lines.problem(LineProblem::EndsEarly))?;
            if let Ok(end) = serde_json::from_slice::<EndLine>(&text) {
                self.check_end(&end, read)?;
                break;
            }
            let block: BlockLine = self.lines.parse(&text)?;
            let (mut frame, next_read) = self.read_block(exported, &block, read)?;
            read = next_read;
            let mut next_tip = next_read;
            if journal != exported {
                next_tip.hash = rename(&mut frame, journal, &block, tip);
            }
            let place = log.append(&frame, next_tip).map_err(|error| self.log_error(error))?;
            let (header, records) = frame::check(&frame).map_err(|_| self.lines.problem(LineProblem::HashDiffers))?;
            index
                .add_found(&header, records, place)
                .map_err(|what| self.lines.problem(LineProblem::Invalid { what }))?;
            epoch = block.epoch;
            tip = next_tip;
        }
        if journal != exported {
            let expected = index.version(&note::stream());
            let note = note::imported(journal, exported, (read.position, read.hash), expected, index.last_time_ms);
            let (frame, next_tip) = framed(&note, journal, epoch, tip, index.version(&note.stream).next());
            let place = log.append(&frame, next_tip).map_err(|error| self.log_error(error))?;
            let (header, records) = frame::check(&frame).map_err(|_| self.lines.problem(LineProblem::HashDiffers))?;
            index
                .add_found(&header, records, place)
                .map_err(|what| self.lines.problem(LineProblem::Invalid { what }))?;
            tip = next_tip;
        }
        log.sync().map_err(|source| self.write_error(source))?;
        let head = Head { position: tip.position, time_ms: index.last_time_ms, block: tip.block, hash: tip.hash };
        let record = HeadRecord { journal, sequence: 0, head, epoch, store_synced: 0, clean: false };
        HeadFile::begin(&*self.disk, record, false)
            .and_then(|head_file| head_file.finish())
            .and_then(|()| format_file::write(&*self.disk, journal))
            .map_err(|source| self.write_error(source))?;
        Ok(Exported { journal, blocks: tip.block, entries: tip.position.0, hash: tip.hash })
    }

    fn first_line(&mut self) -> Result<Uuid, ImportError> {
        let text = self.lines.next()?.ok_or_else(|| self.lines.problem(LineProblem::EndsEarly))?;
        // Another format may say more than we know.
        let ExportFormat { format } = self.lines.parse(&text)?;
        if format != EXPORT_FORMAT {
            return Err(self.lines.problem(LineProblem::Newer { format }));
        }
        let first: FirstLine = self.lines.parse(&text)?;
        if first.codec != CODEC_BINCODE_FIXED {
            return Err(self.lines.problem(LineProblem::Invalid { what: "the codec" }));
        }
        Ok(first.journal)
    }

    fn read_block(&mut self, journal: Uuid, block: &BlockLine, tip: Tip) -> Result<(Vec<u8>, Tip), ImportError> {
        let follows = block.block == tip.block + 1
            && block.first == tip.position.next()
            && block.previous == hex::encode(&tip.hash)
            && block.count > 0;
        if !follows {
            return Err(self.lines.problem(LineProblem::Invalid { what: "the block" }));
        }
        let block_line = self.lines.line;
        let mut frame = vec![0; HEADER_BYTES];
        for offset in 0..u64::from(block.count) {
            let text = self.lines.next()?.ok_or_else(|| self.lines.problem(LineProblem::EndsEarly))?;
            let line: EntryLine = self.lines.parse(&text)?;
            let (position, first_version) = (line.position, line.first_version);
            let draft =
                draft_of(line).ok_or_else(|| self.lines.problem(LineProblem::Invalid { what: "a hash or body" }))?;
            let problem =
                request::problem_of(&draft).or((position != block.first.plus(offset)).then_some("the position"));
            if let Some(what) = problem {
                return Err(self.lines.problem(LineProblem::Invalid { what }));
            }
            let at = frame.len();
            record::encode(&draft, &mut frame);
            record::place(&mut frame[at..], position, first_version);
            if frame.len() - HEADER_BYTES > RECORDS_BYTES_MAX {
                return Err(self.lines.problem(LineProblem::Invalid { what: "the block's size" }));
            }
        }
        let header = FrameHeader {
            journal,
            block: block.block,
            first: block.first,
            epoch: block.epoch,
            count: block.count,
            records_bytes: 0,
            previous: tip.hash,
            hash: [0; 32],
        };
        let hash = frame::seal(&mut frame, &header);
        if block.hash != hex::encode(&hash) {
            return Err(ImportError::Line { line: block_line, problem: LineProblem::HashDiffers });
        }
        let position = Position(tip.position.0 + u64::from(block.count));
        Ok((frame, Tip { block: block.block, position, hash }))
    }

    fn check_end(&mut self, end: &EndLine, tip: Tip) -> Result<(), ImportError> {
        let counted = end.end.blocks == tip.block && end.end.entries == tip.position.0;
        if !counted || end.end.hash != hex::encode(&tip.hash) {
            return Err(self.lines.problem(LineProblem::Invalid { what: "the end's count or hash" }));
        }
        match self.lines.next()? {
            None => Ok(()),
            Some(_) => Err(self.lines.problem(LineProblem::BehindTheEnd)),
        }
    }

    fn write_error(&self, source: io::Error) -> ImportError {
        ImportError::Write { path: self.disk.path(), source }
    }

    fn log_error(&self, error: LogError) -> ImportError {
        self.write_error(match error {
            LogError::Full => io::ErrorKind::StorageFull.into(),
            LogError::Unclear(error) => error,
        })
    }
}

/// Has a block belong to another journal, behind that one's last block; answers with its new chain value.
fn rename(frame: &mut [u8], journal: Uuid, block: &BlockLine, tip: Tip) -> [u8; 32] {
    let header = FrameHeader {
        journal,
        block: block.block,
        first: block.first,
        epoch: block.epoch,
        count: block.count,
        records_bytes: 0,
        previous: tip.hash,
        hash: [0; 32],
    };
    frame::seal(frame, &header)
}

/// A block of one entry behind the last one.
fn framed(draft: &Draft, journal: Uuid, epoch: u64, tip: Tip, version: Version) -> (Vec<u8>, Tip) {
    let mut frame = vec![0; HEADER_BYTES];
    record::encode(draft, &mut frame);
    let position = tip.position.next();
    record::place(&mut frame[HEADER_BYTES..], position, version);
    let block = tip.block + 1;
    let header = FrameHeader {
        journal,
        block,
        first: position,
        epoch,
        count: 1,
        records_bytes: 0,
        previous: tip.hash,
        hash: [0; 32],
    };
    let hash = frame::seal(&mut frame, &header);
    (frame, Tip { block, position, hash })
}

/// Lines of bounded length, counted from 1.
struct Lines<'r, R> {
    from: &'r mut R,
    line: u64,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, ImportError> {
        self.line += 1;
        let mut text = Vec::new();
        let read = self.from.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut text);
        read.map_err(|source| ImportError::Read { line: self.line, source })?;
        if text.len() as u64 > LINE_BYTES_MAX {
            return Err(self.problem(LineProblem::TooLong));
        }
        Ok((!text.is_empty()).then_some(text))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, text: &[u8]) -> Result<T, ImportError> {
        let problem = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => LineProblem::Malformed { detail: error.to_string() },
            _ => LineProblem::NotJson,
        };
        serde_json::from_slice(text).map_err(|error| self.problem(problem(error)))
    }

    fn problem(&self, problem: LineProblem) -> ImportError {
        ImportError::Line { line: self.line, problem }
    }
}

fn draft_of(line: EntryLine) -> Option<Draft> {
    let policy = match line.policy {
        None => None,
        Some(policy) => {
            let digest = hex::decode_array(&policy.digest)?;
            Some(PolicyRef { name: policy.name, revision: policy.revision, digest })
        }
    };
    let meta = Meta {
        kind: line.kind,
        outcome: line.outcome,
        code: line.code,
        time_ms: line.time_ms,
        command_id: line.command_id,
        command_hash: hex::decode_array(&line.command_hash)?,
        cause: line.cause,
        principal: line.principal,
        policy,
        view: line.view,
        cites: line.cites,
    };
    Some(Draft {
        stream: line.stream,
        expected: Version(line.first_version.0.checked_sub(1)?),
        meta,
        command: body_of(&line.command)?,
        facts: body_of(&line.facts)?,
        verdict: body_of(&line.verdict)?,
        events: line.events.iter().map(body_of).collect::<Option<_>>()?,
    })
}

fn body_of(line: &BodyLine) -> Option<Body> {
    Some(Body { schema: line.schema, bytes: hex::decode(&line.hex)? })
}
