//! The folder in which sled works, seen as files.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::{self, DirBuilder, File},
    io::{self, ErrorKind},
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use crate::disk::{Stamp, stamp_of};

/// Where sled puts a node that is too large for its segments.
const BLOBS: &str = "blobs";

/// The blob files that are durable. sled writes each once, under a name of its own, and syncs none of them.
#[derive(Debug, Default)]
pub(super) struct Blobs {
    durable: BTreeSet<OsString>,
}

impl Blobs {
    /// Makes all that are there durable, with their names.
    pub(super) fn sync(&mut self, dir: &Path) -> io::Result<()> {
        let dir = dir.join(BLOBS);
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(&dir)? {
            there.insert(entry?.file_name());
        }
        let new: Vec<&OsString> = there.difference(&self.durable).collect();
        for name in &new {
            match File::open(dir.join(name)) {
                // sled removes them when it likes, from a thread of its own.
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                file => file?.sync_all()?,
            }
        }
        if !new.is_empty() {
            File::open(&dir)?.sync_all()?;
        }
        self.durable = there;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn durable(&self) -> usize {
        self.durable.len()
    }
}

pub(super) fn sync_folder(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folder(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(dir)?.sync_all()
}

/// Makes a file durable, if there is one.
pub(super) fn sync_file(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        file => file?.sync_all(),
    }
}

pub(super) fn sync_parent(dir: &Path) -> io::Result<()> {
    match dir.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// None if something cannot be looked at.
pub(super) fn stamp_files(dir: &Path, prefix: &str, to: &mut Vec<(String, Stamp)>) -> Option<()> {
    for entry in fs::read_dir(dir).ok()? {
        let entry = entry.ok()?;
        let name = format!("{prefix}{}", entry.file_name().to_str()?);
        if entry.file_type().ok()?.is_dir() {
            stamp_files(&entry.path(), &format!("{name}/"), to)?;
        } else {
            to.push((name, stamp_of(&entry.path()).ok()??));
        }
    }
    Some(())
}

pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A crash while sled writes its snapshot leaves a file that sled itself then refuses to open.
pub(super) fn remove_unfinished_snapshots(dir: &Path) -> io::Result<()> {
    remove_snapshots(dir, ".generating")
}

pub(super) fn remove_snapshots(dir: &Path, ending: &str) -> io::Result<()> {
    let listed = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        listed => listed?,
    };
    for entry in listed {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(ending) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
