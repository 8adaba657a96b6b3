//! What is wished for: the declared part of a replica set.

use serde::{Deserialize, Serialize};

use crate::vocab::{Address, Name};

/// A replica set as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Which engine keeps it. Cannot change while the set lives.
    pub engine: Name,
    /// How many of the seats shall have a vote: the first ones whose machines are not leaving. Odd, at most 7.
    pub servers: u32,
    /// Where its members can be, in the order in which they are taken.
    pub seats: Vec<Seat>,
    /// Whether all machines are on one host, so that loopback addresses do.
    pub one_host: bool,
    pub rhythm: Rhythm,
    /// The space that members have to reach one another in; none means wherever it is best.
    pub space: Option<Name>,
}

/// A machine that may hold a member, and where its server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub machine: Name,
    /// Where the machine is reached, in any order that is meant to last: which one counts follows from scope and space.
    pub addresses: Vec<Address>,
    /// The port between members.
    pub peer_port: u16,
    /// The port for those who ask; the same with engines that have one port.
    pub client_port: u16,
}

/// How often is looked, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rhythm {
    /// After a round that went well. Default 1 min. Source: Juju's peer grouper.
    pub poll_ms: u64,
    /// After the first round that failed; doubled with each further one. Default 2 s. Source: Juju's peer grouper.
    pub retry_first_ms: u64,
    /// Default 5 min. Source: Juju's peer grouper.
    pub retry_max_ms: u64,
    /// Between attempts to begin a set. Default 5 s. Source: Juju's initiation of a first member.
    pub initiate_every_ms: u64,
    /// For so long a set is tried to be begun this often; afterwards as any other step. Default 1 min. Source: as above.
    pub initiate_for_ms: u64,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            poll_ms: 60_000,
            retry_first_ms: 2_000,
            retry_max_ms: 300_000,
            initiate_every_ms: 5_000,
            initiate_for_ms: 60_000,
        }
    }
}

#[cfg(feature = "testing")]
impl Seat {
    /// A seat at one address of which nothing else is known.
    pub fn at(machine: Name, address: &str, peer_port: u16, client_port: u16) -> Self {
        let address =
            Address { value: address.to_owned(), scope: crate::vocab::Scope::Unknown, space: None, port: None };
        Self { machine, addresses: vec![address], peer_port, client_port }
    }
}
