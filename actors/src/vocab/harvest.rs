//! Which instances are stopped that nobody needs, or nobody knows.
//!
//! | mode | instance of a dead machine | instance that nobody knows |
//! |---|---|---|
//! | `none` | stays | stays |
//! | `unknown` | stays, until it has become unknown | goes |
//! | `destroyed` | goes | stays |
//! | `all` | goes | goes |
//!
//! The record of a dead machine is removed in every mode. Source: Juju's provisioner-harvest-mode. Stopping what is unknown
//! once deleted half of a production cluster (Juju removed the modes in 2025), so ours is `destroyed`, and what is unknown
//! has to be seen more than once before it goes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HarvestMode {
    None,
    Unknown,
    #[default]
    Destroyed,
    All,
}

impl HarvestMode {
    pub const ALL_MODES: [Self; 4] = [Self::None, Self::Unknown, Self::Destroyed, Self::All];

    /// Whether the instances of dead machines are stopped.
    pub fn stops_dead(self) -> bool {
        matches!(self, Self::Destroyed | Self::All)
    }

    /// Whether instances that no machine claims are stopped.
    pub fn stops_unknown(self) -> bool {
        matches!(self, Self::Unknown | Self::All)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unknown => "unknown",
            Self::Destroyed => "destroyed",
            Self::All => "all",
        }
    }
}

/// Says that a text is no harvest mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a harvest mode: expected none, unknown, destroyed or all")]
pub struct InvalidHarvestMode {
    /// The text, cut to 80 characters.
    pub text: String,
}

impl FromStr for HarvestMode {
    type Err = InvalidHarvestMode;
    /// Upper and lower case are the same.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL_MODES.into_iter().find(|mode| mode.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| InvalidHarvestMode { text: text.chars().take(80).collect() })
    }
}

impl fmt::Display for HarvestMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
