//! Plain directories: filesystems for where there are no rights. Nothing is mounted; sizes are promised from one account,
//! and what is really used can be asked for. The data goes with the filesystem.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::{
    storage_rules::PoolName,
    vocab::{EffectId, SizeMib},
};
use bailiwick_journal::crash;
use rustix::fs::Mode;

use super::{
    AbsPath, Found, Ground, StorageError, Tag,
    record::{self, FilesystemRecord},
    rootfs,
};

/// What has been promised so far. The records say it; they are read once, and then kept in mind.
#[derive(Debug, Default)]
pub(super) struct Account(Mutex<Option<Promises>>);

#[derive(Debug, Default)]
struct Promises {
    by_id: BTreeMap<EffectId, Promise>,
    /// By the pool; what comes from none has a place of its own.
    totals_mib: BTreeMap<Option<PoolName>, u64>,
    total_mib: u64,
}

#[derive(Debug)]
struct Promise {
    size: SizeMib,
    pool: Option<PoolName>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub size: SizeMib,
    pub pool: Option<&'a PoolName>,
}

/// What can be promised at most.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// To all together.
    pub all: SizeMib,
    /// To those of the same pool, if the pool says so.
    pub of_pool: Option<SizeMib>,
}

impl Account {
    /// Promises a size, if that much is left. The same promise again is the same.
    pub fn promise(&self, ground: &Ground, id: EffectId, wanted: Wanted<'_>, room: Room) -> Result<(), StorageError> {
        let mut promises = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if promises.is_none() {
            let mut read = Promises::default();
            for id in record::all::<FilesystemRecord>(ground)? {
                if let Some(record) = record::load::<FilesystemRecord>(ground, id)? {
                    read.add(id, Promise { size: record.size, pool: record.pool });
                }
            }
            *promises = Some(read);
        }
        let promises = promises.get_or_insert_default();
        let before = promises.remove(id);
        let pool = wanted.pool.cloned();
        let left = room.all.0.saturating_sub(promises.total_mib);
        let promised = promises.totals_mib.get(&pool).copied().unwrap_or_default();
        let have = SizeMib(room.of_pool.map_or(left, |room| left.min(room.0.saturating_sub(promised))));
        if have < wanted.size {
            before.into_iter().for_each(|before| promises.add(id, before));
            return Err(StorageError::NotBigEnough { have, want: wanted.size });
        }
        promises.add(id, Promise { size: wanted.size, pool });
        Ok(())
    }

    /// What was promised under this id can be promised again.
    pub fn give_back(&self, id: EffectId) {
        let mut promises = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(promises) = promises.as_mut() {
            promises.remove(id);
        }
    }
}

impl Promises {
    fn add(&mut self, id: EffectId, promise: Promise) {
        let total = self.totals_mib.entry(promise.pool.clone()).or_default();
        *total = total.saturating_add(promise.size.0);
        self.total_mib = self.total_mib.saturating_add(promise.size.0);
        self.by_id.insert(id, promise);
    }

    fn remove(&mut self, id: EffectId) -> Option<Promise> {
        let promise = self.by_id.remove(&id)?;
        self.total_mib = self.total_mib.saturating_sub(promise.size.0);
        if let Some(total) = self.totals_mib.get_mut(&promise.pool) {
            *total = total.saturating_sub(promise.size.0);
        }
        Some(promise)
    }
}

/// Makes an empty directory.
pub fn create(ground: &Ground, tag: &Tag, size: SizeMib) -> Result<SizeMib, StorageError> {
    if size.0 == 0 {
        return Err(StorageError::BadSize { size });
    }
    let directory = rootfs::directory(ground, tag);
    ground.tree.ensure_directory(&directory, Mode::RWXU)?;
    crash::point("storage-directory-made");
    ground.ensure_empty(&directory)?;
    Ok(size)
}

/// Puts a link to the directory where it is wanted; without a wish the directory is used where it is.
///
/// The answer is the path that the filesystem is reached by. Nobody can be kept from writing to it.
pub fn attach(ground: &Ground, tag: &Tag, path: Option<&AbsPath>, read_only: bool) -> Result<AbsPath, StorageError> {
    let directory = rootfs::directory(ground, tag);
    if ground.tree.look(&directory)? != Found::Directory {
        return Err(StorageError::InfoMissing { tag: tag.clone() });
    }
    if read_only {
        return Err(StorageError::CannotBeReadOnly { path: directory });
    }
    let Some(path) = path.filter(|path| **path != directory) else { return Ok(directory) };
    let path = ground.mount_point(Some(path))?;
    let parent = path.parent().ok_or(StorageError::NoMountPoint)?;
    ground.prepare(&parent)?;
    // An empty directory in its place was made for this.
    if ground.tree.look(path)? == Found::Directory {
        ground.ensure_empty(path)?;
        ground.tree.remove_empty_directory(path)?;
        crash::point("storage-place-cleared");
    }
    ground.tree.ensure_link(path, &directory)?;
    crash::point("storage-linked");
    Ok(path.clone())
}

/// Whether the filesystem is reached by this path.
pub fn is_attached(ground: &Ground, tag: &Tag, path: &AbsPath) -> Result<bool, StorageError> {
    let directory = rootfs::directory(ground, tag);
    if *path == directory {
        return Ok(ground.tree.look(path)? == Found::Directory);
    }
    ground.tree.is_link_to(path, &directory)
}

/// Takes the link away, if it is ours.
pub fn detach(ground: &Ground, tag: &Tag, path: &AbsPath) -> Result<(), StorageError> {
    let directory = rootfs::directory(ground, tag);
    if *path != directory && ground.tree.is_link_to(path, &directory)? {
        ground.tree.remove_file(path)?;
    }
    Ok(())
}

/// The MiB that are really used, rounded up.
pub fn used(ground: &Ground, tag: &Tag) -> Result<SizeMib, StorageError> {
    Ok(SizeMib(ground.tree.bytes_used(&rootfs::directory(ground, tag))?.div_ceil(1 << 20)))
}

/// Removes the directory with all that is in it.
pub fn destroy(ground: &Ground, tag: &Tag) -> Result<(), StorageError> {
    ground.tree.remove_directory(&rootfs::directory(ground, tag))
}
