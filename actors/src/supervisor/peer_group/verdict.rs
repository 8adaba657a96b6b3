//! What comes of a decision about a replica set: the target, the steps towards it, and a reason for everything.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{
    PeerRules,
    addresses::AddressFault,
    snapshot::{MachineId, Member, MemberId},
};
pub use crate::ports::replica_set::{Action, Change, Step, StepReason};

/// The answer to a snapshot.
pub type Verdict = Result<Desired, Refused>;

/// What the set shall become, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desired {
    /// Whether the target differs from the configuration as it was read.
    pub changed: bool,
    /// Whether the primary has to step down before the target can be reached. The step itself stands in `steps`, once it
    /// is safe.
    pub step_down_primary: bool,
    /// The target: in the order of machines; a member without one, kept for want of a better, comes last.
    pub members: Vec<Member>,
    /// Which machines shall have a vote, of those that have a member in the target.
    pub voting: BTreeMap<MachineId, bool>,
    /// What is to be written into the machines' status.
    pub machine_status: BTreeMap<MachineId, StatusNote>,
    /// What can be done now, in this order. After each step the configuration is read again and all is decided anew.
    pub steps: Vec<Step>,
    /// Why the steps end before the target.
    pub held: Option<Held>,
    /// What somebody should know.
    pub findings: Vec<Finding>,
    /// Why a machine that wants a vote, or a member, does not get it.
    pub not_chosen: BTreeMap<MachineId, NotChosen>,
}

/// There is no target, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub why: Refusal,
    /// What is to be written into the machines' status nevertheless.
    pub machine_status: BTreeMap<MachineId, StatusNote>,
}

/// Why there is no target. Juju's texts are kept where there is one: others look for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    #[error("current member set is empty")]
    NoMembers,
    #[error("voting non-machine member {member} found in peer group")]
    VotingOrphan { member: MemberId },
    #[error("non juju voting member {member} found in peer group")]
    VotingStranger { member: MemberId },
    #[error(
        "updating member addresses: juju-ha-space is not set and these machines have more than one usable address: {}",
        list(machines)
    )]
    SeveralAddresses { machines: Vec<MachineId> },
    #[error(
        "updating member addresses: no usable Mongo addresses found in configured juju-ha-space {space:?} for machines: {}",
        list(machines)
    )]
    NoneInSpace { space: String, machines: Vec<MachineId> },
    #[error("the configuration contains member {member} twice")]
    MemberTwice { member: MemberId },
    #[error("no member of the configuration can be reached at any address")]
    NobodyReachable,
    #[error("replicaSets.rules {rules} demotes members, which this engine cannot do; use `rules: default`")]
    OtherEngine { rules: PeerRules },
}

fn list(machines: &[MachineId]) -> String {
    let texts: Vec<&str> = machines.iter().map(MachineId::as_str).collect();
    texts.join(", ")
}

/// What is said about a machine in its own status. The machine goes on running: only the text changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatusNote {
    SeveralAddresses,
    NoneInSpace { space: String },
}

impl StatusNote {
    /// The status that goes with the text.
    pub const STATUS: &str = "started";
}

impl fmt::Display for StatusNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SeveralAddresses => f.write_str(
                "multiple usable addresses found\n\
                 run \"juju config juju-ha-space=<name>\" to set a space for Mongo peer communication",
            ),
            Self::NoneInSpace { space } => write!(f, "no addresses in configured juju-ha-space {space:?}"),
        }
    }
}

/// Why the steps end before the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Held {
    #[error("no healthy primary is visible, and only a primary accepts changes")]
    NoPrimary,
    #[error("more than one member is reported as primary; the reports were not taken at the same time")]
    SeveralPrimaries,
    #[error("only {ready} of {voters} voters are healthy")]
    NoHealthyMajority { voters: usize, ready: usize },
    #[error("after the next step, only {ready} of {voters} voters would be healthy")]
    NoHealthyMajorityAfter { voters: usize, ready: usize },
    #[error("no healthy voting secondary that stays in the set can take over from the primary")]
    NoSuccessor,
    #[error("no server accepts a configuration with a duplicate or missing address, or with votes out of range")]
    Malformed,
    #[error("another member still has this address")]
    AddressHeld,
    #[error("there is room for {max} voters")]
    VotersFull { max: usize },
    #[error("there is room for {max} members")]
    MembersFull { max: usize },
    #[error("the engine allows no such change in one step")]
    StepTooSmall,
    #[error("the engine adds no member while a voter is unhealthy")]
    VoterSick,
}

/// What somebody should know, though it stops nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// No machine stands behind this member: it loses its vote, then it goes.
    Orphan { member: MemberId, votes: bool },
    /// Two members stand for one machine: `kept` is kept, the other goes.
    SecondOfMachine { machine: MachineId, member: MemberId, kept: MemberId },
    /// The machine's addresses give none for its member. One that is there keeps the address it has.
    BadAddress { machine: MachineId, fault: AddressFault },
    /// Another member is, or will be, reached at the address that the machine gives.
    AddressTaken { machine: MachineId },
    /// A member that has no address of its own, and gets none, goes.
    NoAddress { member: MemberId },
    /// Nobody wants a vote who could have one, so this voter stays.
    LastVoterStays { member: MemberId },
    /// The number of voters stays even until another voter is ready: taking a vote would cost a member.
    EvenForNow { voters: usize },
    /// More than one member is said to be primary.
    SeveralPrimaries { members: usize },
    /// The highest ids are used up, so a lower one is used again.
    IdUsedAgain { member: MemberId },
}

/// Why a machine that wants a vote, or a member, does not get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotChosen {
    /// Its member has not caught up, or cannot be reached.
    NotReady,
    /// Its member joins first, and gets a vote when it has caught up.
    Joins,
    /// With it the number of voters would be even.
    WouldBeEven,
    /// There are voters enough, and they are better placed.
    VotersFull {
        max: usize,
    },
    MembersFull {
        max: usize,
    },
    /// As many members without a vote as the engine allows are there already.
    LearnersFull {
        max: usize,
    },
    Address {
        fault: AddressFault,
    },
    /// Another member is, or will be, reached at its address.
    AddressTaken,
}
