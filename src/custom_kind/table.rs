//! The registered kinds, as far as that needs no view of them.

use std::{collections::BTreeMap, io, marker::PhantomData, path::Path, sync::Arc};

use bailiwick_actors::{
    contract::Stored,
    custom::{Event, Provider},
    shell::{AnyCommand, AnyProvider},
    vocab::{Added, Name},
};
use bailiwick_journal::{Body, Cite};
use serde_json::Value;
use uuid::Uuid;

use super::{
    CustomKind, Folds, Keeping,
    folds::{self, keepings, makers},
};

/// A registered kind.
pub(crate) struct Custom {
    pub name: &'static str,
    pub manifest: &'static str,
    pub columns: &'static [&'static str],
    /// What an order of its supervisor rests on.
    pub issued: fn(&Body) -> Option<Vec<Cite>>,
    /// Reads the spec of a manifest.
    pub read: fn(Value) -> Result<Asked, String>,
    /// The providers that entities name.
    pub makers: fn(&Folds) -> Vec<Name>,
    pub keepings: for<'f> fn(&'f Folds, Uuid) -> Vec<Keeping<'f>>,
    pub providers: fn(&Path) -> io::Result<BTreeMap<Name, AnyProvider>>,
}

/// What a spec asks for.
pub(crate) struct Asked {
    /// The provider that it names.
    pub provider: Name,
    /// The spec as it is shown, with every field that it has.
    pub spec: Value,
    /// What declares it.
    pub command: AnyCommand,
}

struct Of<K>(PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const ENTRY: Custom = Custom {
        name: K::KIND,
        manifest: K::MANIFEST,
        columns: K::COLUMNS,
        issued: |event| {
            let Event::<K>::Issued { cites, .. } = Event::load(event).ok()?;
            Some(cites)
        },
        read: read::<K>,
        makers: makers::<K>,
        keepings: keepings::<K>,
        providers: providers::<K>,
    };
}

static KINDS: Added<Custom> = Added::new();

/// Adds a kind.
pub(crate) fn add<K: CustomKind>() {
    KINDS.add(&Of::<K>::ENTRY);
    folds::add::<K>();
}

/// All of them, in the order in which they were registered.
pub(crate) fn all() -> Vec<&'static Custom> {
    KINDS.all()
}

/// The kind of a stream.
pub(crate) fn kind(name: &str) -> Option<&'static Custom> {
    KINDS.find(|kind| kind.name == name)
}

/// The kind that manifests call this.
pub(crate) fn of_manifest(name: &str) -> Option<&'static Custom> {
    KINDS.find(|kind| kind.manifest == name)
}

/// The kind whose supervisor has this name.
pub(crate) fn of_supervisor(name: &str) -> Option<&'static Custom> {
    kind(name)
}

fn read<K: CustomKind>(spec: Value) -> Result<Asked, String> {
    let spec: K::Spec = serde_json::from_value(spec).map_err(|error| error.to_string())?;
    let shown = serde_json::to_value(&spec).map_err(|error| error.to_string())?;
    Ok(Asked { provider: K::maker(&spec).clone(), spec: shown, command: AnyCommand::from(K::declare(spec)) })
}

fn providers<K: CustomKind>(data_dir: &Path) -> io::Result<BTreeMap<Name, AnyProvider>> {
    let any = |(name, provider): (Name, Arc<dyn Provider<K>>)| (name, AnyProvider::new(provider));
    Ok(K::providers(data_dir)?.into_iter().map(any).collect())
}
