//! How journals are set up for a campaign, and what becomes of their full segments: for all of a process and its children.

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicU8, Ordering},
};

use bailiwick_journal::{Config, LogKeep, Settings, Threads};

use crate::runner::{Failure, Plan};

/// Settings that let a short life see rotation and checkpoints.
pub fn settings(threads: Threads, segment_bytes: u64) -> Settings {
    let usual = Settings { threads, segment_bytes, checkpoint_bytes: segment_bytes, ..Settings::default() };
    // A short life then sees many segments leave.
    let small = Settings { segment_bytes: segment_bytes / 4, checkpoint_bytes: segment_bytes / 4, ..usual.clone() };
    match Full::now() {
        Full::Stay => usual,
        Full::Go => Settings { log_keep: LogKeep::Checkpoint, ..small },
        Full::ToArchive => small,
    }
}

pub fn config(dir: &Path, settings: Settings) -> Config {
    let log_archive = (Full::now() == Full::ToArchive).then(|| dir.join(ARCHIVE));
    Config {
        dir: dir.to_owned(),
        now_ms: super::TIME_MS,
        id: Some(super::ID),
        settings: Settings { log_archive, ..settings },
    }
}

/// The folder whose syncs everything rests on.
pub fn precious_folder() -> &'static str {
    if Full::now() == Full::ToArchive { "/archive/" } else { "/log/" }
}

/// Inside the journal's folder, so that whatever is done to that is done to it.
const ARCHIVE: &str = "archive";

/// What becomes of full segments of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Stay,
    /// The log keeps only what the block store does not have durably.
    Go,
    ToArchive,
}

static FULL: AtomicU8 = AtomicU8::new(Full::Stay as u8);
/// Says the same to a child.
const FULL_WORD: &str = "BAILIWICK_CAMPAIGN_FULL";

impl Full {
    fn now() -> Self {
        Self::of(FULL.load(Ordering::Relaxed))
    }

    fn of(number: u8) -> Self {
        match number {
            1 => Self::Go,
            2 => Self::ToArchive,
            _ => Self::Stay,
        }
    }
}

/// Runs a campaign on journals whose full segments do not stay.
pub fn with_full(full: Full, plan: &Plan, run: fn(&Plan) -> Result<String, Failure>) -> Result<String, Failure> {
    FULL.store(full as u8, Ordering::Relaxed);
    let outcome = run(plan);
    FULL.store(Full::Stay as u8, Ordering::Relaxed);
    outcome
}

/// A child works on the same kind of journals.
pub fn tell_child(command: &mut Command) {
    command.env(FULL_WORD, FULL.load(Ordering::Relaxed).to_string());
}

pub fn as_told() {
    let told = std::env::var(FULL_WORD).ok().and_then(|word| word.parse().ok());
    FULL.store(told.unwrap_or(0), Ordering::Relaxed);
}
