//! Whether the disk is nearly full.

use std::fmt;

use crate::{AppendError, disk::Disk};

const MIB: u64 = 1024 * 1024;

/// What is left on the disk, and how much of it is kept for reports of running effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub free_bytes: u64,
    pub reserved_bytes: u64,
}

impl Room {
    /// Whether new work is refused.
    pub fn is_short(&self) -> bool {
        self.free_bytes < self.reserved_bytes
    }
}

/// `180 KiB free, 512 KiB reserved`.
impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} free, {} reserved", Size(self.free_bytes), Size(self.reserved_bytes))
    }
}

/// Bytes in the largest unit that leaves something before the point.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(MIB * 1024, "GiB"), (MIB, "MiB"), (1024, "KiB")];
        match UNITS.into_iter().find(|(unit, _)| *unit <= self.0) {
            Some((unit, name)) => write!(f, "{} {name}", self.0 / unit),
            None => write!(f, "{} bytes", self.0),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_units_that_say_something() {
        let told = |free_bytes, reserved_bytes| Room { free_bytes, reserved_bytes }.to_string();
        assert_eq!(told(180 * 1024 + 7, 512 * 1024), "180 KiB free, 512 KiB reserved");
        assert_eq!(told(0, 256 * MIB), "0 bytes free, 256 MiB reserved");
        assert_eq!(told(3 << 30, u64::MAX), "3 GiB free, 17179869183 GiB reserved");
    }
}
