//! What happened to a member.

use bailiwick_journal::Version;
use serde::{Deserialize, Serialize};

use super::{Sighting, Task};
use crate::{
    contract::{Stored, Touches},
    ports::replica_set::{MemberId, MemberState},
    vocab::Fact,
};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It is followed from now on, under a new uid.
    Declared,
    /// What follows is what its set knew then; first in every entry that brings something new.
    Followed {
        as_of: Version,
    },
    /// Its server is to be reached there; nowhere if its set has no seat for it any more.
    Seated {
        seat: Option<String>,
    },
    /// A step that concerns it is on its way.
    TaskBegan {
        task: Task,
    },
    /// The step is over. What came of it is told by what is seen.
    TaskEnded,
    /// It is in the configuration.
    Joined {
        seen: Sighting,
    },
    Moved {
        address: String,
    },
    /// It votes.
    Promoted,
    /// It votes no more, and stays.
    Demoted,
    /// Its server says so, or is not heard of.
    Said {
        state: MemberState,
        healthy: bool,
    },
    /// It is in the configuration no more.
    Left {
        id: MemberId,
    },
    /// It votes or may vote: its machine is not to go.
    Flagged,
    /// It does not vote, and nothing that is on its way can change that.
    Unflagged,
    /// Its set has no place for it any more.
    Removed,
}

impl Event {
    /// The sides of its entity that it changes.
    pub fn touches(&self) -> Touches {
        use Fact::{Life, Seen, Spec, Step, Vote};
        Touches::Some(match self {
            Self::Declared => return Touches::All,
            Self::Followed { .. } | Self::Said { .. } => &[Seen],
            Self::Seated { .. } => &[Spec],
            Self::TaskBegan { .. } | Self::TaskEnded => &[Step],
            Self::Joined { .. }
            | Self::Moved { .. }
            | Self::Promoted
            | Self::Demoted
            | Self::Left { .. }
            | Self::Flagged
            | Self::Unflagged => &[Vote],
            Self::Removed => &[Life],
        })
    }

    /// The sides that it goes on from. A step begins, and a member is gone, whatever was before.
    pub fn follows(&self) -> Touches {
        match self {
            Self::TaskBegan { .. } | Self::Left { .. } | Self::Unflagged => Touches::Some(&[]),
            other => other.touches(),
        }
    }
}

impl Stored for Event {
    const SCHEMA: u16 = 1;
}
