//! The network devices of a machine, as far as clients tell of them. Source: Juju's link-layer devices and their addresses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Unique on the machine: `eth0`.
    pub name: String,
    /// `ethernet`, `bridge`, `bond`, `802.1q`, `loopback`.
    pub kind: String,
    /// The device that it belongs to: the bridge of a port, the bond of a VLAN; empty for none.
    pub parent: String,
    pub mac: String,
    pub mtu: u32,
    /// `openvswitch` for a port of such a switch.
    pub port: String,
    /// The provider's own name for it.
    pub provider_id: String,
    pub origin: Origin,
    pub addresses: Vec<Address>,
}

/// An address of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// `10.0.1.7`
    pub value: String,
    /// The subnet that it is in: `10.0.1.0/24`.
    pub cidr: String,
    /// `dhcp`, `static`, `loopback`, `manual`.
    pub config: String,
    pub origin: Origin,
    /// The provider's own name for its subnet.
    pub provider_subnet: String,
}

/// Who told of something: what the provider told is not forgotten because the machine does not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    #[default]
    Machine,
    Provider,
}

/// The devices that are known once a machine has told what it sees: what is seen counts, and what is not seen any more is
/// forgotten unless its provider told of it.
pub(super) fn merged(known: &[Device], seen: &[Device]) -> Vec<Device> {
    let mut all: BTreeMap<&str, Device> = seen.iter().map(|device| (device.name.as_str(), device.clone())).collect();
    for old in known {
        match all.get_mut(old.name.as_str()) {
            None if old.origin == Origin::Provider => {
                all.insert(&old.name, old.clone());
            }
            None => (),
            Some(new) => {
                if new.provider_id.is_empty() {
                    new.provider_id.clone_from(&old.provider_id);
                }
                if old.origin == Origin::Provider {
                    new.origin = Origin::Provider;
                }
                let is_lost = |address: &&Address| {
                    address.origin == Origin::Provider && new.addresses.iter().all(|seen| seen.value != address.value)
                };
                let lost: Vec<Address> = old.addresses.iter().filter(is_lost).cloned().collect();
                new.addresses.extend(lost);
            }
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, origin: Origin, addresses: &[(&str, Origin)]) -> Device {
        let address = |(value, origin): &(&str, Origin)| Address {
            value: (*value).into(),
            origin: *origin,
            ..Address::default()
        };
        let addresses = addresses.iter().map(address).collect();
        Device { name: name.into(), origin, addresses, ..Device::default() }
    }

    #[test]
    fn what_a_machine_does_not_see_any_more_is_forgotten_unless_its_provider_told_of_it() {
        use Origin::{Machine, Provider};
        let known = [
            device("eth0", Provider, &[("10.0.0.1", Provider), ("10.0.0.2", Machine)]),
            device("eth1", Provider, &[]),
            device("eth2", Machine, &[]),
        ];
        let seen = [device("eth0", Machine, &[("10.0.0.3", Machine)]), device("eth3", Machine, &[])];
        let expected = [
            device("eth0", Provider, &[("10.0.0.3", Machine), ("10.0.0.1", Provider)]),
            device("eth1", Provider, &[]),
            device("eth3", Machine, &[]),
        ];
        assert_eq!(merged(&known, &seen), expected);
    }

    #[test]
    fn an_address_that_is_seen_again_is_there_once() {
        use Origin::{Machine, Provider};
        let known = [device("eth0", Provider, &[("10.0.0.1", Provider)])];
        let seen = [device("eth0", Machine, &[("10.0.0.1", Machine)])];
        assert_eq!(merged(&known, &seen), [device("eth0", Provider, &[("10.0.0.1", Machine)])]);
    }
}
