//! What happened to a machine class.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Stored, Touches},
    vocab::{ClassContent, Fact, Name},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It exists from now on, under a new uid.
    Declared {
        content: Box<ClassContent>,
    },
    /// Its next revision.
    Revised {
        content: Box<ClassContent>,
    },
    /// These machines use it from now on: it stays for them.
    Used {
        machines: Vec<Name>,
    },
    /// These machines use it no more.
    Released {
        machines: Vec<Name>,
    },
    Removed,
    /// It is dying: it goes with the last machine that uses it.
    RemovalBegan,
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Dependents, Life, Spec};
        Touches::Some(match self {
            Self::Declared { .. } => return Touches::All,
            Self::Revised { .. } => &[Spec],
            Self::Used { .. } | Self::Released { .. } => &[Dependents],
            Self::RemovalBegan | Self::Removed => &[Life],
        })
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
