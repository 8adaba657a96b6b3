//! Where things lie, how they appear whole and how they go.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use bailiwick_actors::vocab::EffectId;
use bailiwick_journal::crash;
use tracing::warn;

use crate::{
    agent::{directory::MachineDir, files},
    providers::keys::Keys,
};

const UNFINISHED: &str = ".new-";
const TRASH: &str = ".trash-";

/// The root directory. Every path below is built from effect ids and checked names only.
#[derive(Debug)]
pub struct Home {
    machines: PathBuf,
    volumes: PathBuf,
    attachments: PathBuf,
}

/// What a directory holds, by the names in it.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Thing(EffectId),
    /// Something half-made or half-removed.
    Leftover(EffectId),
}

impl Home {
    /// The layout under this root.
    pub fn at(root: &Path) -> Self {
        Self { machines: root.join("machines"), volumes: root.join("volumes"), attachments: root.join("attachments") }
    }

    /// Makes the directories that are not there yet, and removes the records that a killed node had begun.
    pub fn make(root: &Path) -> io::Result<()> {
        let home = Self::at(root);
        for directory in [&home.machines, &home.volumes, &home.attachments] {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        // One node at a time: what is half-written was begun by one that was killed.
        files::remove_unfinished(&home.attachments)?;
        files::sync_directory(root)
    }

    pub fn machines(&self) -> &Path {
        &self.machines
    }

    pub fn volumes(&self) -> &Path {
        &self.volumes
    }

    pub fn machine(&self, effect: EffectId) -> MachineDir {
        MachineDir::new(self.machines.join(effect.to_string()), effect)
    }

    pub fn volume(&self, effect: EffectId) -> PathBuf {
        self.volumes.join(effect.to_string())
    }

    pub fn attachment(&self, effect: EffectId) -> PathBuf {
        self.attachments.join(format!("{effect}.json"))
    }
}

/// Makes a directory that appears whole: `fill` writes into one beside it, which then gets its name.
pub fn make_whole(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let unfinished = beside(path, UNFINISHED)?;
    files::remove_directory(&unfinished)?;
    DirBuilder::new().mode(0o700).create(&unfinished)?;
    crash::point("local-begun");
    let made = fill(&unfinished).and_then(|()| files::sync_directory(&unfinished));
    if let Err(error) = made {
        // What is left is swept later; the first error is the one that tells.
        let _ = files::remove_directory(&unfinished);
        return Err(error);
    }
    crash::point("local-before-appearing");
    fs::rename(&unfinished, path)?;
    crash::point("local-in-place");
    files::sync_parent(path)?;
    crash::point("local-after-appearing");
    Ok(())
}

/// Removes a directory: first its name, so that after a crash it is not there any more; then its content, following no
/// links. An absent one is fine.
pub fn discard(path: &Path) -> io::Result<()> {
    let trash = beside(path, TRASH)?;
    files::remove_directory(&trash)?;
    match fs::rename(path, &trash) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed?,
    }
    files::sync_parent(path)?;
    crash::point("local-after-vanishing");
    files::remove_directory(&trash)?;
    crash::point("local-after-removing");
    Ok(())
}

/// Removes what a crash left of this directory.
pub fn sweep(path: &Path) -> io::Result<()> {
    files::remove_directory(&beside(path, UNFINISHED)?)?;
    files::remove_directory(&beside(path, TRASH)?)
}

/// Sweeps, unless somebody is at it; a failure only means that it is tried again later.
pub fn sweep_idle(keys: &Keys, effect: EffectId, path: &Path) {
    let Some(_turn) = keys.try_look(effect) else { return };
    if let Err(error) = sweep(path) {
        warn!(path = %path.display(), %error, "cannot remove what a crash left");
    }
}

/// What a directory entry is; none if we did not make it.
pub fn recognise(name: &std::ffi::OsStr) -> Option<Found> {
    let name = name.to_str()?;
    let leftover = name.strip_prefix(UNFINISHED).or_else(|| name.strip_prefix(TRASH));
    let text = leftover.unwrap_or(name);
    let effect: EffectId = text.parse().ok()?;
    // Only the form that we write: other spellings of an id would be another directory.
    if effect.to_string() != text {
        return None;
    }
    Some(if leftover.is_some() { Found::Leftover(effect) } else { Found::Thing(effect) })
}

fn beside(path: &Path, prefix: &str) -> io::Result<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(path.with_file_name(format!("{prefix}{name}")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const ID: &str = "6b8cbd0e-0f0b-5d5e-9f68-2a3f5a1e6c11";

    #[test]
    fn only_names_of_our_own_form_are_recognised() {
        let effect = ID.parse().unwrap();
        assert_eq!(recognise(ID.as_ref()), Some(Found::Thing(effect)));
        assert_eq!(recognise(format!(".trash-{ID}").as_ref()), Some(Found::Leftover(effect)));
        assert_eq!(recognise(format!(".new-{ID}").as_ref()), Some(Found::Leftover(effect)));
        for name in [&ID.to_uppercase(), &ID.replace('-', ""), "..", "lost+found", ".new-", &format!("{{{ID}}}")] {
            assert_eq!(recognise(name.as_ref()), None, "{name}");
        }
    }

    #[test]
    fn a_directory_appears_whole_or_not_at_all() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join(ID);
        let failed = make_whole(&path, |new| {
            fs::write(new.join("a"), "1")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
        make_whole(&path, |new| fs::write(new.join("a"), "1")).unwrap();
        assert!(path.join("a").exists());
    }

    #[test]
    fn removing_follows_no_links() {
        let (scratch, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("precious"), "1").unwrap();
        let path = scratch.path().join(ID);
        fs::create_dir_all(path.join("volumes")).unwrap();
        symlink(outside.path(), path.join("volumes/data")).unwrap();
        discard(&path).unwrap();
        // The directory itself may have been swapped for a link.
        symlink(outside.path(), &path).unwrap();
        discard(&path).unwrap();
        discard(&path).unwrap();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
        assert!(outside.path().join("precious").exists());
    }
}
