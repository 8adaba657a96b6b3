//! Why a set has not the number of machines that it shall have.

use serde::{Deserialize, Serialize};

/// Which half of a set's work fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureReason {
    FailedCreate,
    FailedDelete,
}

impl FailureReason {
    /// Gardener's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FailedCreate => "FailedCreate",
            Self::FailedDelete => "FailedDelete",
        }
    }
}
