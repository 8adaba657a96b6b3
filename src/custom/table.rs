//! The registered kinds: for each, what the node does with it.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{PoisonError, RwLock},
};

use bailiwick_actors::{
    contract::{Fold, Stored},
    custom::{BoxedProvider, Event, Provider, State},
    shell::AnyCommand,
    vocab::Name,
};
use bailiwick_journal::{Body, Cite};
use serde_json::Value;
use uuid::Uuid;

use super::{
    CustomKind, Folds, Keeping,
    folds::{AnyFold, keepings, makers},
};
use crate::{
    plan::KindEntry as Changed,
    providers::simulated::SimulatedProvider,
    view::{CustomRow, Fleet, KindEntry as Shown, custom_rows},
    words::Spoken,
};

/// A registered kind.
pub(crate) struct Custom {
    pub name: &'static str,
    pub manifest: &'static str,
    pub columns: &'static [&'static str],
    pub shown: Shown,
    pub changed: Changed,
    pub spoken: Spoken,
    /// Its supervisor's words.
    pub supervisor: Spoken,
    /// What an order of its supervisor rests on.
    pub issued: fn(&Body) -> Option<Vec<Cite>>,
    /// Reads the spec of a manifest.
    pub read: fn(Value) -> Result<Asked, String>,
    pub rows: fn(&Fleet) -> Vec<CustomRow>,
    pub(super) fold: fn() -> Box<dyn AnyFold>,
    /// The providers that entities name.
    pub makers: fn(&Folds) -> Vec<Name>,
    pub keepings: for<'f> fn(&'f Folds, Uuid) -> Vec<Keeping<'f>>,
    pub providers: fn(&Path) -> io::Result<BTreeMap<Name, BoxedProvider>>,
    pub simulated: fn(SimulatedProvider) -> BoxedProvider,
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

struct Of<K>(std::marker::PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const ENTRY: Custom = Custom {
        name: K::KIND,
        manifest: K::MANIFEST,
        columns: K::COLUMNS,
        shown: Shown::of::<K>(),
        changed: Changed::of::<K>(),
        spoken: Spoken::of::<K>(),
        supervisor: Spoken::of::<State<K>>(),
        issued: |event| {
            let Event::<K>::Issued { cites, .. } = Event::load(event).ok()?;
            Some(cites)
        },
        read: read::<K>,
        rows: custom_rows::<K>,
        fold: || Box::new(Fold::<K>::default()),
        makers: makers::<K>,
        keepings: keepings::<K>,
        providers: providers::<K>,
        simulated: |provider| BoxedProvider::new::<K>(std::sync::Arc::new(provider)),
    };
}

static KINDS: RwLock<Vec<&'static Custom>> = RwLock::new(Vec::new());

pub(super) fn add<K: CustomKind>() {
    KINDS.write().unwrap_or_else(PoisonError::into_inner).push(&Of::<K>::ENTRY);
}

/// All of them, in the order in which they were registered.
pub(crate) fn all() -> Vec<&'static Custom> {
    KINDS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn find(is_it: impl Fn(&Custom) -> bool) -> Option<&'static Custom> {
    KINDS.read().unwrap_or_else(PoisonError::into_inner).iter().copied().find(|kind| is_it(kind))
}

/// The kind of a stream.
pub(crate) fn kind(name: &str) -> Option<&'static Custom> {
    find(|kind| kind.name == name)
}

/// The kind that manifests call this.
pub(crate) fn of_manifest(name: &str) -> Option<&'static Custom> {
    find(|kind| kind.manifest == name)
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

fn providers<K: CustomKind>(data_dir: &Path) -> io::Result<BTreeMap<Name, BoxedProvider>> {
    let boxed = |(name, provider): (Name, std::sync::Arc<dyn Provider<K>>)| (name, BoxedProvider::new(provider));
    Ok(K::providers(data_dir)?.into_iter().map(boxed).collect())
}
