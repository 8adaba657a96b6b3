//! `bailiwick exec`: runs a command as a workload of a local machine is run.

use std::{env, ffi::OsString, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

use bailiwick_actors::vocab::Name;
use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    inside::{directory, machine, unreadable, workload},
};
use crate::agent::{directory::MachineDir, ledger::recorded_leaders, process};

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// A machine of the provider `local`, on this machine
    #[arg(value_name = "MACHINE")]
    machine: String,
    /// The workload whose environment and directory the command gets; may be left out if only one runs
    #[arg(short, long, visible_alias = "container", value_name = "WORKLOAD")]
    workload: Option<String>,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn main(global: &Global, args: ExecArgs) -> Result<Exit, CliError> {
    let machine = machine(&args.machine)?;
    let place = Place::of(&directory(global, &machine)?, &machine, args.workload.as_deref())?;
    let mut words = args.command.into_iter();
    let Some(program) = words.next() else { return Err(CliError::usage("there is no command")) };
    let told = program.to_string_lossy().into_owned();
    // In place of this process: signals, the terminal and the exit code are the command's.
    let error = place.command(program, words).exec();
    let message = format!("cannot run {told:?} in machine/{machine}");
    let found = if error.kind() == io::ErrorKind::NotFound { "not-found" } else { "failed" };
    Err(CliError::new(Exit::Error, found, message)
        .because(&error)
        .next("check the command and the PATH of the workload"))
}

/// Where a command runs, and what it is told.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    work: PathBuf,
    variables: Vec<(OsString, OsString)>,
    /// User and group, if they are not this process's own.
    owner: Option<(u32, u32)>,
}

impl Place {
    /// As a workload that runs has it.
    fn of(directory: &MachineDir, machine: &Name, named: Option<&str>) -> Result<Self, CliError> {
        let path = directory.workloads();
        let leaders = recorded_leaders(&path).map_err(|error| unreadable(&path, &error))?;
        let running: Vec<Name> =
            leaders.iter().filter(|(_, leader)| leader.is_alive()).map(|(name, _)| name.clone()).collect();
        let not_running = || {
            CliError::new(Exit::Refused, "cannot-here", format!("no workload of machine/{machine} runs"))
                .next(format!("`bailiwick logs {machine} --agent` tells how they fare"))
        };
        if running.is_empty() {
            return Err(not_running());
        }
        let workload = workload(machine, named, &running)?;
        let Some(leader) = leaders.get(workload) else { return Err(not_running()) };
        let look = || Ok(process::environment(leader)?.zip(process::owner(leader)?));
        let found = look().map_err(|error: io::Error| unreadable(&path, &error))?;
        let Some((variables, owner)) = found else { return Err(not_running()) };
        let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let work = directory.work().join(workload.as_str());
        Ok(Self { work, variables, owner: (owner != us).then_some(owner) })
    }

    fn command(self, program: OsString, arguments: impl Iterator<Item = OsString>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        // What draws on the terminal has to know which one it is.
        command.envs(env::var_os("TERM").map(|term| ("TERM", term)));
        command.envs(self.variables).current_dir(self.work);
        if let Some((uid, gid)) = self.owner {
            command.gid(gid).uid(uid);
        }
        command
    }
}
