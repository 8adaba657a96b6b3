//! Copies of the block store that readers of a stopped journal make in its folder.

use std::io;

use crate::disk::Disk;

/// What the names of such copies begin with.
pub(crate) const COPY: &str = "sled.read-";

/// Removes copies that readers left which did not come to their end. There are none now: the lock is exclusive.
pub(crate) fn remove_copies(disk: &dyn Disk) -> io::Result<()> {
    for name in disk.list("")?.iter().filter(|name| name.starts_with(COPY)) {
        disk.remove(name)?;
    }
    Ok(())
}
