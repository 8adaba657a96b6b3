//! Documents of Gardener's machine controller: `apiVersion: machine.sapcloud.io/v1alpha1`.
//!
//! Machines, their classes and their sets are read from the shape that its users write. What has no counterpart here is
//! named, one by one, and never dropped in silence; no compatibility is claimed.
//!
//! | there | here |
//! |---|---|
//! | `MachineClass`, and the older kinds for each cloud | a class; the provider is what `provider` says, in small letters |
//! | `secretRef`, `credentialsSecretRef` | the names of secrets; their values are looked up by the node, for every call |
//! | `Machine`: `class`, `nodeTemplate` | a machine; its labels, annotations and taints are those of the node template, too |
//! | its time-outs, eviction retries and node conditions | its `patience` |
//! | `MachineSet`: `replicas`, `template` | a set; its machines belong to it by its name, not by labels |
//! | `MachineDeployment`: `replicas`, `selector`, `template`, `strategy` | a deployment; `rollbackTo` is `bailiwick rollout undo` |
//! | `Secret` | nothing: what it holds has no place in a manifest that is kept |

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_actors::{
    machine::Spec,
    machine_deployment::{self, Amount, RollingUpdate, Strategy},
    machine_set,
    vocab::{ClassContent, Name},
};

use super::{
    label_map, machine_class,
    machine_deployment::{fits_its_template, rolling_update, unknown_strategy},
    machine_set::replicas,
    machine_wishes::taint,
    patience,
};
use crate::{
    manifest::{
        fields::{Field, Fields, Reading},
        limits,
        problem::Code,
        read::{Provider, Read, Reference},
        secret_variable,
        tree::{Body, Spot},
        wish::{Document, Wish},
    },
    text::cut,
};

const GROUP: &str = "machine.sapcloud.io/";
const VERSION: &str = "machine.sapcloud.io/v1alpha1";
/// The version of secrets, which are of Kubernetes itself.
const CORE: &str = "v1";
/// What stands before the kind of a class of the time when each cloud had its own.
const CLASS: &str = "MachineClass";
/// The provider of a class that names none.
const PROVIDER: &str = "local";
/// What is understood of a deployment.
const DEPLOYMENT: [&str; 8] = [
    "replicas",
    "selector",
    "template",
    "strategy",
    "minReadySeconds",
    "revisionHistoryLimit",
    "progressDeadlineSeconds",
    "paused",
];

/// Whether a document is one of these.
pub(super) fn is_of(root: &Field<'_>, reading: &mut Reading<'_>) -> bool {
    if !matches!(root.node.body, Body::Mapping(_)) {
        return false;
    }
    let Some(top) = Fields::any(root, reading) else { return false };
    let is = |name: &str, fits: &dyn Fn(&str) -> bool| {
        let field = top.get(name);
        field.is_some_and(|field| matches!(&field.node.body, Body::Text { text, .. } if fits(text)))
    };
    is("apiVersion", &|text| text.starts_with(GROUP))
        || (is("apiVersion", &|text| text == CORE) && is("kind", &|text| text == "Secret"))
}

pub(super) fn document(root: &Field<'_>, reading: &mut Reading<'_>) -> Option<Read> {
    let top = Fields::any(root, reading)?;
    let version = top.require("apiVersion", VERSION, reading)?;
    if !matches!(version.text(reading)?, VERSION | CORE) {
        let message = format!("unsupported version `{}`", cut(version.text(reading)?, 60));
        return version.refuse(reading, Code::UnsupportedVersion, message, format!("write `apiVersion: {VERSION}`"));
    }
    let kind = top.require("kind", "Machine", reading)?;
    let name = Meta::of(&top, reading)?;
    match kind.text(reading)? {
        "Machine" => machine(&top, name, reading),
        "MachineSet" => machine_set(&top, name, reading),
        "Secret" => {
            let text = format!(
                "secrets are not read from manifests; the node reads secret {0} from {1} or {1}_FILE",
                name.name,
                secret_variable(&name.name)
            );
            reading.note(name.at, &top_path("Secret", &name.name), text);
            None
        }
        CLASS => class(root, &top, &top, None, name, reading),
        other if other.ends_with(CLASS) => {
            let spec = Fields::any(&top.require("spec", "{…}", reading)?, reading)?;
            reading.note(kind.node.at, "kind", format!("{} is read as a {CLASS}", cut(other, 60)));
            class(root, &top, &spec, Some(other), name, reading)
        }
        "MachineDeployment" => machine_deployment(&top, name, reading),
        other => {
            let message = format!("unsupported kind `{}` of {VERSION}", cut(other, 60));
            kind.refuse(
                reading,
                Code::UnsupportedKind,
                message,
                "use Machine, MachineClass, MachineSet, MachineDeployment or Secret",
            )
        }
    }
}

fn top_path(kind: &str, name: &Name) -> String {
    format!("{kind}/{name}")
}

/// Names what is not carried out.
fn leave_out(
    fields: &Fields<'_>,
    known: &[&str],
    why: impl Fn(&str) -> Option<&'static str>,
    reading: &mut Reading<'_>,
) {
    for (key, field) in fields.others(known) {
        let text = why(&key.text).unwrap_or("is not supported here");
        reading.note(key.at, &field.path, text);
    }
}

/// What is said about a document.
struct Meta {
    at: Spot,
    name: Name,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

impl Meta {
    fn of(top: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let metadata = Fields::any(&top.require("metadata", "{name: …}", reading)?, reading)?;
        let name = metadata.require("name", "some-name", reading)?;
        let (labels, annotations) = texts(&metadata, reading);
        let why = |key: &str| match key {
            "namespace" => Some("ignored: there are no namespaces"),
            "generateName" => Some("ignored: the name is used as given"),
            "finalizers" => Some("ignored: a class is kept as long as machines use it"),
            _ => None,
        };
        leave_out(&metadata, &["name", "labels", "annotations"], why, reading);
        Some(Self { at: name.node.at, name: name.name(reading)?, labels, annotations })
    }
}

type Texts = BTreeMap<String, String>;

fn texts(metadata: &Fields<'_>, reading: &mut Reading<'_>) -> (Texts, Texts) {
    let mut of = |what: &str| metadata.get(what).map(|field| label_map(&field, reading)).unwrap_or_default();
    (of("labels"), of("annotations"))
}

fn machine(top: &Fields<'_>, meta: Meta, reading: &mut Reading<'_>) -> Option<Read> {
    let spec = Fields::any(&top.require("spec", "{class: …}", reading)?, reading)?;
    leave_out(top, &["apiVersion", "kind", "metadata", "spec"], of_status, reading);
    let Meta { at, name, labels, annotations } = meta;
    let mut references = Vec::new();
    let (spec, class) = machine_spec(&spec, labels, annotations, &mut references, reading)?;
    let wish = Wish::Machine { name, spec: Arc::new(spec) };
    Some(Read {
        document: Document { place: reading.place(at), wish, protect: None },
        references,
        provider: Provider::OfClass(class),
        claims: Vec::new(),
    })
}

fn of_status(key: &str) -> Option<&'static str> {
    (key == "status").then_some("ignored: the status is observed, not declared")
}

/// A machine, and its class.
fn machine_spec(
    fields: &Fields<'_>,
    labels: Texts,
    annotations: Texts,
    references: &mut Vec<Reference>,
    reading: &mut Reading<'_>,
) -> Option<(Spec, Name)> {
    let why = |key: &str| match key {
        "providerID" => Some("ignored: use `bailiwick adopt` for an existing instance"),
        _ => None,
    };
    let patience = ["drainTimeout", "healthTimeout", "creationTimeout", "maxEvictRetries", "nodeConditions"];
    let known: Vec<&str> = ["class", "nodeTemplate"].into_iter().chain(patience).collect();
    leave_out(fields, &known, why, reading);
    let class = class_of(fields, references, reading)?;
    let patience = patience::of_gardener(fields, reading)?;
    let mut spec =
        Spec { labels, annotations, class: Some(class.clone()), patience, ..Spec::with_provider(class.clone()) };
    if let Some(template) = fields.get("nodeTemplate") {
        node_template(&template, &mut spec, reading)?;
    }
    Some((spec, class))
}

/// The class that a machine names.
fn class_of(fields: &Fields<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<Name> {
    let class = Fields::any(&fields.require("class", "{kind: MachineClass, name: …}", reading)?, reading)?;
    leave_out(&class, &["kind", "name"], |_| None, reading);
    if let Some(kind) = class.get("kind")
        && kind.text(reading)? != CLASS
    {
        let text = format!("{} is read as {CLASS}: classes are of one kind here", cut(kind.text(reading)?, 60));
        reading.note(kind.node.at, &kind.path, text);
    }
    let field = class.require("name", "some-class", reading)?;
    Reference::named("machine-class", &field, references, reading)
}

/// What the machine's node shall have, which are the machine's own labels, annotations and taints here.
fn node_template(template: &Field<'_>, spec: &mut Spec, reading: &mut Reading<'_>) -> Option<()> {
    let fields = Fields::any(template, reading)?;
    leave_out(&fields, &["metadata", "spec"], |_| None, reading);
    if let Some(metadata) = fields.get("metadata") {
        let metadata = Fields::any(&metadata, reading)?;
        leave_out(&metadata, &["labels", "annotations"], |_| None, reading);
        let (labels, annotations) = texts(&metadata, reading);
        spec.labels.extend(labels);
        spec.annotations.extend(annotations);
    }
    if let Some(node) = fields.get("spec") {
        let node = Fields::any(&node, reading)?;
        leave_out(&node, &["taints"], |_| None, reading);
        if let Some(taints) = node.get("taints") {
            for item in taints.items(limits::TAINTS_MAX, reading)? {
                leave_out(&Fields::any(&item, reading)?, &["key", "value", "effect"], |_| None, reading);
                let new = taint(&Fields::any(&item, reading)?, reading)?;
                if !spec.taints.iter().any(|taint| taint.key == new.key && taint.effect == new.effect) {
                    spec.taints.push(new);
                }
            }
        }
    }
    Some(())
}

fn machine_set(top: &Fields<'_>, meta: Meta, reading: &mut Reading<'_>) -> Option<Read> {
    let fields = Fields::any(&top.require("spec", "{replicas: 3, template: …}", reading)?, reading)?;
    leave_out(top, &["apiVersion", "kind", "metadata", "spec"], of_status, reading);
    let Meta { at, name, labels, annotations } = meta;
    for (what, texts) in [("labels", labels), ("annotations", annotations)] {
        if !texts.is_empty() {
            reading.note(at, &format!("metadata.{what}"), "ignored: only machines of a set have this");
        }
    }
    let why = |key: &str| match key {
        "selector" => Some("ignored: a set owns its machines by its name, not by labels"),
        "minReadySeconds" => Some("ignored: a machine counts as soon as it is ready"),
        "machineClass" => Some("ignored: the template names the class"),
        _ => None,
    };
    leave_out(&fields, &["replicas", "template"], why, reading);
    let replicas = size(&fields, "set", reading)?;
    let mut references = Vec::new();
    let (template, class) = template(&fields, &mut references, reading)?;
    let template = Arc::new(template);
    let spec = machine_set::Spec { replicas, template, priorities: BTreeMap::new(), deployment: None };
    let document = Document { place: reading.place(at), wish: Wish::MachineSet { name, spec }, protect: None };
    Some(Read { document, references, provider: Provider::OfClass(class), claims: Vec::new() })
}

fn size(fields: &Fields<'_>, of: &str, reading: &mut Reading<'_>) -> Option<u32> {
    match fields.get("replicas") {
        Some(field) => replicas(&field, reading),
        None => {
            reading.note(fields.at, "spec.replicas", format!("missing: the {of} has no machines"));
            Some(0)
        }
    }
}

/// What machines of a set or deployment are made like, and their class.
fn template(fields: &Fields<'_>, references: &mut Vec<Reference>, reading: &mut Reading<'_>) -> Option<(Spec, Name)> {
    let template = Fields::any(&fields.require("template", "{spec: {class: …}}", reading)?, reading)?;
    leave_out(&template, &["metadata", "spec"], |_| None, reading);
    let (labels, annotations) = match template.get("metadata") {
        None => (Texts::new(), Texts::new()),
        Some(metadata) => {
            let metadata = Fields::any(&metadata, reading)?;
            leave_out(&metadata, &["labels", "annotations"], |_| None, reading);
            texts(&metadata, reading)
        }
    };
    let spec = Fields::any(&template.require("spec", "{class: …}", reading)?, reading)?;
    machine_spec(&spec, labels, annotations, references, reading)
}

/// Its defaults are Gardener's: one machine more, and one less.
fn machine_deployment(top: &Fields<'_>, meta: Meta, reading: &mut Reading<'_>) -> Option<Read> {
    let fields = Fields::any(&top.require("spec", "{replicas: 3, template: …}", reading)?, reading)?;
    leave_out(top, &["apiVersion", "kind", "metadata", "spec"], of_status, reading);
    let Meta { at, name, labels, annotations } = meta;
    for (what, texts) in [("labels", labels), ("annotations", annotations)] {
        if !texts.is_empty() {
            reading.note(at, &format!("metadata.{what}"), "ignored: only machines of a deployment have this");
        }
    }
    let why = |key: &str| (key == "rollbackTo").then_some("ignored: use `bailiwick rollout undo`");
    leave_out(&fields, &DEPLOYMENT, why, reading);
    let replicas = size(&fields, "deployment", reading)?;
    let mut references = Vec::new();
    let (template, class) = template(&fields, &mut references, reading)?;
    let mut spec = machine_deployment::Spec::of(replicas, template);
    if let Some(selector) = fields.get("selector") {
        let selector = Fields::any(&selector, reading)?;
        leave_out(&selector, &["matchLabels"], |_| None, reading);
        spec.selector = selector.get("matchLabels").map(|field| label_map(&field, reading)).unwrap_or_default();
    }
    spec.strategy = strategy(&fields, reading)?;
    let mut whole = |what: &str| match fields.get(what) {
        None => Some(None),
        Some(field) => field.number(reading).map(Some),
    };
    let (ready, limit, deadline) =
        (whole("minReadySeconds")?, whole("revisionHistoryLimit")?, whole("progressDeadlineSeconds")?);
    spec.min_ready_ms = u64::from(ready.unwrap_or(0)) * 1_000;
    spec.history_limit = limit;
    spec.progress_deadline_ms = deadline.map(|seconds| u64::from(seconds) * 1_000);
    if let Some(paused) = fields.get("paused") {
        spec.paused = paused.truth(reading)?;
    }
    fits_its_template(&fields, &spec.selector, &spec.template, reading)?;
    let document = Document { place: reading.place(at), wish: Wish::MachineDeployment { name, spec }, protect: None };
    Some(Read { document, references, provider: Provider::OfClass(class), claims: Vec::new() })
}

fn strategy(fields: &Fields<'_>, reading: &mut Reading<'_>) -> Option<Strategy> {
    let one = Amount::Machines(1);
    let default = RollingUpdate { max_surge: one, max_unavailable: one };
    let Some(strategy) = fields.get("strategy") else { return Some(Strategy::RollingUpdate(default)) };
    let strategy = Fields::any(&strategy, reading)?;
    leave_out(&strategy, &["type", "rollingUpdate"], |_| None, reading);
    let kind = match strategy.get("type") {
        None => "RollingUpdate",
        Some(field) => field.text(reading)?,
    };
    match (kind, strategy.get("rollingUpdate")) {
        ("Recreate", _) => Some(Strategy::Recreate),
        ("RollingUpdate", None) => Some(Strategy::RollingUpdate(default)),
        ("RollingUpdate", Some(update)) => {
            let update = Fields::any(&update, reading)?;
            leave_out(&update, &["maxSurge", "maxUnavailable"], |_| None, reading);
            rolling_update(&update, default, reading).map(Strategy::RollingUpdate)
        }
        (other, _) => unknown_strategy(&strategy, other, reading),
    }
}

/// A class: its fields stand at the top, or, of an older kind, in its spec, where whatever else there is is the provider's.
fn class(
    root: &Field<'_>,
    top: &Fields<'_>,
    fields: &Fields<'_>,
    older: Option<&str>,
    meta: Meta,
    reading: &mut Reading<'_>,
) -> Option<Read> {
    let Meta { at, name, labels, annotations } = meta;
    for (what, texts) in [("labels", labels), ("annotations", annotations)] {
        if !texts.is_empty() {
            reading.note(at, &format!("metadata.{what}"), "ignored: classes do not have this");
        }
    }
    let content_fields = ["provider", "providerSpec", "secretRef", "credentialsSecretRef", "nodeTemplate"];
    let mut content = ClassContent::with_provider(provider(fields, older, reading)?);
    match older {
        None => {
            let known: Vec<&str> = ["apiVersion", "kind", "metadata"].into_iter().chain(content_fields).collect();
            leave_out(top, &known, of_status, reading);
            if let Some(spec) = fields.get("providerSpec") {
                content.provider_spec = spec.json().to_string();
            }
        }
        Some(_) => {
            leave_out(top, &["apiVersion", "kind", "metadata", "spec"], of_status, reading);
            let others = fields.others(&["secretRef", "credentialsSecretRef", "nodeTemplate"]);
            let spec: serde_json::Map<_, _> =
                others.into_iter().map(|(key, field)| (key.text.to_string(), field.json())).collect();
            content.provider_spec = serde_json::Value::Object(spec).to_string();
        }
    }
    content.secret = secret(fields, "secretRef", reading);
    content.credentials = secret(fields, "credentialsSecretRef", reading);
    if let Some(template) = fields.get("nodeTemplate") {
        let template = Fields::any(&template, reading)?;
        leave_out(&template, &["capacity", "instanceType", "region", "zone"], |_| None, reading);
        content.node_template = Some(machine_class::node_template(&template, reading)?);
    }
    let content = Box::new(machine_class::sound(content, root, reading)?);
    let document = Document { place: reading.place(at), wish: Wish::MachineClass { name, content }, protect: None };
    Some(Read { document, references: Vec::new(), provider: Provider::Said, claims: Vec::new() })
}

/// Which provider here makes machines of the class.
fn provider(fields: &Fields<'_>, older: Option<&str>, reading: &mut Reading<'_>) -> Option<Name> {
    if let (Some(field), None) = (fields.get("provider"), older) {
        let text = field.line(reading)?.to_ascii_lowercase();
        return match text.parse() {
            Ok(name) => Some(name),
            Err(_) => field.refuse(reading, Code::BadName, format!("{:?} is not a provider name", cut(&text, 40)), ""),
        };
    }
    let text = format!("missing: provider {PROVIDER} is used; choose another with `provider` at the top level");
    reading.note(fields.at, "provider", text);
    PROVIDER.parse().ok()
}

/// The name of a secret; none if none is named, or what is said makes no sense.
fn secret(fields: &Fields<'_>, what: &str, reading: &mut Reading<'_>) -> Option<Name> {
    let reference = Fields::any(&fields.get(what)?, reading)?;
    let why = |key: &str| (key == "namespace").then_some("ignored: there are no namespaces");
    leave_out(&reference, &["name"], why, reading);
    reference.require("name", "some-secret", reading)?.name(reading)
}
