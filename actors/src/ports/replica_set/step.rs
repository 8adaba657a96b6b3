//! What is done to a replica set, one legal step after the other.

use serde::{Deserialize, Serialize};

use super::member::{Member, MemberId, MemberState, MemberStatus};
use crate::{contract::reasons, vocab::Text};

/// One thing to do, legal on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub action: Action,
    pub because: StepReason,
}

/// What is done in one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// One write of the configuration: these changes to it, and nothing else.
    Write { changes: Vec<Change> },
    /// The primary gives way. The sender asks [`Action::is_still_meant`] right before.
    StepDown {
        primary: MemberId,
        /// Who can take over; the engine may choose another.
        successor: MemberId,
    },
    /// The set begins, with this member.
    Initiate { first: Member },
}

/// A change of one member in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It joins, without a vote.
    Join {
        member: Member,
    },
    /// It is reached at another address from now on.
    Move {
        member: MemberId,
        address: Text,
    },
    /// It gets a vote.
    Promote {
        member: MemberId,
    },
    /// It loses its vote and stays.
    Demote {
        member: MemberId,
    },
    /// More than one vote becomes one, and a priority without a vote none: servers accept nothing else.
    Level {
        member: MemberId,
    },
    Remove {
        member: MemberId,
    },
}

impl Action {
    /// Whether it rests on how the members are, so that [`Action::is_still_meant`] has to be asked right before it is taken.
    pub fn rests_on_statuses(&self) -> bool {
        matches!(self, Self::StepDown { .. }) || self.promoted().next().is_some()
    }

    /// Whether it would still do what is meant, with statuses as they are now: a step down asks the one primary, and its
    /// successor can follow; and a member that gets a vote has the data and can be reached. (MongoDB gives a vote to anybody.)
    pub fn is_still_meant(&self, statuses: &[MemberStatus]) -> bool {
        let is_ready =
            |id: MemberId| statuses.iter().rfind(|status| status.id == id).is_some_and(MemberStatus::is_ready);
        let Self::StepDown { primary, successor } = self else { return self.promoted().all(is_ready) };
        let mut primaries = statuses.iter().filter(|status| status.state == MemberState::Primary);
        let is_primary = primaries.next().is_some_and(|status| status.id == *primary) && primaries.next().is_none();
        let can_follow = |status: &MemberStatus| status.id == *successor && status.is_ready();
        is_primary && statuses.iter().any(can_follow)
    }

    /// The members that lose their vote or their place by this.
    pub fn leaving(&self) -> impl Iterator<Item = MemberId> {
        self.changes().iter().filter_map(|change| match change {
            Change::Demote { member } | Change::Remove { member } => Some(*member),
            _ => None,
        })
    }

    fn changes(&self) -> &[Change] {
        match self {
            Self::Write { changes } => changes,
            Self::StepDown { .. } | Self::Initiate { .. } => &[],
        }
    }

    /// The members that vote once this is done and did not before. (The first member's id is the engine's to give.)
    pub fn promoted(&self) -> impl Iterator<Item = MemberId> {
        self.changes().iter().filter_map(|change| match change {
            Change::Promote { member } => Some(*member),
            _ => None,
        })
    }
}

reasons! {
    /// Why a step is taken.
    pub enum StepReason {
        NoVoteInvolved = "no-vote-involved", "this changes no vote";
        AddressChanged = "address-changed", "the address of its machine changed";
        ReadyToVote = "ready-to-vote", "its machine should have a vote, and the member has caught up";
        NotWanted = "not-wanted", "its machine should not have a vote";
        NoMachine = "no-machine", "its machine does not exist";
        SecondOfMachine = "second-of-machine", "another member is on the same machine";
        NoAddress = "no-address", "it has no address of its own";
        OddCount = "odd-count", "an even number of voters survives no more failures than one voter less";
        TooManyVoters = "too-many-voters", "there are more voters than the engine allows";
        PrimaryIsToGo = "primary-is-to-go", "a primary must step down before it loses its vote";
        AsJuju = "as-juju", "Juju's rules make all changes in one step";
        NotBegun = "not-begun", "the set is not initiated yet, and its first server answers";
        DataLost = "data-lost", "the agent on its machine says that its data is lost";
    }
}
