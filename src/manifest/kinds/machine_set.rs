//! `kind: MachineSet`.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{machine_set::Spec, storage_rules::StorageKind, vocab::Name};

use super::{claims, label_map, machine};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::Claim,
        read::{Provider, Reference},
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
    let storage = claims::claims(&spec, reading);
    let uses_its_own = uses_its_own(&spec, &storage, reading);
    asked_for.extend(storage);
    if machine.parent.is_some()
        && let Some(parent) = Fields::of(&spec, &machine::FIELDS, reading)?.get("parent")
    {
        let message = "machines of a set cannot be hosted by another machine";
        return parent.refuse(reading, Code::UnknownField, message, "remove it, or declare the machines one by one");
    }
    uses_its_own?;
    Some(machine::Spec { annotations, ..machine })
}

/// The volumes that its workloads use are what each machine asks for itself: one volume cannot be attached to all of them.
fn uses_its_own(spec: &Field<'_>, storage: &[Claim], reading: &mut Reading<'_>) -> Option<()> {
    let Some(workloads) = Fields::any(spec, reading)?.get("workloads") else { return Some(()) };
    let mut is_whole = true;
    for workload in workloads.items(limits::WORKLOADS_MAX, reading)? {
        let Some(volumes) = Fields::any(&workload, reading).and_then(|fields| fields.get("volumes")) else { continue };
        for volume in volumes.items(limits::VOLUMES_USED_MAX, reading)? {
            is_whole &= is_its_own(&volume, storage, reading).is_some();
        }
    }
    is_whole.then_some(())
}

fn is_its_own(volume: &Field<'_>, storage: &[Claim], reading: &mut Reading<'_>) -> Option<()> {
    let name = volume.name(reading)?;
    match storage.iter().find(|claim| claim.name == name) {
        None => {
            let message = format!("the template has no `storage` with the name `{name}`");
            let next = "name a volume of its `storage`: every machine gets its own";
            volume.refuse(reading, Code::DanglingReference, message, next)
        }
        Some(claim) if claim.kind == Some(StorageKind::Filesystem) => {
            let message = format!("`{name}` is a filesystem, not a volume");
            volume.refuse(reading, Code::BadText, message, "remove it: workloads find it at its path")
        }
        Some(_) => Some(()),
    }
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
