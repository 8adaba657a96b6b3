//! Streams of decisions on disk.

mod codec;
mod entry;
mod error;
mod journal;
mod stream;

pub mod blocks;
pub mod crash;
pub mod disk;
#[cfg(feature = "testing")]
pub mod testing;

mod check;
mod commit;
mod core;
mod export;
mod follow;
mod format;
mod frame;
mod head;
mod hex;
mod import;
mod index;
mod integrity;
mod keeper;
mod local;
mod log;
mod note;
mod open;
mod queue;
mod reading;
mod readonly;
mod record;
mod repair;
mod scan;
mod segment;
mod snapshot;
mod stat;

pub use check::{CheckReport, check, check_on};
pub use codec::{CODEC_BINCODE_FIXED, CodecError, decode, digest, encode};
pub use entry::*;
pub use error::*;
pub use export::{ExportError, Exported, export};
pub use follow::Follower;
pub use import::{ImportError, LineProblem, import, import_on};
pub use integrity::{IntegrityReport, MissingEvents, Problem, ProblemKind};
pub use journal::*;
pub use local::{CloseError, Config, LocalJournal, Settings, Stats, Threads};
pub use note::{JournalNote, NOTE_STREAM};
pub use open::OpenReport;
pub use queue::QueueLimits;
pub use readonly::ReadOnlyJournal;
pub use snapshot::{Snapshot, Snapshots};
pub use stat::{Amount, JournalStat, stat, stat_on};
pub use stream::*;
