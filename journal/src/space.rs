//! Whether the disk is nearly full, looked at now and then.

use crate::{AppendError, disk::Disk};

/// After how many groups, and bytes, the disk's free space is looked at again.
const SPACE_EVERY_GROUPS: u32 = 16;
const SPACE_EVERY_BYTES: usize = 256 * 1024;
const MIB: u64 = 1024 * 1024;

/// Looks at the free space now and then.
#[derive(Debug)]
pub(crate) struct SpaceWatch {
    /// Bytes that are kept free; none: the smaller of 256 MiB and 5 % of the disk.
    floor: Option<u64>,
    groups: u32,
    bytes: usize,
    low: Option<(u64, u64)>,
}

impl SpaceWatch {
    pub(crate) fn new(floor: Option<u64>) -> Self {
        Self { floor, groups: SPACE_EVERY_GROUPS, bytes: 0, low: None }
    }

    /// Free and floor in MiB, if there is less free than the floor. Once low, it looks before every group.
    pub(crate) fn low(&mut self, disk: &dyn Disk) -> Option<(u64, u64)> {
        self.groups += 1;
        let due = self.groups > SPACE_EVERY_GROUPS || self.bytes > SPACE_EVERY_BYTES || self.low.is_some();
        if due {
            (self.groups, self.bytes) = (0, 0);
            // A disk that does not say is written to until it refuses.
            self.low = disk.space().ok().and_then(|space| {
                let floor = self.floor.unwrap_or_else(|| (256 * MIB).min(space.total / 20));
                (space.free < floor).then_some((space.free / MIB, floor / MIB))
            });
        }
        self.low
    }

    pub(crate) fn written(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    pub(crate) fn found_full(&mut self, disk: &dyn Disk) -> AppendError {
        let free_mib = disk.space().map_or(0, |space| space.free / MIB);
        let floor_mib = self.floor.map_or(256, |floor| floor / MIB);
        // Looks again before the next group.
        self.groups = SPACE_EVERY_GROUPS;
        AppendError::NearlyFull { free_mib, floor_mib }
    }
}
