//! Streams of decisions on disk.
//!
//! A journal is an ordered record of entries. An entry says what was asked, what was known, what was decided, and
//! which events followed; its events belong to one stream. Several entries can be appended at once, all or nothing,
//! each on the condition that its stream is still at the version that the decision was based on.
//!
//! ```
//! use bailiwick_journal::{Filter, Journal, LocalJournal, Position, append_blocking, disk::SimulatedDisk};
//! # #[cfg(feature = "testing")] {
//! use bailiwick_journal::testing::draft;
//!
//! let (journal, report) = LocalJournal::simulated(&SimulatedDisk::new(), uuid::Uuid::from_u128(1), 0)?;
//! assert!(report.created);
//! let appended = append_blocking(&journal, vec![draft("machine/0", 0, 1_000, &[1, 2])])?;
//! assert_eq!(journal.version(&"machine/0".parse()?).0, 2);
//! let read: Vec<_> = journal.read(Position(1), journal.head().position, &Filter::all()).collect::<Result<_, _>>()?;
//! assert_eq!(read.last(), appended.entries().first());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Promises
//!
//! - An append is acknowledged after one `fdatasync` of the commit log. What was acknowledged survives the end of the
//!   process at any instant, and a power cut as far as the drive keeps what it has synced.
//! - All drafts of one append are there, or none. After [`AppendError::Unknown`], and only then, they may be there.
//! - The log is durability and loss detection; sled is what is read. Whatever is wrong with sled, it is built anew from
//!   the log. Damage in the log is filled from sled where sled has those blocks with the right hashes.
//! - A journal that has lost or changed history does not open ([`OpenError::Integrity`]), and nothing in it is touched.
//!   Nothing is repaired in silence: [`OpenReport`] and a note in the stream [`NOTE_STREAM`] say what was done.
//! - The index comes from a checkpoint, after a stop in order if no file was written into since, after a crash as far as
//!   full segments are as they were when it was made; the rest is read. The inside of full segments is then read behind the
//!   opening ([`Stats::verification`]), and the store is compared; every block is checked when it is read. What is
//!   found there is repaired and noted, or fails the journal.
//! - While it runs, the index is in memory only for what no checkpoint holds; the rest is looked up in the file of the newest
//!   one, each piece against the sum it had when that was taken into use. A piece that cannot be read as it was fails the
//!   journal ([`Stats::failed`]) and every read that needs the index: nothing is taken, or said not to be there, by it. The
//!   next opening reads the log.
//! - By default all of the log stays. [`Settings::log_keep`] and [`Settings::log_archive`] let full segments go, once the
//!   block store has them durably; all reads find them still, or say what they need.
//! - What is whole in a journal that does not open can be taken into a new one: [`salvage`].
//! - While commits follow one another sled falls behind, by at most 8 MiB, while much is committed by at most
//!   [`Settings::store_lag_bytes`]; full segments of the log are compressed when there is nothing else to do. Neither changes
//!   what is read.
//! - Limit: a power cut that also damages the very last group cannot be told from a group that was never acknowledged.
//!
//! # On disk
//!
//! ```text
//! FORMAT               what wrote this folder, and the journal's id; plain lines
//! lock                 held by the one writer, which puts its process id into it
//! head                 how far the log must reach, written after each sync: position, hash, clean mark
//! stopped              where the last stop in order was; removed when a writer begins
//! log/0000000001.log   segments of the commit log: a mark, blocks one after the other, a seal once full, zeros before
//! log/0000000001.log.zst   a full segment, compressed; it reads as the segment it was
//! log.begins           which segments have left that folder, and where they are
//! index.checkpoint     the index as the last stop in order left it, or as far as full segments went, where a running
//!                      journal looks things up; a cache, safe to delete; `.used` behind its name until everything that it
//!                      was trusted for has been read
//! log.damaged-1/       a log that was repaired, as it was; kept until somebody removes it
//! sled/                the same blocks for reading; key = (block, part), value = at most 4 KiB
//! sled.aside/          a copy of it while a damaged log is looked into, because sled rewrites what it opens
//! ```
//!
//! A block is what one group of appends became. Its header has a CRC32C over all of it, and a BLAKE3 value over its
//! content and the value of the block before: the chain. Inside are the entries, each with its header first, so that
//! a filter skips bodies. The bytes of every form stand at the head of the module that writes it, and as golden files
//! beside the tests.
//!
//! # Reading order
//!
//! `stream`, `entry`, `journal` are the interface; `commit` is the one writer; `frame`, `record`, `segment`, `log`,
//! `head`, `packed`, `elsewhere`, `checkpoint` are what is on disk; `foreign`, `scan`, `open`, `repair` are what happens at
//! the start, `verify` and `restore` behind it, `salvage` when that fails; `core`, `index`, `reading`, `view` are how entries
//! are found again; `keeper`, `pack` and `leave` work behind the commits.

mod model;

pub mod disk;

mod format;

mod api;

pub mod blocks;

mod log;

mod index;

mod checkpoint;

mod core;

mod commit;

mod background;

mod open;

mod local;

mod tools;

#[cfg(feature = "testing")]
pub mod testing;

pub use api::{
    journal::{Appended, Done, Entries, Filter, Headers, Intake, Journal, Subscription, append_blocking},
    view::{BodyView, EntryView},
};
pub use background::verify::Progress as VerificationProgress;
pub use disk::crash;
pub use local::{CloseError, LocalJournal, Stats};
pub use model::{
    codec::{CODEC_BINCODE_FIXED, CodecError, decode, digest, encode},
    config::{Config, LogKeep, QueueLimits, Settings, Threads},
    entry::{Body, Cite, Draft, Entry, EntryKind, Header, InvalidCite, Meta, Outcome, PolicyRef},
    error::{AppendError, OpenError, ReadError},
    head::{Answered, COMMAND_WINDOW_MS, Head},
    integrity::{IntegrityReport, MissingEvents, Problem, ProblemKind},
    note::{JournalNote, NOTE_STREAM, WriterOpened},
    room::Room,
    stream::{InvalidStreamId, Position, StreamId, Version},
};
pub use open::{Occupant, OpenReport, occupant};
#[cfg(feature = "testing")]
pub use tools::snapshot::{Snapshot, Snapshots};
pub use tools::{
    check::{CheckReport, Recovery, check, check_on},
    export::{ExportError, Exported, Readable, Tell, export},
    import::{Identity, ImportError, LineProblem, import, import_as, import_on},
    read_only::{ReadOnlyJournal, Repair, StoreSeen},
    salvage::{SALVAGE_STREAM, SalvageError, Salvaged, salvage, salvage_on},
    stat::{Amount, JournalStat, stat, stat_on},
};
