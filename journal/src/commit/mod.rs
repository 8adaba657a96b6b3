//! The one writer.

pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod status;
pub(crate) mod writer;
