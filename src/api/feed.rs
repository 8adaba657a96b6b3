//! The last entries in words, for all who watch.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use bailiwick_journal::Header;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// So many watchers at once.
const WATCHERS_MAX: usize = 2_048;
/// So many of the last entries are kept in words while somebody watches: some seconds of a busy node.
const KEPT_MAX: usize = 4_096;

/// No entry has this position: that there will be none any more.
pub(super) const CLOSED: u64 = u64::MAX;

/// An entry in words.
#[derive(Debug)]
pub(super) struct Told {
    pub header: Header,
    pub json: String,
}

/// What is kept for all who watch.
#[derive(Debug)]
pub(super) struct Feed {
    kept: Mutex<VecDeque<Arc<Told>>>,
    /// The last entry that is kept; nothing before the first.
    last: watch::Sender<u64>,
    watchers: Arc<Semaphore>,
}

impl Feed {
    /// Nothing is kept before somebody watches.
    pub(super) fn new() -> Self {
        Self { kept: Mutex::default(), last: watch::Sender::new(0), watchers: Arc::new(Semaphore::new(WATCHERS_MAX)) }
    }

    /// Ends all who watch: the node stops.
    pub(super) fn close(&self) {
        self.last.send_replace(CLOSED);
    }

    /// A place among those who watch, until it is dropped; none if there are too many.
    pub(super) fn join(&self) -> Option<OwnedSemaphorePermit> {
        self.watchers.clone().try_acquire_owned().ok()
    }

    pub(super) fn has_watchers(&self) -> bool {
        self.watchers.available_permits() < WATCHERS_MAX
    }

    /// What is kept of the entries after this one; none if some of them are not kept any more.
    pub(super) fn after(&self, position: u64) -> Option<Vec<Arc<Told>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let first = kept.front()?.header.position.0;
        let skipped = usize::try_from((position + 1).checked_sub(first)?).ok()?;
        Some(kept.iter().skip(skipped).cloned().collect())
    }

    /// Keeps these, which follow what is kept, and tells those who wait.
    pub(super) fn keep(&self, told: Vec<Told>) {
        let Some(last) = told.last().map(|told| told.header.position.0) else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(told.into_iter().map(Arc::new));
        let excess = kept.len().saturating_sub(KEPT_MAX);
        kept.drain(..excess);
        drop(kept);
        self.last.send_modify(|told| *told = if *told == CLOSED { CLOSED } else { last });
    }

    pub(super) fn forget(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The position of the last entry that is kept.
    pub(super) fn last(&self) -> Option<u64> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).back().map(|told| told.header.position.0)
    }

    /// Tells whenever more is kept.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }
}
