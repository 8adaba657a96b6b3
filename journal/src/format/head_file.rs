//! The head file: how far the log must reach. Written after every sync, so that a cut tail is visible.
//!
//! Two slots, each on its own page, written in turn: whatever a crash does to one, the other one stands.
//!
//! The file `reached` holds what the head file said before the block store was given more, and is never synced. A crash may
//! leave it older or torn, and then it tells nothing. But it is never newer than the log, unless log and head file were put
//! back to an older state: then it tells that they were.
//!
//! ```text
//!  0 [4]  "bwhd"                     12 u32  CRC32C over all but these     40 u64 position     72 u64  blocks that the
//!  4 u8   format version, 1          16 [16] journal id                    48 u64 block                store had synced
//!  5 u8   1 after a clean stop       32 u64  sequence of the writing       56 u64 time, ms     80 [32] chain value
//!  6 [6]  zero                                                             64 u64 epoch       112 [16] zero
//! ```

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

use crate::{
    Head, Position,
    disk::{Access, Disk, DiskFile},
};

pub(crate) const HEAD_FILE: &str = "head";
const SLOT_BYTES: usize = 128;
const SLOT_EVERY: u64 = 4096;
const FORMAT: u8 = 1;

/// What one slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadRecord {
    pub journal: Uuid,
    pub sequence: u64,
    pub head: Head,
    pub epoch: u64,
    /// Up to this block, the block store has said that everything is durable.
    pub store_synced: u64,
    pub clean: bool,
}

impl HeadRecord {
    pub(crate) fn encode(&self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..4].copy_from_slice(b"bwhd");
        bytes[4] = FORMAT;
        bytes[5] = u8::from(self.clean);
        bytes[16..32].copy_from_slice(self.journal.as_bytes());
        let numbers =
            [self.sequence, self.head.position.0, self.head.block, self.head.time_ms, self.epoch, self.store_synced];
        for (number, to) in numbers.into_iter().zip(bytes[32..80].chunks_exact_mut(8)) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes[80..112].copy_from_slice(&self.head.hash);
        let sum = crc(&bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<SLOT_BYTES>()?;
        if bytes[..4] != *b"bwhd" || bytes[4] != FORMAT || crc(bytes).to_le_bytes() != bytes[12..16] {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let head = Head {
            position: Position(number(40)),
            block: number(48),
            time_ms: number(56),
            hash: bytes[80..112].try_into().ok()?,
        };
        Some(Self {
            journal: Uuid::from_slice(&bytes[16..32]).ok()?,
            sequence: number(32),
            head,
            epoch: number(64),
            store_synced: number(72),
            clean: bytes[5] == 1,
        })
    }
}

fn crc(bytes: &[u8; SLOT_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}

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

pub(crate) const REACHED_FILE: &str = "reached";
const NOTICED_LATER: &str = "a log and a head file of before would be noticed later";

/// How far the journal had come at least, whatever log and head file say; none if nothing of this journal tells it.
pub(crate) fn reached(disk: &dyn Disk, journal: Uuid) -> Option<Head> {
    let file = disk.open(REACHED_FILE, Access::Read).ok()?;
    let mut bytes = [0; SLOT_BYTES];
    file.read_at(&mut bytes, 0).ok()?;
    HeadRecord::decode(&bytes).filter(|found| found.journal == journal).map(|found| found.head)
}

/// The open head file of a writer.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: Box<dyn DiskFile>,
    /// None where it cannot be opened: it is evidence alone, and nothing waits for it.
    reached: Option<Box<dyn DiskFile>>,
    last: Mutex<HeadRecord>,
}

impl HeadFile {
    /// Makes the file if need be and writes both slots, durably.
    pub(crate) fn begin(disk: &dyn Disk, first: HeadRecord, exists: bool) -> io::Result<Self> {
        let file = if exists { disk.open(HEAD_FILE, Access::Write)? } else { disk.create(HEAD_FILE)? };
        let reached = match disk.open(REACHED_FILE, Access::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(REACHED_FILE),
            reached => reached,
        };
        let reached =
            reached.inspect_err(|error| tracing::warn!(%error, "cannot open {REACHED_FILE}: {NOTICED_LATER}"));
        let this = Self { file, reached: reached.ok(), last: Mutex::new(first) };
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
        let Some(reached) = &self.reached else { return };
        if let Err(error) = reached.write_at(&self.record().encode(), 0) {
            tracing::warn!(%error, "cannot write {REACHED_FILE}: {NOTICED_LATER}");
        }
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
