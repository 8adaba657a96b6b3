//! The declared part of a volume's attachment.

use serde::{Deserialize, Serialize};

use crate::vocab::Name;

/// A volume attached to a machine. None of it can change while it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    pub machine: Name,
    pub volume: Name,
    pub read_only: bool,
}

impl Spec {
    /// The attachment's stream name, `machine:volume`.
    pub fn stream_name(&self) -> String {
        format!("{}:{}", self.machine, self.volume)
    }
}
