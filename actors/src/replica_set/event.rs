//! What happened to a replica set.

use serde::{Deserialize, Serialize};

use super::{Endpoints, Spec};
use crate::{
    contract::{Stored, Touches},
    ports::replica_set::{Observation, Stamp, Step},
    vocab::{Fact, Fault, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It is looked after from now on, under a new uid.
    Declared {
        spec: Spec,
    },
    SpecChanged {
        spec: Spec,
    },
    /// So many servers shall vote from now on.
    ServersWanted {
        servers: u32,
    },
    /// It is to be read what there is.
    LookBegun,
    /// This is there.
    Seen {
        observation: Observation,
    },
    /// What is there is what was there.
    SeenSame,
    /// A server answers, and there is no set yet.
    SeenNotBegun,
    LookFailed {
        until: Timestamp,
        fault: Fault,
    },
    /// A step is on its way; who gets a vote by it is flagged from now on.
    StepBegun {
        step: Step,
        base: Stamp,
        at: Timestamp,
    },
    /// The engine says that it is done. It is read back next.
    StepDone,
    /// The engine says that the primary gives way. The rest has to follow soon.
    SteppedDown {
        until: Timestamp,
    },
    /// The engine did not take it.
    StepRefused {
        until: Timestamp,
        fault: Fault,
    },
    /// Nobody knows whether it was taken, or will be.
    StepUnknown {
        until: Timestamp,
        fault: Fault,
    },
    Removed,
    /// Servers are to be found there from now on.
    Published {
        endpoints: Endpoints,
    },
    /// It is not removed from now on, or may be again.
    Protected {
        on: bool,
    },
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Life, Seen, Spec, Step};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::SpecChanged { .. } | Self::ServersWanted { .. } => &[Spec],
            Self::LookBegun => &[Step],
            Self::Seen { .. } | Self::SeenNotBegun => &[Seen, Step],
            Self::SeenSame => &[Step],
            Self::LookFailed { .. }
            | Self::StepBegun { .. }
            | Self::StepDone
            | Self::SteppedDown { .. }
            | Self::StepRefused { .. }
            | Self::StepUnknown { .. } => &[Step],
            Self::Published { .. } => &[],
            Self::Protected { .. } | Self::Removed => &[Life],
        })
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
