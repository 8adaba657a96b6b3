//! Filesystems in memory. What was made is only a note of its size; the memory comes with mounting, and the data goes with
//! unmounting. Source: Juju's tmpfs provider.

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;
use rustix::fs::Mode;

use super::{AbsPath, Command, DfField, Found, Ground, Ours, Seen, StorageError, Tag, Turn, error::Step};

fn note(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(&format!("{tag}.info"))
}

/// Notes a filesystem's size. Making it a second time is refused.
pub fn create(ground: &Ground, tag: &Tag, size: SizeMib) -> Result<SizeMib, StorageError> {
    if size.0 == 0 || size.bytes().is_none() {
        return Err(StorageError::BadSize { size });
    }
    let note = note(ground, tag);
    if ground.tree.look(&note)? != Found::Nothing {
        return Err(StorageError::AlreadyExists { tag: tag.clone() });
    }
    // The kernel gives whole pages.
    let size = match ground.page_size_mib {
        0 => size,
        page => SizeMib(size.0.div_ceil(page).saturating_mul(page)),
    };
    ground.tree.write(&note, format!("{}\n", size.0).as_bytes(), Mode::RUSR | Mode::WUSR)?;
    crash::point("storage-size-noted");
    Ok(size)
}

/// The size that was noted.
pub fn size(ground: &Ground, tag: &Tag) -> Result<SizeMib, StorageError> {
    let note = note(ground, tag);
    let content = ground.tree.read(&note)?.ok_or_else(|| StorageError::InfoMissing { tag: tag.clone() })?;
    let size = std::str::from_utf8(&content).ok().and_then(|text| text.trim_end().parse::<u64>().ok());
    let size = size.filter(|size| 0 < *size && SizeMib(*size).bytes().is_some());
    size.map(SizeMib).ok_or(StorageError::BadRecord { path: note })
}

/// Mounts a filesystem on an empty directory, or finds it mounted there.
pub async fn attach(
    ground: &Ground,
    tag: &Tag,
    path: Option<&AbsPath>,
    read_only: bool,
    turn: &Turn,
) -> Result<(), StorageError> {
    let path = ground.mount_point(path)?;
    let size = size(ground, tag)?;
    ground.prepare(path)?;
    let source = ground.df(DfField::Source, path, turn).await?;
    let ours = Ours::Memory(tag.clone());
    match ground.is_mounted_as(path, &ours, read_only)? {
        Seen::It(_) => return Ok(()),
        Seen::CannotTell if source == tag.to_string() => return Ok(()),
        Seen::Nothing | Seen::CannotTell => (),
    }
    ground.ensure_empty(path)?;
    ground.run(Step::Mount, Command::mount_tmpfs(tag, path, size, read_only), turn).await?;
    ground.ensure_mounted(path, &ours)
}

/// Forgets a filesystem's size.
pub fn destroy(ground: &Ground, tag: &Tag) -> Result<(), StorageError> {
    ground.tree.remove_file(&note(ground, tag)).map(drop)
}
