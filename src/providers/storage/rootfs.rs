//! Directories of the machine's own filesystem, bound where they are wanted. Source: Juju's rootfs provider.

use bailiwick_actors::vocab::SizeMib;
use bailiwick_journal::crash;
use rustix::fs::Mode;

use super::{AbsPath, Command, DfField, Found, Ground, Ours, Seen, StorageError, Tag, Turn, error::Step};

/// Where a filesystem's data lies.
pub fn directory(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(tag.key())
}

/// Makes an empty directory, if the filesystem it is on is large enough; the whole size of that is what there is.
pub async fn create(ground: &Ground, tag: &Tag, size: SizeMib, turn: &Turn) -> Result<SizeMib, StorageError> {
    if size.0 == 0 {
        return Err(StorageError::BadSize { size });
    }
    let directory = directory(ground, tag);
    let is_new = ground.tree.look(&directory)? == Found::Nothing;
    ground.tree.ensure_directory(&directory, Mode::RWXU)?;
    crash::point("storage-directory-made");
    ground.ensure_empty(&directory)?;
    let have = ground.df_size(&ground.storage_dir, turn).await?;
    if size <= have {
        return Ok(have);
    }
    if is_new {
        ground.tree.remove_empty_directory(&directory)?;
    }
    Err(StorageError::NotBigEnough { have, want: size })
}

/// Binds a filesystem's directory to where it is wanted.
///
/// Where nothing can be bound (in many containers), an empty directory on the same filesystem serves in its place; it is
/// claimed, so that it is known again when it is not empty any more.
pub async fn attach(
    ground: &Ground,
    tag: &Tag,
    path: Option<&AbsPath>,
    read_only: bool,
    turn: &Turn,
) -> Result<(), StorageError> {
    let path = ground.mount_point(path)?;
    let directory = directory(ground, tag);
    if *path == directory {
        return if read_only { Err(StorageError::CannotBeReadOnly { path: path.clone() }) } else { Ok(()) };
    }
    ground.prepare(path)?;
    let source = ground.df(DfField::Source, path, turn).await?;
    let ours = Ours::Directory(directory.clone());
    let is_bound = match ground.is_mounted_as(path, &ours, read_only)? {
        Seen::It(_) => true,
        Seen::Nothing => false,
        Seen::CannotTell => source == directory.as_str(),
    };
    if is_bound {
        return Ok(());
    }
    match ground.run(Step::Mount, Command::mount_bind(&directory, path, read_only), turn).await {
        Ok(_) => return ground.ensure_mounted(path, &ours),
        // It may have been mounted all the same; who asks again will see.
        Err(error) if !is_refusal(&error) => return Err(error),
        Err(_) => (),
    }
    let here = ground.df(DfField::Target, &directory, turn).await?;
    let there = ground.df(DfField::Target, path, turn).await?;
    if here != there {
        return Err(StorageError::DifferentFilesystems { one: directory, other: path.clone() });
    }
    if read_only {
        return Err(StorageError::CannotBeReadOnly { path: path.clone() });
    }
    if claimed(ground, tag)?.as_ref() != Some(path) {
        ground.ensure_empty(path)?;
        claim(ground, tag, path)?;
    }
    Ok(())
}

/// Whether the command was run and said no.
fn is_refusal(error: &StorageError) -> bool {
    matches!(error, StorageError::Command { source, .. } if source.is_refusal())
}

fn claim_path(ground: &Ground, tag: &Tag) -> AbsPath {
    ground.storage_dir.join(&format!("{tag}.claim"))
}

/// Writes down that a directory is this filesystem's.
pub fn claim(ground: &Ground, tag: &Tag, path: &AbsPath) -> Result<(), StorageError> {
    let content = format!("{path}\n");
    ground.tree.write(&claim_path(ground, tag), content.as_bytes(), Mode::RUSR | Mode::WUSR)?;
    crash::point("storage-claimed");
    Ok(())
}

/// The directory that a filesystem has claimed.
pub fn claimed(ground: &Ground, tag: &Tag) -> Result<Option<AbsPath>, StorageError> {
    let place = claim_path(ground, tag);
    let Some(content) = ground.tree.read(&place)? else { return Ok(None) };
    let path = std::str::from_utf8(&content).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
    path.map(Some).ok_or(StorageError::BadRecord { path: place })
}

/// Forgets a filesystem. Its data stays where it is.
pub fn destroy(ground: &Ground, tag: &Tag) -> Result<(), StorageError> {
    ground.tree.remove_file(&claim_path(ground, tag)).map(drop)
}
