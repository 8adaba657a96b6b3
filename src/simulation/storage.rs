//! What the node keeps on disk.

use std::sync::Arc;

use bailiwick_actors::vocab::{Timestamp, derived_uuid};
use bailiwick_journal::{
    LocalJournal, OpenError,
    disk::{SimulatedDisk, Space},
};
use uuid::Uuid;

use super::{CrashKind, DiskSpace};

/// The size of the node's disk, in bytes. Of one this large, a node keeps 256 MiB for its operators.
const TOTAL: u64 = 1 << 40;

/// The disk of the simulated node. Clones are the same disk.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    disk: SimulatedDisk,
    id: Uuid,
}

impl Storage {
    pub(super) fn new(name: &str) -> Self {
        Self { disk: SimulatedDisk::new(), id: derived_uuid(&format!("journal of {name}")) }
    }

    /// A disk with this journal on it.
    pub(super) fn of(disk: SimulatedDisk, id: Uuid) -> Self {
        Self { disk, id }
    }

    /// The disk, and the id of the journal on it.
    pub(super) fn into_parts(self) -> (SimulatedDisk, Uuid) {
        (self.disk, self.id)
    }

    /// Leaves the disk full, but for what a node keeps for its operators, or empty, or failing.
    pub(super) fn set_space(&self, space: DiskSpace) {
        let free = match space {
            DiskSpace::Full => 64 * 1024 * 1024,
            DiskSpace::Free | DiskSpace::Failing => TOTAL,
        };
        self.disk.set_failing(space == DiskSpace::Failing);
        self.disk.set_space(Space { free, total: TOTAL });
    }

    /// Opens the journal on it, as a node does that starts.
    pub(super) fn open(&self, now: Timestamp) -> Result<Arc<LocalJournal>, OpenError> {
        let (journal, report) = LocalJournal::simulated(&self.disk, self.id, now.0)?;
        tracing::debug!(?report, "the simulated journal is open");
        Ok(Arc::new(journal))
    }

    /// The disk as it is found after a crash at this moment.
    pub(super) fn after(&self, kind: CrashKind, seed: u64) -> Self {
        let disk = match kind {
            CrashKind::Kill => self.disk.after_kill(),
            CrashKind::PowerCut => self.disk.after_power_cut(seed),
        };
        Self { disk, id: self.id }
    }
}
