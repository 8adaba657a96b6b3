//! The head file: how far the log must reach. Written after every sync, so that a cut tail is visible.
//!
//! Two slots, each on its own page, written in turn: whatever a crash does to one, the other one stands.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

use super::{
    head_record::{HeadRecord, SLOT_BYTES},
    reached::Reached,
};
use crate::{
    Head,
    disk::{Access, Disk, DiskFile},
};

pub(crate) const HEAD_FILE: &str = "head";
const SLOT_EVERY: u64 = 4096;

/// What the head file held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundHead {
    /// There is no such file.
    Missing,
    /// No slot can be read.
    Damaged,
    Read {
        newest: HeadRecord,
        /// The other slot holds something that cannot be read: a crash while it was written, or damage.
        other_damaged: bool,
    },
}

/// Reads the head file without changing it.
pub(crate) fn read(disk: &dyn Disk) -> io::Result<FoundHead> {
    let file = match disk.open(HEAD_FILE, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FoundHead::Missing),
        file => file?,
    };
    let mut newest: Option<HeadRecord> = None;
    let mut damaged = false;
    for slot in 0..2 {
        let mut bytes = [0; SLOT_BYTES];
        file.read_at(&mut bytes, slot * SLOT_EVERY)?;
        match HeadRecord::decode(&bytes) {
            Some(record) if newest.is_none_or(|other| other.sequence < record.sequence) => newest = Some(record),
            Some(_) => (),
            None => damaged |= bytes.iter().any(|byte| *byte != 0),
        }
    }
    Ok(newest.map_or(FoundHead::Damaged, |newest| FoundHead::Read { newest, other_damaged: damaged }))
}

/// As [`read`]; a head file of another journal says nothing about this one, and is as good as a damaged one.
pub(crate) fn read_of(disk: &dyn Disk, journal: Uuid) -> io::Result<FoundHead> {
    Ok(match read(disk)? {
        FoundHead::Read { newest, .. } if newest.journal != journal => FoundHead::Damaged,
        found => found,
    })
}

/// The open head file of a writer.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: Box<dyn DiskFile>,
    reached: Reached,
    last: Mutex<HeadRecord>,
}

impl HeadFile {
    /// Makes the file if need be and writes both slots, durably.
    pub(crate) fn begin(disk: &dyn Disk, first: HeadRecord, exists: bool) -> io::Result<Self> {
        let file = if exists { disk.open(HEAD_FILE, Access::Write)? } else { disk.create(HEAD_FILE)? };
        let this = Self { file, reached: Reached::open(disk), last: Mutex::new(first) };
        // The newer slot is the one that may be damaged or newest: `first` goes where the older one is, then over both.
        this.put(&mut this.last(), |_| ())?;
        this.file.sync()?;
        this.put(&mut this.last(), |_| ())?;
        this.file.sync()?;
        disk.sync_dir("")?;
        // The store was brought up to here before, and may be given nothing while the disk is full.
        this.write_reached();
        Ok(this)
    }

    /// Writes where the log stands; durable only after [`HeadFile::sync`].
    pub(crate) fn write(&self, head: Head) -> io::Result<()> {
        self.put(&mut self.last(), |record| record.head = head)
    }

    /// Writes once more, beside the head file, where the log stands. It is what the store is about to have at most, so that
    /// nobody goes on with less and numbers other entries as those that the store has.
    pub(crate) fn write_reached(&self) {
        self.reached.write(&self.record());
    }

    /// Writes how far the block store is durable.
    pub(crate) fn write_store_synced(&self, block: u64) -> io::Result<()> {
        self.put(&mut self.last(), |record| record.store_synced = block)
    }

    /// What was written last.
    pub(crate) fn record(&self) -> HeadRecord {
        *self.last()
    }

    /// Writes the mark of a clean stop, durably.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.put(&mut self.last(), |record| record.clean = true)?;
        self.sync()
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn last(&self) -> MutexGuard<'_, HeadRecord> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, last: &mut HeadRecord, change: impl FnOnce(&mut HeadRecord)) -> io::Result<()> {
        change(last);
        last.sequence += 1;
        self.file.write_at(&last.encode(), last.sequence % 2 * SLOT_EVERY)
    }
}
