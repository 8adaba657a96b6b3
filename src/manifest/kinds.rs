//! From documents to wishes: what all kinds have in common, and one file for each.

mod account;
mod claims;
mod custom;
mod documents;
mod gardener;
mod machine;
mod machine_class;
mod machine_deployment;
mod machine_set;
mod machine_wishes;
mod patience;
mod period;
mod policy;
mod replica_set;
mod storage;
mod windows;

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{contract::Decider, provider, vocab::Name};

use super::{
    fields::{Field, Fields, Reading},
    hint::nearest,
    limits,
    problem::{Code, Place, Problem, Problems},
    read::{Provider, Read, Reference},
    tree::{Documents, Spot},
    wish::{CustomWish, Document, Note, Wish},
};
use crate::{custom_kind::Asked, text::cut};

const VERSION: &str = "bailiwick/v1";
const KINDS: [&str; 20] = [
    "Machine",
    "MachineClass",
    "MachineSet",
    "MachineDeployment",
    "Volume",
    "VolumeAttachment",
    "Filesystem",
    "FilesystemAttachment",
    "Policy",
    "ReplicaSet",
    "Space",
    "Subnet",
    "ImageMetadata",
    "AgentBinary",
    "Application",
    "Model",
    "Account",
    "JujuModel",
    "JujuApplication",
    "JujuMachine",
];

/// Whether a built-in kind is called this.
pub(crate) fn is_kind(name: &str) -> bool {
    KINDS.contains(&name) || crate::custom_kind::of_manifest(name).is_some()
}

/// The kinds of objects that somebody can be allowed to change, as `KIND/NAME` has them: `machine-set`. All that manifests
/// declare; and providers, which are held.
fn object_kinds() -> Vec<String> {
    let custom = crate::custom_kind::all().into_iter().map(|kind| kind.name.to_owned());
    KINDS.into_iter().map(in_small_letters).chain([provider::State::KIND.to_owned()]).chain(custom).collect()
}

/// What documents call a kind of objects: `MachineSet` for `machine-set`; none if none declares it.
#[cfg(feature = "cli")]
pub(crate) fn declared_as(kind: &str) -> Option<&'static str> {
    let built_in = KINDS.into_iter().find(|name| in_small_letters(name) == kind);
    built_in.or_else(|| crate::custom_kind::kind(kind).map(|custom| custom.manifest))
}

/// `machine-set` of `MachineSet`.
fn in_small_letters(kind: &str) -> String {
    let mut small = String::new();
    for letter in kind.chars() {
        if letter.is_ascii_uppercase() && !small.is_empty() {
            small.push('-');
        }
        small.push(letter.to_ascii_lowercase());
    }
    small
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub documents: Vec<Read>,
    pub notes: Vec<Note>,
    /// How many documents there were, empty ones included.
    seen: usize,
}

/// Reads all documents of one text.
pub(super) fn read_source(name: &str, text: &str, taken: &mut Taken, problems: &mut Problems) {
    let file: Arc<str> = name.into();
    let Taken { documents, notes, seen } = taken;
    let mut reading = Reading { file: file.clone(), text, problems, notes };
    for tree in Documents::of(text) {
        *seen += 1;
        if *seen > limits::DOCUMENTS_MAX {
            let message = format!("more than {} documents at once", limits::DOCUMENTS_MAX);
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
    if gardener::is_of(root, reading) {
        return gardener::document(root, reading);
    }
    let top = Fields::of(root, &["apiVersion", "kind", "metadata", "spec"], reading)?;
    version(&top, reading);
    let kind = top.require("kind", "Machine", reading)?;
    let spec = top.require("spec", "{…}", reading);
    let mut references: Vec<Reference> = Vec::new();
    let mut provider = Provider::Said;
    let mut asked_for = Vec::new();
    let (at, wish) = match kind.text(reading)? {
        "Machine" => {
            let metadata = Metadata::required(&top, &["name", "labels", "annotations", PROTECT], reading);
            let labels = texts("labels", metadata.as_ref(), reading);
            let annotations = texts("annotations", metadata.as_ref(), reading);
            let spec = spec?;
            asked_for = claims::claims(&spec, reading);
            let spec = machine::machine(&spec, labels, &mut references, &mut provider, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Machine { name, spec: Arc::new(machine::Spec { annotations, ..spec? }) })
        }
        "MachineSet" => {
            let metadata = Metadata::required(&top, &["name", PROTECT], reading);
            let spec = machine_set::machine_set(&spec?, &mut references, &mut provider, &mut asked_for, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::MachineSet { name, spec: spec? })
        }
        "MachineDeployment" => {
            let metadata = Metadata::required(&top, &["name", PROTECT], reading);
            let spec =
                machine_deployment::machine_deployment(&spec?, &mut references, &mut provider, &mut asked_for, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::MachineDeployment { name, spec: spec? })
        }
        "MachineClass" => {
            let metadata = Metadata::required(&top, &["name"], reading);
            let content = machine_class::machine_class(&spec?, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::MachineClass { name, content: Box::new(content?) })
        }
        "Volume" => {
            let metadata = Metadata::required(&top, &["name", PROTECT], reading);
            let asked = storage::volume(&spec?, &mut references, &mut provider, reading);
            let (at, name) = metadata?.name(reading)?;
            let (spec, machine, tags) = asked?;
            (at, Wish::Volume { name, spec, machine, pool: None, owner: None, tags })
        }
        "VolumeAttachment" => {
            let spec = storage::volume_attachment(&spec?, &mut references, reading);
            (root.node.at, storage::attachment_wish(&top, spec?, reading)?)
        }
        "Filesystem" => {
            let metadata = Metadata::required(&top, &["name", PROTECT], reading);
            let spec = storage::filesystem(&spec?, &mut references, &mut provider, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Filesystem { name, spec: spec?, pool: None, owner: None })
        }
        "FilesystemAttachment" => {
            let spec = storage::filesystem_attachment(&spec?, &mut references, reading)?;
            storage::named_as_bound(&top, &spec.stream_name(), reading)?;
            (root.node.at, Wish::FilesystemAttachment { spec })
        }
        "Policy" => {
            let metadata = Metadata::required(&top, &["name"], reading);
            let document = policy::policy(&spec?, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Policy { name, document: Box::new(document?) })
        }
        "ReplicaSet" => {
            let metadata = Metadata::required(&top, &["name", PROTECT], reading);
            let spec = replica_set::replica_set(&spec?, &mut references, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::ReplicaSet { name, spec: spec? })
        }
        "Space" | "Subnet" | "ImageMetadata" | "AgentBinary" | "Application" | "Model" | "Account" | "JujuModel"
        | "JujuApplication" | "JujuMachine" => {
            let metadata = Metadata::required(&top, &["name"], reading);
            let content = documents::content(kind.text(reading)?, &spec?, &mut references, reading);
            let (at, name) = metadata?.name(reading)?;
            (at, Wish::Document { name, content: Box::new(content?) })
        }
        other => {
            if let Some(kind) = crate::custom_kind::of_manifest(other) {
                let metadata = Metadata::required(&top, &["name"], reading);
                let asked = custom::asked(kind, &spec?, reading);
                let (at, name) = metadata?.name(reading)?;
                let Asked { provider, spec, command } = asked?;
                let wish = Wish::Custom(Box::new(CustomWish { kind: kind.name, name, provider, spec, command }));
                let document = Document { place: reading.place(at), wish, protect: None };
                return Some(Read { document, references, provider: Provider::Said, claims: asked_for });
            }
            let custom = crate::custom_kind::all();
            let known: Vec<&str> = KINDS.into_iter().chain(custom.iter().map(|kind| kind.manifest)).collect();
            let next = match nearest(other, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known kinds: {}", known.join(", ")),
            };
            let message = format!("unknown kind `{}`", cut(other, 60));
            return kind.refuse(reading, Code::UnsupportedKind, message, next);
        }
    };
    let document = Document { place: reading.place(at), wish, protect: protection(&top, reading)? };
    Some(Read { document, references, provider, claims: asked_for })
}

fn version(top: &Fields<'_>, reading: &mut Reading<'_>) {
    let Some(field) = top.require("apiVersion", VERSION, reading) else { return };
    let Some(text) = field.text(reading) else { return };
    if text != VERSION {
        let message = format!("unsupported version `{}`", cut(text, 60));
        field.refuse::<()>(reading, Code::UnsupportedVersion, message, format!("write `apiVersion: {VERSION}`"));
    }
}

/// The field of metadata that protects from deletion.
const PROTECT: &str = "protect";

/// Whether it is to be protected, if that is said; the kinds that cannot be know no such field.
#[allow(clippy::option_option, reason = "what is wrong differs from what is not said")]
fn protection(top: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Option<bool>> {
    let metadata = top.get("metadata").map(|metadata| Fields::any(&metadata, reading));
    match metadata.flatten().and_then(|metadata| metadata.get(PROTECT)) {
        Some(field) => field.truth(reading).map(Some),
        None => Some(None),
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

/// A mapping of metadata: labels, or annotations.
fn texts(what: &str, metadata: Option<&Metadata<'_>>, reading: &mut Reading<'_>) -> BTreeMap<String, String> {
    let field = metadata.and_then(|metadata| metadata.0.get(what));
    field.map(|field| label_map(&field, reading)).unwrap_or_default()
}

/// A mapping of label names to texts.
fn label_map(field: &Field<'_>, reading: &mut Reading<'_>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for (key, field) in field.entries(limits::LABELS_MAX, reading).unwrap_or_default() {
        if let (Some(name), Some(text)) = (label_name(&key.text, key.at, &field.path, reading), field.line(reading)) {
            texts.insert(name, text.to_owned());
        }
    }
    texts
}

fn label_name(text: &str, at: Spot, path: &str, reading: &mut Reading<'_>) -> Option<String> {
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
    if (1..=limits::LABEL_NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(letter) {
        return Some(text.to_owned());
    }
    let message = format!("{:?} is not a valid label name", cut(text, 60));
    let rule = "a label name has 1 to 63 letters, digits, '-', '_', '.' and '/'";
    reading.refuse(at, path, Code::BadName, message, rule)
}
