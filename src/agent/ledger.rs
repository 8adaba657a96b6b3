//! `workloads.json`: which process groups belong to a machine, for whoever has to clean up after its agent.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bailiwick_actors::vocab::Name;
use tracing::warn;

use super::{files, process::ProcessMark};

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
        if let Err(error) = files::replace_json(&self.path, &*leaders) {
            warn!(%error, "cannot record the running workloads");
        }
    }
}

/// The group leaders that an agent recorded.
pub fn recorded_leaders(path: &Path) -> io::Result<Vec<ProcessMark>> {
    let leaders: Option<BTreeMap<Name, ProcessMark>> = files::read_json(path)?;
    Ok(leaders.unwrap_or_default().into_values().collect())
}
