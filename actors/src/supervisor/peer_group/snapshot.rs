//! What a decision about a replica set is made from: machines, the configuration as it was read, and who is how.

use std::{collections::BTreeMap, fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::vocab::Life;

/// The tag by which a member names its machine. Source: Juju.
pub const MACHINE_TAG: &str = "juju-machine-id";

/// Everything that is known, explicitly. Nothing is counted or kept between two decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The machines that may hold a member, in any order.
    pub machines: Vec<Machine>,
    /// The configuration of the set as it was read, in its order.
    pub members: Vec<Member>,
    /// How the members are, as one of them sees it.
    pub statuses: Vec<MemberStatus>,
    /// The port of a member, where an address does not bring its own.
    pub port: u16,
    /// The space that members have to be reached in, if there is one.
    pub space: Option<String>,
}

/// A machine's id: any text. In order, the numbers come first, by value; all else follows, by its bytes.
///
/// The text is never rendered anew: `7`, `007` and `+7` are three machines, and stand beside one another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct MachineId {
    rank: Rank,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Number(i64),
    Text,
}

/// A machine that may hold a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub id: MachineId,
    /// Whether it shall have a vote.
    pub wants_vote: bool,
    /// A dead machine is not there any more; until then its wish counts.
    pub life: Life,
    /// In the order in which they were reported.
    pub addresses: Vec<Address>,
}

/// An address of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// An IP address or a host name.
    pub value: String,
    pub scope: Scope,
    pub space: Option<String>,
    /// Used in place of the set's port when it is there.
    pub port: Option<u16>,
}

/// From where an address can be reached. Source: Juju's address scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    #[default]
    #[serde(rename = "")]
    Unknown,
    Public,
    LocalCloud,
    /// An overlay network between the machines of a cloud.
    LocalFan,
    /// Loopback.
    LocalMachine,
    LinkLocal,
}

/// The number of a member within its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemberId(pub u64);

/// A member as the configuration has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: MemberId,
    /// `host:port`, or `[v6]:port`.
    pub address: String,
    pub tags: BTreeMap<String, String>,
    /// None means 1.
    pub votes: Option<u32>,
    /// None means 1. Without one a member cannot become primary.
    pub priority: Option<Priority>,
    /// Fields that no decision asks for, as the engine wrote them, by name: they are carried along.
    pub other: BTreeMap<String, String>,
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

impl MachineId {
    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<String> for MachineId {
    fn from(text: String) -> Self {
        Self { rank: text.parse().map_or(Rank::Text, Rank::Number), text }
    }
}

impl From<&str> for MachineId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<MachineId> for String {
    fn from(id: MachineId) -> Self {
        id.text
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
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

    /// Whether both say the same; unset and 1 are the same.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        self.address == other.address && self.says_the_same_but_address(other)
    }

    pub(super) fn says_the_same_but_address(&self, other: &Self) -> bool {
        let votes = |member: &Self| member.votes.unwrap_or(1);
        let priority = |member: &Self| member.priority.map_or(1.0, Priority::value);
        self.id == other.id
            && votes(self) == votes(other)
            && priority(self) == priority(other)
            && self.tags == other.tags
            && self.other == other.other
    }

    pub(super) fn give_vote(&mut self) {
        (self.votes, self.priority) = (None, None);
    }

    pub(super) fn take_vote(&mut self) {
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
    const NAMES: [(Self, &'static str); 10] = [
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

    /// The state of this name, as MongoDB writes it.
    pub fn named(text: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == text).map(|(state, _)| *state)
    }

    /// As MongoDB writes it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(state, _)| *state == self).map_or("UNKNOWN", |(_, name)| name)
    }
}

impl Address {
    /// The IP address, if it is one; a zone makes it a host name.
    pub fn ip(&self) -> Option<IpAddr> {
        self.value.parse().ok()
    }

    /// Whether it is an IPv4 address, perhaps written as a mapped IPv6 address.
    pub fn is_v4(&self) -> bool {
        match self.ip() {
            Some(IpAddr::V4(_)) => true,
            Some(IpAddr::V6(ip)) => ip.to_ipv4_mapped().is_some(),
            None => false,
        }
    }

    /// Whether it means something else, or nothing, on another machine: loopback, link-local, unspecified.
    pub fn is_local(&self) -> bool {
        let by_scope = matches!(self.scope, Scope::LocalMachine | Scope::LinkLocal);
        by_scope
            || match self.ip().map(|ip| ip.to_canonical()) {
                Some(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_link_local() || ip.is_unspecified(),
                Some(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unspecified(),
                None => self.value.eq_ignore_ascii_case("localhost"),
            }
    }

    /// `host:port`, or `[v6]:port`.
    pub fn host_port(&self, port: u16) -> String {
        let (value, port) = (&self.value, self.port.unwrap_or(port));
        if value.contains(':') { format!("[{value}]:{port}") } else { format!("{value}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_first_and_keep_their_spelling() {
        let mut ids: Vec<MachineId> =
            ["b", "10", "9223372036854775808", "007", "-0", "2", "7", "X", "", "-3"].map(MachineId::from).into();
        ids.sort();
        let texts: Vec<&str> = ids.iter().map(MachineId::as_str).collect();
        assert_eq!(texts, ["-3", "-0", "2", "007", "7", "10", "", "9223372036854775808", "X", "b"]);
    }

    #[test]
    fn a_priority_is_kept_to_the_last_bit() {
        for value in [0.0, 0.1, 0.5, 1.0, 7.25, 1000.0] {
            assert_eq!(Priority::new(value).expect("a priority").value(), value);
        }
        assert_eq!(Priority::new(-0.0), Some(Priority::NONE));
        assert_eq!(Priority::new(-1.0), None);
        assert_eq!(Priority::new(f64::NAN), None);
    }

    #[test]
    fn an_address_that_leads_nowhere_is_local_whatever_its_scope_says() {
        let address = |value: &str| Address { value: value.into(), scope: Scope::Public, space: None, port: None };
        for value in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "fe80::1", "169.254.3.4", "0.0.0.0", "::"] {
            assert!(address(value).is_local(), "{value}");
        }
        for value in ["10.0.0.1", "2001:db8::1", "node.example", "::ffff:10.0.0.1"] {
            assert!(!address(value).is_local(), "{value}");
        }
        assert!(Address { scope: Scope::LinkLocal, ..address("10.0.0.1") }.is_local());
    }
}
