//! What a decision about a replica set is made from: machines, the configuration as it was read, and who is how.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

pub use crate::ports::replica_set::{MACHINE_TAG, Member, MemberId, MemberState, MemberStatus, Priority};
use crate::vocab::Life;

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
    /// Whether all machines are on one host: then loopback is where they reach one another, for want of a better address.
    pub one_host: bool,
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
