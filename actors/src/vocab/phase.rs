//! Where a machine stands, in one word.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Gardener's word for where a machine stands. With us it is a view: a machine holds several small states side by side,
/// and this is what they amount to (`machine::reconcile` has the table).
///
/// Source: the machine phases of Gardener's machine controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachinePhase {
    /// Nothing was tried yet.
    #[default]
    Blank,
    /// Its instance is made and has not joined yet.
    Pending,
    /// Its instance is made and there is nothing to join.
    Available,
    Running,
    /// It is being removed.
    Terminating,
    /// Its node is unhealthy or gone, and may come back.
    Unknown,
    /// Given up: it never came to be, or was unhealthy for too long.
    Failed,
    /// Making its instance failed, and is tried again.
    CrashLoopBackOff,
}

impl MachinePhase {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Blank,
        Self::Pending,
        Self::Available,
        Self::Running,
        Self::Terminating,
        Self::Unknown,
        Self::Failed,
        Self::CrashLoopBackOff,
    ];

    /// Gardener's spelling; blank is the empty text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blank => "",
            Self::Pending => "Pending",
            Self::Available => "Available",
            Self::Running => "Running",
            Self::Terminating => "Terminating",
            Self::Unknown => "Unknown",
            Self::Failed => "Failed",
            Self::CrashLoopBackOff => "CrashLoopBackOff",
        }
    }
}

impl fmt::Display for MachinePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
