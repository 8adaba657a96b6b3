//! `kind: Machine`.

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_actors::{machine::Workload, vocab::Name};

use super::{machine_wishes as wishes, period::period};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::{Provider, Reference},
        tree::Body,
    },
    text::cut,
};

pub(super) use bailiwick_actors::machine::Spec;

/// The fields of a machine, also of one that a set makes.
pub(super) const FIELDS: [&str; 14] = [
    "provider",
    "workloads",
    "taints",
    "tags",
    "constraints",
    "placement",
    "base",
    "jobs",
    "parent",
    "zone",
    "spread",
    "class",
    "storage",
    "patience",
];

pub(super) fn machine(
    spec: &Field<'_>,
    labels: BTreeMap<String, String>,
    references: &mut Vec<Reference>,
    provider_from: &mut Provider,
    reading: &mut Reading<'_>,
) -> Option<Spec> {
    let fields = Fields::of(spec, &FIELDS, reading)?;
    let provider = match (fields.get("provider"), fields.get("class")) {
        // What is made from a class has the provider of the class.
        (None, Some(class)) => class.name(reading).inspect(|class| *provider_from = Provider::OfClass(class.clone())),
        _ => fields.require("provider", "local", reading).and_then(|field| field.name(reading)),
    };
    let workloads = match fields.get("workloads") {
        None => Some(Vec::new()),
        Some(field) => workloads(&field, references, reading),
    };
    let spec = Spec { labels, ..Spec::with_provider(provider?) };
    let spec = wishes::wishes(&fields, spec, references, reading);
    Some(Spec { workloads: workloads?, ..spec? })
}

fn workloads(field: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Vec<Workload>> {
    let mut workloads: Vec<Workload> = Vec::new();
    let mut is_whole = true;
    for item in field.items(limits::WORKLOADS_MAX, reading)? {
        match workload(&item, references, reading) {
            None => is_whole = false,
            Some(new) if workloads.iter().any(|known| known.name == new.name) => {
                let message = format!("this machine already has a workload `{}`", new.name);
                item.refuse::<()>(reading, Code::Duplicate, message, "rename one of them");
            }
            Some(new) => workloads.push(new),
        }
    }
    is_whole.then_some(workloads)
}

fn workload(item: &Field<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Workload> {
    let known = ["name", "command", "env", "volumes", "priority", "grace", "application"];
    let fields = Fields::of(item, &known, reading)?;
    let name = fields.require("name", "some-name", reading).and_then(|field| field.name(reading));
    let example = r#"["sleep", "3600"]"#;
    let command = fields.require("command", example, reading).and_then(|field| command(&field, reading));
    let env = match fields.get("env") {
        None => BTreeMap::new(),
        Some(field) => environment(&field, reading)?,
    };
    let volumes = match fields.get("volumes") {
        None => BTreeSet::new(),
        Some(field) => volumes(&field, reading)?,
    };
    let mut workload = Workload { env, volumes, ..Workload::new(name?, command?) };
    if let Some(field) = fields.get("priority") {
        workload.priority = whole_number(&field, reading)?;
    }
    if let Some(field) = fields.get("grace") {
        workload.grace_ms = Some(period(&field, reading)?);
    }
    if let Some(field) = fields.get("application") {
        workload.application = Some(Reference::named("application", &field, references, reading)?);
    }
    Some(workload)
}

/// A number that may be below 0.
pub(super) fn whole_number(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<i32> {
    let text = field.text(reading)?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => field.refuse(reading, Code::WrongType, format!("{:?} is not a whole number", cut(text, 40)), ""),
    }
}

/// The volumes that a workload uses; whether they are attached, and when, is not said here.
fn volumes(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeSet<Name>> {
    let mut volumes = BTreeSet::new();
    let mut is_whole = true;
    for item in field.items(limits::VOLUMES_USED_MAX, reading)? {
        match item.name(reading) {
            None => is_whole = false,
            Some(volume) if volumes.contains(&volume) => {
                let message = format!("this workload already names volume `{volume}`");
                item.refuse::<()>(reading, Code::Duplicate, message, "name it once");
                is_whole = false;
            }
            Some(volume) => drop(volumes.insert(volume)),
        }
    }
    is_whole.then_some(volumes)
}

fn command(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<String>> {
    if let Body::Text { text, .. } = &field.node.body {
        let line = format!("{:?}", cut(text.trim(), 80));
        let next = format!(r#"no shell is used; if you want one, write `command: ["sh", "-c", {line}]`"#);
        let message = "a command is a list: the program, then each argument";
        return field.refuse(reading, Code::WrongType, message, next);
    }
    let items = field.items(limits::ARGUMENTS_MAX, reading)?;
    let texts: Vec<Option<&str>> = items.iter().map(|item| item.text(reading)).collect();
    let texts = texts.into_iter().collect::<Option<Vec<&str>>>()?;
    if texts.first().is_none_or(|program| program.is_empty()) {
        return field.refuse(
            reading,
            Code::MissingField,
            "the command is empty",
            "add a program, or remove the workload",
        );
    }
    Some(texts.into_iter().map(str::to_owned).collect())
}

fn environment(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<BTreeMap<String, String>> {
    let mut env = BTreeMap::new();
    let mut is_whole = true;
    for (key, value) in field.entries(limits::VARIABLES_MAX, reading)? {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let begins_well = key.text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        if !begins_well || key.text.len() > 255 || !key.text.bytes().all(letter) {
            let message = format!("{:?} is not a variable name", cut(&key.text, 60));
            let rule = "a variable name has letters, digits and '_', and does not begin with a digit";
            reading.refuse::<()>(key.at, &value.path, Code::BadName, message, rule);
            is_whole = false;
        } else if let Some(text) = value.text(reading) {
            env.insert(key.text.to_string(), text.to_owned());
        } else {
            is_whole = false;
        }
    }
    is_whole.then_some(env)
}
