//! The interface.

pub mod journal;
pub(crate) mod tail_block;
pub mod view;
