//! All workloads of a machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bailiwick_actors::vocab::Name;
use tokio::{sync::watch, task::JoinHandle};

use super::{
    apart::{Apart, Lent},
    directory::MachineDir,
    group::MACHINE_VARIABLE,
    ledger::Ledger,
    output::{LOG_BYTES_MAX, RotatingLog},
    workload::{Keeper, Run, STOP_GRACE, Status},
};
use crate::api::wire::agent::{AttachedVolume, Condition, MountedFilesystem, Workload, WorkloadReport};

/// The programs that a workload finds unless it declares another `PATH`, where the agent was given none.
const PATH_DEFAULT: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The workloads of one machine, each kept by a task of its own.
///
/// A workload starts as soon as it is wished for, whether or not all volumes are attached by then. Its environment tells
/// which are; when that changes (or its own declaration does), it is stopped and started again. One that names the volumes
/// that it uses is told of no others, nor of filesystems on others: what becomes of them does not concern it.
#[derive(Debug)]
pub struct Workloads {
    place: Place,
    machine: Name,
    kept: BTreeMap<Name, Kept>,
}

/// What all of them share.
#[derive(Debug)]
struct Place {
    directory: MachineDir,
    apart: Option<Apart>,
    ledger: Arc<Ledger>,
}

#[derive(Debug)]
struct Kept {
    wish: watch::Sender<Option<Run>>,
    status: Arc<Mutex<Status>>,
    task: JoinHandle<()>,
}

impl Workloads {
    /// No workloads yet.
    pub fn new(directory: MachineDir, machine: Name, apart: Option<Apart>) -> Self {
        let ledger = Arc::new(Ledger::new(directory.workloads()));
        Self { place: Place { directory, apart, ledger }, machine, kept: BTreeMap::new() }
    }

    /// Runs exactly these from now on.
    pub fn follow(&mut self, workloads: &[Workload], volumes: &[AttachedVolume], filesystems: &[MountedFilesystem]) {
        let mut wanted: BTreeMap<&Name, Run> =
            workloads.iter().map(|workload| (&workload.name, self.run(workload, volumes, filesystems))).collect();
        for (name, kept) in &mut self.kept {
            let wish = wanted.remove(name);
            if wish.is_some() && kept.task.is_finished() {
                let status = kept.status.clone();
                *kept = self.place.keep(name, wish, status);
            } else {
                kept.wish.send_if_modified(|current| {
                    *current != wish && {
                        *current = wish;
                        true
                    }
                });
            }
        }
        for (name, run) in wanted {
            let kept = self.place.keep(name, Some(run), Arc::new(Mutex::new(Status::new())));
            self.kept.insert(name.clone(), kept);
        }
        self.kept.retain(|_, kept| kept.wish.borrow().is_some() || !kept.task.is_finished());
    }

    /// How they fare, those that are being stopped included.
    pub fn report(&self) -> Vec<WorkloadReport> {
        let report = |(name, kept): (&Name, &Kept)| {
            let status = kept.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
            WorkloadReport {
                name: name.clone(),
                state: status.state,
                restarts: status.restarts,
                last_exit: status.last_exit,
            }
        };
        self.kept.iter().filter(|(_, kept)| !kept.task.is_finished()).map(report).collect()
    }

    /// The host's disk is full: what ended by itself so far does not count.
    pub fn excuse(&self) {
        for kept in self.kept.values() {
            kept.status.lock().unwrap_or_else(PoisonError::into_inner).excuse();
        }
    }

    /// Those that are in trouble, each as a condition; the others have none.
    pub fn conditions(&self) -> Vec<Condition> {
        let condition = |(name, kept): (&Name, &Kept)| {
            let status = kept.status.lock().unwrap_or_else(PoisonError::into_inner);
            let text = status.trouble(status.since_start())?;
            Some(Condition { kind: format!("WorkloadRunning/{name}"), healthy: Some(false), text })
        };
        self.kept.iter().filter(|(_, kept)| !kept.task.is_finished()).filter_map(condition).collect()
    }

    /// Stops all at once and waits until they have ended.
    pub async fn stop(self) {
        for kept in self.kept.values() {
            kept.wish.send_replace(None);
        }
        for kept in self.kept.into_values() {
            let _ = kept.task.await;
        }
    }

    /// What a workload runs with. Our own variables win over declared ones: cleaning up depends on them.
    fn run(&self, workload: &Workload, volumes: &[AttachedVolume], filesystems: &[MountedFilesystem]) -> Run {
        let path = std::env::var("PATH").unwrap_or_else(|_| PATH_DEFAULT.to_owned());
        let mut env = BTreeMap::from([("PATH".to_owned(), path)]);
        env.extend(workload.env.clone());
        env.insert("BAILIWICK_MACHINE".to_owned(), self.machine.to_string());
        env.insert(MACHINE_VARIABLE.to_owned(), self.place.directory.path().to_string_lossy().into_owned());
        env.insert("BAILIWICK_VOLUMES".to_owned(), self.place.directory.volumes().to_string_lossy().into_owned());
        let uses = |volume: &Name| workload.volumes.is_empty() || workload.volumes.contains(volume);
        let volumes = volumes.iter().filter(|volume| uses(&volume.name));
        let filesystems = filesystems.iter().filter(|mounted| mounted.volume.as_ref().is_none_or(uses));
        let volumes = volumes.map(|volume| ("VOLUME", &volume.name, &volume.path, volume.read_only));
        let mounts = filesystems.map(|mounted| ("FILESYSTEM", &mounted.name, &mounted.path, mounted.read_only));
        let all: Vec<_> = volumes.chain(mounts).collect();
        let lent =
            |(_, _, path, read_only): &(_, _, &PathBuf, bool)| Lent { path: (*path).clone(), read_only: *read_only };
        let storage = all.iter().map(lent).collect();
        let whole: BTreeSet<String> = all.iter().map(|(what, name, ..)| variable_of(what, name.as_str())).collect();
        for (what, name, path, is_read_only) in all {
            let own = own_name(&self.machine, name).map(|own| variable_of(what, own));
            let variables = own.filter(|own| !whole.contains(own)).into_iter();
            for variable in variables.chain([variable_of(what, name.as_str())]) {
                if is_read_only {
                    env.insert(format!("{variable}_READ_ONLY"), "1".to_owned());
                }
                env.insert(variable, path.to_string_lossy().into_owned());
            }
        }
        let grace = workload.grace_ms.map_or(STOP_GRACE, Duration::from_millis);
        Run { command: workload.command.clone(), env, grace, storage }
    }
}

impl Place {
    fn keep(&self, name: &Name, run: Option<Run>, status: Arc<Mutex<Status>>) -> Kept {
        let log = RotatingLog::new(self.directory.logs().join(format!("{name}.log")), LOG_BYTES_MAX);
        let keeper = Keeper {
            name: name.clone(),
            work: self.directory.work().join(name.as_str()),
            apart: self.apart.clone(),
            log: Arc::new(Mutex::new(log)),
            ledger: self.ledger.clone(),
            status: status.clone(),
        };
        let (wish, wished) = watch::channel(run);
        Kept { wish, status, task: tokio::spawn(keeper.keep(wished)) }
    }
}

/// `BAILIWICK_VOLUME_WEB_1_DATA_0` for the volume `web-1-data-0`, `BAILIWICK_FILESYSTEM_…` for a filesystem.
fn variable_of(what: &str, name: &str) -> String {
    format!("BAILIWICK_{what}_{}", name.to_ascii_uppercase().replace('-', "_"))
}

/// What comes behind the machine's name: `data-0` of `web-1-data-0` on `web-1`. By that it is called the same on every
/// machine of a set.
fn own_name<'n>(machine: &Name, name: &'n Name) -> Option<&'n str> {
    name.as_str().strip_prefix(machine.as_str())?.strip_prefix('-')
}
