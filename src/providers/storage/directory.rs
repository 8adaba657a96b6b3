//! Plain directories: filesystems for where there are no rights. Nothing is mounted; sizes are promised from one account,
//! and what is really used can be asked for. The data goes with the filesystem.

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;
use rustix::fs::Mode;

use super::{AbsPath, Found, Ground, StorageError, Tag, rootfs};

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
