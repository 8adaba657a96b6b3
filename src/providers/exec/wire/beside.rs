//! What comes with an instance, as a provider tells of it.

use bailiwick_actors::vocab::{Name, SizeMib};
use serde::Deserialize;

/// A network device.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::providers::exec) struct ToldDevice {
    pub name: String,
    /// `ethernet` if it is not told.
    #[serde(default)]
    pub kind: Option<String>,
    #[serde(default)]
    pub parent: String,
    #[serde(default)]
    pub mac: String,
    #[serde(default)]
    pub mtu: u32,
    #[serde(default)]
    pub provider_id: String,
    #[serde(default)]
    pub addresses: Vec<ToldAddress>,
}

/// An address of a device.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::providers::exec) struct ToldAddress {
    /// `10.0.1.7`
    pub address: String,
    /// `10.0.1.0/24`
    #[serde(default)]
    pub subnet: String,
    /// `dhcp`, `static`, `loopback`, `manual`.
    #[serde(default)]
    pub config: String,
    #[serde(default)]
    pub provider_subnet: String,
}

/// A volume that came with an instance, and how that reaches it.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::providers::exec) struct ToldMachineVolume {
    pub volume: Name,
    pub volume_id: String,
    pub size_mib: SizeMib,
    #[serde(default)]
    pub hardware_id: Option<String>,
    #[serde(default)]
    pub device_name: String,
    #[serde(default)]
    pub device_link: String,
    #[serde(default)]
    pub bus_address: String,
    #[serde(default)]
    pub read_only: bool,
}
