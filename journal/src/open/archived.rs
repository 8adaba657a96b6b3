//! What of the log is elsewhere, found before the log is read: an archive that has to be there, or a block store that
//! holds the only copy and is opened for that first.

use std::{path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    LogKeep, OpenError,
    background::archiver::Destination,
    blocks::{Blocks, Store},
    disk::{Disk, OsDisk},
    log::{
        archive::{self, ArchiveError, ArchiveOverlay, Catalog},
        segment,
    },
};

use super::{OpenOptions, io_error, on_its_own_thread, open_copy};

/// The log with what of it is elsewhere.
pub(super) struct Archived {
    pub whole: Arc<ArchiveOverlay>,
    /// Where full segments go from now on.
    pub to: Option<Destination>,
    /// The block store, open, or a copy of it: removed segments are read from there.
    pub held: Option<Held>,
    /// What is known now is not yet written down.
    changed: bool,
}

/// A store that was opened before the log was read.
pub(super) struct Held {
    pub blocks: Option<Box<dyn Blocks>>,
    /// The copy that it is, if it is one.
    pub copy: Option<Box<dyn Store>>,
}

impl Archived {
    /// None if the whole log is in its folder, and stays there.
    pub(super) fn find(disk: &Arc<dyn Disk>, journal: Uuid, options: &OpenOptions) -> Result<Option<Self>, OpenError> {
        let found = archive::read(&**disk, journal).map_err(io_error(&**disk, "read where the log begins in"))?;
        let to = match (&options.archive, options.keep) {
            (Some(path), _) => Some(Destination::Archive(prepared(path, found.as_ref())?)),
            (None, LogKeep::Checkpoint) => Some(Destination::Nowhere),
            (None, LogKeep::All) => None,
        };
        if found.is_none() && to.is_none() {
            return Ok(None);
        }
        let known = found.is_some();
        let mut catalog = found.clone().unwrap_or_default();
        if let Some(Destination::Archive(path)) = &to {
            let numbers = segment::numbers(&**disk).map_err(io_error(&**disk, "list the log in"))?;
            // Without the file that tells what left, the archive itself may tell.
            if known {
                catalog.archive = catalog.archive.map(|_| path.clone());
            } else {
                catalog.first = numbers.first().copied().unwrap_or(1);
                catalog.archive = (catalog.first > 1).then(|| path.clone());
            }
        }
        let changed = found.as_ref() != Some(&catalog);
        let whole = Arc::new(ArchiveOverlay::new(disk.clone(), journal, catalog));
        let missing = if known { whole.missing() } else { None };
        match missing {
            Some(ArchiveError::NotInArchive { path, segment }) => Err(OpenError::Archive { archive: path, segment }),
            _ => Ok(Some(Self { whole, to, held: None, changed })),
        }
    }

    fn removed(&self) -> bool {
        !self.whole.catalog().removed.is_empty()
    }

    /// Opens the store for what only it has: itself if its files are as a stop in order left them, else a copy. Opening sled
    /// changes it, damage gets worse by it, and a power cut in the middle of that must not meet the only copy.
    pub(super) fn open_store(&mut self, store: &dyn Store, untouched: bool) -> Result<(), OpenError> {
        if !self.removed() {
            return Ok(());
        }
        let unusable = |problem: String| OpenError::OnlyInStore { path: self.whole.path(), problem };
        if !store.exists() {
            return Err(unusable("it is missing".into()));
        }
        let copy = if untouched { None } else { store.copy_aside().map_err(|error| unusable(error.to_string()))? };
        let held = open_held(store, copy).map_err(unusable)?;
        self.hold(held);
        Ok(())
    }

    fn hold(&mut self, held: Held) {
        self.whole.set_source(held.blocks.as_ref().map(|blocks| blocks.reader()));
        self.held = Some(held);
    }

    /// The log was found whole by a copy of the store, or the store itself is damaged: a copy that opens takes its place.
    pub(super) fn adopt(&mut self, store: &dyn Store) -> Result<(), OpenError> {
        let path = self.whole.path();
        let unusable = |problem: String| OpenError::OnlyInStore { path: path.clone(), problem };
        if self.held.as_ref().is_none_or(|held| held.copy.is_none()) {
            self.let_go();
            let copy = store.copy_aside().map_err(|error| unusable(error.to_string()))?;
            let copy = copy.ok_or_else(|| unusable("it is damaged and cannot be copied".into()))?;
            self.held = Some(open_held(store, Some(copy)).map_err(unusable)?);
        }
        if let Some(reader) = self.whole.set_source(None) {
            reader.stop();
        }
        // Closed, it has written everything.
        drop(self.held.take());
        store.adopt_copy().map_err(|error| unusable(error.to_string()))
    }

    /// Lets go of the store; a copy is removed.
    pub(super) fn let_go(&mut self) {
        if let Some(reader) = self.whole.set_source(None) {
            reader.stop();
        }
        if let Some(Held { blocks, copy }) = self.held.take() {
            drop(blocks);
            // A copy that stays is replaced by the next one.
            let _ = copy.map(|copy| copy.wipe());
        }
    }

    /// Writes down where the archive is, if it was moved, now that nothing is refused any more.
    pub(super) fn note_changes(&self) -> std::io::Result<()> {
        let catalog = self.whole.catalog();
        if self.changed && catalog.first > 1 { self.whole.set_catalog(catalog) } else { Ok(()) }
    }

    /// Whether history would be out of reach without the store.
    pub(super) fn needs_store(&self) -> bool {
        self.removed()
    }
}

impl Drop for Archived {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn open_held(store: &dyn Store, copy: Option<Box<dyn Store>>) -> Result<Held, String> {
    let blocks = match &copy {
        Some(copy) => open_copy(&**copy)?,
        None => on_its_own_thread(store, || store.open().map_err(|error| error.problem))?,
    };
    Ok(Held { blocks: Some(blocks), copy })
}

/// The archive's whole path. It is made only before anything has gone there.
fn prepared(path: &Path, found: Option<&Catalog>) -> Result<std::path::PathBuf, OpenError> {
    let archive = OsDisk::new(path);
    if found.is_none_or(|catalog| catalog.archive.is_none()) {
        archive.make_root().map_err(io_error(&archive, "make the archive"))?;
    }
    archive::absolute(path).map_err(|source| match found {
        Some(catalog) if source.kind() == std::io::ErrorKind::NotFound => {
            let segment = catalog.archived().next().unwrap_or(1);
            OpenError::Archive { archive: path.to_owned(), segment }
        }
        _ => io_error(&archive, "find the archive")(source),
    })
}
