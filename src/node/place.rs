//! Where a node's data directory was when it ran last: a copy of it has the same identity, and would hold the original's
//! machines and volumes for its own.
//!
//! ```text
//! <data-dir>/place.json      where the directory is, on which host, and where it was before
//! ```

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bailiwick_journal::{Occupant, occupant};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    agent::files,
    config::{journal_dir, local_dir},
};

/// So many places of before are remembered.
const BEFORE_MAX: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    path: PathBuf,
    host: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Noted {
    journal: Uuid,
    now: Place,
    /// The newest last.
    before: Vec<Place>,
}

/// A node with the same identity runs elsewhere on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Twin {
    pub path: PathBuf,
    pub holder: String,
}

/// What the node knows of the places where its directory was before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    before: Vec<Place>,
    /// Notices for the person who starts the node.
    pub told: Vec<String>,
}

/// Looks whether the directory is a copy of one that still goes on.
///
/// # Errors
/// If the note of the last place cannot be read.
pub(crate) fn look(data_dir: &Path) -> io::Result<Result<Elsewhere, Twin>> {
    let Ok(Occupant { journal, .. }) = occupant(&journal_dir(data_dir)) else { return Ok(Ok(Elsewhere::default())) };
    let Some(noted) = read(data_dir)?.filter(|noted| noted.journal == journal) else {
        return Ok(Ok(Elsewhere { before: Vec::new(), told: vec![unnoted()] }));
    };
    let here = here(data_dir)?;
    let mut elsewhere = Elsewhere { before: noted.before, told: Vec::new() };
    if noted.now != here {
        elsewhere.before.retain(|place| *place != noted.now);
        elsewhere.before.push(noted.now.clone());
    }
    elsewhere.before.retain(|place| *place != here);
    let excess = elsewhere.before.len().saturating_sub(BEFORE_MAX);
    elsewhere.before.drain(..excess);
    for place in elsewhere.before.iter().rev() {
        let (path, host) = (place.path.display(), &place.host);
        if place.host != here.host {
            if *place == noted.now {
                elsewhere.told.push(format!(
                    "the node of this data directory ran on host {host}, in {path}, before; if it still does, two nodes \
                     have one identity, and each treats the other's machines and volumes as its own: {MENDED}"
                ));
            }
            continue;
        }
        match occupant(&journal_dir(&place.path)) {
            Ok(Occupant { journal, holder: Some(holder) }) if journal == noted.journal => {
                return Ok(Err(Twin { path: place.path.clone(), holder }));
            }
            Ok(Occupant { journal, holder: None }) if journal == noted.journal => elsewhere.told.push(format!(
                "a copy of this journal, with the same identity, is in {path}; only one of the two may run: {MENDED}"
            )),
            // It is gone, or another one by now: the directory was moved.
            _ => (),
        }
    }
    Ok(Ok(elsewhere))
}

/// What is said of a journal that came without a note: it was copied without it, imported, or salvaged.
fn unnoted() -> String {
    format!(
        "there is no record of where this journal was before (place.json is missing, or belongs to another journal); if this is \
         a copy and a node still runs on the original, two nodes have one identity, and each treats the other's machines and \
         volumes as its own: {MENDED}"
    )
}

/// How two nodes come to have an identity each.
pub(crate) const MENDED: &str =
    "remove one of them, or give one an identity of its own with `journal export` and `journal import --as-new`";

/// The machines of a data directory whose journal is gone; none if there are no machines, or there is a journal.
pub(crate) fn machines_without_journal(data_dir: &Path) -> Option<PathBuf> {
    let machines = local_dir(data_dir).join("machines");
    let has_some = fs::read_dir(&machines).is_ok_and(|mut machines| machines.next().is_some());
    (has_some && holds_nothing(&journal_dir(data_dir))).then_some(machines)
}

/// Whether a journal's directory is missing, or holds at most what a creation begins with.
fn holds_nothing(dir: &Path) -> bool {
    fs::read_dir(dir).map_or_else(
        |error| error.kind() == io::ErrorKind::NotFound,
        |names| names.flatten().all(|name| name.file_name() == "lock" || name.file_name() == "FORMAT.tmp"),
    )
}

/// Notes where the directory is now, also in those that it is a copy of: their nodes have to know of it as well.
///
/// # Errors
/// If it cannot be written.
pub(super) fn note(data_dir: &Path, journal: Uuid, elsewhere: Elsewhere) -> io::Result<()> {
    let here = here(data_dir)?;
    for place in elsewhere.before.iter().filter(|place| place.host == here.host) {
        if let Err(error) = note_copy(&place.path, journal, &here) {
            tracing::warn!(%error, original = %place.path.display(), "cannot note this copy in the original's directory");
        }
    }
    let noted = Noted { journal, now: here, before: elsewhere.before };
    let content = serde_json::to_vec(&noted).map_err(io::Error::other)?;
    if fs::read(file(data_dir)).is_ok_and(|present| present == content) {
        return Ok(());
    }
    files::replace(&file(data_dir), &content)
}

/// Notes in a directory with the same journal, if it is still there, where its copy is.
fn note_copy(original: &Path, journal: Uuid, copy: &Place) -> io::Result<()> {
    if !occupant(&journal_dir(original)).is_ok_and(|found| found.journal == journal) {
        return Ok(());
    }
    let Some(mut noted) = read(original)?.filter(|noted| noted.journal == journal) else { return Ok(()) };
    if noted.now == *copy || noted.before.contains(copy) {
        return Ok(());
    }
    noted.before.push(copy.clone());
    files::replace(&file(original), &serde_json::to_vec(&noted).map_err(io::Error::other)?)
}

/// What a backup notes: where the original is.
///
/// # Errors
/// If it cannot be written.
pub fn note_origin(data_dir: &Path, journal: Uuid, backup: &Path) -> io::Result<()> {
    let noted = Noted { journal, now: here(data_dir)?, before: Vec::new() };
    files::replace(&file(backup), &serde_json::to_vec(&noted).map_err(io::Error::other)?)
}

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("place.json")
}

fn read(data_dir: &Path) -> io::Result<Option<Noted>> {
    let Some(content) = files::read(&file(data_dir))? else { return Ok(None) };
    // What cannot be read says nothing; it is written anew.
    Ok(serde_json::from_slice(&content).ok())
}

fn here(data_dir: &Path) -> io::Result<Place> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(Place { path: data_dir.canonicalize()?, host })
}
