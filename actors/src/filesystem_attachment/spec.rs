//! What is wished for: the declared part of a filesystem attachment.

use serde::{Deserialize, Serialize};

use crate::vocab::Name;

/// A filesystem mounted on a machine. Nothing of it can change while it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    pub machine: Name,
    pub filesystem: Name,
    /// The absolute path where it is wanted; none leaves it to the machine's storage directory, or to the provider.
    pub path: Option<String>,
    pub read_only: bool,
}

impl Spec {
    /// The attachment's stream name, `machine:filesystem`.
    pub fn stream_name(&self) -> String {
        format!("{}:{}", self.machine, self.filesystem)
    }
}
