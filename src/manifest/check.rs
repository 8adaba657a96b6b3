//! Wishes against one another: what is declared twice, and what names something that is not there.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick_actors::{document::Kind, vocab::Name};
use bailiwick_journal::StreamId;

use super::{
    claims, deployments,
    hint::nearest,
    managed, mounts, pools,
    problem::{Code, Place, Problem, Problems},
    read::{Known, Provider, Read, Reference, add},
    source::Source,
    wish::{Document, Wish},
};

/// Finds doubles and dangling references. Two attachments of one volume are no matter for this place: the volume itself
/// refuses what it cannot serve, for it alone knows what is attached.
pub(super) fn across_documents(
    documents: &mut Vec<Read>,
    known: Option<&Known>,
    sources: &[Source],
    problems: &mut Problems,
) {
    let is_whole = problems.is_empty();
    if is_whole {
        claims::expand(documents, known, sources, problems);
        managed::expand(documents, known, sources, problems);
    }
    let is_whole = problems.is_empty();
    doubles(documents, sources, problems);
    mounts::check(documents, known, sources, problems);
    deployments::check(documents, known, sources, problems);
    // What is missing may stand in a document that could not be read: that would be noise, not news.
    if is_whole {
        pools::resolve(documents, known, sources, problems);
    }
    if is_whole && let Some(known) = known {
        dangling(documents, known, sources, problems);
        providers(documents, known, sources, problems);
    }
}

fn doubles(documents: &[Read], sources: &[Source], problems: &mut Problems) {
    let mut first: BTreeMap<StreamId, &Place> = BTreeMap::new();
    for Read { document, .. } in documents {
        if problems.are_enough() {
            return;
        }
        let stream = document.wish.stream();
        if let Some(place) = first.get(&stream) {
            let field = if matches!(document.wish, Wish::VolumeAttachment { .. } | Wish::FilesystemAttachment { .. }) {
                ""
            } else {
                "metadata.name"
            };
            let message = format!("{stream} is declared twice, first at {place}");
            let problem = Problem::new(document.place.clone(), field, Code::Duplicate, message);
            add(problem.next("keep one of them, or rename one"), sources, problems);
        } else {
            first.insert(stream, &document.place);
        }
    }
}

/// Who is made from a class has its provider.
fn providers(documents: &mut [Read], known: &Known, sources: &[Source], problems: &mut Problems) {
    let classes = classes(documents, known);
    for Read { document, provider, .. } in documents {
        let Document { place, wish, .. } = document;
        let spec = match wish {
            Wish::Machine { spec, .. } => Arc::make_mut(spec),
            Wish::MachineSet { spec, .. } => Arc::make_mut(&mut spec.template),
            Wish::MachineDeployment { spec, .. } => Arc::make_mut(&mut spec.template),
            _ => continue,
        };
        let Some((class, of_class)) = spec.class.as_ref().and_then(|class| classes.get_key_value(class)) else {
            continue;
        };
        match provider {
            Provider::OfClass(_) => spec.provider = of_class.clone(),
            Provider::OfPool(_) | Provider::OfDefault(_) => (),
            Provider::Said if spec.provider == *of_class => (),
            Provider::Said => {
                let message = format!("it names provider `{}`, but class `{class}` is of `{of_class}`", spec.provider);
                let problem = Problem::new(place.clone(), "spec.provider", Code::DanglingReference, message);
                add(problem.next("omit the provider: it is that of the class"), sources, problems);
            }
        }
    }
}

/// The classes that are declared here or there, with their providers.
fn classes(documents: &[Read], known: &Known) -> BTreeMap<Name, Name> {
    let declared = documents.iter().filter_map(|read| match &read.document.wish {
        Wish::MachineClass { name, content } => Some((name.clone(), content.provider.clone())),
        _ => None,
    });
    known.classes.clone().into_iter().chain(declared).collect()
}

fn dangling(documents: &[Read], known: &Known, sources: &[Source], problems: &mut Problems) {
    let (mut machines, mut volumes, mut filesystems) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let classes: BTreeSet<Name> = classes(documents, known).into_keys().collect();
    let (mut spaces, mut applications) = (BTreeSet::new(), BTreeSet::new());
    let none = BTreeSet::new();
    for Read { document, .. } in documents {
        match &document.wish {
            Wish::Machine { name, .. } => drop(machines.insert(name.clone())),
            Wish::Volume { name, .. } => drop(volumes.insert(name.clone())),
            Wish::Filesystem { name, .. } => drop(filesystems.insert(name.clone())),
            Wish::Document { name, content } if content.kind() == Kind::Space => drop(spaces.insert(name.clone())),
            Wish::Document { name, content } if content.kind() == Kind::Application => {
                applications.insert(name.clone());
            }
            Wish::VolumeAttachment { .. }
            | Wish::FilesystemAttachment { .. }
            | Wish::Document { .. }
            | Wish::Policy { .. }
            | Wish::MachineSet { .. }
            | Wish::MachineDeployment { .. }
            | Wish::MachineClass { .. }
            | Wish::Custom(_)
            | Wish::ReplicaSet { .. } => (),
        }
    }
    // An application may go on naming a machine that is leaving; else its budget could not be lowered meanwhile.
    let is_unit = |wish: &Wish, reference: &Reference| {
        matches!(wish, Wish::Document { name, .. } if known.units.contains(&(name.clone(), reference.name.clone())))
            && reference.kind == "machine"
    };
    let references = documents.iter().flat_map(|read| read.references.iter().map(move |it| (&read.document.wish, it)));
    for (_, reference) in references.filter(|(wish, reference)| !is_unit(wish, reference)) {
        let (declared, exist) = match (reference.kind, &known.engines) {
            ("machine", _) => (&machines, &*known.machines),
            ("filesystem", _) => (&filesystems, &*known.filesystems),
            ("machine-class", _) => (&classes, &none),
            ("space", _) => (&spaces, &*known.spaces),
            ("application", _) => (&applications, &*known.applications),
            ("engine", Some(engines)) => (&none, engines),
            // Which engines there are the node will say.
            ("engine", None) => continue,
            _ => (&volumes, &*known.volumes),
        };
        if declared.contains(&reference.name) || exist.contains(&reference.name) {
            continue;
        }
        if problems.are_enough() {
            return;
        }
        let Reference { kind, name, place, field } = reference;
        let near = nearest(name.as_str(), declared.iter().chain(exist).map(Name::as_str));
        let meant = near.map(|meant| format!("did you mean `{meant}`?"));
        let (message, next) = if *kind == "engine" {
            let names: Vec<&str> = exist.iter().map(Name::as_str).collect();
            let next = meant.unwrap_or_else(|| format!("it has {}", names.join(", ")));
            (format!("this node has no replica set engine `{name}`"), next)
        } else {
            let next = meant.unwrap_or_else(|| format!("declare it, or name {} {kind} that exists", article(kind)));
            (format!("{kind} `{name}` is neither declared here nor exists"), next)
        };
        add(Problem::new(place.clone(), field, Code::DanglingReference, message).next(next), sources, problems);
    }
}

/// Before a kind of things.
fn article(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
