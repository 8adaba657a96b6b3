//! What the node keeps on disk.

use std::sync::Arc;

use bailiwick_actors::testing::MemoryJournal;
use bailiwick_journal::Journal;

use super::CrashKind;

/// The disk of the simulated node. Clones are the same disk.
#[derive(Clone, Debug)]
pub(super) struct Storage(MemoryJournal);

impl Storage {
    pub(super) fn new(name: &str) -> Self {
        Self(MemoryJournal::new(name))
    }

    /// Opens the journal on it, as a node does that starts.
    pub(super) fn open(&self) -> Arc<dyn Journal> {
        Arc::new(self.0.clone())
    }

    /// The disk as it is found after a crash at this moment.
    pub(super) fn after(&self, _kind: CrashKind, _seed: u64) -> Self {
        Self(self.0.reopened())
    }
}
