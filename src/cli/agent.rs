//! `bailiwick agent`: what runs inside a local machine.

use super::exit::Exit;
use crate::{agent::AgentArgs, providers::machine_storage};

pub(super) fn main(args: AgentArgs) -> Exit {
    // Nothing that runs inside of the machine gains rights by what it executes. Threads and children inherit it; a kernel
    // that knows nothing of it is older than any that this runs on.
    rustix::thread::set_no_new_privs(true).ok();
    match crate::agent::main(args.into(), machine_storage::hands) {
        0 => Exit::Ok,
        _ => Exit::Error,
    }
}
