//! What may be asked of a machine class.

use serde::{Deserialize, Serialize};

use crate::{
    contract::Stored,
    vocab::{ClassContent, Name},
};

/// A command to a machine class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// It shall exist, and say this.
    Declare(Box<ClassContent>),
    /// It shall go. Refused while machines use it.
    Remove,
    /// These machines are about to be made from it. A supervisor's order.
    Use { machines: Vec<Name> },
    /// These machines are gone, or not made from it. A supervisor's order.
    Release { machines: Vec<Name> },
    /// It shall go as soon as no machine uses it: those that do are about to go.
    RemoveOnceUnused,
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
