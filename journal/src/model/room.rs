//! What is left on the disk.

use std::fmt;

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
