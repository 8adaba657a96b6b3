//! The network devices of a machine, as they are known once somebody has told of them again.

use std::collections::BTreeMap;

use crate::ports::{Address, Device, Origin};

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
