//! Small files, written whole or not at all, and never read beyond a bound.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use serde::{Serialize, de::DeserializeOwned};

/// No file of ours comes near this.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What a name ends in while its file is being written.
const UNFINISHED: &str = ".tmp";

/// Makes a directory that only its owner may enter; one that is there already is fine.
pub fn make_directory(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Writes a new file that only its owner may read, and syncs it.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Puts a value in place as JSON: a reader sees the old content or the new, also after a crash.
pub fn replace_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    replace(path, &serde_json::to_vec_pretty(value)?)
}

/// The same for what is no JSON.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(UNFINISHED);
    let unfinished = Path::new(&unfinished);
    remove_file(unfinished)?;
    write_new(unfinished, content)?;
    fs::rename(unfinished, path)?;
    sync_parent(path)
}

/// Removes the files of a directory that a crash left half-written. Nobody may be writing there.
pub fn remove_unfinished(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.ends_with(UNFINISHED)) {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

/// Reads JSON; none if there is no such file.
///
/// # Errors
/// `InvalidData` if it is too long, no regular file, or does not decode. Links are not followed.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let Some(content) = read(path)? else { return Ok(None) };
    serde_json::from_slice(&content).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a small file; none if there is no such file.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    let mut content = Vec::new();
    if file.take(BYTES_MAX + 1).read_to_end(&mut content)? as u64 > BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too long"));
    }
    Ok(Some(content))
}

/// Opens what is at a path for reading, if no part of the path is a link: a workload with a user of its own could have one lead to
/// what only root may see. A pipe is not waited for.
///
/// # Errors
/// If there is nothing, or a link on the way.
pub fn open_without_links(path: &Path, kind: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | kind;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?.into())
}

/// Removes a file or link; an absent one is fine.
pub fn remove_file(path: &Path) -> io::Result<()> {
    absent_is_fine(fs::remove_file(path))
}

/// Removes a directory with all that is in it, following no links; an absent one is fine.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    absent_is_fine(fs::remove_dir_all(path))
}

fn absent_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes a change of names in a directory durable.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes a new, renamed or removed name durable.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_directory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn json_is_replaced_and_read_back() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.json");
        assert_eq!(read_json::<u32>(&path).unwrap(), None);
        fs::write(scratch.path().join("x.json.tmp"), "torn").unwrap();
        fs::write(scratch.path().join("y.json.tmp"), "torn").unwrap();
        fs::write(scratch.path().join("z.tmp.json"), "whole").unwrap();
        remove_unfinished(scratch.path()).unwrap();
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["z.tmp.json"]);
        fs::write(scratch.path().join("x.json.tmp"), "torn").unwrap();
        for value in [1_u32, 2] {
            replace_json(&path, &value).unwrap();
            assert_eq!(read_json(&path).unwrap(), Some(value));
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn links_pipes_giants_and_garbage_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("garbage"), "{").unwrap();
        File::create(path("giant")).unwrap().set_len(BYTES_MAX + 1).unwrap();
        symlink(path("giant"), path("link")).unwrap();
        fs::create_dir(path("directory")).unwrap();
        for name in ["garbage", "giant", "link", "directory"] {
            assert!(read_json::<u32>(&path(name)).is_err(), "{name}");
        }
    }
}
