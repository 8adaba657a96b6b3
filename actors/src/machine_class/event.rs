//! What happened to a machine class.

use serde::{Deserialize, Serialize};

use crate::{
    contract::Stored,
    vocab::{ClassContent, Name},
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

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
