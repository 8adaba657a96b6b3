//! Storage on one machine, made real: loop devices, filesystems in memory, bound directories, filesystems on volumes, and
//! plain directories for where there are no rights.
//!
//! An operation is a function over a [`Ground`]: it looks at what is there, runs commands, and answers with what it made or
//! with a typed error. Commands are data ([`Command`]) and run without a shell by a [`Runner`]; everything else, above all
//! what must hold right before something is destroyed, is read in this process ([`Tree`], [`Sight`]).
//!
//! - Nothing outside of the storage directory and the mount points is touched; no link is ever followed.
//! - A device that holds data is never formatted, and none is formatted twice.
//! - No failure deletes data. Only destroying does, and only what is not attached.
//! - Every operation can be repeated after a crash at any of its steps.
//! - One [`Turn`] at a time per thing, also across a crash of the node: the commands that it left behind still hold theirs.
//!
//! Sources: the commands and their order are those of Juju's storage providers, without their known defects.

mod ability;
mod attribute;
mod boot_table;
mod command;
mod content;
mod desk;
pub mod directory;
mod error;
mod filesystems;
mod ground;
pub mod helper;
pub mod loop_device;
pub mod managed;
mod names;
pub mod plugged;
mod record;
pub mod rootfs;
mod runner;
mod sight;
pub mod tmpfs;
mod tree;
mod turn;
mod volumes;
mod written;

pub use ability::{Missing, missing_for_filesystems, missing_for_loop_volumes};
pub use command::{Command, DfField};
pub use content::Content;
pub use error::{Step, StorageError};
pub use filesystems::{Filesystems, OverQuota, Way};
pub(crate) use ground::make_directory;
pub use ground::{Ground, Ours};
pub use names::{AbsPath, DeviceName, Tag, TagKind};
pub use runner::{HelpedRunner, RunError, Runner, SystemRunner};
pub use sight::{DeviceFacts, Identity, KernelSight, LoopFile, LoopRoom, Mount, Seen, Sight, Writes};
pub use tree::{Found, Tree};
pub use turn::Turn;
pub use volumes::LoopVolumes;
