//! What is checked inside a machine: disk, memory and every attached volume; and what its workloads say of themselves.
//!
//! Each check runs on a thread of its own with a bound on its time, so that a disk that hangs shows up as a condition
//! and not as a silent agent.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::{finding::Finding, pressure, said, volume_probe};
use crate::api::wire::agent::{AttachedVolume, Condition};

/// What is told of the disk that the host's machines share.
const HOST_DISK: &str = "HostDiskPressure";

/// Whether one of these conditions says that the host's disk is full.
pub fn is_disk_full(conditions: &[Condition]) -> bool {
    conditions.iter().any(|condition| condition.kind == HOST_DISK && condition.healthy == Some(false))
}

/// A check that takes longer than this has failed.
const CHECK_TIME_MAX: Duration = Duration::from_secs(10);

/// A report waits at most this long for the checks; later results go into the next one.
const REPORT_WAIT: Duration = Duration::from_millis(500);

/// All checks of one machine.
#[derive(Debug)]
pub struct Conditions {
    directory: PathBuf,
    checks: BTreeMap<String, Check>,
    volumes: Vec<AttachedVolume>,
    saying: Option<JoinHandle<Vec<Condition>>>,
    last_said: Vec<Condition>,
}

impl Conditions {
    /// The checks that every machine has. Disk and memory are the host's, which its machines share: their names say so, and no
    /// policy watches them unless told to, because replacing a machine on the same host cannot help.
    pub fn new(directory: &Path) -> Self {
        let disk = {
            let (directory, pressure) = (directory.to_owned(), pressure::Gauge::default());
            Check::new(move || pressure.disk(&directory))
        };
        let memory = {
            let pressure = pressure::Gauge::default();
            Check::new(move || pressure.memory())
        };
        let checks = BTreeMap::from([(HOST_DISK.to_owned(), disk), ("HostMemoryPressure".to_owned(), memory)]);
        let directory = directory.to_owned();
        Self { directory, checks, volumes: Vec::new(), saying: None, last_said: Vec::new() }
    }

    /// Checks exactly these volumes from now on; checks of volumes that stay go on undisturbed.
    pub fn follow(&mut self, volumes: &[AttachedVolume]) {
        if self.volumes == volumes {
            return;
        }
        let staying = |kind: &String| {
            !kind.contains('/') || volumes.iter().any(|new| kind_of(new) == *kind && self.volumes.contains(new))
        };
        self.checks.retain(|kind, _| staying(kind));
        for volume in volumes {
            let (directory, probed) = (self.directory.clone(), volume.clone());
            let probe = volume_probe::VolumeProbe::default();
            self.checks.entry(kind_of(volume)).or_insert_with(|| Check::new(move || probe.run(&directory, &probed)));
        }
        self.volumes = volumes.to_vec();
    }

    /// Checks everything and tells how it stands.
    pub async fn report(&mut self) -> Vec<Condition> {
        let until = Instant::now() + REPORT_WAIT;
        self.checks.values_mut().for_each(Check::start);
        let mut conditions = Vec::new();
        for (kind, check) in &mut self.checks {
            let Finding { healthy, text } = check.finding(until).await;
            if healthy.is_some() {
                conditions.push(Condition { kind: kind.clone(), healthy, text });
            }
        }
        conditions.extend(self.said(until).await);
        conditions
    }
}

impl Conditions {
    /// What the workloads say; what they said last, if that cannot be read in time.
    async fn said(&mut self, until: Instant) -> Vec<Condition> {
        let directory = self.directory.clone();
        let running = self.saying.get_or_insert_with(|| tokio::task::spawn_blocking(move || said::said(&directory)));
        if let Ok(found) = timeout(until.saturating_duration_since(Instant::now()), running).await {
            self.last_said = found.unwrap_or_default();
            self.saying = None;
        }
        self.last_said.clone()
    }
}

fn kind_of(volume: &AttachedVolume) -> String {
    let what = if volume.read_only { "VolumeReadable" } else { "VolumeWritable" };
    format!("{what}/{}", volume.name)
}

type Look = Arc<dyn Fn() -> Finding + Send + Sync>;

/// One check: at most one run at a time, and the last finding until there is a newer one.
struct Check {
    look: Look,
    running: Option<(Instant, JoinHandle<Finding>)>,
    last: Option<Finding>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("running", &self.running).field("last", &self.last).finish_non_exhaustive()
    }
}

impl Check {
    fn new(look: impl Fn() -> Finding + Send + Sync + 'static) -> Self {
        Self { look: Arc::new(look), running: None, last: None }
    }

    fn start(&mut self) {
        if self.running.is_none() {
            let look = self.look.clone();
            self.running = Some((Instant::now(), tokio::task::spawn_blocking(move || look())));
        }
    }

    async fn finding(&mut self, until: Instant) -> Finding {
        if let Some((since, run)) = &mut self.running {
            match timeout(until.saturating_duration_since(Instant::now()), run).await {
                Ok(found) => {
                    self.last = Some(found.unwrap_or_else(|_| Finding::unhealthy("the check failed")));
                    self.running = None;
                }
                Err(_) if since.elapsed() >= CHECK_TIME_MAX => {
                    self.last = Some(Finding::unhealthy("the check does not finish"));
                }
                Err(_) => (),
            }
        }
        self.last.clone().unwrap_or_else(|| Finding::healthy("not checked yet"))
    }
}
