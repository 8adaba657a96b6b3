//! What tests of actors need.

mod memory_journal;

pub use memory_journal::MemoryJournal;
