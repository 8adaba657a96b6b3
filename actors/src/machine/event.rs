//! What happened to a machine.

use serde::{Deserialize, Serialize};

use super::Spec;
use crate::{
    contract::Stored,
    ports::{Condition, MachineInstance},
    vocab::{Fault, Name, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    SpecChanged {
        spec: Spec,
    },
    /// An intent to create an instance is open: its effect id follows from this event's version.
    CreateRequested {
        at: Timestamp,
    },
    Created {
        instance: MachineInstance,
        at: Timestamp,
    },
    CreateRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    CreateGivenUp {
        fault: Fault,
    },
    /// An intent to delete what the present intent made, or may have made.
    DeleteRequested {
        at: Timestamp,
    },
    Deleted,
    DeleteRetryScheduled {
        until: Timestamp,
        fault: Fault,
    },
    DeleteGivenUp {
        fault: Fault,
    },
    /// The next attempt at whatever waits has begun.
    AttemptBegun,
    /// The instance is gone without our doing.
    InstanceLost {
        at: Timestamp,
    },
    NodeReported {
        conditions: Vec<Condition>,
        at: Timestamp,
    },
    NodeWentStale {
        last_seen: Timestamp,
    },
    AttachmentReserved {
        volume: Name,
    },
    AttachmentReleased {
        volume: Name,
    },
    /// It is dying: nothing new hangs on it.
    RemovalBegan,
    /// Nothing hangs on it any more.
    Died,
    Removed,
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
