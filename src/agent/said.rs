//! Conditions that a workload says of itself: a server of a replica set knows best that its data is gone.
//!
//! A workload says so with a file in its working directory, and takes it back by removing it:
//! `conditions/ReplicaSetDataLost/SET`; what is in the file is for people. No other kind is taken: disk and memory are
//! the agent's to judge.

use std::{
    ffi::OsStr,
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use bailiwick_actors::{
    supervisor::replica_sets::data_lost_condition,
    vocab::{Name, sort_by},
};

use rustix::fs::{Dir, OFlags};

use super::{files::open_without_links, finding::Finding};
use crate::api::wire::agent::Condition;

/// The folder in a workload's directory.
const FOLDER: &str = "conditions/ReplicaSetDataLost";
/// No more than this of all workloads together is read.
const SAID_MAX: usize = 64;
/// No more than this of a file is read, in bytes.
const TEXT_BYTES_MAX: u64 = 200;

/// What the workloads of a machine say, by kind. What cannot be read is not said.
pub fn said(directory: &Path) -> Vec<Condition> {
    let workloads = entries(&directory.join("work"));
    let files = workloads.iter().flat_map(|workload| entries(&workload.join(FOLDER)));
    let mut said: Vec<Condition> = files.filter_map(|file| condition(&file)).take(SAID_MAX).collect();
    sort_by(&mut said, |one, other| one.kind.cmp(&other.kind));
    said.dedup_by(|next, kept| next.kind == kept.kind);
    said
}

/// What is in a folder, in order; nothing if it is none, or a link to one.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(opened) = open_without_links(folder, OFlags::DIRECTORY) else { return Vec::new() };
    let Ok(read) = Dir::read_from(&opened) else { return Vec::new() };
    let names = read.filter_map(|entry| Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned()));
    let names = names.filter(|name| !matches!(name.as_bytes(), b"." | b".."));
    let mut paths: Vec<PathBuf> = names.map(|name| folder.join(name)).take(1_000).collect();
    paths.sort();
    paths
}

fn condition(file: &Path) -> Option<Condition> {
    let set: Name = file.file_name()?.to_str()?.parse().ok()?;
    // A pipe would never end.
    let opened = open_without_links(file, OFlags::empty()).ok().filter(is_file)?;
    let mut bytes = Vec::new();
    opened.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line: String = text.lines().next().unwrap_or_default().chars().filter(|letter| !letter.is_control()).collect();
    let text = if line.is_empty() { "the data of its member is gone" } else { &line };
    let Finding { healthy, text } = Finding::unhealthy(text);
    Some(Condition { kind: data_lost_condition(&set), healthy, text })
}

fn is_file(opened: &File) -> bool {
    opened.metadata().is_ok_and(|found| found.is_file())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn machine() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a folder");
        let folder = directory.path().join("work/etcd").join(FOLDER);
        fs::create_dir_all(&folder).expect("a folder");
        (directory, folder)
    }

    #[test]
    fn a_file_says_it_until_it_is_removed() {
        let (directory, folder) = machine();
        assert_eq!(said(directory.path()), []);
        fs::write(folder.join("registry"), "no data\nand more").expect("written");
        let condition =
            Condition { kind: "ReplicaSetDataLost/registry".into(), healthy: Some(false), text: "no data".into() };
        assert_eq!(said(directory.path()), [condition]);
        fs::remove_file(folder.join("registry")).expect("removed");
        assert_eq!(said(directory.path()), []);
    }

    #[test]
    fn what_is_no_plain_file_with_the_name_of_a_set_says_nothing() {
        let (directory, folder) = machine();
        fs::write(folder.join("No-Set"), "x").expect("written");
        fs::create_dir(folder.join("folder")).expect("made");
        symlink("/etc/passwd", folder.join("link")).expect("linked");
        assert_eq!(said(directory.path()), []);
        assert_eq!(said(&directory.path().join("nowhere")), []);
    }
}
