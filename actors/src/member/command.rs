//! What a member may be told.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use crate::{
    contract::Stored,
    ports::replica_set::{Member, MemberId, MemberState, MemberStatus, StepReason},
};

/// A command to a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// This is what its set knows of it.
    Follow(Picture),
    /// Its set has no place for it and nothing of it, or is not looked after any more.
    Forget { as_of: Version },
}

/// What a set knows of one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The version of the set's stream that it is of.
    pub as_of: Version,
    /// Where its server is to be reached by other members; none if the set has no seat on its machine.
    pub seat: Option<String>,
    /// As the configuration and the servers have it; none while it is in no configuration.
    pub seen: Option<Sighting>,
    /// What the step that is on its way does with it.
    pub task: Option<Task>,
    /// Whether it votes, or may by now.
    pub flagged: bool,
}

/// A member as its servers tell of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub id: MemberId,
    /// `host:port`, or `[v6]:port`.
    pub address: String,
    pub votes: bool,
    pub state: MemberState,
    pub healthy: bool,
}

/// A part in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub part: Part,
    pub because: StepReason,
}

/// What a step does with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// The set begins with it.
    Begin,
    Join,
    Move,
    Promote,
    Demote,
    /// Its votes and priority become what servers accept.
    Level,
    Remove,
    /// It gives way as primary.
    StepDown,
    /// It is to follow the primary that gives way.
    TakeOver,
}

impl Sighting {
    /// A member of a configuration, and its status, if there is one.
    pub fn of(member: &Member, status: Option<&MemberStatus>) -> Self {
        Self {
            id: member.id,
            address: member.address.to_string(),
            votes: member.is_voter(),
            state: status.map_or(MemberState::Unknown, |status| status.state),
            healthy: status.is_some_and(|status| status.healthy),
        }
    }
}

impl Stored for Command {
    const SCHEMA: u16 = 1;
}
