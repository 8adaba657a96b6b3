//! What no step of ours may do to a replica set, though a server might take it.

use std::fmt;

/// One such claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepInvariant {
    OneVoterAtATime,
    MajorityStays,
    PrimaryKeepsItsVote,
    VotersAreReady,
    WritesAreGentle,
    DocumentsStayWhole,
}

impl StepInvariant {
    /// Each of them.
    pub const ALL: [Self; 6] = [
        Self::OneVoterAtATime,
        Self::MajorityStays,
        Self::PrimaryKeepsItsVote,
        Self::VotersAreReady,
        Self::WritesAreGentle,
        Self::DocumentsStayWhole,
    ];

    /// Unique: `majority-stays`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneVoterAtATime => "one-voter-at-a-time",
            Self::MajorityStays => "majority-stays",
            Self::PrimaryKeepsItsVote => "primary-keeps-its-vote",
            Self::VotersAreReady => "voters-are-ready",
            Self::WritesAreGentle => "writes-are-gentle",
            Self::DocumentsStayWhole => "documents-stay-whole",
        }
    }

    /// The claim, in words.
    pub fn says(self) -> &'static str {
        match self {
            Self::OneVoterAtATime => "a step changes the vote of one member at most",
            Self::MajorityStays => "a step leaves a majority of voters that can be reached and have the data",
            Self::PrimaryKeepsItsVote => "no step takes the vote of the primary",
            Self::VotersAreReady => "only a member that can be reached and has the data is given a vote",
            Self::WritesAreGentle => "every write has a time limit, and none is forced",
            Self::DocumentsStayWhole => {
                "a write carries along every field of the set's configuration that it does not change"
            }
        }
    }
}

impl fmt::Display for StepInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replica-set-step/{}", self.name())
    }
}
