//! `bailiwick storage-helper`: what root does for a node that is not root's.

use std::path::PathBuf;

use clap::Args;

use super::{
    Global,
    exit::{CliError, Exit},
    manager::Manager,
    progress::say,
};
use crate::{
    agent::WorkloadUser,
    config::local_dir,
    ownership,
    providers::storage::helper::serve::{Helper, HelperConfig, HelperStartError},
};

#[derive(Debug, Args)]
pub(super) struct StorageHelperArgs {
    /// The node's user: a name, UID or UID:GID
    #[arg(long, value_name = "USER")]
    user: WorkloadUser,
    /// Where to listen; only that user can connect
    #[arg(long, value_name = "SOCKET")]
    socket: PathBuf,
}

pub(super) fn main(global: &Global, args: StorageHelperArgs) -> Result<Exit, CliError> {
    let StorageHelperArgs { user, socket } = args;
    // It belongs to somebody else, so it is not checked as our own would be: nothing in it is believed.
    let data_dir = global
        .data_dir
        .clone()
        .ok_or_else(|| CliError::usage("the node's data directory is not named").next("name it with --data-dir DIR"))?;
    // Nothing that it starts gains rights by what it executes; it has all of them already.
    rustix::thread::set_no_new_privs(true).ok();
    let above = socket.parent().filter(|above| !above.as_os_str().is_empty());
    ownership::check_way_to(above.unwrap_or(&PathBuf::from(".")))?;
    let data_dir = data_dir.canonicalize().map_err(|source| {
        let message = format!("cannot use the data directory {}", data_dir.display());
        CliError::of_system(message, &source).next("name the directory of a node; its first start makes it")
    })?;
    let machines = local_dir(&data_dir);
    let config = HelperConfig { data_dir: data_dir.clone(), machines, user: user.ids(), socket: socket.clone() };
    let helper = Helper::start(config)?;
    say(&format!("ready: {} for user {user} and {}", socket.display(), data_dir.display()));
    Manager::of_this_process().tell("READY=1");
    match helper.serve() {
        Ok(never) => match never {},
        Err(source) => Err(HelperStartError::Io { path: socket, source }.into()),
    }
}
