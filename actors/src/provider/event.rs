//! What happened to a provider.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Stored, Touches},
    vocab::{Fact, Timestamp},
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// No call begins that changes something.
    Held { reason: String, until: Option<Timestamp>, at: Timestamp },
    /// Calls begin again.
    HoldEnded,
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        match self {
            Self::Held { .. } | Self::HoldEnded => Touches::Some(&[Fact::Hold]),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
