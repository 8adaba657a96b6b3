//! What can go wrong, one enum per operation.

use std::{io, path::PathBuf};

use uuid::Uuid;

use crate::{Position, Room, StreamId, Version};

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("the journal in {path:?} is in use by process {holder}")]
    InUse { path: PathBuf, holder: String },
    /// Somebody reads it while nobody has it: it can be opened once that is over.
    #[error("the journal in {path:?} is being read by another process")]
    BeingRead { path: PathBuf },
    /// The directory is no journal, or one that this version cannot read.
    #[error("{path:?} is not a journal that this version can open: {problem}")]
    Foreign { path: PathBuf, problem: String },
    /// History is missing or has been changed; nothing was written.
    #[error("the journal in {path:?} has lost or changed history: {report}")]
    Integrity { path: PathBuf, report: Box<crate::IntegrityReport> },
    /// A part of the log was moved to a folder that is missing, or does not have it. Nothing was written. Next: make the
    /// folder reachable again, or say where it is now.
    #[error("segment {segment} of the log is not in its archive {archive:?}; mount that folder, or name the right one")]
    Archive { archive: PathBuf, segment: u32 },
    /// A part of the log was removed because the block store has it, and the block store cannot be used.
    #[error("{path:?} keeps its older history only in its block store, which is unusable: {problem}")]
    OnlyInStore { path: PathBuf, problem: String },
    /// The disk did not answer.
    #[error("cannot {action} {path:?}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

/// Why an append was not acknowledged. Only after [`AppendError::Unknown`] may something have been written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was first: read the stream and decide again.
    #[error("stream {stream} is at version {found}, the decision was based on {expected}")]
    Conflict { stream: StreamId, expected: Version, found: Version },
    /// The command id was used before; its answer stands at `position`.
    #[error("command {command_id} was already answered in entry {position}")]
    Repeated { command_id: Uuid, position: Position, same_content: bool },
    /// A draft breaks a limit or a rule; sending it again does not help.
    #[error("the draft for {stream} cannot be stored: {problem}")]
    Invalid { stream: StreamId, problem: &'static str },
    /// The disk is nearly full: only reports of running effects are still taken.
    #[error("disk full: {0}")]
    NearlyFull(Room),
    /// Too many appends wait; nothing was written.
    #[error("{waiting} appends are already waiting")]
    Overloaded { waiting: usize },
    /// The journal was closed before; nothing was written.
    #[error("the journal is closed")]
    Closed,
    /// The disk failed: what was handed in may or may not be there. The journal takes nothing more until it is reopened.
    #[error("the journal failed and must be reopened: {problem}")]
    Unknown { problem: String },
}

/// Why entries could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A stored block or entry does not match its checksum or cannot be decoded.
    #[error("entry {position} cannot be read: {problem}")]
    Damaged { position: Position, problem: String },
    /// It lies in an archive that is missing, or does not have it.
    #[error("segment {segment} of the log is not in its archive {archive:?}")]
    Archive { archive: PathBuf, segment: u32 },
    /// The disk or the store did not answer.
    #[error("cannot read the journal: {problem}")]
    Unreadable { problem: String },
}
