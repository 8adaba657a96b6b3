//! `bailiwick agent`: what runs inside a local machine.

use super::exit::Exit;
use crate::{agent::AgentArgs, providers::machine_storage};

pub(super) fn main(args: AgentArgs) -> Exit {
    match crate::agent::main(args, machine_storage::hands) {
        0 => Exit::Ok,
        _ => Exit::Error,
    }
}
