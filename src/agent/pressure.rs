//! Whether disk or memory run short.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use super::finding::Finding;

/// Free space below the smaller of this and 5 % is too little.
const FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;

/// A resource that may run short. It counts as recovered only a quarter above the limit, so that it does not flutter.
#[derive(Debug, Default)]
pub struct Gauge {
    short: AtomicBool,
}

impl Gauge {
    /// Free space where the machine's directory is.
    pub fn disk(&self, directory: &Path) -> Finding {
        match rustix::fs::statvfs(directory) {
            Ok(found) => {
                let limit = FREE_BYTES_MIN.min(found.f_blocks.saturating_mul(found.f_frsize) / 20);
                let free = found.f_bavail.saturating_mul(found.f_frsize);
                self.finding(free, limit, "enough free space", "less than 5 % and less than 256 MiB free")
            }
            Err(error) => Finding::unhealthy(format_args!("cannot measure: {error}")),
        }
    }

    /// Memory that could be had.
    pub fn memory(&self) -> Finding {
        match memory() {
            Ok((total, available)) => {
                self.finding(available, total / 20, "enough memory available", "less than 5 % of memory available")
            }
            Err(error) => Finding::unhealthy(format_args!("cannot measure: {error}")),
        }
    }

    fn finding(&self, free: u64, limit: u64, enough: &str, short: &str) -> Finding {
        let was_short = self.short.load(Ordering::Relaxed);
        let limit = if was_short { limit.saturating_add(limit / 4) } else { limit };
        let is_short = free < limit;
        self.short.store(is_short, Ordering::Relaxed);
        if is_short { Finding::unhealthy(short) } else { Finding::healthy(enough) }
    }
}

/// Total and available memory, in KiB.
pub(super) fn memory() -> io::Result<(u64, u64)> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let value = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    };
    match (value("MemTotal:"), value("MemAvailable:")) {
        (Some(total), Some(available)) => Ok((total, available)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_does_not_flutter_around_its_limit() {
        let gauge = Gauge::default();
        let healthy: Vec<bool> =
            [120, 99, 101, 124, 125, 101].map(|free| gauge.finding(free, 100, "", "").is_healthy()).into();
        assert_eq!(healthy, [true, false, false, false, true, true]);
    }

    #[test]
    fn this_machine_can_tell() {
        let (total, available) = memory().unwrap();
        assert!(available <= total && 0 < available);
        assert!(!Gauge::default().disk(Path::new("/")).text.contains("cannot"));
        assert!(!Gauge::default().disk(Path::new("/nowhere")).is_healthy());
    }
}
