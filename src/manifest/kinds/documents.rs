//! `kind: Space`, `Subnet`, `ImageMetadata`, `AgentBinary`, `Application` and `Model`, and what Juju's clients are told beside;
//! `Account` has a file of its own.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{
    document::{AgentBinary, Application, Content, ImageMetadata, Juju, Model, Space, Subnet},
    machine::Constraints,
    vocab::{Name, Zone},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{account::account, custom, label_map, label_name, machine_wishes as wishes};
use crate::{
    juju,
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::Reference,
    },
};

/// Reads what a document of this kind says.
pub(super) fn content(
    kind: &str,
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Content> {
    match kind {
        "Space" => space(spec, reading).map(Content::Space),
        "Subnet" => subnet(spec, references, reading).map(Content::Subnet),
        "ImageMetadata" => image(spec, reading).map(Content::ImageMetadata),
        "AgentBinary" => agent_binary(spec, reading).map(Content::AgentBinary),
        "Application" => application(spec, references, reading).map(Content::Application),
        "Account" => account(spec, reading).map(Content::Account),
        "JujuModel" => declared::<juju::Model>(spec, reading).map(Content::JujuModel),
        "JujuApplication" => declared::<juju::Application>(spec, reading).map(Content::JujuApplication),
        "JujuMachine" => declared::<juju::Machine>(spec, reading).map(Content::JujuMachine),
        _ => model(spec, reading).map(Content::Model),
    }
}

/// What is told to Juju's clients, in their own words.
fn declared<T: DeserializeOwned + Serialize>(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Juju> {
    let read = serde_json::from_value::<T>(spec.json());
    match read.and_then(|said| serde_json::to_string(&said)) {
        Ok(json) => Some(Juju { json }),
        Err(error) => custom::refuse(&error.to_string(), spec, reading),
    }
}

fn space(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Space> {
    let fields = Fields::of(spec, &["providerId"], reading)?;
    Some(Space { provider_id: maybe_word("providerId", &fields, reading)? })
}

fn subnet(spec: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Subnet> {
    let fields = Fields::of(spec, &["cidr", "zones", "space", "providerId"], reading)?;
    let cidr = required_word("cidr", "10.0.1.0/24", &fields, reading);
    let space = fields
        .require("space", "some-space", reading)
        .and_then(|field| Reference::named("space", &field, references, reading));
    let zones: BTreeSet<Zone> = match fields.get("zones") {
        None => BTreeSet::new(),
        Some(field) => {
            let items = field.items(limits::ZONES_MAX, reading)?;
            items.iter().map(|item| wishes::zone(item, reading)).collect::<Option<_>>()?
        }
    };
    Some(Subnet { cidr: cidr?, zones, space: space?, provider_id: maybe_word("providerId", &fields, reading)? })
}

fn image(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<ImageMetadata> {
    let known = ["base", "arch", "region", "stream", "image", "priority", "rootStorage", "virtualisation"];
    let fields = Fields::of(spec, &known, reading)?;
    let base = fields.require("base", "ubuntu@22.04", reading).and_then(|field| wishes::boot(&field, reading));
    let image = required_word("image", "ami-1234", &fields, reading);
    let priority = match fields.get("priority") {
        None => 0,
        Some(field) => field.number(reading)?,
    };
    Some(ImageMetadata {
        base: base?,
        arch: maybe_word("arch", &fields, reading)?.unwrap_or_else(|| Constraints::ARCH.to_owned()),
        region: maybe_word("region", &fields, reading)?,
        stream: maybe_word("stream", &fields, reading)?.unwrap_or_else(|| ImageMetadata::STREAM.to_owned()),
        image: image?,
        priority,
        root_storage: maybe_word("rootStorage", &fields, reading)?,
        virtualisation: maybe_word("virtualisation", &fields, reading)?,
    })
}

fn agent_binary(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<AgentBinary> {
    let fields = Fields::of(spec, &["version", "base", "arch", "sha256", "location"], reading)?;
    let base = fields.require("base", "ubuntu@22.04", reading).and_then(|field| wishes::boot(&field, reading));
    let version = required_word("version", "1.0.0", &fields, reading);
    let sha256 = required_word("sha256", "…", &fields, reading);
    let location = required_word("location", "https://host/path", &fields, reading);
    let arch = maybe_word("arch", &fields, reading)?.unwrap_or_else(|| Constraints::ARCH.to_owned());
    Some(AgentBinary { version: version?, base: base?, arch, sha256: sha256?, location: location? })
}

fn application(spec: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Application> {
    let fields = Fields::of(spec, &["machines", "bindings", "constraints", "minAvailable"], reading)?;
    let mut said = Application::default();
    if let Some(field) = fields.get("machines") {
        for item in field.items(limits::UNITS_MAX, reading)? {
            said.machines.insert(Reference::named("machine", &item, references, reading)?);
        }
    }
    if let Some(field) = fields.get("bindings") {
        said.bindings = bindings(&field, references, reading)?;
    }
    if let Some(field) = fields.get("constraints") {
        said.constraints = wishes::constraints(&field, reading)?;
    }
    if let Some(field) = fields.get("minAvailable") {
        said.min_available = Some(field.number(reading)?);
    }
    Some(said)
}

/// `{db: inner}`: which space each endpoint is bound to.
fn bindings(
    field: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<BTreeMap<String, Name>> {
    let mut bindings = BTreeMap::new();
    for (key, value) in field.entries(limits::BINDINGS_MAX, reading)? {
        let endpoint = label_name(&key.text, key.at, &value.path, reading)?;
        bindings.insert(endpoint, Reference::named("space", &value, references, reading)?);
    }
    Some(bindings)
}

fn model(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<Model> {
    let known = [
        "base",
        "imageStream",
        "imageSigningKey",
        "region",
        "agentVersion",
        "apiAddresses",
        "caCertificate",
        "tlsVerify",
        "tags",
    ];
    let fields = Fields::of(spec, &known, reading)?;
    let base = match fields.get("base") {
        None => None,
        Some(field) => Some(wishes::boot(&field, reading)?),
    };
    let mut api_addresses = Vec::new();
    if let Some(field) = fields.get("apiAddresses") {
        for item in field.items(limits::ADDRESSES_MAX, reading)? {
            api_addresses.push(word(&item, reading)?);
        }
    }
    let tags = fields.get("tags").map(|field| label_map(&field, reading)).unwrap_or_default();
    Some(Model {
        base,
        image_stream: maybe_word("imageStream", &fields, reading)?,
        region: maybe_word("region", &fields, reading)?,
        agent_version: maybe_word("agentVersion", &fields, reading)?,
        api_addresses,
        tags,
        ca_certificate: maybe_text("caCertificate", &fields, reading)?,
        image_signing_key: maybe_text("imageSigningKey", &fields, reading)?,
        skips_certificate_check: !match fields.get("tlsVerify") {
            None => true,
            Some(field) => field.truth(reading)?,
        },
    })
}

fn required_word(what: &str, example: &str, fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<String> {
    word(&fields.require(what, example, reading)?, reading)
}

/// The word, or none where it was left out; nothing at all if it is no word.
#[allow(clippy::option_option, reason = "left out is something else than wrong")]
fn maybe_word(what: &str, fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Option<String>> {
    match fields.get(what) {
        None => Some(None),
        Some(field) => word(&field, reading).map(Some),
    }
}

/// Some lines, as they are written: a certificate, a key. Whether they are one, the document itself checks.
#[allow(clippy::option_option, reason = "left out is something else than wrong")]
fn maybe_text(what: &str, fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Option<String>> {
    match fields.get(what) {
        None => Some(None),
        Some(field) => field.text(reading).map(|text| Some(text.to_owned())),
    }
}

/// One line that says something, bounded as every text is.
fn word(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<String> {
    let text = field.line(reading)?;
    if text.is_empty() {
        return field.refuse(reading, Code::BadText, "it is empty", "write something, or remove it");
    }
    Some(text.to_owned())
}
