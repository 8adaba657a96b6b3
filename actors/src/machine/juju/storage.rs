//! The volumes that a client makes together with an instance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ports::AttachmentInfo,
    vocab::{InstanceId, Name, SizeMib},
};

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
}

impl CreatedAttachment {
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
