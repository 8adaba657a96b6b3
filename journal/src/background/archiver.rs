//! Lets full segments leave the log's folder: into an archive, or altogether once the block store has them durably.
//!
//! A segment leaves only when the block store has said that everything in it is durable. One that goes to the archive is
//! compressed there, synced, read back and compared; one that is removed is read back from the store, block by block,
//! and compared. Then `log.begins` says so, durably, and only then does the file go. A crash in between leaves a file too
//! many, which goes at the next time.

use std::{io, path::PathBuf, sync::Arc};

use crate::{
    core::Core,
    disk::{Access, Disk, OsDisk, crash},
    log::{
        archive::ArchiveOverlay,
        compressed,
        segment::{self, LOG_DIR, Mark},
        segment_file::SegmentFile,
    },
};

/// Where full segments go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Archive(PathBuf),
    Nowhere,
}

#[derive(Debug)]
pub(crate) struct Archiver {
    pub whole: Arc<ArchiveOverlay>,
    /// The folder itself, without what is elsewhere.
    pub folder: Arc<dyn Disk>,
    pub to: Destination,
}

impl Archiver {
    /// Lets the oldest full segment leave, if the store has everything up to block `synced` durably and this is part of
    /// it; answers with the file as it was.
    pub(crate) fn next(&self, core: &Core, synced: u64) -> io::Result<Option<SegmentFile>> {
        let (Some(number), current) =
            (segment::numbers(&*self.folder)?.first().copied(), core.state().index.last_segment())
        else {
            return Ok(None);
        };
        let (behind, is_readable) = {
            let state = core.state();
            (state.index.segment(number).1, state.is_readable().is_ok())
        };
        if !is_readable || number >= current || behind > synced + 1 {
            return Ok(None);
        }
        // Without both marks it is not full, or damaged: opening decides about it.
        let Some(marks) = segment::marks(&*self.folder, number)? else { return Ok(None) };
        let before = SegmentFile::now(&*self.folder, number)?;
        let mut catalog = self.whole.catalog();
        let was_removed = catalog.removed.iter().any(|removed| removed.0.segment == number);
        match &self.to {
            Destination::Archive(path) if !was_removed => {
                self.copy(&OsDisk::new(path), core, number)?;
                catalog.archive = Some(path.clone());
            }
            _ => {
                self.compare(core, &marks)?;
                if !was_removed {
                    catalog.removed.push(marks);
                }
            }
        }
        catalog.first = catalog.first.max(number + 1);
        crash::point("before-segment-leaves");
        if catalog != self.whole.catalog() {
            self.whole.set_catalog(catalog)?;
        }
        crash::point("between-segment-leaves");
        segment::remove(&*self.folder, number)?;
        self.folder.sync_dir(LOG_DIR)?;
        core.forget_segment(number);
        crash::point("after-segment-left");
        Ok(Some(before))
    }

    fn copy(&self, archive: &OsDisk, core: &Core, number: u32) -> io::Result<()> {
        let file = segment::open(&*self.folder, number)?;
        let name = segment::compressed_name_of(number).replacen("log/", "", 1);
        let unfinished = format!("{name}.tmp");
        let to = archive.create(&unfinished)?;
        compressed::compress(&*file, &*to, core.journal, number)?;
        if !compressed::is_same(archive.open(&unfinished, Access::Read)?, &*file)? {
            archive.remove(&unfinished)?;
            return Err(io::Error::other("the archive does not read back what was written"));
        }
        archive.rename(&unfinished, &name)?;
        archive.sync_dir("")
    }

    /// Whether the store has every block of the segment as the log has it.
    fn compare(&self, core: &Core, (begin, seal): &(Mark, Mark)) -> io::Result<()> {
        for block in begin.block..=seal.block {
            let logged = core.read_logged(block).map_err(io::Error::other)?;
            let stored = core.read_store(&[block]).and_then(|mut found| found.pop().flatten());
            if stored.as_ref() != Some(&logged) || !core.is_block(&logged, block) {
                return Err(io::Error::other(format!("the block store does not have block {block} as the log has it")));
            }
        }
        Ok(())
    }
}
