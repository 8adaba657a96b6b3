//! How memory is kept, for a process that is to stay small for years.

use std::{ffi::OsStr, os::unix::process::CommandExt, process::Command};

/// What is read once, when a process begins. By default an allocator keeps whatever it was given: a start that reads the
/// whole journal would leave the node at twice its size for good. With these, what is free goes back to the system:
/// mimalloc gives back pages at once, takes them one by one, and leaves a page that is not full any more to whichever
/// thread needs room next, instead of to the one that filled it; glibc, which the C libraries in us use (and all of us
/// without the feature `mimalloc`), gives back blocks from 16 KiB on and the end of each heap from 128 KiB on. Measured
/// with `cargo bench --bench idle`, 100,000 entries: 116 MB without, 52 MB with; of glibc alone 87 MB and 51 MB. Who gets
/// a page counts after 240,000 commands in a row: 60 MiB at rest and 72 MiB at most without that, 54 MiB and 68 MiB with
/// it, in the median of many runs.
const SETTINGS: [(&str, &str); 4] = [
    ("MIMALLOC_PURGE_DELAY", "0"),
    ("MIMALLOC_ARENA_EAGER_COMMIT", "0"),
    ("MIMALLOC_PAGE_RECLAIM_ON_FREE", "-1"),
    ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=16384:glibc.malloc.trim_threshold=131072"),
];

/// Begins the same process once more, with the settings in its environment. Its id, its files and its signals stay as
/// they are. A setting that is there already stays; with another C library nothing changes.
pub fn settle() {
    let is_missing = |(name, _): &&(&str, &str)| std::env::var_os(name).is_none();
    let missing: Vec<&(&str, &str)> = SETTINGS.iter().filter(is_missing).collect();
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || missing.is_empty() {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Ok(binary), Some(name)) = (std::env::current_exe(), arguments.next()) else {
        return;
    };
    let settings = missing.into_iter().map(|(name, value)| (name, OsStr::new(value)));
    // It only returns if it did not work, and then everything goes on as it is, in a larger process.
    let error = Command::new(binary).arg0(name).args(arguments).envs(settings).exec();
    tracing::debug!(%error, "cannot restart with other settings of the allocator");
}
