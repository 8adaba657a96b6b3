//! Blocks and records.

pub(crate) mod clean_stop;
pub(crate) mod frame;
pub(crate) mod head_file;
pub(crate) mod head_record;
pub(crate) mod reached;
pub(crate) mod record;
