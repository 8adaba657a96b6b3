//! What comes with an instance: its network devices, and volumes. Source: Juju's link-layer devices with their addresses, and its
//! information about volumes and their attachments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::AttachmentInfo;
use crate::vocab::{InstanceId, Name, SizeMib};

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

impl Device {
    /// Everything in it that somebody has written.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let own = [&self.name, &self.kind, &self.parent, &self.mac, &self.port, &self.provider_id];
        own.into_iter().chain(self.addresses.iter().flat_map(Address::texts))
    }
}

impl Address {
    fn texts(&self) -> [&String; 4] {
        [&self.value, &self.cidr, &self.config, &self.provider_subnet]
    }
}

/// Who told of something: what the provider told is not forgotten because the machine does not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    #[default]
    Machine,
    Provider,
}

/// What came with an instance, by the names of the volumes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedStorage {
    /// Those that were created with it.
    pub volumes: BTreeMap<Name, CreatedVolume>,
    /// Those that it has attached, whether or not they were created with it.
    pub attachments: BTreeMap<Name, CreatedAttachment>,
}

/// A volume that was created with an instance. Source: Juju's volume information.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedVolume {
    /// What the provider calls it.
    pub id: InstanceId,
    pub size: SizeMib,
    /// What stays the same wherever it is attached: its serial number, or else its world wide name.
    pub hardware_id: Option<String>,
    /// Whether it outlives the instance.
    pub persistent: bool,
}

/// How an instance reaches a volume. Source: Juju's information about attachments of volumes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedAttachment {
    /// `sdb`; empty if it is not known.
    pub device_name: String,
    /// `/dev/disk/by-id/…`; empty if there is none.
    pub device_link: String,
    /// Empty if it is not known.
    pub bus_address: String,
    pub read_only: bool,
}

impl CreatedStorage {
    pub fn is_empty(&self) -> bool {
        self.volumes.is_empty() && self.attachments.is_empty()
    }

    /// Everything in it that somebody has written.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let volumes = self.volumes.values().flat_map(|volume| [&volume.id.0].into_iter().chain(&volume.hardware_id));
        volumes.chain(self.attachments.values().flat_map(CreatedAttachment::texts))
    }
}

impl CreatedAttachment {
    fn texts(&self) -> [&String; 3] {
        [&self.device_name, &self.device_link, &self.bus_address]
    }

    /// The same, as all attachments are told: the link, which stays the same, before the name, which need not.
    pub fn info(&self) -> AttachmentInfo {
        let Self { device_name, device_link, bus_address, read_only } = self;
        let path = match (device_link.as_str(), device_name.as_str()) {
            ("", "") => bus_address.clone(),
            ("", name) => format!("/dev/{name}"),
            (link, _) => link.to_owned(),
        };
        AttachmentInfo { path, read_only: *read_only }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_reached_by_its_link_or_else_its_name_or_else_its_place_on_the_bus() {
        let path = |link: &str, name: &str, bus: &str| {
            let (device_link, device_name, bus_address) = (link.into(), name.into(), bus.into());
            CreatedAttachment { device_name, device_link, bus_address, read_only: true }.info().path
        };
        assert_eq!(path("/dev/disk/by-id/x", "sdb", "scsi@1:0"), "/dev/disk/by-id/x");
        assert_eq!(path("", "sdb", "scsi@1:0"), "/dev/sdb");
        assert_eq!(path("", "", "scsi@1:0"), "scsi@1:0");
    }
}
