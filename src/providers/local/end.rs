//! Ending a machine: its agent, and everything that it started.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use bailiwick_actors::vocab::{Fault, FaultCode};
use bailiwick_journal::crash;
use rustix::process::Signal;
use tracing::{info, warn};

use super::fault::OrFault;
use crate::agent::{
    STOP_GRACE,
    directory::{HeldLock, MachineDir, Presence},
    group,
    process::ProcessMark,
};

/// The agent gives its workloads their grace and then kills them; a little more than that is enough for it.
const AGENT_GRACE: Duration = STOP_GRACE.saturating_add(Duration::from_secs(2));

/// Whatever is killed should be gone long before this.
const KILL_TIME_MAX: Duration = Duration::from_secs(5);

/// An agent that is just starting proves itself long before this.
const PROOF_TIME_MAX: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(10);

/// Ends a machine's agent and all its workloads. The lock that comes back keeps any other agent from starting; there is
/// none if the directory has no lock file.
pub fn end_machine(directory: &MachineDir) -> Result<Option<HeldLock>, Fault> {
    let lock = end_agent(directory)?;
    crash::point("local-agent-ended");
    end_survivors(directory)?;
    Ok(lock)
}

fn end_agent(directory: &MachineDir) -> Result<Option<HeldLock>, Fault> {
    let agent = match wait_for_proof(directory)? {
        Proof::Free(lock) => return Ok(lock),
        Proof::Agent(agent) => agent,
    };
    info!(effect = %directory.effect(), pid = agent.pid, "ending the agent");
    agent.signal(Signal::TERM).or_fault("end the agent")?;
    // A stopped agent would not see the request.
    agent.signal(Signal::CONT).or_fault("end the agent")?;
    crash::point("local-agent-asked-to-end");
    if let Some(lock) = lock_within(directory, AGENT_GRACE)? {
        return Ok(Some(lock));
    }
    warn!(effect = %directory.effect(), pid = agent.pid, "the agent does not exit; killing it");
    agent.signal(Signal::KILL).or_fault("kill the agent")?;
    match lock_within(directory, KILL_TIME_MAX)? {
        Some(lock) => Ok(Some(lock)),
        None => Err(Fault::new(FaultCode::DeadlineExceeded, "the agent was killed and has not exited yet")),
    }
}

enum Proof {
    Free(Option<HeldLock>),
    Agent(ProcessMark),
}

/// Finds out who holds the lock. A holder that does not prove to be the agent is not touched.
fn wait_for_proof(directory: &MachineDir) -> Result<Proof, Fault> {
    let until = Instant::now() + PROOF_TIME_MAX;
    loop {
        if let Some(lock) = directory.try_lock().or_fault("lock the machine's directory")? {
            return Ok(Proof::Free(Some(lock)));
        }
        if !directory.lock().exists() {
            return Ok(Proof::Free(None));
        }
        match directory.presence().or_fault("read the machine's directory")? {
            Presence::Running(agent) => return Ok(Proof::Agent(agent)),
            _ if Instant::now() < until => sleep(PAUSE),
            _ => {
                let text = "the machine's directory is locked by a process that is not its agent";
                return Err(Fault::new(FaultCode::Unavailable, text));
            }
        }
    }
}

fn lock_within(directory: &MachineDir, time: Duration) -> Result<Option<HeldLock>, Fault> {
    let until = Instant::now() + time;
    loop {
        let lock = directory.try_lock().or_fault("lock the machine's directory")?;
        if lock.is_some() || until <= Instant::now() {
            return Ok(lock);
        }
        sleep(PAUSE);
    }
}

/// Kills what the agent left behind, by exact process, again and again until two looks have found nothing: in its first
/// instant a new program shows neither arguments nor environment.
fn end_survivors(directory: &MachineDir) -> Result<(), Fault> {
    let until = Instant::now() + KILL_TIME_MAX;
    let mut clean_looks = 0;
    loop {
        let found = group::survivors(directory).or_fault("look for the machine's processes")?;
        clean_looks = if found.is_empty() { clean_looks + 1 } else { 0 };
        if clean_looks == 2 {
            return Ok(());
        }
        if until <= Instant::now() && !found.is_empty() {
            let text = format!("{} processes were killed and have not exited yet", found.len());
            return Err(Fault::new(FaultCode::DeadlineExceeded, text));
        }
        for process in &found {
            info!(effect = %directory.effect(), pid = process.pid, "killing the processes that the agent left behind");
            process.signal(Signal::KILL).or_fault("kill a workload")?;
        }
        sleep(PAUSE);
    }
}
