//! What clients see of the node: machines, applications, spaces and configuration, read off the fleet.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    contract::Decider,
    document::{Content, ImageMetadata, Kind},
    machine::{self, Constraints, Instance, Job, juju::Hardware, juju_status},
    storage_rules::{Attributes, Pool, ProviderType},
    vocab::{Life, Name, Outlook, SizeMib, Timestamp},
    volume, volume_attachment,
};
use bailiwick_journal::StreamId;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    defaults::model_defaults,
    fault::Fault,
    wire::{Image, StatusOf, Tools},
};
use crate::{
    juju::{self, HostPort, MachineId, VolumeId},
    view::{Fleet, storage_config},
};

/// The space that there always is. Source: Juju.
pub(super) const ALPHA: &str = "alpha";

/// The fleet, as clients see it.
pub(super) struct Seen<'f> {
    fleet: &'f Fleet,
    /// The document about the model.
    pub(super) model: juju::Model,
}

/// An application.
pub(super) struct Application {
    pub(super) name: String,
    pub(super) said: juju::Application,
}

/// A subnet.
pub(super) struct Subnet<'f> {
    pub(super) cidr: &'f str,
    pub(super) space: &'f str,
    pub(super) provider_id: &'f str,
    pub(super) zones: Vec<String>,
}

impl<'f> Seen<'f> {
    pub(super) fn of(fleet: &'f Fleet) -> Self {
        Self { model: read(fleet.documents.juju_model()), fleet }
    }

    pub(super) fn model_name(&self) -> &str {
        self.model.name.as_deref().unwrap_or("default")
    }

    pub(super) fn model_uuid(&self) -> Uuid {
        self.model.uuid.unwrap_or(self.fleet.journal)
    }

    pub(super) fn controller_uuid(&self) -> Uuid {
        self.model.controller.uuid.unwrap_or(self.fleet.journal)
    }

    /// The model's configuration: what is said, and the defaults.
    pub(super) fn config(&self) -> Map<String, Value> {
        let mut all = model_defaults(self.model_name(), self.model_uuid());
        let region = self.fleet.documents.model();
        if let Some(stream) = region.and_then(|model| model.says.image_stream.clone()) {
            all.insert("image-stream".into(), stream.into());
        }
        all.extend(self.model.config.clone());
        all
    }

    /// The controller's configuration.
    pub(super) fn controller_config(&self) -> Map<String, Value> {
        let uuid = ("controller-uuid".to_owned(), Value::from(self.controller_uuid().to_string()));
        std::iter::once(uuid).chain(self.model.controller.config.clone()).collect()
    }

    /// Where API servers are said to be reached; empty if nothing is said.
    pub(super) fn api_host_ports(&self) -> Vec<Vec<HostPort>> {
        if !self.model.controller.api_host_ports.is_empty() {
            return self.model.controller.api_host_ports.clone();
        }
        let said = self.fleet.documents.model().map(|model| model.says.api_addresses.clone()).unwrap_or_default();
        let servers: Vec<HostPort> = said.iter().filter_map(|text| host_port(text)).collect();
        if servers.is_empty() { Vec::new() } else { vec![servers] }
    }

    /// A machine that exists.
    pub(super) fn machine(&self, id: &MachineId) -> Result<&'f machine::State, Fault> {
        let state = id.name().and_then(|name| self.fleet.machines.get(name.as_str()));
        state.filter(|state| state.life.exists()).ok_or_else(|| Fault::no_machine(id))
    }

    /// All machines that exist, by name of the machine.
    pub(super) fn machines(&self) -> impl Iterator<Item = (MachineId, &'f machine::State)> + use<'f> {
        let all = self.fleet.machines.iter().filter(|(_, folded)| folded.state.life.exists());
        all.filter_map(|(name, folded)| Some((MachineId::of_name(name)?, &folded.state)))
    }

    /// When a machine was declared last.
    pub(super) fn declared_at(&self, id: &MachineId) -> Option<Timestamp> {
        let stream = StreamId::new(machine::State::KIND, id.name()?.as_str()).ok()?;
        self.fleet.declared_at(&stream)
    }

    /// What is said of a machine beside its declaration.
    pub(super) fn said(&self, id: &MachineId) -> juju::Machine {
        id.name().map(|name| read(self.fleet.documents.juju_machine(name.as_str()))).unwrap_or_default()
    }

    /// The constraints of a machine.
    pub(super) fn constraints(&self, id: &MachineId, state: &machine::State) -> juju::Constraints {
        let own = || state.spec.as_ref().map(|spec| constraints(&spec.constraints)).unwrap_or_default();
        self.said(id).constraints.unwrap_or_else(own)
    }

    /// The applications, by name. One that is declared without more has a unit on each of its machines.
    pub(super) fn applications(&self) -> Vec<Application> {
        let mut all: BTreeMap<String, juju::Application> = BTreeMap::new();
        for (name, folded) in self.fleet.documents.existing(Kind::Application) {
            let Some(Content::Application(declared)) = folded.state.in_force() else {
                continue;
            };
            let ids = declared.machines.iter().filter_map(|machine| MachineId::of_name(machine.as_str()));
            let units = ids.enumerate().map(|(at, id)| (format!("{name}/{at}"), Some(id.to_string()))).collect();
            let bindings = declared.bindings.iter().map(|(to, space)| (to.clone(), space.to_string())).collect();
            all.insert(name.to_owned(), juju::Application { units, bindings, ..juju::Application::default() });
        }
        for (name, json) in self.fleet.documents.juju_applications() {
            all.insert(name.to_owned(), read(Some(json)));
        }
        all.into_iter().map(|(name, said)| Application { name, said }).collect()
    }

    /// Whether there is a space of this name.
    pub(super) fn has_space(&self, name: &str) -> bool {
        name == ALPHA || name.parse::<Name>().is_ok_and(|name| self.fleet.documents.space(&name).is_some())
    }

    /// The provider's name for a space; none if it has none.
    pub(super) fn provider_space(&self, name: &str) -> Option<String> {
        let space = self.fleet.documents.space(&name.parse().ok()?)?;
        space.says.provider_id.clone().filter(|id| !id.is_empty())
    }

    /// The subnets, by name of their documents.
    pub(super) fn subnets(&self) -> impl Iterator<Item = Subnet<'f>> {
        self.fleet.documents.subnets().map(|subnet| Subnet {
            cidr: &subnet.says.cidr,
            space: subnet.says.space.as_str(),
            provider_id: subnet.says.provider_id.as_deref().unwrap_or_default(),
            zones: subnet.says.zones.iter().map(|zone| zone.0.clone()).collect(),
        })
    }

    /// The images for a version of a system, in the model's region and stream, of lowest priority first.
    pub(super) fn images(&self, version: &str, arch: Option<&str>, stream: &str) -> Vec<Image> {
        let region = self.fleet.documents.model().and_then(|model| model.says.region.clone());
        let fits = |image: &&ImageMetadata| {
            let of_region = |at: &String| image.region.as_ref().is_none_or(|region| region == at);
            image.base.channel.split('/').next() == Some(version)
                && arch.is_none_or(|arch| image.arch == arch)
                && image.stream == stream
                && region.as_ref().is_none_or(of_region)
        };
        let image = |image: &ImageMetadata| Image {
            image_id: image.image.clone(),
            stream: image.stream.clone(),
            region: image.region.clone().unwrap_or_default(),
            version: version.to_owned(),
            arch: image.arch.clone(),
            virt_type: image.virtualisation.clone(),
            root_storage_type: image.root_storage.clone(),
            // What Juju calls those that nobody added by hand.
            source: "default cloud images",
            priority: image.priority,
        };
        let mut images: Vec<Image> = self.fleet.documents.images().map(|it| it.says).filter(fits).map(image).collect();
        images.sort_by_key(|image| image.priority);
        images
    }

    /// The programs of agents.
    pub(super) fn agent_binaries(&self) -> Vec<Tools> {
        let said = self.model.agent_binaries.iter().map(|binary| Tools {
            version: binary.version.clone(),
            url: binary.url.clone(),
            sha256: binary.sha256.clone(),
            size: binary.size,
        });
        let declared = self.fleet.documents.agent_binaries().map(|it| Tools {
            version: format!("{}-{}-{}", it.says.version, it.says.base.os, it.says.arch),
            url: it.says.location.clone(),
            sha256: it.says.sha256.clone(),
            size: 0,
        });
        said.chain(declared).collect()
    }

    /// The version of the agent that machines are to have; empty where any will do.
    pub(super) fn agent_version(&self) -> String {
        self.fleet.documents.model().and_then(|model| model.says.agent_version.clone()).unwrap_or_default()
    }

    /// The volumes and filesystems that are attached to a machine and do not go with it, as tags.
    pub(super) fn lasting_storage(&self, state: &machine::State) -> Vec<String> {
        let goes_too = |volume: &&Name| self.fleet.volumes.get(volume.as_str()).is_some_and(volume::State::is_external);
        let volumes = state.attachments.iter().filter(|volume| !goes_too(volume)).map(|it| format!("volume-{it}"));
        volumes.chain(state.mounts.iter().map(|filesystem| format!("filesystem-{filesystem}"))).collect()
    }

    /// A volume that exists.
    pub(super) fn volume(&self, id: &VolumeId) -> Option<&'f volume::State> {
        self.fleet.volumes.get(id.name().as_str()).filter(|state| state.life.exists())
    }

    /// All volumes that exist and that clients see.
    pub(super) fn volumes(&self) -> impl Iterator<Item = (VolumeId, &'f volume::State)> + use<'f> {
        let all = self.fleet.volumes.iter().filter(|(_, folded)| folded.state.life.exists());
        all.filter_map(|(name, folded)| Some((VolumeId::of_name(&name.parse().ok()?)?, &folded.state)))
    }

    /// The attachment of a volume to a machine.
    pub(super) fn attachment(&self, machine: &Name, volume: &VolumeId) -> Option<&'f volume_attachment::State> {
        let attachment = self.fleet.attachments.get(&format!("{machine}:{}", volume.name()));
        attachment.filter(|state| state.life.exists())
    }

    /// The storage provider of a pool that clients take volumes from, and what the pool says beyond that.
    pub(super) fn pool(&self, name: &str) -> Option<(String, Map<String, Value>)> {
        let pools = storage_config(self.fleet).pools().ok()?;
        let pool = pools.get(&name.parse().ok()?).ok()?;
        (pool.provider() == ProviderType::External).then(|| provider_and_rest(pool.attributes().clone()))
    }

    /// The tags of whatever a client makes.
    pub(super) fn resource_tags(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("juju-controller-uuid".to_owned(), self.controller_uuid().to_string()),
            ("juju-model-uuid".to_owned(), self.model_uuid().to_string()),
        ])
    }
}

/// What a document says; nothing if there is none.
fn read<T: DeserializeOwned + Default>(json: Option<&str>) -> T {
    // It was read so before it was declared. What a later release wrote is as if it were not there.
    let mut said: Value = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_else(|| Map::new().into());
    // An earlier release kept pools here; by now there is one place for them.
    said.as_object_mut().map(|model| model.remove("storagePools"));
    serde_json::from_value(said).unwrap_or_default()
}

/// What the attributes of a pool of clients say: the storage provider, in their words, and the rest.
pub(super) fn provider_and_rest(mut attributes: Attributes) -> (String, Map<String, Value>) {
    let provider = attributes.remove(Pool::PROVIDER).unwrap_or_default();
    (provider, attributes.into_iter().map(|(name, value)| (name, value.into())).collect())
}

fn host_port(text: &str) -> Option<HostPort> {
    let (host, port) = text.rsplit_once(':')?;
    let value = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Some(HostPort { kind: address_type(&value).into(), value, port: port.parse().ok()?, ..HostPort::default() })
}

/// What kind of address it is.
pub(super) fn address_type(host: &str) -> &'static str {
    match host.parse() {
        Ok(std::net::IpAddr::V4(_)) => "ipv4",
        Ok(std::net::IpAddr::V6(_)) => "ipv6",
        Err(_) => "hostname",
    }
}

/// The constraints of a declaration in Juju's words.
fn constraints(declared: &Constraints) -> juju::Constraints {
    let mib = |size: Option<SizeMib>| size.map(|size| size.0);
    juju::Constraints {
        arch: declared.arch.clone(),
        cores: declared.cores.map(u64::from),
        mem: mib(declared.memory),
        root_disk: mib(declared.root_disk),
        instance_type: declared.instance_type.clone(),
        spaces: declared.spaces.iter().map(ToString::to_string).collect(),
        zones: declared.zones.iter().map(|zone| zone.0.clone()).collect(),
        ..juju::Constraints::default()
    }
}

/// Whether a machine is one of the controller's.
pub(super) fn is_controller(state: &machine::State) -> bool {
    state.spec.as_ref().is_some_and(|spec| spec.jobs.contains(&Job::ManageModel))
}

/// What the provider calls its instance; none before it has one.
pub(super) fn instance_of(state: &machine::State) -> Option<&str> {
    let told = || state.record().provisioned.as_ref().map(|of| of.instance.0.as_str());
    match &state.instance {
        Instance::Running { instance, .. } => Some(&instance.instance.0),
        // Clients have made it, and have not said yet that it is gone.
        Instance::Deleting { .. } if state.is_external() => told(),
        Instance::None | Instance::Creating(_) | Instance::Lost { .. } | Instance::Deleting { .. } => None,
    }
}

/// The zone that its instance is in; none before it has one, empty if nobody knows.
pub(super) fn zone_of(state: &machine::State) -> Option<String> {
    instance_of(state)?;
    let told = state.record().provisioned.as_ref().and_then(|of| of.hardware.zone.clone());
    let seen = || match &state.instance {
        Instance::Running { instance, .. } => instance.zone().map(|zone| zone.0),
        _ => None,
    };
    Some(told.or_else(seen).unwrap_or_default())
}

pub(super) fn life(life: Life) -> &'static str {
    match life {
        Life::Alive => "alive",
        Life::Dying => "dying",
        Life::Dead => "dead",
        Life::Undeclared | Life::Removed => "",
    }
}

/// A status: what was said last, or what the node knows by itself.
pub(super) fn status(state: &machine::State, of: machine::juju::StatusOf, declared: Option<Timestamp>) -> StatusOf {
    if let Some(status) = state.record().status(of) {
        let data = serde_json::from_str(&status.said.data).unwrap_or_default();
        return StatusOf {
            status: status.said.status.clone(),
            info: status.said.info.clone(),
            data,
            since: Some(status.since.to_string()),
            ..StatusOf::default()
        };
    }
    let (status, info) = match of {
        machine::juju::StatusOf::Machine if state.is_external() => ("pending", String::new()),
        machine::juju::StatusOf::Machine => (juju_status(state), String::new()),
        machine::juju::StatusOf::Instance => instance_status(state),
        machine::juju::StatusOf::Modification => ("idle", String::new()),
    };
    let since = declared.map(|since| since.to_string());
    StatusOf { status: status.into(), info, since, ..StatusOf::default() }
}

fn instance_status(state: &machine::State) -> (&'static str, String) {
    match &state.instance {
        _ if state.is_external() => ("pending", String::new()),
        Instance::Creating(effort) => match &effort.outlook {
            Outlook::GivenUp { fault, .. } => ("provisioning error", fault.to_string()),
            Outlook::Trying | Outlook::Waiting { .. } => ("allocating", String::new()),
        },
        Instance::Running { .. } => ("running", String::new()),
        Instance::None | Instance::Lost { .. } | Instance::Deleting { .. } => ("pending", String::new()),
    }
}

/// What an instance has, as it was told.
pub(super) fn hardware(told: &super::wire::Hardware) -> Hardware {
    let told = told.clone();
    Hardware {
        arch: told.arch,
        memory_mib: told.mem,
        root_disk_mib: told.root_disk,
        root_disk_source: told.root_disk_source,
        cores: told.cores,
        cpu_power: told.cpu_power,
        tags: told.tags,
        zone: told.zone,
        virtualisation: told.virt_type,
    }
}

/// Machines that hold a unit of the same application as this one.
pub(super) fn sharing(applications: &[Application], id: &MachineId) -> BTreeSet<String> {
    let principal = applications.iter().filter(|it| !it.said.subordinate);
    let here = |application: &&Application| application.said.units.values().flatten().any(|at| at == id.as_str());
    principal.filter(here).flat_map(|it| it.said.units.values().flatten().cloned()).collect()
}

/// The principal units on a machine, sorted.
pub(super) fn units_on(applications: &[Application], id: &MachineId) -> Vec<String> {
    let principal = applications.iter().filter(|it| !it.said.subordinate);
    let units = principal.flat_map(|it| it.said.units.iter());
    let mut on: Vec<String> =
        units.filter(|(_, at)| at.as_deref() == Some(id.as_str())).map(|(unit, _)| unit.clone()).collect();
    on.sort();
    on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_an_earlier_release_declared_with_pools_is_read_without_them() {
        let json = r#"{"name": "lab", "storagePools": {"fast": {"provider": "static"}}}"#;
        assert_eq!(read::<juju::Model>(Some(json)).name.as_deref(), Some("lab"));
        assert_eq!(read::<juju::Model>(None), juju::Model::default());
    }
}
