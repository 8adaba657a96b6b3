//! `workloads.json`: which process groups belong to a machine, to clean up after its agent.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::vocab::Name;
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::{files, process::ProcessMark};

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    /// The machine's directory. A copied ledger names its original's, whose processes are not to be ended for the copy.
    directory: Inode,
    leaders: BTreeMap<Name, ProcessMark>,
}

/// One directory, however it is called: moving keeps it, copying makes another.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    fn of_parent(path: &Path) -> io::Result<Self> {
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::symlink_metadata(parent).map(|found| Self { device: found.dev(), number: found.ino() })
    }
}

/// The groups that run now, on disk after every change.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    leaders: Mutex<BTreeMap<Name, ProcessMark>>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(path: PathBuf) -> Self {
        Self { path, leaders: Mutex::default() }
    }

    /// A workload's group has been started.
    pub fn started(&self, workload: &Name, leader: &ProcessMark) {
        self.change(|leaders| leaders.insert(workload.clone(), leader.clone()));
    }

    /// A workload's group has ended as a whole.
    pub fn ended(&self, workload: &Name) {
        self.change(|leaders| leaders.remove(workload));
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<Name, ProcessMark>) -> T) {
        let mut leaders = self.leaders.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut leaders);
        // Not fatal: processes are also found by their environment.
        if let Err(error) = self.record(leaders.clone()) {
            warn!(%error, "cannot record the running workloads");
        }
    }

    fn record(&self, leaders: BTreeMap<Name, ProcessMark>) -> io::Result<()> {
        files::replace_json(&self.path, &Recorded { directory: Inode::of_parent(&self.path)?, leaders })
    }
}

/// The group leaders that an agent recorded in this directory, by workload; none from a ledger that was copied here from
/// another one.
pub fn recorded_leaders(path: &Path) -> io::Result<BTreeMap<Name, ProcessMark>> {
    let Some(recorded) = files::read_json::<Recorded>(path)? else { return Ok(BTreeMap::new()) };
    let is_ours = recorded.directory == Inode::of_parent(path)?;
    Ok(if is_ours { recorded.leaders } else { BTreeMap::new() })
}
