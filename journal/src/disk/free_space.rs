//! Whether the disk is nearly full.

use crate::{AppendError, Room, disk::Disk};

const MIB: u64 = 1024 * 1024;

/// What is left on a disk, and what a journal on it keeps free unless its settings say otherwise; none from a disk that does
/// not say.
pub fn room(disk: &dyn Disk) -> Option<Room> {
    SpaceWatch::new(None).room(disk, 0)
}

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

    /// What is in the log and not yet in the store still has to go there; sled takes up to twice the bytes.
    pub(crate) fn promised(lag_bytes: u64) -> u64 {
        lag_bytes.saturating_mul(2)
    }

    /// What is left, if there is less free than the floor and what is promised already.
    pub(crate) fn low(&self, disk: &dyn Disk, promised_bytes: u64) -> Option<Room> {
        self.room(disk, promised_bytes).filter(Room::is_short)
    }

    /// What is left, and what is kept free; none from a disk that does not say: it is written to until it refuses.
    pub(crate) fn room(&self, disk: &dyn Disk, promised_bytes: u64) -> Option<Room> {
        let space = disk.space().ok()?;
        let reserved_bytes = self.floor(space.total).saturating_add(promised_bytes);
        Some(Room { free_bytes: space.free, reserved_bytes })
    }

    /// The answer when a write found the disk full.
    pub(crate) fn found_full(&self, disk: &dyn Disk) -> AppendError {
        let (free, total) = disk.space().map_or((0, u64::MAX), |space| (space.free, space.total));
        AppendError::NearlyFull(Room { free_bytes: free, reserved_bytes: self.floor(total) })
    }

    fn floor(&self, total: u64) -> u64 {
        self.floor.unwrap_or_else(|| (256 * MIB).min(total / 20))
    }
}
