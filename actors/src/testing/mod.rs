//! What tests need: a journal in memory, a desk at which every part of the control plane is done by hand, and ports.

mod desk;
mod memory_journal;
mod past;
mod ports;
pub mod stored_forms;

#[cfg(feature = "shell")]
pub use crate::shell::{Plant, plant};
pub use crate::vocab::guard::{Out, take_out};
pub use desk::{Answer, Asked, Call, Desk, Provider, name};
pub use memory_journal::MemoryJournal;
pub use past::Past;
pub use ports::free_port;
