//! How the C library keeps memory, for a process that is to stay small for years.

use std::{ffi::OsStr, os::unix::process::CommandExt, process::Command};

/// glibc reads these settings once, when a process begins, and keeps by default whatever it was given: a start that reads
/// the whole journal would leave the node at twice its size for good. With these, blocks from 16 KiB on and the end of
/// each heap from 128 KiB on go back to the system. Measured with `cargo bench --bench idle`: 100,000 entries, 87 MB
/// without, 51 MB with.
const SETTINGS: &str = "glibc.malloc.mmap_threshold=16384:glibc.malloc.trim_threshold=131072";
const VARIABLE: &str = "GLIBC_TUNABLES";

/// Begins the same process once more, with the settings in its environment. Its id, its files and its signals stay as
/// they are. Whoever has settings of their own keeps them; with another C library nothing changes.
pub(super) fn settle() {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || std::env::var_os(VARIABLE).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Ok(binary), Some(name)) = (std::env::current_exe(), arguments.next()) else {
        return;
    };
    // It only returns if it did not work, and then everything goes on as it is, in a larger process.
    let error = Command::new(binary).arg0(name).args(arguments).env(VARIABLE, OsStr::new(SETTINGS)).exec();
    tracing::debug!(%error, "cannot begin anew with other settings of the allocator");
}
