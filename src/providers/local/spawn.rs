//! Starting an agent.

use std::{
    ffi::OsStr,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use bailiwick_actors::vocab::{Fault, FaultCode};
use bailiwick_journal::crash;
use tracing::{info, warn};

use super::{LocalConfig, fault::OrFault};
use crate::agent::{directory::MachineDir, output};

/// Starts an agent in a machine's directory; the receiver hears how it ended, while this process lives.
///
/// The agent is a child of the node but not bound to it: it has a process group of its own, so that Ctrl-C does not reach
/// it, and soon a session of its own (`agent::process`), no terminal, no pipe to us, and nothing of our environment but `PATH`.
pub fn start_agent(config: &LocalConfig, directory: &MachineDir) -> Result<Receiver<ExitStatus>, Fault> {
    let Some((program, arguments)) = config.agent_command.split_first() else {
        return Err(Fault::new(FaultCode::InvalidArgument, "the local provider has no agent command"));
    };
    let log = output::open_append(&directory.agent_log()).or_fault("open the agent's log")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("--dir")
        .arg(directory.path())
        .arg("--socket")
        .arg(&config.socket)
        .arg("--effect")
        .arg(directory.effect().to_string())
        .args(config.workload_user.map(|user| format!("--workload-user={user}")))
        .args(
            config
                .storage_helper
                .iter()
                .flat_map(|helper| [OsStr::new("--storage-helper"), helper.socket().as_os_str()]),
        )
        .env_clear()
        .current_dir(directory.path())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log.try_clone().or_fault("open the agent's log")?)
        .stderr(log);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    let (reaper, ended) = reaper().or_fault("start a thread")?;
    let child = command.spawn().or_fault("start the agent")?;
    crash::point("local-after-spawn");
    info!(effect = %directory.effect(), pid = child.id(), "agent started");
    let sent = reaper.send(child);
    assert!(sent.is_ok(), "the thread waits for exactly this");
    Ok(ended)
}

/// A thread that waits for the child it is given, so that no ended agent stays behind as a zombie. It is started before
/// the child, because a child without it could not be taken back.
fn reaper() -> std::io::Result<(SyncSender<Child>, Receiver<ExitStatus>)> {
    let (give, given) = sync_channel::<Child>(1);
    let (tell, told) = sync_channel(1);
    let reap = move || {
        let Ok(mut child) = given.recv() else { return };
        match child.wait() {
            Ok(status) => {
                info!(pid = child.id(), %status, "agent ended");
                // Nobody may be listening any more.
                let _ = tell.try_send(status);
            }
            Err(error) => warn!(pid = child.id(), %error, "cannot wait for an agent"),
        }
    };
    thread::Builder::new().name("agent-reaper".to_owned()).stack_size(128 * 1024).spawn(reap)?;
    Ok((give, told))
}
