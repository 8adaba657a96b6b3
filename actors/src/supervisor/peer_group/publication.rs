//! What others are told about where the servers are, and when.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::snapshot::{Machine, MachineId, Member};

/// Where every server is reached. Sets and maps: the order in which addresses were reported makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    pub servers: BTreeMap<MachineId, Server>,
}

/// Where one server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// `host:port`; nothing that means something else elsewhere.
    pub addresses: BTreeSet<String>,
    /// Where other servers reach it, if that is known.
    pub internal: Option<String>,
}

/// The ports that servers are reached at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    pub api: u16,
    /// Between servers; 0 means the same as for everybody.
    pub controller_api: u16,
}

/// What can be said now: a server for each machine that has a usable address.
///
/// `members` is the set as far as it is known; a machine without a member has no internal address.
pub fn details(machines: &[Machine], members: &[Member], ports: Ports) -> Details {
    let host_of: BTreeMap<&str, &str> =
        members.iter().filter_map(|member| Some((member.machine_tag()?, host(&member.address)?))).collect();
    let internal_port = if ports.controller_api == 0 { ports.api } else { ports.controller_api };
    let server = |machine: &Machine| {
        let usable = machine.addresses.iter().filter(|address| !address.is_local());
        let addresses: BTreeSet<String> = usable.map(|address| address.host_port(ports.api)).collect();
        let internal = host_of.get(machine.id.as_str()).map(|host| format!("{host}:{internal_port}"));
        (!addresses.is_empty()).then(|| (machine.id.clone(), Server { addresses, internal }))
    };
    Details { servers: machines.iter().filter_map(server).collect() }
}

/// The host of `host:port`, with its brackets if it has some.
fn host(host_port: &str) -> Option<&str> {
    host_port.rsplit_once(':').map(|(host, _)| host).filter(|host| !host.is_empty())
}

/// What has to be published: only what differs from last time. An internal address that was known and is not known at
/// the moment stays: nobody is told that a server cannot be reached because we could not look.
///
/// ```
/// use bailiwick_actors::supervisor::peer_group::publication::{Details, publication};
/// assert_eq!(publication(Some(&Details::default()), Details::default()), None);
/// assert_eq!(publication(None, Details::default()), Some(Details::default()));
/// ```
pub fn publication(last: Option<&Details>, mut now: Details) -> Option<Details> {
    let Some(last) = last else { return Some(now) };
    for (machine, server) in &mut now.servers {
        if server.internal.is_none() {
            server.internal = last.servers.get(machine).and_then(|known| known.internal.clone());
        }
    }
    (now != *last).then_some(now)
}
