//! The file `reached`: what the head file said before the block store was given more, or was made to wait.
//!
//! It is never synced. A crash may leave it older or torn, and then it tells nothing. But it is never newer than the log,
//! unless log and head file were put back to an older state: then it tells that they were.
//!
//! One slot, as the head file has two of.

use std::io;

use uuid::Uuid;

use super::head_record::{HeadRecord, SLOT_BYTES};
use crate::{
    Head,
    disk::{Access, Disk, DiskFile},
};

pub(crate) const REACHED_FILE: &str = "reached";
const NOTICED_LATER: &str = "a log and a head file of before would be noticed later";

/// How far the journal had come at least, whatever log and head file say; none if nothing of this journal tells it.
pub(crate) fn read(disk: &dyn Disk, journal: Uuid) -> Option<Head> {
    let file = disk.open(REACHED_FILE, Access::Read).ok()?;
    let mut bytes = [0; SLOT_BYTES];
    file.read_at(&mut bytes, 0).ok()?;
    HeadRecord::decode(&bytes).filter(|found| found.journal == journal).map(|found| found.head)
}

/// The open file of a writer. It is evidence alone: nothing waits for it, and nothing fails for want of it.
#[derive(Debug)]
pub(super) struct Reached(Option<Box<dyn DiskFile>>);

impl Reached {
    /// Opens the file, or makes it.
    pub(super) fn open(disk: &dyn Disk) -> Self {
        let file = match disk.open(REACHED_FILE, Access::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(REACHED_FILE),
            file => file,
        };
        Self(file.inspect_err(|error| tracing::warn!(%error, "cannot open {REACHED_FILE}: {NOTICED_LATER}")).ok())
    }

    /// Writes how far the journal came.
    pub(super) fn write(&self, record: &HeadRecord) {
        let Some(file) = &self.0 else { return };
        if let Err(error) = file.write_at(&record.encode(), 0) {
            tracing::warn!(%error, "cannot write {REACHED_FILE}: {NOTICED_LATER}");
        }
    }
}
