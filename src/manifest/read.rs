//! Documents as they were read, and what they may name that is there already.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bailiwick_actors::{
    machine, machine_deployment,
    storage_rules::{Directive, PoolName, StorageConfig, StorageKind},
    vocab::Name,
};

use super::{
    fields::{Field, Reading},
    problem::{Place, Problem, Problems},
    source::Source,
    wish::Document,
};

/// What exists already, so that a manifest may name it without declaring it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub machines: Arc<BTreeSet<Name>>,
    pub volumes: Arc<BTreeSet<Name>>,
    pub filesystems: Arc<BTreeSet<Name>>,
    /// The volumes that are there only for the filesystems on them, by filesystem.
    pub own_volumes: BTreeMap<Name, Name>,
    /// Machine classes, each with its provider.
    pub classes: BTreeMap<Name, Name>,
    pub spaces: Arc<BTreeSet<Name>>,
    pub applications: Arc<BTreeSet<Name>>,
    /// The units of applications, each with its machine, which may be leaving.
    pub units: BTreeSet<(Name, Name)>,
    /// The engines that keep replica sets on the node that is asked; none if no node is.
    pub engines: Option<BTreeSet<Name>>,
    /// The pools that storage comes from.
    pub storage: StorageConfig,
    /// What is mounted where it was wanted, or about to be: by the attachment's name, `machine:filesystem`.
    pub mounts: BTreeMap<String, String>,
    /// Machine deployments.
    pub deployments: BTreeMap<Name, machine_deployment::Spec>,
    /// The templates of the machine sets that belong to none.
    pub free_sets: BTreeMap<Name, Arc<machine::Spec>>,
}

/// What a machine's declaration asks for under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub place: Place,
    pub field: String,
    pub name: Name,
    /// Where it is not said, the pool decides; a volume, if that is not said either.
    pub kind: Option<StorageKind>,
    pub directive: Directive,
    pub path: Option<String>,
    pub read_only: bool,
    /// Whether it stays when the machine goes, if that is said.
    pub is_persistent: Option<bool>,
}

/// A document as it was read, with the names of others in it.
#[derive(Debug)]
pub(super) struct Read {
    pub document: Document,
    pub references: Vec<Reference>,
    pub provider: Provider,
    /// The storage that a machine asks for.
    pub claims: Vec<Claim>,
}

/// Where the provider of a machine, of a set's machines, or of storage comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// It is said, or none is needed.
    Said,
    /// It is the one of this class; until that is known, the class's name stands in its place.
    OfClass(Name),
    /// It is the one of this pool, or of the pool for what names none; until that is known, that pool's fallback stands in
    /// its place. A pool that is named comes with where that is.
    OfPool(Option<(PoolName, Place)>),
    /// As `OfPool`, of the pool that was the one for what names none when this was found out.
    OfDefault(PoolName),
}

/// A name of something else.
#[derive(Debug)]
pub(super) struct Reference {
    /// `machine`, `volume`, `filesystem`, `machine-class`, `space` or `engine`.
    pub kind: &'static str,
    pub name: Name,
    pub place: Place,
    pub field: String,
}

impl Reference {
    /// The name in this field, which is to be that of something else, and is noted as such.
    pub(super) fn named(
        kind: &'static str,
        field: &Field<'_>,
        references: &mut Vec<Self>,
        reading: &mut Reading<'_>,
    ) -> Option<Name> {
        let name = field.name(reading)?;
        let place = reading.place(field.node.at);
        references.push(Self { kind, name: name.clone(), place, field: field.path.clone() });
        Some(name)
    }
}

pub(super) fn add(problem: Problem, sources: &[Source], problems: &mut Problems) {
    let source = sources.iter().find(|source| source.name() == &*problem.place.file);
    problems.add(match source {
        Some(source) => problem.shown_in(source.excerpt_text()),
        None => problem,
    });
}
