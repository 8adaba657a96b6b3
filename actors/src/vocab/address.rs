//! Addresses of machines, and from where they can be reached.

use std::{
    fmt::Write as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use serde::{Deserialize, Serialize};

/// An address of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// An IP address or a host name.
    pub value: String,
    pub scope: Scope,
    pub space: Option<String>,
    /// Used in place of the port that is usual where it is asked for.
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

impl Address {
    /// The IP address, if it is one; a zone makes it a host name.
    pub fn ip(&self) -> Option<IpAddr> {
        ip(&self.value)
    }

    /// Whether it is an IPv4 address, perhaps written as a mapped IPv6 address.
    pub fn is_v4(&self) -> bool {
        is_v4(self.ip())
    }

    /// Whether it means something else, or nothing, on another machine: loopback, link-local, unspecified.
    pub fn is_local(&self) -> bool {
        matches!(self.scope, Scope::LocalMachine | Scope::LinkLocal) || self.leads_nowhere(self.ip())
    }

    /// Whether it is an IPv4 address and whether it is local, with one look at the text.
    pub(crate) fn is_v4_and_local(&self) -> (bool, bool) {
        let ip = self.ip();
        let by_scope = matches!(self.scope, Scope::LocalMachine | Scope::LinkLocal);
        (is_v4(ip), by_scope || self.leads_nowhere(ip))
    }

    fn leads_nowhere(&self, ip: Option<IpAddr>) -> bool {
        match ip.map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_link_local() || ip.is_unspecified(),
            Some(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unspecified(),
            None => self.value.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether [`Address::host_port`] gives this text.
    pub(crate) fn is_written(&self, host_port: &str, port: u16) -> bool {
        let is_port = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
            is_plain && text.parse() == Ok(self.port.unwrap_or(port))
        };
        let rest = if self.value.contains(':') {
            let inner = host_port.strip_prefix('[').and_then(|rest| rest.strip_prefix(self.value.as_str()));
            inner.and_then(|rest| rest.strip_prefix("]:"))
        } else {
            host_port.strip_prefix(self.value.as_str()).and_then(|rest| rest.strip_prefix(':'))
        };
        rest.is_some_and(is_port)
    }

    /// `host:port`, or `[v6]:port`.
    pub fn host_port(&self, port: u16) -> String {
        let (before, after) = if self.value.contains(':') { ("[", "]:") } else { ("", ":") };
        let mut text = String::with_capacity(self.value.len() + "[]:65535".len());
        [before, &self.value, after].into_iter().for_each(|part| text.push_str(part));
        let port = write!(text, "{}", self.port.unwrap_or(port));
        port.expect("a text takes any number");
        text
    }
}

/// The IP address that a text is. Only one of the two kinds has a colon, so only that one is tried.
pub(crate) fn ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        text.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
    } else {
        text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
    }
}

fn is_v4(ip: Option<IpAddr>) -> bool {
    match ip {
        Some(IpAddr::V4(_)) => true,
        Some(IpAddr::V6(ip)) => ip.to_ipv4_mapped().is_some(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_known_without_writing_it() {
        let hosts = ["10.0.0.1", "10.0.0.1:7", "fd00::1", "node", "", "[fd00::1]"];
        let ports = [0, 7, 70, 65_535];
        for (value, port) in hosts.iter().flat_map(|value| ports.map(|port| (*value, port))) {
            let address = Address { value: value.into(), scope: Scope::Public, space: None, port: None };
            assert!(address.is_written(&address.host_port(port), port), "{value} {port}");
            for other in ["10.0.0.1:07", "10.0.0.1:+7", "10.0.0.1:7", "[fd00::1]:7", "fd00::1:7", "node:70", ":0", ""] {
                let is_same = address.host_port(port) == other;
                assert_eq!(address.is_written(other, port), is_same, "{value} {port} {other}");
            }
        }
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
