//! A machine to be made, as a provider is asked for it.

use std::collections::BTreeMap;

use bailiwick_actors::{
    machine::{Constraints, InstanceConfig, Job, StartImage, StartParameters},
    ports::{CreateMachine, JoinToken, SecretData},
    storage_rules::claimed_with_instance,
    vocab::{EffectId, Name, NodeCapacity, Nonce, SizeMib, Uid},
};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::of_pool::OfPool;

#[derive(Debug, Serialize)]
pub(in crate::providers::exec) struct NewMachine<'a> {
    effect: EffectId,
    machine: &'a Name,
    uid: Uid,
    /// What it proves with whose it is; comes back as the fact `nonce`.
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a Nonce>,
    labels: &'a BTreeMap<String, String>,
    workloads: Vec<NewWorkload<'a>>,
    /// Where it is to be made; none means anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taints: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    constraints: BTreeMap<&'static str, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    jobs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a Name>,
    /// What its class says: the copy that is this machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    class_content: Option<NewClass<'a>>,
    /// What the secrets of its class hold. Not for anybody's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    secrets: Option<Told<'a>>,
    /// Where the token is that an agent in it joins with, if there is one; never the token itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<Value>,
    /// What it is started with beside what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Value>,
    /// What is to be there with it, and attached to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    volumes: Vec<NewMachineVolume<'a>>,
}

/// A volume that comes with an instance.
#[derive(Debug, Serialize)]
struct NewMachineVolume<'a> {
    volume: Name,
    size_mib: SizeMib,
    #[serde(flatten)]
    pool: OfPool<'a>,
    read_only: bool,
}

/// What is told to the provider, and shows nothing of itself to anybody else.
#[derive(Debug)]
struct Told<'a>(&'a SecretData);

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.reveal().serialize(serializer)
    }
}

/// What a machine is made from.
#[derive(Debug, Serialize)]
struct NewClass<'a> {
    revision: u32,
    provider_spec: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_template: Option<&'a NodeCapacity>,
}

#[derive(Debug, Serialize)]
struct NewWorkload<'a> {
    name: &'a Name,
    command: &'a [String],
    env: &'a BTreeMap<String, String>,
}

impl<'a> From<&'a CreateMachine> for NewMachine<'a> {
    fn from(wish: &'a CreateMachine) -> Self {
        let workload = |workload: &'a bailiwick_actors::machine::Workload| NewWorkload {
            name: &workload.name,
            command: &workload.command,
            env: &workload.env,
        };
        let volumes =
            claimed_with_instance(&wish.machine, &wish.spec.storage).map(|(volume, claim)| NewMachineVolume {
                volume,
                size_mib: claim.size,
                pool: OfPool::from(&claim.pool),
                read_only: claim.read_only,
            });
        Self {
            effect: wish.id,
            machine: &wish.machine,
            uid: wish.uid,
            nonce: wish.nonce.as_ref(),
            labels: &wish.spec.labels,
            workloads: wish.spec.workloads.iter().map(workload).collect(),
            zone: wish.zone.as_ref().map(|zone| zone.0.as_str()),
            tags: &wish.spec.tags,
            annotations: &wish.spec.annotations,
            taints: wish.spec.taints.iter().map(ToString::to_string).collect(),
            constraints: constraints(&wish.spec.constraints),
            placement: wish.spec.placement.as_ref().map(ToString::to_string),
            base: wish.spec.base.as_ref().map(ToString::to_string),
            jobs: wish.spec.jobs_in_force().into_iter().map(Job::as_str).collect(),
            parent: wish.spec.parent.as_ref(),
            class: wish.spec.class.as_ref(),
            class_content: wish.class.as_ref().map(|copy| NewClass {
                revision: copy.revision,
                provider_spec: as_written(&copy.content.provider_spec),
                node_template: copy.content.node_template.as_ref(),
            }),
            secrets: (!wish.secrets.is_empty()).then_some(Told(&wish.secrets)),
            credentials: wish.join.as_ref().map(credentials),
            start: wish.start.as_deref().map(|parameters| start(parameters, wish.config.as_deref())),
            volumes: volumes.collect(),
        }
    }
}

/// What stands for the token: its id, and the file that holds it.
fn credentials(join: &JoinToken) -> Value {
    json!({ "token_id": join.id, "token_file": join.file, "until_ms": join.until.0 })
}

/// The value that a text is, or else the text.
fn as_written(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// What an instance has to have, as far as anything was said.
fn constraints(of: &Constraints) -> BTreeMap<&'static str, Value> {
    let mut said: BTreeMap<&'static str, Value> = BTreeMap::new();
    said.extend(of.arch.as_ref().map(|arch| ("arch", arch.as_str().into())));
    said.extend(of.cores.map(|cores| ("cores", cores.into())));
    said.extend(of.memory.map(|memory| ("memory_mib", memory.0.into())));
    said.extend(of.root_disk.map(|disk| ("root_disk_mib", disk.0.into())));
    said.extend(of.instance_type.as_ref().map(|kind| ("instance_type", kind.as_str().into())));
    let zones: Vec<&str> = of.zones.iter().map(|zone| zone.0.as_str()).collect();
    let spaces: Vec<String> = of.spaces.iter().map(ToString::to_string).collect();
    said.extend((!zones.is_empty()).then(|| ("zones", zones.into())));
    said.extend((!spaces.is_empty()).then(|| ("spaces", spaces.into())));
    said
}

/// What an instance is started with, beside what is declared.
fn start(of: &StartParameters, config: Option<&InstanceConfig>) -> Value {
    let image = |image: &StartImage| {
        json!({
            "image": image.image, "arch": image.arch, "region": image.region, "stream": image.stream,
            "root_storage": image.root_storage, "virtualisation": image.virtualisation,
        })
    };
    let agent = of
        .agent
        .as_ref()
        .map(|agent| json!({ "version": agent.version, "sha256": agent.sha256, "location": agent.location }));
    let host = of.host.as_ref().map(
        |host| json!({ "machine": host.machine, "effect": host.effect, "instance": host.instance, "zone": host.zone }),
    );
    let mut said = json!({
        "constraints": constraints(&of.constraints),
        "images": of.images.iter().map(image).collect::<Vec<_>>(),
        "agent": agent,
        "tags": of.tags,
        "zones": of.zones,
        "subnets": of.subnets,
        "bindings": of.bindings,
        "group": of.group,
        "volumes": of.volumes,
        "api_addresses": of.api_addresses,
        "host": host,
    });
    if let (Some(config), Some(said)) = (config, said.as_object_mut()) {
        said.insert("image_stream".into(), config.image_stream.as_str().into());
        said.insert("ca_certificate".into(), config.ca_certificate.as_deref().into());
        said.insert("image_signing_key".into(), config.image_signing_key.as_deref().into());
        said.insert("verify_tls".into(), (!config.skips_certificate_check).into());
    }
    said
}
