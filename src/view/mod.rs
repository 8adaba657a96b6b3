//! Read models: what the journal says is true, at any moment of it.
//!
//! Everything is a fold of the journal up to a position, so a running node, a stopped node's directory and `--at` are
//! answered by the same code. A view can be thrown away and built again; nothing decides on it.

mod describe;
mod filesystem_rows;
mod fleet;
mod log;
mod moment;
mod rows;
mod status;
mod upcoming;

#[cfg(test)]
mod tests;

pub use describe::{ConditionRow, Description, EffortRow, History, Row, describe};
pub use filesystem_rows::{FilesystemAttachmentRow, FilesystemRow, filesystem_attachments, filesystems};
pub use fleet::{Fleet, FleetError};
pub use log::{LogFilter, log};
pub use moment::{At, position_at, position_of};
pub use rows::{AttachmentRow, MachineRow, PolicyRow, VolumeRow, attachments, machines, policies, volumes};
pub use status::{Count, Pending, Status, Trouble, declared, near_matches, pending, status};
pub use upcoming::{Upcoming, upcoming};
