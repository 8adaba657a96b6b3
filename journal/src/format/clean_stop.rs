//! The mark of a stop in order, in a file of its own: where the journal ended, while no writer has begun since.
//!
//! The head file says so too. But somebody who puts an older head file and an older log back together has two witnesses that
//! agree with each other; this one then tells that the block store has everything up to where the journal really ended.
//! It holds one slot of the head file. It is written before the head file says "clean", and removed after the head file
//! says that somebody writes again, before the first entry is appended.

use std::io;

use uuid::Uuid;

use crate::{
    disk::{self, Access, Disk},
    format::head_record::HeadRecord,
};

pub(crate) const STOPPED_FILE: &str = "stopped";

/// Writes the mark, durably.
pub(crate) fn write(disk: &dyn Disk, ended: &HeadRecord) -> io::Result<()> {
    disk::write_whole(disk, STOPPED_FILE, &HeadRecord { clean: true, ..*ended }.encode())
}

/// Removes the mark, durably.
pub(crate) fn remove(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(STOPPED_FILE)?;
    disk.sync_dir("")
}

/// The mark; none if there is none of this journal, or if it cannot be read.
pub(crate) fn read(disk: &dyn Disk, journal: Uuid) -> Option<HeadRecord> {
    let file = disk.open(STOPPED_FILE, Access::Read).ok()?;
    let found = HeadRecord::decode(&disk::read_all(&*file).ok()?)?;
    (found.journal == journal).then_some(found)
}
