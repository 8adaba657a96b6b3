//! What may be asked of an attachment, and what the world may report to it.

use serde::{Deserialize, Serialize};

use super::{Spec, Target};
use crate::{
    contract::Stored,
    ports::AttachmentInfo,
    vocab::{EffectId, Fault, Timestamp},
};

/// A command to an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, like this.
    Declare(Spec),
    /// It shall go.
    Remove,
    /// Try again what was given up, or waits.
    Retry,
    /// Machine and volume are ready: attach the one to the other.
    Attach { target: Target },
    /// The instance that it is attached to is going or gone: let go of it, and wait for another.
    Detach { machine_effect: EffectId },
    /// Something that was waited for is due.
    Wake { due: Timestamp },
    /// What the world reports.
    Report(Report),
    /// It was attached while its volume was made: take that over.
    TakeOver { target: Target, info: AttachmentInfo },
    /// It was attached in an earlier session: make sure that it still is.
    Reattach,
    /// It shall go; nobody waits until it is detached, and what may stay behind is recorded.
    RemoveForced,
}

/// A report to an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The provider has attached it, or found it attached.
    Attached {
        attempt: u32,
        info: AttachmentInfo,
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
