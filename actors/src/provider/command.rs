//! What may be asked about a provider.

use serde::{Deserialize, Serialize};

use crate::{contract::Stored, vocab::Timestamp};

/// A command about a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Nothing that changes something shall be asked of it, until an operator says otherwise or the time has come.
    Hold { reason: String, until: Option<Timestamp> },
    /// It may be asked again.
    Unhold,
    /// Something that was waited for is due.
    Wake { due: Timestamp },
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
