//! How a host machine connects the containers in it: which bridges it needs, and which devices a container gets. Pure rules.
//! Source: Juju's bridge policy, its naming of bridges included.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    iter::Peekable,
    str::Chars,
};

use bailiwick_actors::ports::Device;

use super::{
    fault::Fault,
    seen::ALPHA,
    wire::{ContainerDevice, HostChange, NewBridge},
};
use crate::juju::MachineId;

/// The bridge that LXD makes by itself.
const LXD_BRIDGE: &str = "lxdbr0";
/// How long an interface name may be, and with `br-` before it, how long the rest.
const NAME_MAX: usize = 13;

/// What is known of a host.
pub(super) struct Host<'h> {
    pub(super) id: &'h MachineId,
    pub(super) devices: &'h [Device],
    /// The space and the provider's id of each subnet, by its address with prefix length.
    pub(super) subnets: BTreeMap<String, Subnet>,
    /// `local`, `provider`, or nothing.
    pub(super) method: &'h str,
    /// How long a host waits after it put a bond into a bridge, in seconds.
    pub(super) bond_delay: u64,
    /// Whether the provider gives its containers their addresses.
    pub(super) gives_addresses: bool,
}

/// What is known of a subnet.
#[derive(Clone, Debug, Default)]
pub(super) struct Subnet {
    pub(super) space: String,
    pub(super) provider_id: String,
    pub(super) vlan: u16,
}

/// A device that counts, with the space that it is in.
struct Placed<'h> {
    device: &'h Device,
    space: &'h str,
    cidr: &'h str,
}

impl<'h> Host<'h> {
    /// The devices that have an address, each in the space of its subnet.
    fn placed(&'h self) -> Vec<Placed<'h>> {
        let counts = |device: &&Device| device.kind != "loopback" && !device.addresses.is_empty();
        let place = |device: &'h Device| {
            let cidr = device.addresses.first().map_or("", |address| address.cidr.as_str());
            let space = self.subnets.get(cidr).map_or(ALPHA, |subnet| subnet.space.as_str());
            Placed { device, space, cidr }
        };
        let mut placed: Vec<Placed<'h>> = self.devices.iter().filter(counts).map(place).collect();
        placed.sort_by(|one, other| natural(&one.device.name, &other.device.name));
        placed
    }

    fn is_local(&self) -> bool {
        self.method == "local"
    }

    fn is_bridge(&self, device: &Device) -> bool {
        device.kind == "bridge" || (self.method == "provider" && device.port == "openvswitch")
    }

    /// The spaces that a container is to reach.
    ///
    /// # Errors
    /// If the host is in several, and nothing says which.
    pub(super) fn spaces_for(
        &self,
        container: &MachineId,
        wanted: BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Fault> {
        if !wanted.is_empty() {
            return Ok(wanted);
        }
        let alpha = || BTreeSet::from([ALPHA.to_owned()]);
        if self.is_local() {
            return Ok(alpha());
        }
        let of_host: BTreeSet<String> = self.placed().iter().map(|placed| placed.space.to_owned()).collect();
        match of_host.len() {
            0 => Ok(alpha()),
            1 => Ok(of_host),
            _ => Err(Fault::plain(format!(
                "no obvious space for container \"{container}\", host machine has spaces: {}",
                quoted(&of_host)
            ))),
        }
    }

    /// What the host is to change so that a container in it reaches these spaces.
    ///
    /// # Errors
    /// If it has no device for one of them.
    pub(super) fn changes(&self, spaces: &BTreeSet<String>) -> Result<HostChange, Fault> {
        let placed = self.placed();
        let is_served = |space: &str| {
            placed.iter().any(|it| {
                let is_usable = it.device.name != LXD_BRIDGE || self.is_local();
                self.is_bridge(it.device) && is_usable && it.space == space
            }) || (space == ALPHA && self.is_local() && self.has_lxd_bridge())
        };
        let missing: BTreeSet<&String> = spaces.iter().filter(|space| !is_served(space)).collect();
        let mut bridged: Vec<&Device> = Vec::new();
        let mut without: BTreeSet<String> = BTreeSet::new();
        for space in missing {
            let fits = |it: &&Placed<'_>| it.space == space.as_str() && self.can_be_bridged(it.device);
            let mut candidates = placed.iter().filter(fits).map(|it| it.device);
            let Some(first) = candidates.next() else {
                without.insert(space.clone());
                continue;
            };
            bridged.push(first);
            if space == ALPHA {
                bridged.extend(candidates);
            }
        }
        if !without.is_empty() {
            let (host, spaces) = (self.id, quoted(&without));
            return Err(Fault::plain(format!("host machine \"{host}\" has no available device in space(s) {spaces}")));
        }
        bridged.sort_by(|one, other| natural(&one.name, &other.name));
        let has_bond = bridged.iter().any(|device| device.kind == "bond");
        let new = |device: &Device| NewBridge {
            host_device_name: device.name.clone(),
            bridge_name: bridge_name(&device.name),
            mac_address: device.mac.clone(),
        };
        Ok(HostChange {
            new_bridges: bridged.into_iter().map(new).collect(),
            reconfigure_delay: if has_bond { self.bond_delay } else { 0 },
        })
    }

    fn has_lxd_bridge(&self) -> bool {
        self.devices.iter().any(|device| device.name == LXD_BRIDGE)
    }

    /// The kind of the device that one belongs to.
    fn parent_of(&self, device: &Device) -> Option<&str> {
        let parent = self.devices.iter().find(|other| other.name == device.parent && !device.parent.is_empty())?;
        Some(&parent.kind)
    }

    fn can_be_bridged(&self, device: &Device) -> bool {
        if self.is_bridge(device) {
            return false;
        }
        let is_vlan = device.kind == "802.1q" && matches!(self.parent_of(device), Some("ethernet" | "bond"));
        device.parent.is_empty() || is_vlan
    }

    /// The devices of a container that is to reach these spaces; `mac` makes an address for each.
    ///
    /// # Errors
    /// If the host has no bridge for what is wanted.
    pub(super) fn devices_for(
        &self,
        container: &MachineId,
        spaces: &BTreeSet<String>,
        mut mac: impl FnMut() -> String,
    ) -> Result<Vec<ContainerDevice>, Fault> {
        let placed = self.placed();
        let serves = |it: &&Placed<'_>| {
            let space = if it.device.name == LXD_BRIDGE && self.is_local() { ALPHA } else { it.space };
            let is_usable = it.device.name != LXD_BRIDGE || self.is_local();
            self.is_bridge(it.device) && is_usable && spaces.contains(space)
        };
        let mut bridges: Vec<(&Device, &str)> = placed.iter().filter(serves).map(|it| (it.device, it.cidr)).collect();
        let lxd = self.devices.iter().find(|device| device.name == LXD_BRIDGE);
        if let Some(lxd) = lxd.filter(|_| self.is_local() && spaces.contains(ALPHA))
            && bridges.iter().all(|(device, _)| device.name != LXD_BRIDGE)
        {
            bridges.push((lxd, ""));
        }
        bridges.sort_by(|(one, _), (other, _)| natural(&one.name, &other.name));
        if bridges.is_empty() {
            return Err(Fault::plain(format!(
                "unable to find host bridge for space(s) {} for container \"{container}\"",
                quoted(spaces)
            )));
        }
        let device = |(at, (bridge, cidr)): (usize, (&Device, &str))| {
            let subnet = self.subnets.get(cidr).filter(|_| self.gives_addresses);
            ContainerDevice {
                mac_address: mac(),
                cidr: cidr.to_owned(),
                mtu: bridge.mtu,
                provider_subnet_id: subnet.map(|subnet| subnet.provider_id.clone()).unwrap_or_default(),
                vlan_tag: subnet.map_or(0, |subnet| subnet.vlan),
                interface_name: format!("eth{at}"),
                parent_interface_name: bridge.name.clone(),
                interface_type: "ethernet".into(),
                config_type: if subnet.is_some() { "static" } else { "dhcp" }.into(),
                ..ContainerDevice::default()
            }
        };
        Ok(bridges.into_iter().enumerate().map(device).collect())
    }
}

/// Names as messages have them: `"db", "dmz"`.
fn quoted(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// What the bridge over a device is called.
fn bridge_name(device: &str) -> String {
    let name = device.replace('.', "-");
    match name.len().cmp(&NAME_MAX) {
        Ordering::Less => format!("br-{name}"),
        Ordering::Equal => format!("b-{name}"),
        Ordering::Greater => match name.strip_prefix("en") {
            Some(rest) => format!("b-{rest}"),
            None => {
                let hash = crc32(name.as_bytes()) & 0x00ff_ffff;
                let tail: String = name.chars().skip(name.chars().count().saturating_sub(6)).collect();
                format!("b-{hash:06x}-{tail}")
            }
        },
    }
}

/// The IEEE CRC-32: `zlib`'s.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let mixed = crc ^ u32::from(*byte);
        (0..8).fold(mixed, |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// Runs of digits count as one number, against the codes of other characters.
fn natural(one: &str, other: &str) -> Ordering {
    fn part(chars: &mut Peekable<Chars<'_>>) -> Option<u64> {
        let first = chars.next()?;
        let Some(digit) = first.to_digit(10) else { return Some(u64::from(u32::from(first))) };
        let mut number = u64::from(digit);
        while let Some(digit) = chars.peek().and_then(|next| next.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(u64::from(digit));
            chars.next();
        }
        Some(number)
    }
    let (mut left, mut right) = (one.chars().peekable(), other.chars().peekable());
    loop {
        match (part(&mut left), part(&mut right)) {
            (None, None) => return one.cmp(other),
            (here, there) if here != there => return here.cmp(&there),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_is_called_after_its_device_and_fits() {
        for (device, bridge) in [
            ("eth0", "br-eth0"),
            ("bond0.100", "br-bond0-100"),
            ("twelvechars0", "br-twelvechars0"),
            ("thirteenchars", "b-thirteenchars"),
            ("enfourteenchar", "b-fourteenchar"),
            ("fourteenchars1", "b-5590a4-chars1"),
            ("enx00e07cc81e1d", "b-x00e07cc81e1d"),
        ] {
            assert_eq!(bridge_name(device), bridge);
        }
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the check value of this CRC");
    }

    #[test]
    fn devices_are_ordered_by_their_numbers() {
        let mut names = ["br-eth10", "br-eth1", "br-eth10-100", "br-eth2", "br-eth0"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(names, ["br-eth0", "br-eth1", "br-eth2", "br-eth10", "br-eth10-100"]);
    }
}
