//! Which address of a machine its member is reached at.

use std::{borrow::Cow, net::IpAddr};

use serde::{Deserialize, Serialize};

use super::Seat;
use crate::vocab::{Address, Name, Scope, address};

/// Why a machine's addresses give no address for its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AddressFault {
    /// It has none that others can reach.
    NoneUsable,
    /// Several are equally good, and no space says which one is meant.
    SeveralUsable,
    /// None of them is in the space that is set.
    NoneInSpace,
}

/// The classes of addresses between members, best first. Source: Juju's choice of internal addresses.
fn class_of(scope: Scope, is_v4: bool) -> Option<usize> {
    let by_scope = match scope {
        Scope::LocalCloud => 0,
        Scope::LocalFan => 2,
        Scope::Public | Scope::Unknown => 4,
        Scope::LocalMachine | Scope::LinkLocal => return None,
    };
    Some(by_scope + usize::from(!is_v4))
}

/// Of an address that means something on one host only, where that is enough.
const LAST_CLASS: usize = 6;

/// Every address of the best class that there is, as `host:port`, in the order given; none if there is no usable one.
pub fn internal(addresses: &[Address], port: u16) -> Vec<String> {
    let classes: Vec<Option<usize>> =
        addresses.iter().map(|address| class_of(address.scope, address.is_v4())).collect();
    let Some(best) = classes.iter().flatten().min() else { return Vec::new() };
    let of_best = addresses.iter().zip(&classes).filter(|(_, class)| class.as_ref() == Some(best));
    of_best.map(|(address, _)| address.host_port(port)).collect()
}

/// The space that is set; an empty name sets none.
pub(crate) fn space_set(space: Option<&str>) -> Option<&str> {
    space.filter(|name| !name.is_empty())
}

/// Juju's choice: what a member's address becomes; `present` is that of a member that was there before.
///
/// # Errors
/// `NoneUsable` leaves the address as it is; the others fail the calculation.
pub(crate) fn as_juju(
    addresses: &[Address],
    port: u16,
    space: Option<&str>,
    present: Option<&str>,
) -> Result<String, AddressFault> {
    if let Some(space) = space_set(space) {
        // The first address in the space, whatever its scope.
        let found = addresses.iter().find(|address| address.space.as_deref() == Some(space));
        return found.map(|address| address.host_port(port)).ok_or(AddressFault::NoneInSpace);
    }
    one_of(internal(addresses, port), present)
}

/// Our choice: as Juju's, but never an address that means something else elsewhere (unless all are on one host), and an
/// address that is listed twice is one address. Nothing is written where the member has it already.
///
/// # Errors
/// If there is no address to choose; a member that is there keeps its present one.
pub(crate) fn choose<'p>(
    addresses: &[Address],
    port: u16,
    space: Option<&str>,
    one_host: bool,
    present: Option<&'p str>,
) -> Result<Cow<'p, str>, AddressFault> {
    let written = |address: &Address| match present {
        Some(present) if address.is_written(present, port) => Cow::Borrowed(present),
        _ => Cow::Owned(address.host_port(port)),
    };
    if let Some(space) = space_set(space) {
        let mut usable = addresses.iter().filter(|address| one_host || !address.is_local());
        let found = usable.find(|address| address.space.as_deref() == Some(space));
        return found.map(written).ok_or(AddressFault::NoneInSpace);
    }
    let mut best: Option<(usize, &Address)> = None;
    let mut others = 0;
    for address in addresses {
        // The scope alone says what class it can be of at best, and most others need no second look.
        if best.is_some_and(|(best, _)| class_of(address.scope, true).is_some_and(|class| best < class)) {
            continue;
        }
        let Some(class) = our_class(address, one_host) else { continue };
        match best {
            Some((present, _)) if present < class => (),
            Some((present, _)) if present == class => others += 1,
            _ => (best, others) = (Some((class, address)), 0),
        }
    }
    let Some((class, first)) = best else { return Err(AddressFault::NoneUsable) };
    if others == 0 {
        return Ok(written(first));
    }
    let of_best = addresses.iter().filter(|address| our_class(address, one_host) == Some(class));
    let hosts: Vec<String> = of_best.map(|address| address.host_port(port)).collect();
    let is = |host: &String, other: &str| HostPort::of(host) == HostPort::of(other);
    match present {
        _ if hosts.iter().all(|host| is(host, &hosts[0])) => Ok(written(first)),
        Some(present) if hosts.iter().any(|host| is(host, present)) => Ok(Cow::Borrowed(present)),
        _ => Err(AddressFault::SeveralUsable),
    }
}

/// The class of an address that may be used at all.
fn our_class(address: &Address, one_host: bool) -> Option<usize> {
    let (is_v4, is_local) = address.is_v4_and_local();
    if is_local && !one_host {
        return None;
    }
    class_of(address.scope, is_v4).or(one_host.then_some(LAST_CLASS))
}

fn one_of(mut hosts: Vec<String>, present: Option<&str>) -> Result<String, AddressFault> {
    match (hosts.len(), present) {
        (0, _) => Err(AddressFault::NoneUsable),
        (1, _) => Ok(hosts.remove(0)),
        (_, Some(present)) if hosts.iter().any(|host| host == present) => Ok(present.to_owned()),
        _ => Err(AddressFault::SeveralUsable),
    }
}

/// One `host:port`, equal for every spelling of it: an IPv6 address can be written in many ways, a name in any case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostPort<'a> {
    /// An address in brackets, and what follows their colon.
    Ip(IpAddr, Cow<'a, str>),
    /// Anything else, in lower case.
    Text(Cow<'a, str>),
}

impl<'a> HostPort<'a> {
    /// What a text means. There is no text that means nothing.
    pub(crate) fn of(text: &'a str) -> Self {
        // No address has a bracket in it, so the first one ends it.
        if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && let (Some(port), Some(ip)) = (rest.strip_prefix(':'), address::ip(host))
        {
            return Self::Ip(ip, port.into());
        }
        Self::Text(if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            text.to_ascii_lowercase().into()
        } else {
            text.into()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    pub(crate) fn into_owned(self) -> HostPort<'static> {
        match self {
            Self::Ip(ip, port) => HostPort::Ip(ip, port.into_owned().into()),
            Self::Text(text) => HostPort::Text(text.into_owned().into()),
        }
    }
}

impl Seat {
    /// Where other members reach its server, by the rules of its set.
    ///
    /// # Errors
    /// If its addresses give none.
    pub fn peer(&self, space: Option<&Name>, one_host: bool) -> Result<String, AddressFault> {
        choose(&self.addresses, self.peer_port, space.map(Name::as_str), one_host, None).map(Cow::into_owned)
    }

    /// Where its server is asked: where other members reach it, else at the first address of the best class, else at the
    /// first one.
    pub fn client(&self, space: Option<&Name>, one_host: bool) -> Option<String> {
        let port = self.client_port;
        let chosen = choose(&self.addresses, port, space.map(Name::as_str), one_host, None).ok().map(Cow::into_owned);
        let first = || self.addresses.first().map(|address| address.host_port(port));
        chosen.or_else(|| internal(&self.addresses, port).into_iter().next()).or_else(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(all: &[(&str, Scope, Option<&str>)]) -> Vec<Address> {
        let address = |(value, scope, space): &(&str, Scope, Option<&str>)| Address {
            value: (*value).into(),
            scope: *scope,
            space: space.map(Into::into),
            port: None,
        };
        all.iter().map(address).collect()
    }

    #[test]
    fn loopback_and_link_local_are_refused_even_in_the_space() {
        let addresses = addresses(&[
            ("127.0.0.1", Scope::LocalMachine, Some("ha")),
            ("fe80::1", Scope::Unknown, Some("ha")),
            ("10.0.0.1", Scope::LocalCloud, Some("ha")),
        ]);
        assert_eq!(choose(&addresses, 1, Some("ha"), false, None), Ok("10.0.0.1:1".into()));
        assert_eq!(as_juju(&addresses, 1, Some("ha"), None), Ok("127.0.0.1:1".into()));
    }

    #[test]
    fn loopback_is_enough_on_one_host() {
        let loopback = addresses(&[("127.0.0.1", Scope::LocalMachine, None)]);
        assert_eq!(choose(&loopback, 1, None, false, None), Err(AddressFault::NoneUsable));
        assert_eq!(choose(&loopback, 1, None, true, None), Ok("127.0.0.1:1".into()));
        let both = addresses(&[("127.0.0.1", Scope::LocalMachine, None), ("10.0.0.1", Scope::LocalCloud, None)]);
        assert_eq!(choose(&both, 1, None, true, None), Ok("10.0.0.1:1".into()));
    }

    #[test]
    fn an_address_listed_twice_is_one() {
        let addresses = addresses(&[
            ("2001:db8::a", Scope::LocalCloud, None),
            ("2001:DB8:0::A", Scope::LocalCloud, None),
            ("2001:db8::a", Scope::LocalCloud, Some("x")),
        ]);
        assert_eq!(choose(&addresses, 1, None, false, None), Ok("[2001:db8::a]:1".into()));
        assert_eq!(as_juju(&addresses, 1, None, None), Err(AddressFault::SeveralUsable));
    }

    #[test]
    fn a_member_keeps_its_address_among_several() {
        let addresses = addresses(&[("10.0.0.1", Scope::Public, None), ("10.0.0.2", Scope::Public, None)]);
        assert_eq!(choose(&addresses, 1, None, false, Some("10.0.0.2:1")), Ok("10.0.0.2:1".into()));
        assert_eq!(choose(&addresses, 1, None, false, Some("10.0.0.3:1")), Err(AddressFault::SeveralUsable));
    }

    #[test]
    fn spellings_of_one_host_are_one_host() {
        assert_eq!(HostPort::of("[2001:DB8::0:1]:7"), HostPort::of("[2001:db8::1]:7"));
        assert_eq!(HostPort::of("Node.Example:7"), HostPort::of("node.example:7"));
        assert_ne!(HostPort::of("[2001:db8::1]:7"), HostPort::of("[2001:db8::1]:8"));
        assert_ne!(HostPort::of("[fe80::1%eth0]:7"), HostPort::of("[fe80::1%eth1]:7"));
    }
}
