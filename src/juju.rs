//! What Juju's clients are told, and the node has no words of its own for: the ids of machines, and the documents `JujuModel`,
//! `JujuApplication` and `JujuMachine`. Names and figures are Juju's.

use std::{collections::BTreeMap, fmt};

use bailiwick_actors::vocab::Name;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The id of a machine: `0`, or `0/lxd/1` for a container in it.
///
/// Here a machine has such an id if its name is one, with `-` for `/`: `0-lxd-1`. Other machines are not seen by clients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(String);

impl MachineId {
    /// Reads `0/lxd/1`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_parts(text.split('/'))
    }

    /// Reads the name of a machine: `0-lxd-1`.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::of_parts(name.split('-'))
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let parts: Vec<&str> = parts.collect();
        let is_number = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
        };
        let is_type = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
        let fits = |(at, part): (usize, &&str)| if at % 2 == 0 { is_number(part) } else { is_type(part) };
        (parts.len() % 2 == 1 && parts.iter().enumerate().all(fits)).then(|| Self(parts.join("/")))
    }

    /// Before all others.
    pub fn least() -> Self {
        Self(String::new())
    }

    /// The name of its machine; none if that would be too long for one.
    pub fn name(&self) -> Option<Name> {
        self.0.replace('/', "-").parse().ok()
    }

    /// The machine that it stands in; none for a machine of its own.
    pub fn parent(&self) -> Option<Self> {
        let (rest, _) = self.0.rsplit_once('/')?;
        rest.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// What kind of container it is: `lxd`.
    pub fn container_type(&self) -> Option<&str> {
        let (rest, _) = self.0.rsplit_once('/')?;
        rest.rsplit_once('/').map(|(_, kind)| kind)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its tag: `machine-0-lxd-1`.
    pub fn tag(&self) -> String {
        format!("machine-{}", self.0.replace('/', "-"))
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a volume: `3`, or `0/3` for one that is bound to a machine.
///
/// Here a volume has such an id if its name is one, with `-` for `/`: `0-3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeId(Name);

impl VolumeId {
    /// Reads the name of a volume: `0-3`.
    pub fn of_name(name: &Name) -> Option<Self> {
        let (machine, number) = name.as_str().rsplit_once('-').unwrap_or(("0", name.as_str()));
        let is_id = MachineId::of_name(number).is_some() && MachineId::of_name(machine).is_some();
        is_id.then(|| Self(name.clone()))
    }

    /// Reads a tag: `volume-0-3`, or `volume-0/3`.
    pub fn of_tag(tag: &str) -> Option<Self> {
        Self::of_name(&tag.strip_prefix("volume-")?.replace('/', "-").parse().ok()?)
    }

    /// The name of the volume.
    pub fn name(&self) -> &Name {
        &self.0
    }

    pub fn tag(&self) -> String {
        format!("volume-{}", self.0)
    }
}

/// The model that clients see, and its controller. There is one, called `default`; without it clients see the defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Model {
    /// What clients call it; `default` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The journal's id where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Uuid>,
    /// Juju's model configuration: `http-proxy`, `image-stream`. What is left out has Juju's defaults.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Who may log in to containers over SSH: one line each, as in `authorized_keys`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorized_keys: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub controller: Controller,
    /// Whether the provider gives addresses to containers.
    #[serde(skip_serializing_if = "is_default")]
    pub container_addresses: bool,
    /// Whether the provider gives instances LXD profiles: then they are told with what an instance is started with.
    #[serde(skip_serializing_if = "is_default")]
    pub lxd_profiler: bool,
    /// The VLAN of each subnet, by its address with prefix length.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vlans: BTreeMap<String, u16>,
    /// The programs of agents that `FindTools` finds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agent_binaries: Vec<AgentBinary>,
}

/// The controller that clients see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Controller {
    /// The journal's id where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Uuid>,
    /// Juju's controller configuration: `api-port`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Where each API server can be reached; where clients reach this node if it is left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_host_ports: Vec<Vec<HostPort>>,
    /// What clients check its certificate against, as PEM; that of this node's own authority if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
}

/// An address and a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostPort {
    pub value: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cidr: String,
    /// `hostname`, `ipv4`, `ipv6`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `public`, `local-cloud`.
    pub scope: String,
    pub port: u16,
}

/// The program of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct AgentBinary {
    /// `3.6.1-ubuntu-amd64`
    pub version: String,
    pub url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// In bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub size: u64,
}

/// An application, as clients see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Application {
    /// Whether its units stand beside those of another one.
    #[serde(skip_serializing_if = "is_default")]
    pub subordinate: bool,
    /// The id of the machine that each unit stands on; null where it stands on none yet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, Option<String>>,
    /// The space that each endpoint is bound to; the empty endpoint is the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bindings: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "is_default")]
    pub charm_revision: i64,
    /// What LXD containers of its units are given; empty for nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub lxd_profile: LxdProfile,
}

/// A profile of LXD.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LxdProfile {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, BTreeMap<String, String>>,
}

/// A machine, as clients see it beside its declaration. It has the name of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Machine {
    /// What its instance has to have, in Juju's words and as they are written. They replace those of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// Where its instance is to be, in the provider's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub placement: String,
    /// Whether its instance is left alone when the machine is removed.
    #[serde(skip_serializing_if = "is_default")]
    pub keep_instance: bool,
    /// Whether it was added by hand, and no provider has made it.
    #[serde(skip_serializing_if = "is_default")]
    pub manual: bool,
}

/// Juju's constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Constraints {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_power: Option<u64>,
    /// In MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem: Option<u64>,
    /// In MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_disk_source: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Spaces that it has to reach, and `^` before those that it must not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spaces: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virt_type: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocate_public_ip: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_has_a_number_and_perhaps_a_machine() {
        let read = |tag: &str| VolumeId::of_tag(tag).map(|id| id.tag());
        for (tag, same) in [
            ("volume-3", "volume-3"),
            ("volume-0-3", "volume-0-3"),
            ("volume-0/3", "volume-0-3"),
            ("volume-0-lxd-1-3", "volume-0-lxd-1-3"),
        ] {
            assert_eq!(read(tag).as_deref(), Some(same), "{tag}");
        }
        for tag in ["volume-", "volume-data", "volume-03", "volume-lxd-3", "volume-0-lxd-3", "machine-3", "3"] {
            assert_eq!(read(tag), None, "{tag}");
        }
    }

    #[test]
    fn a_container_has_a_parent_and_a_type() {
        let id = MachineId::parse("0/lxd/1/kvm/2").expect("an id");
        assert_eq!(id.parent(), MachineId::parse("0/lxd/1"));
        assert_eq!(id.container_type(), Some("kvm"));
        assert_eq!(id.name().expect("a name").as_str(), "0-lxd-1-kvm-2");
        assert_eq!(MachineId::of_name("0-lxd-1-kvm-2"), Some(id));
        assert_eq!(MachineId::parse("0").expect("an id").parent(), None);
        assert_eq!(MachineId::of_name("web"), None);
    }
}
