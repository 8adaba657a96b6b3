//! From documents to wishes: one function per kind.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{
    machine::{self, Workload},
    policy::{self, WhenLost},
    vocab::{Name, SizeMib},
    volume, volume_attachment,
};

use super::{
    check::{Read, Reference},
    duration,
    fields::{Field, Fields, Reading},
    hint::nearest,
    limits,
    problem::{Code, Place, Problem, Problems},
    tree::{Body, Documents, Spot},
    wish::{Document, Wish},
};
use crate::text::cut;

const VERSION: &str = "bailiwick/v1";
const KINDS: [&str; 4] = ["Machine", "Volume", "VolumeAttachment", "Policy"];

/// Reads all documents of one text.
pub(super) fn read_source(
    name: &str,
    text: &str,
    documents_seen: &mut usize,
    documents: &mut Vec<Read>,
    problems: &mut Problems,
) {
    let file: Arc<str> = name.into();
    let mut reading = Reading { file: file.clone(), text, problems };
    for tree in Documents::of(text) {
        *documents_seen += 1;
        if *documents_seen > limits::DOCUMENTS_MAX {
            let message = format!("more than {} documents in one go", limits::DOCUMENTS_MAX);
            reading.problems.add(Problem::new(Place { file, line: 0, column: 0 }, "", Code::TooMany, message));
            return;
        }
        if reading.problems.are_enough() {
            return;
        }
        match tree {
            Ok(tree) => {
                for flaw in tree.flaws {
                    reading.refuse::<()>(flaw.at, "", flaw.code, flaw.message, "keep one of them");
                }
                if !tree.root.is_null() {
                    documents.extend(document(&Field::root(&tree.root), &mut reading));
                }
            }
            Err(flaw) => {
                reading.refuse::<()>(flaw.at, "", flaw.code, flaw.message, "");
            }
        }
    }
}

fn document(root: &Field<'_>, reading: &mut Reading<'_>) -> Option<Read> {
    let top = Fields::of(root, &["apiVersion", "kind", "metadata", "spec"], reading)?;
    version(&top, reading);
    let kind = top.require("kind", "Machine", reading)?;
    let spec = top.require("spec", "{…}", reading);
    let mut references = Vec::new();
    let (at, wish) = match kind.text(reading)? {
        "Machine" => {
            let metadata = Metadata::required(&top, &["name", "labels"], reading);
            let labels = labels(metadata.as_ref(), reading);
            let spec = machine(&spec?, labels, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Machine { name, spec: spec? })
        }
        "Volume" => {
            let metadata = Metadata::required(&top, &["name"], reading);
            let spec = volume(&spec?, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Volume { name, spec: spec? })
        }
        "VolumeAttachment" => {
            let spec = volume_attachment(&spec?, &mut references, reading);
            (root.node.at, attachment_wish(&top, spec?, reading)?)
        }
        "Policy" => {
            let metadata = Metadata::required(&top, &["name"], reading);
            let document = policy(&spec?, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Policy { name, document: document? })
        }
        other => {
            let next = match nearest(other, KINDS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known kinds: {}", KINDS.join(", ")),
            };
            let message = format!("no kind `{}` is known", cut(other, 60));
            return kind.refuse(reading, Code::UnsupportedKind, message, next);
        }
    };
    Some(Read { document: Document { place: reading.place(at), wish }, references })
}

fn version(top: &Fields<'_>, reading: &mut Reading<'_>) {
    let Some(field) = top.require("apiVersion", VERSION, reading) else { return };
    let Some(text) = field.text(reading) else { return };
    if text != VERSION {
        let message = format!("`{}` is no version that is read here", cut(text, 60));
        field.refuse::<()>(reading, Code::UnsupportedVersion, message, format!("write `apiVersion: {VERSION}`"));
    }
}

struct Metadata<'n>(Fields<'n>);

impl<'n> Metadata<'n> {
    fn required(top: &Fields<'n>, known: &[&str], reading: &mut Reading<'_>) -> Option<Self> {
        let field = top.require("metadata", "{name: …}", reading)?;
        Some(Self(Fields::of(&field, known, reading)?))
    }

    fn name(&self, reading: &mut Reading<'_>) -> Option<(Spot, Name)> {
        let field = self.0.require("name", "some-name", reading)?;
        Some((field.node.at, field.name(reading)?))
    }
}

fn labels(metadata: Option<&Metadata<'_>>, reading: &mut Reading<'_>) -> BTreeMap<String, String> {
    let entries = metadata.and_then(|metadata| metadata.0.get("labels"));
    let entries = entries.and_then(|labels| labels.entries(limits::LABELS_MAX, reading)).unwrap_or_default();
    let mut labels = BTreeMap::new();
    for (key, field) in entries {
        let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
        let fits = (1..=limits::LABEL_NAME_BYTES_MAX).contains(&key.text.len()) && key.text.bytes().all(letter);
        if !fits {
            let message = format!("{:?} is no label name", cut(&key.text, 60));
            let rule = "a label name has 1 to 63 letters, digits, '-', '_', '.' and '/'";
            reading.refuse::<()>(key.at, &field.path, Code::BadName, message, rule);
        } else if let Some(text) = field.line(reading) {
            labels.insert(key.text.to_string(), text.to_owned());
        }
    }
    labels
}

fn machine(spec: &Field<'_>, labels: BTreeMap<String, String>, reading: &mut Reading<'_>) -> Option<machine::Spec> {
    let fields = Fields::of(spec, &["provider", "workloads"], reading)?;
    let provider = fields.require("provider", "local", reading).and_then(|field| field.name(reading));
    let items = match fields.get("workloads") {
        None => Vec::new(),
        Some(field) => field.items(limits::WORKLOADS_MAX, reading)?,
    };
    let mut workloads: Vec<Workload> = Vec::new();
    let mut is_whole = true;
    for item in items {
        match workload(&item, reading) {
            None => is_whole = false,
            Some(new) if workloads.iter().any(|known| known.name == new.name) => {
                let message = format!("this machine has a workload `{}` already", new.name);
                item.refuse::<()>(reading, Code::Duplicate, message, "give it a name of its own");
            }
            Some(new) => workloads.push(new),
        }
    }
    is_whole.then_some(machine::Spec { provider: provider?, workloads, labels })
}

fn workload(item: &Field<'_>, reading: &mut Reading<'_>) -> Option<Workload> {
    let fields = Fields::of(item, &["name", "command", "env"], reading)?;
    let name = fields.require("name", "some-name", reading).and_then(|field| field.name(reading));
    let example = r#"["sleep", "3600"]"#;
    let command = fields.require("command", example, reading).and_then(|field| command(&field, reading));
    let env = match fields.get("env") {
        None => BTreeMap::new(),
        Some(field) => environment(&field, reading)?,
    };
    Some(Workload { name: name?, command: command?, env })
}

fn command(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<Vec<String>> {
    if let Body::Text { text, .. } = &field.node.body {
        let line = format!("{:?}", cut(text.trim(), 80));
        let next = format!(r#"no shell is used; if you want one, write `command: ["sh", "-c", {line}]`"#);
        let message = "a command is a list: the program, then each argument for itself";
        return field.refuse(reading, Code::WrongType, message, next);
    }
    let items = field.items(limits::ARGUMENTS_MAX, reading)?;
    let texts: Vec<Option<&str>> = items.iter().map(|item| item.text(reading)).collect();
    let texts = texts.into_iter().collect::<Option<Vec<&str>>>()?;
    if texts.first().is_none_or(|program| program.is_empty()) {
        return field.refuse(
            reading,
            Code::MissingField,
            "the command names no program",
            "name one, or drop the workload",
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
            let message = format!("{:?} is no variable name", cut(&key.text, 60));
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

fn volume(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<volume::Spec> {
    let fields = Fields::of(spec, &["provider", "size"], reading)?;
    let provider = fields.require("provider", "local", reading).and_then(|field| field.name(reading));
    let size = fields.require("size", "64M", reading).and_then(|field| size(&field, reading));
    Some(volume::Spec { provider: provider?, size: size? })
}

fn size(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<SizeMib> {
    let text = field.text(reading)?;
    let Ok(size) = text.parse::<SizeMib>() else {
        let squeezed = text.to_uppercase().replace([' ', '_'], "").replace("IB", "iB");
        let meant = [squeezed.clone(), squeezed.replace('I', "iB")].into_iter().find(|t| t.parse::<SizeMib>().is_ok());
        let next = match meant {
            Some(meant) if text.len() < 40 => format!("did you mean `{meant}`?"),
            _ => "write a number of MiB, or a number with M, G, T or P: 64M, 1.5G".to_owned(),
        };
        return field.refuse(reading, Code::BadSize, format!("{:?} is no size", cut(text, 40)), next);
    };
    if size == SizeMib(0) || size.bytes().is_none() {
        let message = format!("{} is out of range", cut(text, 40));
        return field.refuse(reading, Code::BadSize, message, "a volume has at least 1M and less than 16E");
    }
    Some(size)
}

fn volume_attachment(
    spec: &Field<'_>,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<volume_attachment::Spec> {
    let fields = Fields::of(spec, &["machine", "volume", "readOnly"], reading)?;
    let mut named = |kind: &'static str, reading: &mut Reading<'_>| {
        let field = fields.require(kind, &format!("some-{kind}"), reading)?;
        let name = field.name(reading)?;
        references.push(Reference { kind, name: name.clone(), place: reading.place(field.node.at), field: field.path });
        Some(name)
    };
    let machine = named("machine", reading);
    let volume = named("volume", reading);
    let read_only = match fields.get("readOnly") {
        None => false,
        Some(field) => field.truth(reading)?,
    };
    Some(volume_attachment::Spec { machine: machine?, volume: volume?, read_only })
}

/// An attachment is named by what it binds, so metadata may be left out; a name that is given has to be the right one.
fn attachment_wish(top: &Fields<'_>, spec: volume_attachment::Spec, reading: &mut Reading<'_>) -> Option<Wish> {
    if let Some(metadata) = top.get("metadata")
        && let Some(field) = Fields::of(&metadata, &["name"], reading)?.get("name")
    {
        let text = field.line(reading)?;
        if text != spec.stream_name() {
            let message = format!("{:?} is not what this attachment is called", cut(text, 60));
            let next = format!("write `name: {}`, or leave metadata out", spec.stream_name());
            return field.refuse(reading, Code::BadName, message, next);
        }
    }
    Some(Wish::VolumeAttachment { spec })
}

fn policy(spec: &Field<'_>, reading: &mut Reading<'_>) -> Option<policy::Document> {
    let fields = Fields::of(spec, &["machines", "storage"], reading)?;
    let mut document = policy::Document::default();
    if let Some(section) = fields.get("machines") {
        machine_settings(&section, &mut document.machines, reading);
    }
    if let Some(section) = fields.get("storage") {
        storage_settings(&section, &mut document.storage, reading);
    }
    Some(document)
}

fn machine_settings(section: &Field<'_>, settings: &mut policy::Machines, reading: &mut Reading<'_>) {
    let known =
        ["attemptsMax", "retryFirst", "retryMax", "callTimeout", "poll", "nodeStale", "restartGrace", "whenLost"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "attemptsMax", &mut settings.attempts_max, Field::number, reading);
    set(&fields, "retryFirst", &mut settings.retry_first_ms, period, reading);
    set(&fields, "retryMax", &mut settings.retry_max_ms, period, reading);
    set(&fields, "callTimeout", &mut settings.call_timeout_ms, positive_period, reading);
    set(&fields, "poll", &mut settings.poll_ms, positive_period, reading);
    set(&fields, "nodeStale", &mut settings.node_stale_ms, positive_period, reading);
    set(&fields, "restartGrace", &mut settings.restart_grace_ms, period, reading);
    set(&fields, "whenLost", &mut settings.when_lost, when_lost, reading);
}

fn storage_settings(section: &Field<'_>, settings: &mut policy::Storage, reading: &mut Reading<'_>) {
    let known = ["attemptsMax", "retryFirst", "retryMax", "callTimeout"];
    let Some(fields) = Fields::of(section, &known, reading) else { return };
    set(&fields, "attemptsMax", &mut settings.attempts_max, Field::number, reading);
    set(&fields, "retryFirst", &mut settings.retry_first_ms, period, reading);
    set(&fields, "retryMax", &mut settings.retry_max_ms, period, reading);
    set(&fields, "callTimeout", &mut settings.call_timeout_ms, positive_period, reading);
}

/// Overwrites a setting with what the field says, if it says something.
fn set<'n, T>(
    fields: &Fields<'n>,
    name: &str,
    setting: &mut T,
    read: impl FnOnce(&Field<'n>, &mut Reading<'_>) -> Option<T>,
    reading: &mut Reading<'_>,
) {
    if let Some(value) = fields.get(name).and_then(|field| read(&field, reading)) {
        *setting = value;
    }
}

fn period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    let text = field.text(reading)?;
    let fault = match duration::parse_ms(text) {
        Ok(ms) => return Some(ms),
        Err(fault) => fault,
    };
    let next = match fault {
        "has no unit" => format!("did you mean `{}s`?", cut(text, 20)),
        _ => "write a number with ms, s, m or h: 500ms, 10s, 1h30m".to_owned(),
    };
    field.refuse(reading, Code::BadDuration, format!("{:?} {fault}", cut(text, 40)), next)
}

fn positive_period(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<u64> {
    match period(field, reading)? {
        0 => field.refuse(reading, Code::BadDuration, "has to be longer than nothing", "write at least 1ms"),
        ms => Some(ms),
    }
}

fn when_lost(field: &Field<'_>, reading: &mut Reading<'_>) -> Option<WhenLost> {
    match field.text(reading)? {
        "replace" => Some(WhenLost::Replace),
        "keep" => Some(WhenLost::Keep),
        other => {
            let message = format!("expected `replace` or `keep`, found {:?}", cut(other, 40));
            field.refuse(reading, Code::WrongType, message, "")
        }
    }
}
