//! What a machine may wish for beside its provider and its workloads.

use std::collections::BTreeSet;

use bailiwick_actors::{
    machine::{
        Base, Constraints, Job, Placement, Spec,
        rules::{Taint, TaintEffect},
    },
    vocab::{Name, SpaceWish, Zone},
};

use super::{label_map, label_name, patience::patience, storage::size};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        hint::nearest,
        limits,
        problem::Code,
        read::Reference,
    },
    text::cut,
};

/// Reads what is there; none if something of it makes no sense.
pub(super) fn wishes(
    fields: &Fields<'_>,
    base: Spec,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let mut spec = base;
    let mut is_whole = true;
    let mut note = |was_read: Option<()>| is_whole &= was_read.is_some();
    if let Some(field) = fields.get("tags") {
        spec.tags = label_map(&field, reading);
    }
    if let Some(field) = fields.get("taints") {
        note(taints(&field, reading).map(|taints| spec.taints = taints));
    }
    if let Some(field) = fields.get("constraints") {
        note(constraints(&field, reading).map(|constraints| spec.constraints = constraints));
    }
    if let Some(field) = fields.get("placement") {
        note(placement(&field, reading).map(|placement| spec.placement = Some(placement)));
    }
    if let Some(field) = fields.get("base") {
        note(boot(&field, reading).map(|base| spec.base = Some(base)));
    }
    if let Some(field) = fields.get("jobs") {
        note(jobs(&field, reading).map(|jobs| spec.jobs = jobs));
    }
    if let Some(field) = fields.get("parent") {
        note(Reference::named("machine", &field, references, reading).map(|name| spec.parent = Some(name)));
    }
    if let Some(field) = fields.get("zone") {
        note(zone(&field, reading).map(|zone| spec.zone = Some(zone)));
    }
    if let Some(field) = fields.get("class") {
        note(Reference::named("machine-class", &field, references, reading).map(|name| spec.class = Some(name)));
    }
    if let Some(field) = fields.get("spread") {
        note(spread(&field, &spec, reading).map(|label| spec.spread = Some(label)));
    }
    if let Some(field) = fields.get("patience") {
        note(patience(&field, reading).map(|patience| spec.patience = patience));
    }
    note(agree(fields, &spec, reading));
    is_whole.then_some(spec)
}

/// The zone is said once, and among those that are allowed.
fn agree(fields: &Fields<'_>, spec: &Spec, reading: &mut Reading<'_>) -> Option<()> {
    let placed = spec.placement.as_ref().filter(|placement| placement.key == Placement::ZONE);
    if let (Some(field), Some(zone), Some(placed)) = (fields.get("placement"), &spec.zone, placed)
        && zone.0 != placed.value
    {
        let message = format!("it is placed in zone {}, but declared for zone {zone}", cut(&placed.value, 60));
        return field.refuse(reading, Code::BadText, message, "keep one of them");
    }
    let allowed = &spec.constraints.zones;
    let wanted = spec.zone.clone().or_else(|| placed.map(|placed| Zone(placed.value.clone())));
    if let (Some(field), Some(zone)) = (fields.get("constraints"), wanted)
        && !allowed.is_empty()
        && !allowed.contains(&zone)
    {
        let message = format!("zone {} is not one of its allowed zones", cut(&zone.0, 60));
        return field.refuse(reading, Code::BadText, message, "add it there, or remove one of them");
    }
    Some(())
}

fn taints(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<Taint>> {
    let mut taints: Vec<Taint> = Vec::new();
    for item in field.items(limits::TAINTS_MAX, reading)? {
        let new = taint(&Fields::of(&item, &["key", "value", "effect"], reading)?, reading)?;
        if taints.iter().any(|taint| taint.key == new.key && taint.effect == new.effect) {
            let message = format!("this machine already has a taint `{}` with effect {}", new.key, new.effect.as_str());
            return item.refuse(reading, Code::Duplicate, message, "keep one of them");
        }
        taints.push(new);
    }
    Some(taints)
}

pub(super) fn taint(fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Taint> {
    let key = fields.require("key", "some-key", reading)?;
    let key = label_name(key.line(reading)?, key.node.at, &key.path, reading)?;
    let value = match fields.get("value") {
        None => String::new(),
        Some(field) => field.line(reading)?.to_owned(),
    };
    let effect = fields.require("effect", "NoSchedule", reading)?;
    let effect = word(&effect, "taint effect", TaintEffect::ALL, TaintEffect::as_str, reading)?;
    Some(Taint { key, value, effect })
}

pub(super) fn constraints(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Constraints> {
    let known = ["arch", "cores", "memory", "rootDisk", "instanceType", "zones", "spaces"];
    let fields = Fields::of(field, &known, reading)?;
    let mut said = Constraints::default();
    if let Some(field) = fields.get("arch") {
        said.arch = Some(field.line(reading)?.to_owned());
    }
    if let Some(field) = fields.get("cores") {
        said.cores = Some(field.number(reading)?);
    }
    if let Some(field) = fields.get("memory") {
        said.memory = Some(size(&field, reading)?);
    }
    if let Some(field) = fields.get("rootDisk") {
        said.root_disk = Some(size(&field, reading)?);
    }
    if let Some(field) = fields.get("instanceType") {
        said.instance_type = Some(field.line(reading)?.to_owned());
    }
    if let Some(field) = fields.get("zones") {
        let items = field.items(limits::ZONES_MAX, reading)?;
        said.zones = items.iter().map(|item| zone(item, reading)).collect::<Option<_>>()?;
    }
    if let Some(field) = fields.get("spaces") {
        let items = field.items(limits::ZONES_MAX, reading)?;
        said.spaces = items.iter().map(|item| space(item, reading)).collect::<Option<BTreeSet<SpaceWish>>>()?;
    }
    Some(said)
}

/// `inner`, or `^outer` for one that must not be reached.
fn space(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<SpaceWish> {
    let text = field.line(reading)?;
    if let Ok(wish) = text.parse::<SpaceWish>() {
        return Some(wish);
    }
    let message = format!("{:?} is not a space", cut(text, 60));
    field.refuse(reading, Code::BadName, message, "write the name of a space, or `^` and its name to exclude it")
}

/// The name of a zone, as its provider calls it.
pub(super) fn zone(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Zone> {
    let text = field.line(reading)?;
    if (1..=limits::ZONE_BYTES_MAX).contains(&text.len()) {
        return Some(Zone(text.to_owned()));
    }
    let message = format!("{:?} is not a zone name", cut(text, 60));
    field.refuse(reading, Code::BadName, message, "write 1 to 255 bytes")
}

/// `zone=b`, `subnet=10.0.0.0/24`: the first is understood here, everything else by the provider.
fn placement(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Placement> {
    let text = field.line(reading)?;
    match text.split_once('=') {
        Some((key, value)) if key.parse::<Name>().is_ok() && !value.is_empty() => {
            Some(Placement { key: key.to_owned(), value: value.to_owned() })
        }
        _ => {
            let message = format!("{:?} is not a placement", cut(text, 60));
            field.refuse(reading, Code::BadText, message, "write a key and a value: `zone=b`")
        }
    }
}

/// `ubuntu@22.04/stable`; without a risk it is the stable one.
pub(super) fn boot(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Base> {
    let text = field.line(reading)?;
    let (os, channel) = text.split_once('@').unwrap_or((text, ""));
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"./-_".contains(&b));
    if !is_word(os) || !is_word(channel) {
        let message = format!("{:?} is not a base", cut(text, 60));
        return field.refuse(reading, Code::BadText, message, "write a system and a channel: `ubuntu@22.04`");
    }
    let channel = if channel.contains('/') { channel.to_owned() } else { format!("{channel}/stable") };
    Some(Base { os: os.to_owned(), channel })
}

fn jobs(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeSet<Job>> {
    let items = field.items(Job::ALL.len(), reading)?;
    items.iter().map(|item| word(item, "job", Job::ALL, Job::as_str, reading)).collect()
}

/// The label by whose value it is kept apart; it has to have it.
fn spread(field: &Field<'_>, spec: &Spec, reading: &mut Reading<'_>) -> Option<String> {
    let label = label_name(field.line(reading)?, field.node.at, &field.path, reading)?;
    if spec.labels.contains_key(&label) {
        return Some(label);
    }
    let message = format!("it has no label `{label}` to spread it by");
    let next = match nearest(&label, spec.labels.keys().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write `labels: {{{label}: …}}` below `metadata`"),
    };
    field.refuse(reading, Code::DanglingReference, message, next)
}

/// One of a few words.
fn word<T: Copy, const N: usize>(
    field: &Field<'_>,
    what: &str,
    all: [T; N],
    as_str: fn(T) -> &'static str,
    reading: &mut Reading<'_>,
) -> Option<T> {
    let text = field.text(reading)?;
    if let Some(one) = all.into_iter().find(|one| as_str(*one) == text) {
        return Some(one);
    }
    let words = all.map(as_str);
    let next = match nearest(text, words) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known here: {}", words.join(", ")),
    };
    field.refuse(reading, Code::BadText, format!("`{}` is not a {what}", cut(text, 60)), next)
}
