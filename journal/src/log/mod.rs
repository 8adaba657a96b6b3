//! The commit log.

pub(crate) mod archive;
pub(crate) mod commit_log;
pub(crate) mod compress;
pub(crate) mod compressed;
pub(crate) mod scan;
pub(crate) mod segment;
pub(crate) mod segment_file;
pub(crate) mod window;
