//! What keeps a replica set: the servers' own idea of who is a member, who votes and who leads.

mod member;
mod rules;
mod step;

pub use member::{MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Priority, Tags};
pub use rules::EngineRules;
pub use step::{Action, Change, Step, StepReason};

use serde::{Deserialize, Serialize};

use super::Answer;
use crate::vocab::{Fault, Name};

/// Which set is meant, and where its servers can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    pub set: Name,
    /// The servers that may be there, in no order that matters.
    pub servers: Vec<Server>,
}

/// Where the server on one machine can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub machine: Name,
    /// `host:port` for those who ask.
    pub client: String,
    /// `host:port` between members, if it is known: an engine that keeps no tags tells by it whose member somebody is.
    pub peer: Option<String>,
}

/// How far a configuration is: a later one has a higher term, or the same term and a higher version.
///
/// An engine that does not number its configurations gives a version that differs whenever the members differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stamp {
    pub term: u64,
    pub version: u64,
}

/// The configuration of a set, as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    pub stamp: Stamp,
    /// Whether a majority of its voters has it, so that it cannot be taken back.
    pub committed: bool,
    /// In the engine's order.
    pub members: Vec<Member>,
}

/// What an engine says of a set at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub configuration: Configuration,
    /// How the members are; one of whom nothing is known may be missing.
    pub statuses: Vec<MemberStatus>,
    /// What the engine allows in this state and release.
    pub rules: EngineRules,
}

impl Observation {
    /// How a member is; of several answers the last.
    pub fn status(&self, id: MemberId) -> Option<&MemberStatus> {
        self.statuses.iter().rfind(|status| status.id == id)
    }

    /// Whether both say the same; how far somebody is behind changes all the time and says nothing.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        let how = |seen: &Self| -> Vec<(MemberId, bool, MemberState)> {
            seen.statuses.iter().map(|status| (status.id, status.healthy, status.state)).collect()
        };
        self.configuration == other.configuration && self.rules == other.rules && how(self) == how(other)
    }
}

/// How a step went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The engine says that it is done.
    Done,
    /// The engine says that it was not done and will not be.
    Refused(Fault),
    /// Nobody knows; it may also happen later. Only reading back can tell.
    Unknown(Fault),
}

/// Keeps replica sets: a database server, seen from outside.
///
/// No call is repeated behind the caller's back, and none but [`ReplicaSetEngine::observe`] is safe to repeat without
/// reading back. A call that is dropped may still happen. Faults never hold secrets.
pub trait ReplicaSetEngine: Send + Sync {
    /// Reads configuration and statuses. What is read is not older than the moment of the call, as far as the engine can
    /// promise that; where it cannot, `committed` is false.
    ///
    /// # Errors
    /// `uninitialized` if a server answers and there is no set yet; `unavailable` if none answers.
    fn observe(&self, contact: Contact) -> Answer<'_, Result<Observation, Fault>>;

    /// Returns once the servers seem to say something else than `seen`, as far as the engine notices by itself. It is then
    /// observed anew: nothing is concluded from this alone. An engine that notices nothing never returns, and is polled.
    fn watch(&self, _contact: Contact, _seen: Observation) -> Answer<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Writes these changes, in one step. Refused unless the configuration is still the one of `base`.
    fn change(&self, contact: Contact, base: Stamp, changes: Vec<Change>) -> Answer<'_, Outcome>;

    /// Has `primary` give way, to `successor` if the engine lets one choose. Refused if another one is primary.
    fn step_down(&self, contact: Contact, primary: MemberId, successor: MemberId) -> Answer<'_, Outcome>;

    /// Begins the set with its first member. One that has begun already with this member is done.
    fn initiate(&self, contact: Contact, first: Member) -> Answer<'_, Outcome>;
}
