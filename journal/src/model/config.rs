//! Where a journal is and how it is run.

use std::path::PathBuf;

use uuid::Uuid;

/// Where a journal is and how it is run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The journal's folder; made, for its owner only, if it is missing.
    pub dir: PathBuf,
    /// The time of the opening note, in milliseconds since 1970; the last entry's time if that is later.
    pub now_ms: u64,
    /// The id of a new journal; none: by chance.
    pub id: Option<Uuid>,
    pub settings: Settings,
}

impl Default for Config {
    fn default() -> Self {
        Self { dir: PathBuf::from("journal"), now_ms: 0, id: None, settings: Settings::default() }
    }
}

/// What can be set about a journal that is running.
#[derive(Clone, Debug)]
pub struct Settings {
    pub threads: Threads,
    /// How long a segment of the log becomes, in bytes; one block is never split.
    pub segment_bytes: u64,
    /// After how many bytes the block store is made durable in the background.
    pub checkpoint_bytes: u64,
    /// How far the block store may fall behind the log while much is committed, in bytes: what a crash then leaves to be
    /// caught up at the next opening. While commits only follow one another, 8 MiB at most. As soon as less is committed it
    /// catches up.
    pub store_lag_bytes: u64,
    /// Whether full segments of the log are compressed in idle time, by themselves; `compress_log` does it when asked.
    /// Only with threads of the journal's own.
    pub compress_when_idle: bool,
    /// Whether checkpoints of the index are left, at a stop in order and behind the commits as full segments become more, and
    /// an opening goes by one: it is ready sooner, and reads the inside of full segments behind the opening; without threads of
    /// its own a part of it with each append.
    pub index_checkpoint: bool,
    /// How much of the log stays.
    pub log_keep: LogKeep,
    /// Where full segments of the log are moved, compressed, once the block store has them durably; they are read there as
    /// if they had stayed. The folder is made if it is missing and nothing was moved yet.
    pub log_archive: Option<PathBuf>,
    pub queue: QueueLimits,
    /// Bytes of the disk that are kept free for reports; none: the smaller of 256 MiB and 5 %.
    pub space_floor_bytes: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: Threads::Own,
            segment_bytes: 16 * 1024 * 1024,
            checkpoint_bytes: 32 * 1024 * 1024,
            store_lag_bytes: 64 * 1024 * 1024,
            compress_when_idle: true,
            index_checkpoint: true,
            log_keep: LogKeep::All,
            log_archive: None,
            queue: QueueLimits::default(),
            space_floor_bytes: None,
        }
    }
}

/// How much of the log stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogKeep {
    /// All of it: whatever is wrong with the block store, it is built anew from the log.
    #[default]
    All,
    /// What the block store does not have durably yet, for disks that are too small for both. The block store is then the
    /// only copy of what is older, and is copied aside before it is opened after an end that was no stop in order. With
    /// an archive, full segments go there instead.
    Checkpoint,
}

/// On which threads the journal works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One to commit, one to bring blocks into the store.
    Own,
    /// None: an append does everything on the calling thread, its `done` included, before it returns.
    Inline,
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    pub appends_max: usize,
    /// Encoded bytes; one append always fits.
    pub bytes_max: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { appends_max: 8192, bytes_max: 64 * 1024 * 1024 }
    }
}
