//! What tests of actors need.

mod memory_journal;
mod plant;

pub use memory_journal::MemoryJournal;
pub(crate) use plant::trip;
pub use plant::{Plant, plant};
