//! What a step must never do, no matter who asks for it. Source: the checks MongoDB makes before it takes a configuration.

use super::{EngineRules, verdict::Held};

/// A configuration in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub members: usize,
    pub voters: usize,
    pub ready_voters: usize,
    pub learners: usize,
    /// Members that are reached at an address that another one has too, or at none.
    pub clashes: usize,
    /// Members with more than one vote, or with a priority and no vote.
    pub uneven: usize,
}

impl Tally {
    /// Whether this configuration may be followed by that one. (That only so many votes change at once, and that the
    /// primary keeps its own, is how the steps are made.)
    pub(super) fn may_become(&self, after: &Self, rules: &EngineRules) -> Result<(), Held> {
        self.has_healthy_majority()?;
        if after.ready_voters * 2 <= after.voters {
            return Err(Held::NoHealthyMajorityAfter { voters: after.voters, ready: after.ready_voters });
        }
        if after.voters > rules.voters_max && after.voters >= self.voters {
            return Err(Held::VotersFull { max: rules.voters_max });
        }
        let learners_max = rules.learners_max.unwrap_or(usize::MAX);
        let too_many = after.members > rules.members_max || after.learners > learners_max;
        if too_many && after.members >= self.members {
            return Err(Held::MembersFull { max: rules.members_max });
        }
        if after.clashes > 0 || after.uneven > 0 {
            return Err(Held::Malformed);
        }
        Ok(())
    }

    /// Nothing is written, and nobody asked to step down, while the voters could not elect another primary.
    pub(super) fn has_healthy_majority(&self) -> Result<(), Held> {
        if self.ready_voters * 2 <= self.voters {
            return Err(Held::NoHealthyMajority { voters: self.voters, ready: self.ready_voters });
        }
        Ok(())
    }
}
