//! `kind: MachineClass`.

use std::collections::BTreeMap;

use bailiwick_actors::vocab::{ClassContent, ClassFlaw, NodeCapacity};

use super::label_name;
use crate::manifest::{
    fields::{Field, Fields, Reading},
    limits,
    problem::Code,
};

pub(super) fn machine_class(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<ClassContent> {
    let known = ["provider", "providerSpec", "secret", "credentials", "nodeTemplate"];
    let fields = Fields::of(spec, &known, reading)?;
    let provider = fields.require("provider", "local", reading).and_then(|field| field.name(reading));
    let mut content = ClassContent::with_provider(provider?);
    if let Some(field) = fields.get("providerSpec") {
        content.provider_spec = field.json().to_string();
    }
    if let Some(field) = fields.get("secret") {
        content.secret = Some(field.name(reading)?);
    }
    if let Some(field) = fields.get("credentials") {
        content.credentials = Some(field.name(reading)?);
    }
    if let Some(field) = fields.get("nodeTemplate") {
        let template = Fields::of(&field, &["capacity", "instanceType", "region", "zone"], reading)?;
        content.node_template = Some(node_template(&template, reading)?);
    }
    sound(content, spec, reading)
}

/// What a node of the class has; whatever is missing is left empty.
pub(super) fn node_template(fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<NodeCapacity> {
    let mut line = |name: &str| match fields.get(name) {
        None => Some(String::new()),
        Some(field) => field.line(reading).map(str::to_owned),
    };
    let (instance_type, region, zone) = (line("instanceType")?, line("region")?, line("zone")?);
    let mut capacity = BTreeMap::new();
    let amounts = match fields.get("capacity") {
        None => Vec::new(),
        Some(field) => field.entries(limits::CAPACITIES_MAX, reading)?,
    };
    for (key, field) in amounts {
        let resource = label_name(&key.text, key.at, &field.path, reading)?;
        capacity.insert(resource, field.line(reading)?.to_owned());
    }
    Some(NodeCapacity { capacity, instance_type, region, zone })
}

/// The class, if nothing is wrong with it.
pub(super) fn sound(content: ClassContent, at: &Field<'_>, reading: &mut Reading<'_>) -> Option<ClassContent> {
    let Err(flaw) = content.checked() else { return Some(content) };
    let (code, next) = match flaw {
        ClassFlaw::TooLarge { .. } => {
            (Code::TooLarge, "store the long parts where the provider finds them, and refer to them here")
        }
        ClassFlaw::Incomplete => (Code::MissingField, "complete it, or remove it"),
    };
    at.refuse(reading, code, format!("unusable class: {flaw}"), next)
}
