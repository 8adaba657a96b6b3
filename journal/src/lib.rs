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

mod commit;
mod core;
mod format;
mod frame;
mod head;
mod index;
mod integrity;
mod keeper;
mod local;
mod log;
mod note;
mod open;
mod queue;
mod reading;
mod record;
mod repair;
mod scan;
mod segment;

pub use codec::{CODEC_BINCODE_FIXED, CodecError, decode, digest, encode};
pub use entry::*;
pub use error::*;
pub use integrity::{IntegrityReport, MissingEvents, Problem, ProblemKind};
pub use journal::*;
pub use local::{CloseError, Config, LocalJournal, Settings, Stats, Threads};
pub use note::{JournalNote, NOTE_STREAM};
pub use open::OpenReport;
pub use queue::QueueLimits;
pub use stream::*;
