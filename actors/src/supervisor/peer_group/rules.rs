//! What differs between policies, as data. (What differs between engines, the engine says itself.)

use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use crate::ports::replica_set::EngineRules;

/// Under which policy a replica set is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Ours: safe on today's servers.
    #[default]
    Default,
    /// What Juju's peer grouper answered in February 2019, its loss of ids in sorting mended.
    #[serde(rename = "juju-2019")]
    Juju2019,
    /// As in 2019, but members of machines that are gone leave even if they vote.
    #[serde(rename = "juju-2.9")]
    Juju29,
    /// As in 2.9, and a dead machine counts as gone.
    #[serde(rename = "juju-3.x")]
    Juju3,
}

/// Says that there is no policy of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown replica set policy {name:?}: expected default, juju-2019, juju-2.9 or juju-3.x")]
pub struct UnknownPolicy {
    /// The name, cut to 80 characters.
    pub name: String,
}

impl FromStr for Policy {
    type Err = UnknownPolicy;
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name {
            "default" => Self::Default,
            "juju-2019" => Self::Juju2019,
            "juju-2.9" => Self::Juju29,
            "juju-3.x" => Self::Juju3,
            _ => return Err(UnknownPolicy { name: name.chars().take(80).collect() }),
        })
    }
}
