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
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Life, Pass, Request, Spec};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::SpecChanged { .. } => &[Spec],
            Self::RemovalBegan | Self::Removed => &[Life],
            Self::Named { .. } | Self::Pass(pass::Event::PassBegan(_)) => &[Pass, Request],
            Self::Pass(_) | Self::Resting { .. } | Self::Rested => &[Pass],
        })
    }

    /// The sides that it goes on from.
    pub fn follows(&self) -> Touches {
        match self {
            Self::Named { .. } | Self::Pass(pass::Event::PassBegan(_)) => Touches::Some(&[Fact::Pass]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
