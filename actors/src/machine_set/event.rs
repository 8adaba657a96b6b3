//! What happened to a machine set.

use serde::{Deserialize, Serialize};

use super::{Spec, pass};
use crate::{
    contract::{Stored, Touches},
    vocab::{Fact, Name, Timestamp},
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
    /// It is dying: its machines go.
    RemovalBegan,
    Removed,
    /// The machines of the coming pass will have these names.
    Named {
        names: Vec<Name>,
    },
    /// A step of a pass.
    Pass(pass::Event),
    /// Something of the pass was refused: nothing is tried before then.
    Resting {
        until: Timestamp,
    },
    Rested,
    /// It makes no machines: it has as many as its bound.
    Frozen {
        machines: u32,
        bound: u32,
        at: Timestamp,
    },
    /// It makes machines again, and so many do not count until it has few enough.
    Thawed {
        spares: u32,
    },
    /// It leaves the number of its machines as it is.
    Held {
        reason: String,
        until: Option<Timestamp>,
        at: Timestamp,
    },
    HoldEnded,
    /// It is not removed from now on, or may be again.
    Protected {
        on: bool,
    },
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Freeze, Hold, Life, Pass, Request, Spec};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::SpecChanged { .. } => &[Spec],
            Self::RemovalBegan | Self::Removed | Self::Protected { .. } => &[Life],
            Self::Named { .. } | Self::Pass(pass::Event::PassBegan(_)) => &[Pass, Request],
            Self::Pass(_) | Self::Resting { .. } | Self::Rested => &[Pass],
            Self::Frozen { .. } | Self::Thawed { .. } => &[Freeze],
            Self::Held { .. } | Self::HoldEnded => &[Hold],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Named { .. } | Self::Pass(pass::Event::PassBegan(_)) => Touches::Some(&[Fact::Pass]),
            Self::Frozen { .. } => Touches::Some(&[Fact::Spec]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
