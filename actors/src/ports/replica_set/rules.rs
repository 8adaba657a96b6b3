//! What differs between engines, as data: a decision does not ask which engine it is.

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
    /// Whether nobody can join while a voter is not healthy: who is sick and not wanted has to go first.
    pub joins_need_every_voter: bool,
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
            joins_need_every_voter: false,
        }
    }

    /// etcd 3.4 and 3.5: one learner, one change at a time, and no way back from voter to learner. Seven voters are its
    /// manual's advice. It gives ids itself, so the ids in a decision only tell members apart. It refuses additions while
    /// a voter is not connected (`unhealthy cluster`), unless its strict check of reconfigurations is turned off.
    pub const fn etcd() -> Self {
        Self {
            can_demote: false,
            learners_max: Some(1),
            voting_changes_per_step: 1,
            other_changes_per_step: Some(1),
            voters_max: 7,
            members_max: 8,
            member_id_max: u64::MAX,
            joins_need_every_voter: true,
        }
    }
}
