//! `bailiwick agent`: what runs inside a local machine.

use super::exit::Exit;
use crate::agent::AgentArgs;

pub(super) fn main(args: AgentArgs) -> Exit {
    match crate::agent::main(args) {
        0 => Exit::Ok,
        _ => Exit::Error,
    }
}
