//! Process groups: a workload and what it started.

use std::{
    collections::BTreeMap,
    io,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep, timeout},
};
use tracing::warn;

use super::{
    directory::MachineDir,
    ledger,
    process::{ProcessMark, has_arguments, has_variable, processes_where},
};

/// The variable by which processes of a machine are found again, wherever they have moved: the machine's directory. (An
/// effect id would not do: another node on the same host may well have given the same one.)
pub const MACHINE_VARIABLE: &str = "BAILIWICK_MACHINE_DIR";

/// Even a killed process may take its time, when the kernel waits for a disk.
const REAP_TIME_MAX: Duration = Duration::from_secs(5);

/// A process group with its leader as our child.
///
/// The leader is reaped last: until then the kernel gives its pid to nobody else, so a signal to the group cannot reach
/// strangers.
#[derive(Debug)]
pub struct Group {
    leader: Child,
    pid: Pid,
    mark: ProcessMark,
    reaped: bool,
}

impl Group {
    /// Starts a command as the leader of a group of its own.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut leader = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&leader);
        match ProcessMark::of(leader.id()) {
            Ok(mark) => Ok(Self { leader, pid, mark, reaped: false }),
            Err(error) => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = leader.wait();
                Err(error)
            }
        }
    }

    /// The leader.
    pub fn mark(&self) -> &ProcessMark {
        &self.mark
    }

    /// Waits until the leader has ended, without reaping it. May be dropped and called again.
    pub async fn leader_ended(&self) {
        // Listening begins before looking, so that no end falls in between.
        let mut children = signal(SignalKind::child());
        while !self.has_leader_ended() {
            match &mut children {
                Ok(children) => drop(children.recv().await),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn has_leader_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Asks every process of the group to end, kills what is left after `grace`, and reaps the leader. None if the leader
    /// cannot even be killed.
    pub async fn stop(mut self, grace: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + grace;
        let mut pause = Duration::from_millis(5);
        if self.has_members().await {
            self.signal(Signal::TERM);
            // A stopped process would not see the request.
            self.signal(Signal::CONT);
        }
        while Instant::now() < until && self.has_members().await {
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
        self.signal(Signal::KILL);
        let _ = timeout(REAP_TIME_MAX, self.leader_ended()).await;
        let status = self.leader.try_wait().ok().flatten();
        self.reaped = status.is_some();
        status
    }

    /// Whether any process of the group still runs.
    async fn has_members(&self) -> bool {
        let group = self.mark.pid;
        let look = move || processes_where(|_, stat| stat.group == group);
        let found = tokio::task::spawn_blocking(look).await;
        // If we cannot look, we wait out the grace.
        !matches!(found, Ok(Ok(members)) if members.is_empty())
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            let _ = self.leader.try_wait();
        }
    }
}

/// Everything that runs of a machine: its agents (by their arguments), the members of the groups that were recorded, and
/// whatever carries the machine's variable (a process that left its group, or one that was started an instant before the
/// agent was killed).
///
/// A process that left its group and cleared its environment is not found.
pub fn survivors(machine: &MachineDir) -> io::Result<Vec<ProcessMark>> {
    let leaders = ledger::recorded_leaders(&machine.workloads()).unwrap_or_else(|error| {
        warn!(effect = %machine.effect(), %error, "the record of workloads is unreadable");
        BTreeMap::new()
    });
    // A group counts by its number only while its leader is known; without leader its members are known by the variable.
    let groups: Vec<u32> = leaders.values().filter(|leader| leader.is_known()).map(|leader| leader.pid).collect();
    let directory = machine.path().to_string_lossy();
    let effect = machine.effect().to_string();
    processes_where(|pid, stat| {
        groups.contains(&stat.group)
            || has_variable(pid, MACHINE_VARIABLE, &directory)
            || has_arguments(pid, &[&directory, &effect])
    })
}
