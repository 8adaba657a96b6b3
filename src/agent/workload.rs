//! One workload: started, watched, started again, stopped.

use std::{
    collections::BTreeMap,
    io,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bailiwick_actors::{machine, vocab::Name};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tracing::{info, warn};

use super::{
    apart::{Apart, Lent},
    files,
    group::Group,
    ledger::Ledger,
    output::{RotatingLog, drain},
};
use crate::api::wire::agent::{LastExit, WorkloadState};

/// How long a workload has to end when it is asked to, if nothing is said about that.
pub const STOP_GRACE: Duration = Duration::from_millis(machine::Workload::GRACE_MS);

/// The first wait before a workload that ended is started again; doubled every time.
const RESTART_FIRST: Duration = Duration::from_secs(1);

/// The longest wait before a workload is started again.
const RESTART_MAX: Duration = Duration::from_secs(30);

/// A workload that ran this long starts again with the first wait.
const RUN_COUNTS_AS_GOOD: Duration = Duration::from_secs(60);

/// A workload that ends this often without such a run is reported as trouble.
const FAILURES_TOLD: u32 = 3;

/// What is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// How long it may take to end once it is asked to.
    pub grace: Duration,
    /// The volumes and filesystems that it uses.
    pub storage: Vec<Lent>,
}

/// How it fares.
#[derive(Clone, Debug)]
pub struct Status {
    pub state: WorkloadState,
    pub restarts: u64,
    pub last_exit: Option<LastExit>,
    /// How often in a row it ended by itself, or could not be started.
    failures: u32,
    /// How many of those are the host's: its disk was full.
    excused: u32,
    /// When it was last started; none before the first time.
    started: Option<Instant>,
}

impl Status {
    /// As it is before the first start.
    pub fn new() -> Self {
        Self { state: WorkloadState::Starting, restarts: 0, last_exit: None, failures: 0, excused: 0, started: None }
    }

    /// How long ago it was last started.
    pub fn since_start(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// The host's disk is full: what failed so far says nothing of the machine, which would fare no better elsewhere on it.
    pub fn excuse(&mut self) {
        self.excused = self.failures;
    }

    /// So often in a row it ended by itself now.
    fn failed(&mut self, failures: u32) {
        self.failures = failures;
        self.excused = self.excused.min(failures);
    }

    /// What is wrong with one that was started so long ago, in words that stay the same while nothing of note changes; none
    /// if nothing is.
    pub fn trouble(&self, since_start: Duration) -> Option<String> {
        let runs_well = self.state == WorkloadState::Running && since_start >= RUN_COUNTS_AS_GOOD;
        if self.failures.saturating_sub(self.excused) < FAILURES_TOLD || runs_well {
            return None;
        }
        let how = match &self.last_exit {
            Some(LastExit::Code(code)) => format!("exit code {code}"),
            Some(LastExit::Signal(signal)) => format!("signal {signal}"),
            Some(LastExit::NotStarted(why)) => return Some(format!("cannot be started: {why}")),
            None => "exit status unknown".to_owned(),
        };
        Some(format!("exits again and again ({how}); see its log"))
    }
}

/// Everything that one workload's keeper needs.
#[derive(Debug)]
pub struct Keeper {
    pub name: Name,
    pub work: PathBuf,
    pub apart: Option<Apart>,
    pub log: Arc<Mutex<RotatingLog>>,
    pub ledger: Arc<Ledger>,
    pub status: Arc<Mutex<Status>>,
}

impl Keeper {
    /// Keeps running what is wished for, until nothing is wished for any more.
    pub async fn keep(self, mut wish: watch::Receiver<Option<Run>>) {
        let mut failures = 0;
        loop {
            // Nobody wishes for anything once the sender is gone.
            if wish.has_changed().is_err() {
                return;
            }
            let Some(run) = wish.borrow_and_update().clone() else { return };
            let started = Instant::now();
            self.lock_status(|status| {
                (status.state, status.started) = (WorkloadState::Starting, Some(started));
                status.failed(failures);
            });
            match self.start(&run).await {
                Ok(group) => {
                    if self.watch(group, &run, &mut wish).await == Ending::Asked {
                        failures = 0;
                        continue;
                    }
                }
                Err(error) => {
                    warn!(workload = %self.name, %error, "cannot start");
                    self.set_last_exit(LastExit::NotStarted(error.to_string().chars().take(200).collect()));
                }
            }
            failures = if started.elapsed() >= RUN_COUNTS_AS_GOOD { 0 } else { failures + 1 };
            self.lock_status(|status| {
                status.state = WorkloadState::BackingOff;
                status.failed(failures);
            });
            tokio::select! {
                biased;
                () = changed(&mut wish, &run) => failures = 0,
                () = sleep(restart_delay(failures)) => self.count_restart(),
            }
        }
    }

    async fn start(&self, run: &Run) -> io::Result<Group> {
        let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text);
        let (program, arguments) = run.command.split_first().ok_or_else(|| invalid("the command is empty"))?;
        if run.env.keys().any(|name| name.is_empty() || name.contains('=')) {
            return Err(invalid("a variable's name is empty or contains '='"));
        }
        files::make_directory(&self.work)?;
        if let Some(apart) = self.apart.clone() {
            let (work, storage) = (self.work.clone(), run.storage.clone());
            let handed = tokio::task::spawn_blocking(move || apart.hand_over(&work, &storage)).await;
            handed.map_err(io::Error::other)?.map_err(|error| {
                io::Error::new(error.kind(), format!("its directory or storage cannot be handed to its user: {error}"))
            })?;
        }
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&run.env).current_dir(&self.work);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        if let Some(apart) = &self.apart {
            apart.user.run(&mut command);
        }
        let group = Group::start(&mut command)?;
        self.ledger.started(&self.name, group.mark());
        self.set_state(WorkloadState::Running);
        info!(workload = %self.name, pid = group.mark().pid, "started");
        // Without its reader the pipe is closed: the workload then runs without output.
        if let Err(error) = drain(reader, self.log.clone()) {
            warn!(workload = %self.name, %error, "its output is discarded");
        }
        Ok(group)
    }

    /// Waits until the workload ends or another state is wanted; either way no process of its group is left afterwards.
    async fn watch(&self, group: Group, run: &Run, wish: &mut watch::Receiver<Option<Run>>) -> Ending {
        let ending = tokio::select! {
            biased;
            () = group.leader_ended() => Ending::ByItself,
            () = changed(wish, run) => Ending::Asked,
        };
        if ending == Ending::Asked {
            self.set_state(WorkloadState::Stopping);
        }
        let status = group.stop(run.grace).await;
        self.ledger.ended(&self.name);
        info!(workload = %self.name, ?status, ?ending, "ended");
        if let Some(exit) = status.and_then(exit) {
            self.set_last_exit(exit);
        }
        ending
    }

    fn set_state(&self, state: WorkloadState) {
        self.lock_status(|status| status.state = state);
    }

    fn set_last_exit(&self, exit: LastExit) {
        self.lock_status(|status| status.last_exit = Some(exit));
    }

    fn count_restart(&self) {
        self.lock_status(|status| status.restarts += 1);
    }

    fn lock_status(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    ByItself,
    Asked,
}

/// Waits until something else than `run` is wished for. A wish whose owner is gone is a wish for nothing.
async fn changed(wish: &mut watch::Receiver<Option<Run>>, run: &Run) {
    let _ = wish.wait_for(|wish| wish.as_ref() != Some(run)).await;
}

fn restart_delay(failures: u32) -> Duration {
    RESTART_FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(RESTART_MAX)
}

fn exit(status: ExitStatus) -> Option<LastExit> {
    status.code().map(LastExit::Code).or_else(|| status.signal().map(LastExit::Signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_ends_again_and_again_is_in_trouble_until_it_has_run_a_while() {
        // Given one that has ended three times
        let last_exit = Some(LastExit::Code(3));
        let ended = Status { state: WorkloadState::BackingOff, last_exit, failures: 3, ..Status::new() };
        let text = "exits again and again (exit code 3); see its log";
        assert_eq!(ended.trouble(Duration::ZERO).as_deref(), Some(text));
        // When it runs again, then it is still told of, and no more once it has run for long
        let running = Status { state: WorkloadState::Running, ..ended.clone() };
        assert_eq!(running.trouble(Duration::ZERO).as_deref(), Some(text));
        assert_eq!(running.trouble(RUN_COUNTS_AS_GOOD), None);
        // One that ended once is started again, and nobody has to know.
        assert_eq!(Status { failures: 1, ..ended }.trouble(Duration::ZERO), None);
    }

    #[test]
    fn what_failed_while_the_hosts_disk_was_full_does_not_count() {
        // Given one that has ended three times while the disk was full
        let ended = Status { state: WorkloadState::BackingOff, last_exit: Some(LastExit::Code(1)), ..Status::new() };
        let mut status = Status { failures: 3, ..ended };
        status.excuse();
        assert_eq!(status.trouble(Duration::ZERO), None);
        // When it goes on failing with room again, then that counts as with any other
        status.failed(5);
        assert_eq!(status.trouble(Duration::ZERO), None);
        status.failed(6);
        assert!(status.trouble(Duration::ZERO).is_some());
        // And what failed before it ran well excuses nothing later.
        status.excuse();
        status.failed(0);
        status.failed(3);
        assert!(status.trouble(Duration::ZERO).is_some());
    }

    #[test]
    fn the_wait_doubles_up_to_its_bound() {
        let waits: Vec<u64> = [0, 1, 2, 3, 5, 6, 7, u32::MAX].map(|n| restart_delay(n).as_secs()).into();
        assert_eq!(waits, [1, 1, 2, 4, 16, 30, 30, 30]);
    }
}
