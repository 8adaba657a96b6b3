//! Whether the disk is nearly full.

use crate::{AppendError, disk::Disk};

const MIB: u64 = 1024 * 1024;

/// Looks at the free space before every group: it costs about a microsecond, and a node that writes little would
/// otherwise fill the last of the disk before it looks again.
#[derive(Debug)]
pub(crate) struct SpaceWatch {
    /// Bytes that are kept free; none: the smaller of 256 MiB and 5 % of the disk.
    floor: Option<u64>,
}

impl SpaceWatch {
    pub(crate) fn new(floor: Option<u64>) -> Self {
        Self { floor }
    }

    /// Free and floor in MiB, if there is less free than the floor and what is promised already.
    pub(crate) fn low(&self, disk: &dyn Disk, promised_bytes: u64) -> Option<(u64, u64)> {
        // A disk that does not say is written to until it refuses.
        let space = disk.space().ok()?;
        let floor = self.floor(space.total).saturating_add(promised_bytes);
        (space.free < floor).then_some((space.free / MIB, floor / MIB))
    }

    /// The answer when a write found the disk full.
    pub(crate) fn found_full(&self, disk: &dyn Disk) -> AppendError {
        let (free, total) = disk.space().map_or((0, u64::MAX), |space| (space.free, space.total));
        AppendError::NearlyFull { free_mib: free / MIB, floor_mib: self.floor(total) / MIB }
    }

    fn floor(&self, total: u64) -> u64 {
        self.floor.unwrap_or_else(|| (256 * MIB).min(total / 20))
    }
}
