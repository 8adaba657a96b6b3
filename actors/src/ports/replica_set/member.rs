//! A member of a replica set: as the configuration has it, and how it is.

use std::{collections::BTreeMap, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::vocab::Text;

/// The tag by which a member names its machine. Source: Juju.
pub const MACHINE_TAG: &str = "juju-machine-id";

/// The number of a member within its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemberId(pub u64);

/// A member as the configuration has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: MemberId,
    /// `host:port`, or `[v6]:port`.
    pub address: Text,
    pub tags: Tags,
    /// None means 1.
    pub votes: Option<u32>,
    /// None means 1. Without one a member cannot become primary.
    pub priority: Option<Priority>,
    /// Fields that no decision asks for, as the engine wrote them, by name: they are carried along.
    pub other: BTreeMap<String, String>,
}

/// The tags of a member, by name. Copies share them: a decision copies every member and changes no tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Tags(Arc<BTreeMap<String, String>>);

impl Tags {
    /// The same but for one.
    pub(crate) fn without(&self, name: &str) -> Self {
        self.iter().filter(|(other, _)| *other != name).map(|(name, text)| (name.clone(), text.clone())).collect()
    }
}

impl Deref for Tags {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<BTreeMap<String, String>> for Tags {
    fn from(tags: BTreeMap<String, String>) -> Self {
        Self(Arc::new(tags))
    }
}

impl<const N: usize> From<[(String, String); N]> for Tags {
    fn from(tags: [(String, String); N]) -> Self {
        BTreeMap::from(tags).into()
    }
}

impl FromIterator<(String, String)> for Tags {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(tags: T) -> Self {
        tags.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

/// How readily a member becomes primary: a number that is not negative, kept exactly as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(u64);

/// How a member is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberStatus {
    pub id: MemberId,
    pub healthy: bool,
    pub state: MemberState,
    /// How far it is behind the primary, in milliseconds, where that is known.
    pub lag_ms: Option<u64>,
}

/// What a member says it is. Source: MongoDB's replica set states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MemberState {
    Startup,
    Primary,
    Secondary,
    Recovering,
    Startup2,
    Unknown,
    Arbiter,
    Down,
    Rollback,
    Removed,
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Priority {
    /// Of a member that cannot become primary.
    pub const NONE: Self = Self(0);

    /// The priority; none if it is negative or no number.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns -0 into 0: both are the same priority and shall be the same bits.
        (value >= 0.0).then(|| Self((value + 0.0).to_bits()))
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl Member {
    /// The machine that the member says it belongs to.
    pub fn machine_tag(&self) -> Option<&str> {
        self.tags.get(MACHINE_TAG).map(String::as_str)
    }

    /// Whether it counts in elections.
    pub fn is_voter(&self) -> bool {
        self.votes != Some(0)
    }

    /// Whether it could become primary, were it healthy.
    pub fn is_electable(&self) -> bool {
        self.is_voter() && self.priority != Some(Priority::NONE)
    }

    /// Whether both say the same but for the address; unset and 1 are the same.
    pub(crate) fn says_the_same_but_address(&self, other: &Self) -> bool {
        let votes = |member: &Self| member.votes.unwrap_or(1);
        let priority = |member: &Self| member.priority.map_or(1.0, Priority::value);
        self.id == other.id
            && votes(self) == votes(other)
            && priority(self) == priority(other)
            && self.tags == other.tags
            && self.other == other.other
    }

    pub(crate) fn give_vote(&mut self) {
        (self.votes, self.priority) = (None, None);
    }

    pub(crate) fn take_vote(&mut self) {
        (self.votes, self.priority) = (Some(0), Some(Priority::NONE));
    }
}

impl MemberStatus {
    /// Whether it has the data and can be reached. (A primary or secondary that is not healthy was one when last seen.)
    pub fn is_ready(&self) -> bool {
        self.healthy && matches!(self.state, MemberState::Primary | MemberState::Secondary)
    }
}

impl MemberState {
    /// All of them, as MongoDB writes them.
    pub const NAMES: [(Self, &'static str); 10] = [
        (Self::Startup, "STARTUP"),
        (Self::Primary, "PRIMARY"),
        (Self::Secondary, "SECONDARY"),
        (Self::Recovering, "RECOVERING"),
        (Self::Startup2, "STARTUP2"),
        (Self::Unknown, "UNKNOWN"),
        (Self::Arbiter, "ARBITER"),
        (Self::Down, "DOWN"),
        (Self::Rollback, "ROLLBACK"),
        (Self::Removed, "REMOVED"),
    ];

    /// As MongoDB writes it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(state, _)| *state == self).map_or("UNKNOWN", |(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_kept_to_the_last_bit() {
        for value in [0.0, 0.1, 0.5, 1.0, 7.25, 1000.0] {
            assert_eq!(Priority::new(value).expect("a priority").value(), value);
        }
        assert_eq!(Priority::new(-0.0), Some(Priority::NONE));
        assert_eq!(Priority::new(-1.0), None);
        assert_eq!(Priority::new(f64::NAN), None);
    }
}
