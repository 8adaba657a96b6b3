//! Compresses the full segments of the log, one at a time, while nothing else is to be done.
//!
//! Every step leaves a log that reads the same: the compressed file is written under another name and synced, read back
//! and compared with the segment, renamed, and only then, once its name is durable, is the segment removed. Where both
//! are there, the segment counts; opening removes the other one, and it is made again.

use std::{io, sync::Arc};

use uuid::Uuid;

use crate::{
    disk::{Access, Disk, crash},
    log::{
        compressed,
        segment::{self, End, LOG_DIR, MARK_BYTES, Mark},
        segment_file::{self, SegmentFile},
    },
};

/// What is left to be compressed.
#[derive(Debug)]
pub(crate) struct Compressor {
    disk: Arc<dyn Disk>,
    journal: Uuid,
    next: u32,
}

impl Compressor {
    pub(crate) fn new(disk: Arc<dyn Disk>, journal: Uuid) -> Self {
        Self { disk, journal, next: 1 }
    }

    /// Segments before this one are compressed, or could not be.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Compresses the next segment before `current`, if it is not compressed yet; answers once it is, with the file as it was.
    pub(crate) fn compress_next(&mut self, current: u32) -> Option<SegmentFile> {
        while self.next < current {
            let number = self.next;
            self.next += 1;
            match self.compress(number) {
                Ok(Some(before)) => return Some(before),
                Ok(None) => (),
                // It stays as it is; the next start tries again.
                Err(error) => tracing::warn!(%error, segment = number, "a segment of the log stays uncompressed"),
            }
        }
        None
    }

    fn compress(&self, number: u32) -> io::Result<Option<SegmentFile>> {
        let disk = &*self.disk;
        let file = match disk.open(&segment::name_of(number), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let before = SegmentFile::now(disk, number)?;
        // Only what ends in its seal will never be written again.
        let mut last = [0; MARK_BYTES];
        file.read_at(&mut last, file.size()?.saturating_sub(MARK_BYTES as u64))?;
        let seal = Mark::decode(&last).filter(|mark| mark.end == End::Seal);
        if seal.is_none_or(|seal| seal.segment != number || seal.journal != self.journal) {
            return Ok(None);
        }
        let name = segment::compressed_name_of(number);
        let unfinished = format!("{name}.tmp");
        crash::point("before-pack");
        let to = disk.create(&unfinished)?;
        let written = compressed::compress(&*file, &*to, self.journal, number).and_then(|()| {
            if compressed::is_same(disk.open(&unfinished, Access::Read)?, &*file)? {
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
        Ok(Some(before))
    }
}

/// Removes what a crash inside [`Compressor::compress_next`] left: the segment itself is still there.
pub(crate) fn remove_unfinished(disk: &dyn Disk) -> io::Result<()> {
    let names = disk.list(LOG_DIR)?;
    let mut removed = false;
    for name in names.iter().filter(|name| segment_file::is_unfinished(name, &names)) {
        disk.remove(&format!("{LOG_DIR}/{name}"))?;
        removed = true;
    }
    if removed { disk.sync_dir(LOG_DIR) } else { Ok(()) }
}
