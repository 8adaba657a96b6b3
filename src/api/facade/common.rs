//! What all connections share.

use std::{collections::BTreeSet, net::SocketAddr};

use super::{
    changes::Changes,
    seen::{Seen, address_type},
};
use crate::juju::HostPort;

/// What all connections share.
#[derive(Debug, Default)]
pub(in crate::api) struct Facade {
    pub(super) changes: Changes,
    /// What clients check this server against, as PEM.
    pub(super) ca_pem: String,
    /// Where this server is reached, if nothing else is said.
    reached: Vec<HostPort>,
}

impl Facade {
    /// For a server that is reached at an address, or by these names if that is any address of the machine.
    pub(in crate::api) fn new(ca_pem: String, address: SocketAddr, names: &BTreeSet<String>) -> Self {
        let at = |value: String| HostPort {
            kind: address_type(&value).into(),
            value,
            scope: "local-cloud".into(),
            port: address.port(),
            ..HostPort::default()
        };
        let reached = if address.ip().is_unspecified() {
            names.iter().filter(|name| *name != "localhost").cloned().map(at).collect()
        } else {
            vec![at(address.ip().to_string())]
        };
        Self { changes: Changes::default(), ca_pem, reached }
    }

    /// Where clients reach the servers.
    pub(super) fn host_ports(&self, seen: &Seen<'_>) -> Vec<Vec<HostPort>> {
        let said = seen.api_host_ports();
        if said.is_empty() { vec![self.reached.clone()] } else { said }
    }
}
