//! Whether a data directory is this user's alone to change.
//!
//! What lies in a data directory is run (`providers.yaml`), believed (`journal`), and told secrets (`node.sock`). So before
//! anything in it is read, all of it has to belong to this user or to root, only they may change it, and none of it may be
//! a link that leads elsewhere. The same holds for the directories that lead to it, where a sticky one, such as `/tmp`, will
//! do. What is inside of machines is theirs and not looked at. A file with secrets that lies elsewhere is held to the same.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

/// Others may do something to a data directory that would make using it unsafe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not safe to use: {why}", path.display())]
pub struct Unsafe {
    /// What is not safe: the directory, something in it, or something that leads to it.
    pub path: PathBuf,
    pub why: Why,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("it belongs to user {owner}, but this process runs as user {us}")]
    Owner { owner: u32, us: u32 },
    #[error("other users may write to it (mode {mode:04o})")]
    Writable { mode: u32 },
    #[error("other users may read it (mode {mode:04o}), and it is secret")]
    Readable { mode: u32 },
    #[error("it is a symbolic link")]
    Link,
    #[error("it is not a {expected}")]
    Kind { expected: &'static str },
    #[error("it cannot be examined ({error})")]
    Unseen { error: io::ErrorKind },
}

impl Unsafe {
    /// What the reader can do about it.
    pub fn next(&self) -> String {
        let path = self.path.display();
        match &self.why {
            Why::Owner { owner, .. } => format!(
                "run the command as user {owner}; or, if everything in it is known to be yours, take ownership with \
                 `chown`; or choose another directory with --data-dir DIR"
            ),
            Why::Writable { .. } => format!(
                "check that nobody changed anything in it, then run `chmod go-w {path}`; or choose another directory \
                 with --data-dir DIR"
            ),
            Why::Readable { .. } => {
                format!("run `chmod go-rwx {path}`; whoever read it knows the secret")
            }
            Why::Link => {
                "replace the link with its target, or choose the real directory with --data-dir DIR".to_owned()
            }
            Why::Kind { .. } => format!("check {path}, or choose another directory with --data-dir DIR"),
            Why::Unseen { .. } => "run the command as the user who owns it".to_owned(),
        }
    }
}

/// What may be at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    Secret,
    Socket,
}

/// What a node reads, runs or talks to in its data directory.
const PARTS: [(&str, Kind); 13] = [
    ("node.key", Kind::Secret),
    ("signing.key", Kind::Secret),
    ("heads.jsonl", Kind::File),
    ("config.toml", Kind::File),
    ("providers.yaml", Kind::File),
    ("place.json", Kind::File),
    ("node.sock", Kind::Socket),
    ("agent.sock", Kind::Socket),
    ("tls", Kind::Directory),
    ("journal", Kind::Directory),
    ("enrolment", Kind::Directory),
    ("exec", Kind::Directory),
    ("local", Kind::Directory),
];

/// Checks a data directory and what is in it; one that is not there is fine.
///
/// # Errors
/// With the first thing that others could use against the user of the directory.
pub fn check(data_dir: &Path) -> Result<(), Unsafe> {
    let Some(found) = look(data_dir)? else { return Ok(()) };
    judge(data_dir, &found, Kind::Directory)?;
    check_way(data_dir)?;
    for (name, kind) in PARTS {
        let path = data_dir.join(name);
        let Some(found) = look(&path)? else { continue };
        judge(&path, &found, kind)?;
        match name {
            "journal" => check_all_in(&path, Kind::File, usize::MAX)?,
            "enrolment" | "tls" => check_all_in(&path, Kind::Secret, usize::MAX)?,
            // What a provider or a machine keeps in a directory of its own is its own affair.
            "exec" => check_commands_in(&path)?,
            "local" => check_all_in(&path, Kind::File, 2)?,
            _ => (),
        }
    }
    Ok(())
}

/// Checks a directory elsewhere that a node writes into, and all that is in it; one that is not there is fine.
///
/// # Errors
/// As of [`check`].
pub fn check_directory(directory: &Path) -> Result<(), Unsafe> {
    let Some(found) = look(directory)? else { return Ok(()) };
    judge(directory, &found, Kind::Directory)?;
    check_way(directory)?;
    check_all_in(directory, Kind::File, usize::MAX)
}

/// Checks a file elsewhere that only this user may read, and what leads to it; one that is not there is fine.
///
/// # Errors
/// As of [`check`].
pub fn check_secret(file: &Path) -> Result<(), Unsafe> {
    let Some(found) = look(file)? else { return Ok(()) };
    judge(file, &found, Kind::Secret)?;
    check_way(file)
}

/// Checks a file elsewhere that only this user and root may change, and what leads to it; one that is not there is fine.
///
/// # Errors
/// As of [`check`].
pub fn check_file(file: &Path) -> Result<(), Unsafe> {
    let Some(found) = look(file)? else { return Ok(()) };
    judge(file, &found, Kind::File)?;
    check_way(file)
}

/// Checks a directory that others may look into: that nobody else may put something in its place, or change what is in it.
///
/// # Errors
/// As of [`check`].
pub fn check_way_to(directory: &Path) -> Result<(), Unsafe> {
    let Some(found) = look(directory)? else { return Ok(()) };
    owned(directory, &found)?;
    closed(directory, &found)?;
    check_way(directory)
}

/// The directories that lead to it: who can change one of them can put another in its place.
fn check_way(data_dir: &Path) -> Result<(), Unsafe> {
    let real = data_dir.canonicalize().map_err(|error| unseen(data_dir, &error))?;
    for above in real.ancestors().skip(1) {
        let found = fs::symlink_metadata(above).map_err(|error| unseen(above, &error))?;
        owned(above, &found)?;
        let is_sticky = found.mode() & 0o1000 != 0;
        if !is_sticky {
            closed(above, &found)?;
        }
    }
    Ok(())
}

/// Everything in a directory, so many levels deep.
fn check_all_in(directory: &Path, files: Kind, levels: usize) -> Result<(), Unsafe> {
    if levels == 0 {
        return Ok(());
    }
    for path in names(directory)? {
        let Some(found) = look(&path)? else { continue };
        if found.is_dir() {
            judge(&path, &found, Kind::Directory)?;
            check_all_in(&path, files, levels - 1)?;
        } else {
            judge(&path, &found, files)?;
        }
    }
    Ok(())
}

/// The command of each provider that was named on a command line.
fn check_commands_in(directory: &Path) -> Result<(), Unsafe> {
    for path in names(directory)? {
        let Some(found) = look(&path)? else { continue };
        judge(&path, &found, Kind::Directory)?;
        let command = path.join("command.json");
        if let Some(found) = look(&command)? {
            judge(&command, &found, Kind::File)?;
        }
    }
    Ok(())
}

fn names(directory: &Path) -> Result<Vec<PathBuf>, Unsafe> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // A node that runs beside us may have removed it this instant.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unseen(directory, &error)),
    };
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// What is there, if anything is; a node that runs beside us may have removed it this instant.
fn look(path: &Path) -> Result<Option<Metadata>, Unsafe> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unseen(path, &error)),
    }
}

fn judge(path: &Path, found: &Metadata, kind: Kind) -> Result<(), Unsafe> {
    let refused = |why| Err(Unsafe { path: path.to_owned(), why });
    if found.is_symlink() {
        return refused(Why::Link);
    }
    let (is_kind, expected) = match kind {
        Kind::Directory => (found.is_dir(), "directory"),
        Kind::File | Kind::Secret => (found.is_file(), "regular file"),
        Kind::Socket => (found.file_type().is_socket(), "socket"),
    };
    if !is_kind {
        return refused(Why::Kind { expected });
    }
    owned(path, found)?;
    // To write to a socket is to connect: whoever listens decides about that, and who that is, is looked at.
    if kind != Kind::Socket {
        closed(path, found)?;
    }
    let mode = found.mode() & 0o7777;
    if kind == Kind::Secret && mode & 0o077 != 0 {
        return refused(Why::Readable { mode });
    }
    Ok(())
}

fn owned(path: &Path, found: &Metadata) -> Result<(), Unsafe> {
    let (owner, us) = (found.uid(), rustix::process::geteuid().as_raw());
    if is_trusted(owner) {
        return Ok(());
    }
    Err(Unsafe { path: path.to_owned(), why: Why::Owner { owner, us } })
}

fn closed(path: &Path, found: &Metadata) -> Result<(), Unsafe> {
    let mode = found.mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(Unsafe { path: path.to_owned(), why: Why::Writable { mode } })
}

/// Whether what this user does may be relied on: it is us, or root.
pub fn is_trusted(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

fn unseen(path: &Path, error: &io::Error) -> Unsafe {
    Unsafe { path: path.to_owned(), why: Why::Unseen { error: error.kind() } }
}

#[cfg(test)]
mod tests;
