//! How far along its life an entity is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Alive, then dying (what depends on it goes first), then dead (its resource goes), then removed.
///
/// Source: Juju's life cycle. `Undeclared` is our word for a stream that nobody has declared yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    #[default]
    Undeclared,
    Alive,
    Dying,
    Dead,
    Removed,
}

impl Life {
    /// Whether somebody has declared it and it has not gone.
    pub fn exists(self) -> bool {
        matches!(self, Self::Alive | Self::Dying | Self::Dead)
    }

    /// Whether it was removed and has not gone yet.
    pub fn is_leaving(self) -> bool {
        matches!(self, Self::Dying | Self::Dead)
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undeclared => "undeclared",
            Self::Alive => "alive",
            Self::Dying => "dying",
            Self::Dead => "dead",
            Self::Removed => "removed",
        })
    }
}
