//! What may be asked of a filesystem attachment, and what the world may report to it.

use serde::{Deserialize, Serialize};

use super::{Spec, Target};
use crate::{
    contract::Stored,
    ports::FilesystemAttachmentInfo,
    vocab::{EffectId, Fault, Timestamp},
};

/// A command to a filesystem attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go.
    Remove,
    /// Try again what was given up, or waits.
    Retry,
    /// Everything that it needs is there: mount it.
    Attach { target: Box<Target> },
    /// The instance that it is attached to is going or gone: let go of it, and wait for another.
    Detach { machine_effect: EffectId },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// It was attached in an earlier session: make sure that it still is.
    Reattach,
    /// It shall go; nobody waits until it is detached, and what may stay behind is recorded.
    RemoveForced,
}

/// A report to a filesystem attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The provider has attached it, or found it attached.
    Attached {
        attempt: u32,
        info: FilesystemAttachmentInfo,
    },
    AttachFailed {
        attempt: u32,
        fault: Fault,
    },
    /// The provider has detached it, or found it detached.
    Detached {
        attempt: u32,
    },
    DetachFailed {
        attempt: u32,
        fault: Fault,
    },
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
