//! Machines: made, found, listed, removed. Everything here blocks.

use std::{
    collections::BTreeMap,
    fs, io,
    process::ExitStatus,
    sync::mpsc::Receiver,
    thread::sleep,
    time::{Duration, Instant},
};

use bailiwick_actors::{
    machine::rules::template::NodeTemplate,
    ports::{CreateMachine, InstanceStatus, Listing, Lookup, MachineInstance},
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name},
};
use bailiwick_journal::crash;
use tokio::runtime::Handle;
use tracing::warn;

use super::{
    Inner,
    end::end_machine,
    fault::{OrFault, failed_precondition},
    home::{self, Found, Home},
    spawn::start_agent,
};
use crate::{
    agent::{
        agent_token,
        directory::{MachineDir, MachineTag, Presence},
        files,
        process::ProcessMark,
    },
    api::wire::agent::Workload,
    providers::machine_storage::{self, Whereabouts},
};

/// An agent is there within milliseconds; on a machine under heavy load it may take longer.
const START_TIME_MAX: Duration = Duration::from_secs(15);

/// The longest value of a fact that the port allows, in bytes.
const FACT_BYTES_MAX: usize = 255;

/// Makes a machine, or finds the one that was made under this id.
pub fn create(inner: &Inner, wish: CreateMachine) -> Result<MachineInstance, Fault> {
    let directory = inner.home.machine(wish.id);
    let presence = directory.presence().or_fault("read the machine's directory")?;
    let to_be_made = match presence {
        Presence::Absent => true,
        Presence::NeverStarted => take_back(&directory)?,
        Presence::Unproven | Presence::Running(_) => false,
        Presence::Ended(_) => {
            return failed_precondition("the machine's process exited; it must be deleted and recreated");
        }
    };
    let ended = if to_be_made {
        make(inner, &directory, &wish).or_fault("make the machine's directory")?;
        crash::point("local-before-spawn");
        Some(start_agent(&inner.config, &directory)?)
    } else {
        bring_token(&directory, &wish).or_fault("bring the machine a token")?;
        None
    };
    let mark = wait_for_agent(&directory, ended)?;
    crash::point("local-after-create");
    let tag = read_tag(&directory)?;
    if tag.uid != wish.uid {
        return Err(Fault::new(FaultCode::AlreadyExists, "another machine was made under this id"));
    }
    Ok(instance(&directory, tag, &mark, InstanceStatus::Running))
}

fn make(inner: &Inner, directory: &MachineDir, wish: &CreateMachine) -> io::Result<()> {
    let workload = |declared: &bailiwick_actors::machine::Workload| Workload {
        name: declared.name.clone(),
        command: declared.command.clone(),
        env: declared.env.clone(),
        volumes: declared.volumes.clone(),
        grace_ms: Some(declared.grace_ms()),
    };
    let tag = MachineTag {
        effect: wish.id,
        machine: wish.machine.clone(),
        uid: wish.uid,
        workloads: wish.spec.workloads.iter().map(workload).collect(),
        nonce: wish.nonce.clone(),
        api_addresses: wish.start.as_ref().map(|start| start.api_addresses.clone()).unwrap_or_default(),
        config: wish.config.as_deref().cloned(),
        node: NodeTemplate {
            labels: wish.spec.labels.clone(),
            annotations: wish.spec.annotations.clone(),
            taints: wish.spec.taints.clone(),
        },
        jobs: wish.spec.jobs_in_force().into_iter().map(|job| job.as_str().to_owned()).collect(),
    };
    home::make_whole(directory.path(), |path| {
        let new = MachineDir::new(path.to_owned(), wish.id);
        for directory in [new.volumes(), new.work(), new.logs()] {
            files::make_directory(&directory)?;
        }
        files::write_new(&new.lock(), b"")?;
        match &wish.join {
            Some(join) => files::write_new(&new.join_token(), join.reveal().as_bytes())?,
            // Where nobody has to join, it reports with this from the beginning.
            None => files::write_new(&new.token(), agent_token(&inner.config.node_key, wish.id).as_bytes())?,
        }
        files::write_new(&new.tag(), &serde_json::to_vec_pretty(&tag)?)
    })
}

/// What was made by an earlier attempt, and has not joined, gets the token of this one: its own may be over.
fn bring_token(directory: &MachineDir, wish: &CreateMachine) -> io::Result<()> {
    match &wish.join {
        Some(join) if !directory.token().exists() => files::replace(&directory.join_token(), join.reveal().as_bytes()),
        _ => Ok(()),
    }
}

/// Waits until the agent has proven itself.
fn wait_for_agent(directory: &MachineDir, ended: Option<Receiver<ExitStatus>>) -> Result<ProcessMark, Fault> {
    let until = Instant::now() + START_TIME_MAX;
    let mut pause = Duration::from_millis(1);
    loop {
        // Heard before looking: an agent that has ended and left no trace never ran.
        let exit = ended.as_ref().and_then(|ended| ended.try_recv().ok());
        match directory.presence().or_fault("read the machine's directory")? {
            Presence::Running(mark) => return Ok(mark),
            Presence::Ended(_) => return failed_precondition("the agent exited at once; see its agent.log"),
            Presence::Absent => return Err(Fault::new(FaultCode::Aborted, "the machine's directory has vanished")),
            Presence::NeverStarted | Presence::Unproven => (),
        }
        if let Some(exit) = exit {
            let text = format!("the agent did not start ({exit}); see agent.log in the machine's directory");
            return Err(Fault::new(FaultCode::Internal, text));
        }
        if until <= Instant::now() {
            return Err(Fault::new(FaultCode::DeadlineExceeded, "the agent was started and has not reported yet"));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Removes a machine with everything it started, mounted and attached. Volumes that are not inside of it stay: in its
/// directory are only links to them.
pub fn delete(inner: &Inner, id: EffectId) -> Result<(), Fault> {
    let directory = inner.home.machine(id);
    home::sweep(directory.path()).or_fault("remove what is left of the machine")?;
    match fs::symlink_metadata(directory.path()) {
        Ok(found) if found.is_dir() => (),
        Ok(_) => return files::remove_file(directory.path()).or_fault("remove what is in the machine's place"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).or_fault("find the machine's directory"),
    }
    let _lock = end_machine(&directory)?;
    crash::point("local-after-ending");
    Handle::current().block_on(machine_storage::release(
        &directory.storage(),
        &inner.clock,
        inner.config.storage_helper.as_ref(),
    ))?;
    crash::point("local-after-letting-go");
    home::discard(directory.path()).or_fault("remove the machine's directory")
}

/// What is known about the machine made under this id.
pub fn lookup(inner: &Inner, id: EffectId) -> Result<Lookup<MachineInstance>, Fault> {
    let directory = inner.home.machine(id);
    Ok(match directory.presence().or_fault("read the machine's directory")? {
        Presence::Absent => Lookup::Absent,
        Presence::NeverStarted if take_back(&directory)? => Lookup::Absent,
        Presence::NeverStarted | Presence::Unproven => Lookup::Unknown,
        Presence::Running(mark) => {
            Lookup::Present(instance(&directory, read_tag(&directory)?, &mark, InstanceStatus::Running))
        }
        Presence::Ended(mark) => {
            Lookup::Present(instance(&directory, read_tag(&directory)?, &mark, InstanceStatus::Stopped))
        }
    })
}

/// Where the machine of this name is, for its storage.
pub fn locate(inner: &Inner, machine: &Name) -> Result<Whereabouts, Fault> {
    let mut ended = Whereabouts::Nowhere;
    for directory in directories(&inner.home, machine).or_fault("list the machines")? {
        match directory.presence().or_fault("read the machine's directory")? {
            Presence::Absent => (),
            Presence::Ended(_) => ended = Whereabouts::Ended { storage: directory.storage() },
            Presence::NeverStarted | Presence::Unproven | Presence::Running(_) => return Ok(Whereabouts::Running),
        }
    }
    Ok(ended)
}

/// The directories of the machines of this name: of one that runs, and of those that have ended.
pub fn directories(home: &Home, machine: &Name) -> io::Result<Vec<MachineDir>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(home.machines())? {
        let Some(Found::Thing(effect)) = home::recognise(&entry?.file_name()) else { continue };
        let directory = home.machine(effect);
        if directory.read_tag()?.is_some_and(|tag| tag.machine == *machine) {
            found.push(directory);
        }
    }
    Ok(found)
}

/// All machines. What is just being made or removed by a call counts as that call will answer.
pub fn list(inner: &Inner) -> Result<Listing<MachineInstance>, Fault> {
    let as_of = inner.clock.now();
    let mut complete = true;
    let mut items = Vec::new();
    for entry in fs::read_dir(inner.home.machines()).or_fault("list the machines")? {
        let entry = entry.or_fault("list the machines")?;
        match home::recognise(&entry.file_name()) {
            Some(Found::Thing(effect)) => match see(inner, effect) {
                Ok(Seen::Machine(machine)) => items.push(machine),
                Ok(Seen::Nothing) => (),
                Ok(Seen::Unclear) => complete = false,
                Err(fault) => {
                    warn!(%effect, %fault, "a machine's directory is unreadable");
                    complete = false;
                }
            },
            Some(Found::Leftover(effect)) => {
                home::sweep_idle(&inner.keys, effect, inner.home.machine(effect).path());
            }
            None => (),
        }
    }
    items.sort();
    Ok(Listing { complete, as_of, items })
}

enum Seen {
    Machine(MachineInstance),
    Nothing,
    Unclear,
}

fn see(inner: &Inner, effect: EffectId) -> Result<Seen, Fault> {
    let directory = inner.home.machine(effect);
    let (mark, status) = match directory.presence().or_fault("read the machine's directory")? {
        Presence::Running(mark) => (mark, InstanceStatus::Running),
        Presence::Ended(mark) => (mark, InstanceStatus::Stopped),
        Presence::Absent => return Ok(Seen::Nothing),
        Presence::NeverStarted | Presence::Unproven => {
            let Some(_turn) = inner.keys.try_look(effect) else { return Ok(Seen::Nothing) };
            // Looked at again, now that nobody is at it.
            return Ok(match directory.presence().or_fault("read the machine's directory")? {
                Presence::NeverStarted if take_back(&directory)? => Seen::Nothing,
                Presence::Absent => Seen::Nothing,
                _ => Seen::Unclear,
            });
        }
    };
    Ok(Seen::Machine(instance(&directory, read_tag(&directory)?, &mark, status)))
}

/// Removes a machine that was never started; says whether it is gone. With the lock in our hands no agent can start
/// in it, and one that comes later finds nothing.
fn take_back(directory: &MachineDir) -> Result<bool, Fault> {
    let lock = directory.try_lock().or_fault("lock the machine's directory")?;
    let free = lock.is_some() || !directory.lock().exists();
    if !free || directory.process().exists() {
        return Ok(false);
    }
    home::discard(directory.path()).or_fault("remove a machine that was never started")?;
    Ok(true)
}

fn read_tag(directory: &MachineDir) -> Result<MachineTag, Fault> {
    let tag = directory.read_tag().or_fault("read the machine's tag")?;
    tag.ok_or_else(|| Fault::new(FaultCode::DataLoss, "the machine's tag is missing"))
}

fn instance(directory: &MachineDir, tag: MachineTag, mark: &ProcessMark, status: InstanceStatus) -> MachineInstance {
    let mut facts = BTreeMap::from([("pid".to_owned(), mark.pid.to_string())]);
    let path = directory.path().to_string_lossy().into_owned();
    if path.len() <= FACT_BYTES_MAX {
        facts.insert("directory".to_owned(), path);
    }
    facts.extend(tag.nonce.map(|nonce| (MachineInstance::NONCE.to_owned(), nonce.0)));
    MachineInstance { effect: tag.effect, instance: instance_id(tag.effect), machine: tag.machine, facts, status }
}

/// `local-` and the first eight digits of the effect id.
fn instance_id(effect: EffectId) -> InstanceId {
    InstanceId(format!("local-{:.8}", effect.to_string()))
}
