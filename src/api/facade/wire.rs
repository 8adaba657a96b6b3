//! The structures that calls take and give, by their names on the wire. Whatever a call takes may be missing or null.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{envelope::or_zero, fault::Fault};
use crate::juju::Constraints;

/// The results of a call about several things, in the order in which they were named.
#[derive(Debug, Serialize)]
pub(super) struct Results<T> {
    pub(super) results: Vec<T>,
}

/// What came of one of them: what was asked for, or an error and zero values.
#[derive(Debug, Default, Serialize)]
pub(super) struct Item<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Fault>,
    #[serde(flatten)]
    pub(super) value: T,
}

impl<T: Default> From<Result<T, Fault>> for Item<T> {
    fn from(result: Result<T, Fault>) -> Self {
        match result {
            Ok(value) => Self { error: None, value },
            Err(fault) => Self { error: Some(fault), value: T::default() },
        }
    }
}

/// Nothing but whether it was done.
#[derive(Debug, Default, Serialize)]
pub(super) struct Done {}

#[derive(Debug, Default, Serialize)]
pub(super) struct One<T> {
    pub(super) result: T,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Maybe<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<T>,
}

macro_rules! taken {
    ($($(#[$doc:meta])* $name:ident { $($field:ident $key:literal: $type:ty),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        pub(super) struct $name {
            $(#[serde(rename = $key, default, deserialize_with = "or_zero")] pub(super) $field: $type,)*
        }
    )* };
}

taken! {
    Entity { tag "tag": String }
    Entities { entities "entities": Vec<Entity> }
    Login {
        auth_tag "auth-tag": String,
        credentials "credentials": String,
        nonce "nonce": String,
    }
    Password { tag "tag": String, password "password": String }
    Passwords { changes "changes": Vec<Password> }
    EntityStatus {
        tag "tag": String,
        status "status": String,
        info "info": String,
        data "data": Map<String, Value>,
    }
    Statuses { entities "entities": Vec<EntityStatus> }
    Hardware {
        arch "arch": Option<String>,
        mem "mem": Option<u64>,
        root_disk "root-disk": Option<u64>,
        root_disk_source "root-disk-source": Option<String>,
        cores "cpu-cores": Option<u64>,
        cpu_power "cpu-power": Option<u64>,
        tags "tags": Vec<String>,
        zone "availability-zone": Option<String>,
        virt_type "virt-type": Option<String>,
    }
    InstanceInfo {
        tag "tag": String,
        instance "instance-id": String,
        display_name "display-name": String,
        nonce "nonce": String,
        characteristics "characteristics": Hardware,
        volumes "volumes": Vec<ToldVolume>,
        volume_attachments "volume-attachments": BTreeMap<String, ToldAttachment>,
        network "network-config": Vec<NetworkConfig>,
        profiles "charm-profiles": Vec<String>,
    }
    VolumeInfo {
        volume_id "volume-id": String,
        hardware_id "hardware-id": String,
        wwn "wwn": String,
        size "size": u64,
        persistent "persistent": bool,
    }
    ToldVolume { volume_tag "volume-tag": String, info "info": VolumeInfo }
    ToldAttachment {
        device_name "device-name": String,
        device_link "device-link": String,
        bus_address "bus-address": String,
        read_only "read-only": bool,
        plan_info "plan-info": Map<String, Value>,
    }
    InstancesInfo { machines "machines": Vec<InstanceInfo> }
    ProfileArg { entity "entity": Entity, profiles "profiles": Vec<String> }
    ProfileArgs { args "args": Vec<ProfileArg> }
    MachineContainers { machine_tag "machine-tag": String, types "container-types": Vec<String> }
    MachineContainersParams { params "params": Vec<MachineContainers> }
    WatchContainer { machine_tag "machine-tag": String, container_type "container-type": String }
    WatchContainers { params "params": Vec<WatchContainer> }
    ManagerConfigParams { container_type "type": String }
    FindToolsParams {
        number "number": String,
        major "major": i64,
        arch "arch": String,
        os_type "os-type": String,
    }
    MachineNetwork { tag "tag": String, config "config": Vec<NetworkConfig> }
    WireAddress {
        value "value": String,
        cidr "cidr": String,
        config_type "config-type": String,
        origin "origin": String,
    }
    NetworkConfig {
        mac "mac-address": String,
        cidr "cidr": String,
        mtu "mtu": u32,
        provider_id "provider-id": String,
        provider_subnet "provider-subnet-id": String,
        name "interface-name": String,
        parent "parent-interface-name": String,
        kind "interface-type": String,
        config_type "config-type": String,
        address "address": String,
        addresses "addresses": Vec<WireAddress>,
        port_type "virtual-port-type": String,
        origin "origin": String,
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct LifeOf {
    pub(super) life: &'static str,
}

/// A status of a machine or instance.
#[derive(Debug, Default, Serialize)]
pub(super) struct StatusOf {
    pub(super) id: String,
    pub(super) life: &'static str,
    pub(super) status: String,
    pub(super) info: String,
    pub(super) data: Map<String, Value>,
    /// RFC 3339; null for never.
    pub(super) since: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct ConstraintsOf {
    pub(super) constraints: Constraints,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ContainersOf {
    pub(super) container_types: Option<Vec<String>>,
    pub(super) determined: bool,
}

/// A watcher of names, and what it tells first.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StringsWatcher {
    pub(super) watcher_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<String>,
}

/// A watcher that only tells that something changed.
#[derive(Debug, Default, Serialize)]
pub(super) struct NotifyWatcher {
    #[serde(rename = "NotifyWatcherId")]
    pub(super) id: String,
}

/// A program of agents.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tools {
    pub(super) version: String,
    pub(super) url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) sha256: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) size: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A network device as a container is to have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ContainerDevice {
    pub(super) device_index: usize,
    pub(super) mac_address: String,
    pub(super) cidr: String,
    pub(super) mtu: u32,
    pub(super) provider_id: String,
    pub(super) provider_network_id: String,
    pub(super) provider_subnet_id: String,
    pub(super) provider_space_id: String,
    pub(super) provider_address_id: String,
    pub(super) provider_vlan_id: String,
    pub(super) vlan_tag: u16,
    pub(super) interface_name: String,
    pub(super) parent_interface_name: String,
    pub(super) interface_type: String,
    pub(super) disabled: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) config_type: String,
}

/// A bridge that a host is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct NewBridge {
    pub(super) host_device_name: String,
    pub(super) bridge_name: String,
    pub(super) mac_address: String,
}

/// What a host is to change.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HostChange {
    pub(super) new_bridges: Vec<NewBridge>,
    /// In seconds.
    pub(super) reconfigure_delay: u64,
}

/// What an instance is started with.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ProvisioningInfo {
    pub(super) constraints: Constraints,
    pub(super) base: BaseOf,
    pub(super) placement: String,
    pub(super) jobs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root_disk: Option<VolumeParams>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) volumes: Vec<VolumeParams>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) volume_attachments: Vec<VolumeAttachmentParams>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) image_metadata: Vec<Image>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) endpoint_bindings: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) controller_config: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) cloudinit_userdata: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) charm_lxd_profiles: Vec<String>,
    #[serde(flatten)]
    pub(super) topology: Topology,
}

/// The subnets that an instance may be in, and the zones from which each can be reached.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Topology {
    /// As versions 10 and 11 tell it.
    Spaces {
        #[serde(rename = "subnet-zones")]
        subnet_zones: Option<BTreeMap<String, Vec<String>>>,
        #[serde(rename = "space-subnets")]
        space_subnets: Option<BTreeMap<String, Vec<String>>>,
    },
    /// As earlier versions do.
    Subnets {
        #[serde(rename = "subnets-to-zones", skip_serializing_if = "Option::is_none")]
        subnets_to_zones: Option<BTreeMap<String, Vec<String>>>,
    },
}

impl Default for Topology {
    fn default() -> Self {
        Self::Spaces { subnet_zones: None, space_subnets: None }
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct BaseOf {
    pub(super) name: String,
    pub(super) channel: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct VolumeParams {
    pub(super) volume_tag: String,
    pub(super) size: u64,
    pub(super) provider: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) attributes: Map<String, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attachment: Option<VolumeAttachmentParams>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct VolumeAttachmentParams {
    pub(super) volume_tag: String,
    pub(super) machine_tag: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) volume_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) instance_id: String,
    pub(super) provider: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) read_only: bool,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Image {
    pub(super) image_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) stream: String,
    pub(super) region: String,
    pub(super) version: String,
    pub(super) arch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) virt_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root_storage_type: Option<String>,
    pub(super) source: &'static str,
    pub(super) priority: u32,
}
