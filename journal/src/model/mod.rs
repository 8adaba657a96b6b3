//! What a journal is about.

pub mod codec;
pub mod config;
pub mod entry;
pub mod error;
pub mod head;
pub mod integrity;
pub mod note;
pub mod room;
pub mod stream;
