//! Documents as rows, and who uses them.

use std::collections::BTreeSet;

use bailiwick_actors::{
    contract::{Decider, Folded},
    document::{Content, Kind, State, Token},
    machine, machine_set,
    vocab::{Life, Name, Zone, hex},
};
use bailiwick_journal::StreamId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Fleet;

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRow {
    pub name: String,
    pub life: String,
    pub revision: u64,
    /// The hash of its stored form.
    pub digest: String,
    /// What it says, with the names of the fields of its manifest; of a space also its subnets, of an account also which of
    /// its tokens have expired.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub says: Value,
    /// Who uses it: it cannot be removed before they are, or use something else.
    pub used_by: Vec<String>,
    pub age_ms: u64,
    pub uid: String,
    pub version: u64,
    pub changed_ms: u64,
}

/// The documents of one kind that exist, by name.
pub fn documents(fleet: &Fleet, kind: Kind) -> Vec<DocumentRow> {
    fleet.documents.existing(kind).map(|(name, folded)| document_row(fleet, kind, name, folded)).collect()
}

/// Who uses a document, as far as that is known now.
pub fn users(fleet: &Fleet, document: &StreamId) -> BTreeSet<StreamId> {
    let (Some(Kind::Space), Ok(space)) = (Kind::of(document.kind()), document.name().parse::<Name>()) else {
        return BTreeSet::new();
    };
    let names = |spec: &machine::Spec| spec.constraints.spaces.iter().any(|wish| wish.space == space);
    let machines = fleet.machines.iter().filter(|(_, folded)| {
        let state = &folded.state;
        state.life == Life::Alive && state.spec.as_deref().is_some_and(names)
    });
    let machines = machines.filter_map(|(name, _)| StreamId::new(machine::State::KIND, name).ok());
    let sets = fleet.machine_sets.iter().filter(|(_, folded)| {
        let state = &folded.state;
        state.life == Life::Alive && state.spec.as_ref().is_some_and(|spec| names(&spec.template))
    });
    let sets = sets.filter_map(|(name, _)| StreamId::new(machine_set::State::KIND, name).ok());
    fleet.documents.users_of_space(&space).into_iter().chain(machines).chain(sets).collect()
}

pub(super) fn document_row(fleet: &Fleet, kind: Kind, name: &str, folded: &Folded<State>) -> DocumentRow {
    let state = &folded.state;
    let stream = StreamId::new(kind.as_str(), name).expect("the name of a stream of the journal");
    DocumentRow {
        name: name.to_owned(),
        life: state.life.to_string(),
        revision: state.revision,
        digest: hex(&state.digest),
        says: state.content.as_ref().map_or(Value::Null, |content| says(fleet, name, content)),
        used_by: users(fleet, &stream).iter().map(ToString::to_string).collect(),
        age_ms: fleet.age_ms(&stream),
        uid: state.uid(fleet.journal, &stream).to_string(),
        version: folded.version.0,
        changed_ms: folded.changed.0,
    }
}

pub(super) fn says(fleet: &Fleet, name: &str, content: &Content) -> Value {
    let zones = |zones: &BTreeSet<Zone>| zones.iter().map(|zone| zone.0.clone()).collect::<Vec<_>>();
    match content {
        Content::Space(space) => {
            let subnets = fleet.documents.subnets().filter(|subnet| subnet.says.space.as_str() == name);
            json!({
                "providerId": space.provider_id,
                "subnets": subnets.map(|subnet| subnet.name).collect::<Vec<_>>(),
            })
        }
        Content::Subnet(subnet) => json!({
            "cidr": subnet.cidr,
            "zones": zones(&subnet.zones),
            "space": subnet.space,
            "providerId": subnet.provider_id,
        }),
        Content::ImageMetadata(image) => json!({
            "base": image.base.to_string(),
            "arch": image.arch,
            "region": image.region,
            "stream": image.stream,
            "image": image.image,
            "priority": image.priority,
            "rootStorage": image.root_storage,
            "virtualisation": image.virtualisation,
        }),
        Content::AgentBinary(binary) => json!({
            "version": binary.version,
            "base": binary.base.to_string(),
            "arch": binary.arch,
            "sha256": binary.sha256,
            "location": binary.location,
        }),
        Content::Application(application) => json!({
            "machines": application.machines,
            "bindings": application.bindings,
            "minAvailable": application.min_available,
            "constraints": {
                "arch": application.constraints.arch,
                "cores": application.constraints.cores,
                "memory": application.constraints.memory.map(|size| size.to_string()),
                "rootDisk": application.constraints.root_disk.map(|size| size.to_string()),
                "instanceType": application.constraints.instance_type,
                "zones": zones(&application.constraints.zones),
                "spaces": application.constraints.spaces,
            },
        }),
        Content::Model(model) => json!({
            "base": model.base.as_ref().map(ToString::to_string),
            "imageStream": model.image_stream,
            "region": model.region,
            "agentVersion": model.agent_version,
            "apiAddresses": model.api_addresses,
            "caCertificate": model.ca_certificate,
            "imageSigningKey": model.image_signing_key,
            "tlsVerify": !model.skips_certificate_check,
            "tags": model.tags,
        }),
        Content::JujuModel(said) | Content::JujuApplication(said) | Content::JujuMachine(said) => {
            // The document was read as JSON before it was declared.
            serde_json::from_str(&said.json).unwrap_or(Value::Null)
        }
        Content::Account(account) => {
            let token = |token: &Token| {
                // It is declared by the clock, and shown as all times of an answer are: as recorded here.
                let expires = token.expires.map(|expires| fleet.calendar.recorded(expires));
                json!({
                    "id": token.id,
                    "hash": hex(&token.hash),
                    "expires": expires.map(|expires| expires.to_string()),
                    "expired": expires.is_some_and(|expires| expires <= fleet.time),
                })
            };
            json!({
                "role": account.role.as_str(),
                "kinds": account.kinds,
                "tokens": account.tokens.iter().map(token).collect::<Vec<_>>(),
                "users": account.users,
            })
        }
    }
}
