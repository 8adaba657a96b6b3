//! Compresses the full segments of the log, one at a time, while nothing else is to be done.
//!
//! Every step leaves a log that reads the same: the compressed file is written under another name and synced, read back
//! and compared with the segment, renamed, and only then, once its name is durable, is the segment removed. Where both
//! are there, the segment counts; opening removes the other one, and it is made again.

use std::{io, sync::Arc};

use uuid::Uuid;

use crate::{
    crash,
    disk::{Access, Disk},
    packed,
    segment::{self, End, LOG_DIR, MARK_BYTES, Mark},
};

/// What is left to be compressed.
#[derive(Debug)]
pub(crate) struct Packer {
    disk: Arc<dyn Disk>,
    journal: Uuid,
    next: u32,
}

impl Packer {
    pub(crate) fn new(disk: Arc<dyn Disk>, journal: Uuid) -> Self {
        Self { disk, journal, next: 1 }
    }

    /// Segments before this one are compressed, or could not be.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Compresses the next segment before `current`, if it is not compressed yet; answers its number once it is.
    pub(crate) fn pack_next(&mut self, current: u32) -> Option<u32> {
        while self.next < current {
            let number = self.next;
            self.next += 1;
            match self.pack(number) {
                Ok(true) => return Some(number),
                Ok(false) => (),
                // It stays as it is; the next start tries again.
                Err(error) => tracing::warn!(%error, segment = number, "a segment of the log stays uncompressed"),
            }
        }
        None
    }

    fn pack(&self, number: u32) -> io::Result<bool> {
        let disk = &*self.disk;
        let file = match disk.open(&segment::name_of(number), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        // Only what ends in its seal will never be written again.
        let mut last = [0; MARK_BYTES];
        file.read_at(&mut last, file.size()?.saturating_sub(MARK_BYTES as u64))?;
        let seal = Mark::decode(&last).filter(|mark| mark.end == End::Seal);
        if seal.is_none_or(|seal| seal.segment != number || seal.journal != self.journal) {
            return Ok(false);
        }
        let name = segment::packed_name_of(number);
        let unfinished = format!("{name}.tmp");
        crash::point("before-pack");
        let to = disk.create(&unfinished)?;
        let written = packed::pack(&*file, &*to, self.journal, number).and_then(|()| {
            if packed::is_same(disk.open(&unfinished, Access::Read)?, &*file)? {
                return Ok(());
            }
            Err(io::Error::other("what was written does not read the same"))
        });
        if let Err(error) = written {
            disk.remove(&unfinished)?;
            return Err(error);
        }
        crash::point("after-pack-written");
        disk.rename(&unfinished, &name)?;
        disk.sync_dir(LOG_DIR)?;
        crash::point("after-pack-renamed");
        disk.remove(&segment::name_of(number))?;
        disk.sync_dir(LOG_DIR)?;
        crash::point("after-pack");
        Ok(true)
    }
}

/// Removes what a crash inside [`Packer::pack_next`] left: the segment itself is still there.
pub(crate) fn remove_unfinished(disk: &dyn Disk) -> io::Result<()> {
    let names = disk.list(LOG_DIR)?;
    let mut removed = false;
    for name in names.iter().filter(|name| is_unfinished(name, &names)) {
        disk.remove(&format!("{LOG_DIR}/{name}"))?;
        removed = true;
    }
    if removed { disk.sync_dir(LOG_DIR) } else { Ok(()) }
}

/// Whether a file of the log, one of these, counts for nothing: the segment that it was to become is still there.
pub(crate) fn is_unfinished(name: &str, names: &[String]) -> bool {
    let doubled = name.strip_suffix(".zst").is_some_and(|segment| names.iter().any(|other| other == segment));
    doubled || name.ends_with(".zst.tmp")
}
