//! The deciding of bailiwick.
pub mod machine;
pub mod policy;
pub mod ports;
pub mod schedule;
pub mod vocab;
pub mod volume;
pub mod volume_attachment;
