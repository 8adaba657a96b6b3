//! What differs between engines and between policies, as data: the calculation does not ask which engine it is.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What an engine allows. An input of every decision, and recorded with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRules {
    /// Whether a voter can lose its vote and stay. If not, it can only be removed, and comes back under another id.
    pub can_demote: bool,
    /// How many members without a vote there may be; none means as many as there is room for.
    pub learners_max: Option<usize>,
    /// How many members may gain or lose a vote in one step.
    pub voting_changes_per_step: usize,
    /// How much else may change in one step; none means any number of things.
    pub other_changes_per_step: Option<usize>,
    pub voters_max: usize,
    pub members_max: usize,
    /// New ids follow the highest one up to this one; beyond it the lowest free id is taken.
    pub member_id_max: u64,
}

impl EngineRules {
    /// MongoDB from 4.4: one voter per write of the configuration, 7 voters, 50 members. Ids end at 255 up to 4.4.
    pub const fn mongodb() -> Self {
        Self {
            can_demote: true,
            learners_max: None,
            voting_changes_per_step: 1,
            other_changes_per_step: None,
            voters_max: 7,
            members_max: 50,
            member_id_max: 255,
        }
    }

    /// etcd 3.4 and 3.5: one learner, one change at a time, and no way back from voter to learner. Seven voters are its
    /// manual's advice. It gives ids itself, so the ids in a decision only tell members apart.
    pub const fn etcd() -> Self {
        Self {
            can_demote: false,
            learners_max: Some(1),
            voting_changes_per_step: 1,
            other_changes_per_step: Some(1),
            voters_max: 7,
            members_max: 8,
            member_id_max: u64::MAX,
        }
    }
}

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
#[error("there is no replica set policy {name:?}: expected default, juju-2019, juju-2.9 or juju-3.x")]
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
