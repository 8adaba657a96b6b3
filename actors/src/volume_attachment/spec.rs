//! What is wished for: the declared part of an attachment.

use serde::{Deserialize, Serialize};

use crate::vocab::Name;

/// A volume attached to a machine. Nothing of it can change while it lives.
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
