//! `kind: MachineSet`.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{machine_set::Spec, vocab::Name};

use super::{claims, label_map, machine};
use crate::{
    manifest::{
        check::{Provider, Reference},
        claims::Claim,
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
    },
    text::cut,
};

pub(super) fn machine_set(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    provider: &mut Provider,
    asked_for: &mut Vec<Claim>,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let fields = Fields::of(spec, &["replicas", "template", "priorities"], reading)?;
    let replicas = fields.require("replicas", "3", reading).and_then(|field| replicas(&field, reading));
    let template = fields.require("template", "{spec: {provider: local}}", reading);
    let template = template.and_then(|field| template_of(&field, references, provider, asked_for, reading));
    let priorities = match fields.get("priorities") {
        None => Some(BTreeMap::new()),
        Some(field) => priorities(&field, reading),
    };
    Some(Spec { replicas: replicas?, template: Arc::new(template?), priorities: priorities?, deployment: None })
}

pub(super) fn replicas(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u32> {
    let replicas = field.number(reading)?;
    if replicas <= Spec::REPLICAS_MAX {
        return Some(replicas);
    }
    let message = format!("{replicas} machines; the limit of a set is {}", Spec::REPLICAS_MAX);
    field.refuse(reading, Code::TooMany, message, "declare several sets")
}

/// What its machines are made like: `{metadata: {labels: …}, spec: …}`, as a machine without a name; and the storage that each
/// asks for.
pub(super) fn template_of(
    field: &Field<'_>,
    references: &mut Vec<Reference>,
    provider: &mut Provider,
    asked_for: &mut Vec<Claim>,
    reading: &mut Reading<'_>,
) -> Option<machine::Spec> {
    let fields = Fields::of(field, &["metadata", "spec"], reading)?;
    let metadata = match fields.get("metadata") {
        None => None,
        Some(metadata) => Some(Fields::of(&metadata, &["labels", "annotations"], reading)?),
    };
    let texts = |what: &str, reading: &mut Reading<'_>| {
        let field = metadata.as_ref().and_then(|metadata| metadata.get(what));
        field.map(|field| label_map(&field, reading)).unwrap_or_default()
    };
    let (labels, annotations) = (texts("labels", reading), texts("annotations", reading));
    let spec = fields.require("spec", "{provider: local}", reading)?;
    let machine = machine::machine(&spec, labels, references, provider, reading)?;
    asked_for.extend(claims::claims(&spec, reading));
    if machine.parent.is_some()
        && let Some(parent) = Fields::of(&spec, &machine::FIELDS, reading)?.get("parent")
    {
        let message = "machines of a set cannot be hosted by another machine";
        return parent.refuse(reading, Code::UnknownField, message, "remove it, or declare the machines one by one");
    }
    if machine.has_turns()
        && let Some(workloads) = Fields::of(&spec, &machine::FIELDS, reading)?.get("workloads")
    {
        let message = "workloads of a set cannot use volumes: one volume cannot be attached to all machines";
        let next = "remove `volumes`, or declare the machines one by one";
        return workloads.refuse(reading, Code::UnknownField, message, next);
    }
    Some(machine::Spec { annotations, ..machine })
}

/// Who goes first: `{web-3: 1}`. Lower numbers go before higher ones; who is not named has 3.
fn priorities(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeMap<Name, i32>> {
    let mut priorities = BTreeMap::new();
    for (key, value) in field.entries(limits::PRIORITIES_MAX, reading)? {
        let Ok(name) = key.text.parse::<Name>() else {
            let message = format!("{:?} is not a machine name", cut(&key.text, 60));
            return reading.refuse(key.at, &value.path, Code::BadName, message, "write a name that the set assigned");
        };
        priorities.insert(name, machine::whole_number(&value, reading)?);
    }
    Some(priorities)
}
