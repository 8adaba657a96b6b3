//! Kinds of the embedder's own, in all that people see of them.
//!
//! A program that brings a kind along implements [`CustomKind`] and calls [`register`](crate::register) before it opens a node or reads a
//! journal. From then on its entities are declared by manifests, planned, decided, journaled and replayed, shown by `get`,
//! `describe`, `why` and at any moment of the past, simulated, and swept for crashes, as those of the built-in kinds are.
//! `examples/own_kind.rs` is one, complete with a provider and a command line.

mod folds;
mod table;

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use bailiwick_actors::{
    custom::{Kept, Provider, Resource, Rule},
    vocab::{EffectId, Life, Name, Outlook},
};
use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "simulation")]
pub(crate) use folds::Work;
pub(crate) use folds::{Folds, Keeping};
pub(crate) use table::{Asked, Custom, add, all, kind, of_manifest, of_supervisor};

use crate::words::Words;

/// The providers of a kind, by name.
pub type Providers<K> = BTreeMap<Name, Arc<dyn Provider<K>>>;

/// A kind that another program brings along.
pub trait CustomKind: Resource + Rule + Words + Sync {
    /// What manifests call it: `VirtualIp`. Streams have [`Decider::KIND`](bailiwick_actors::contract::Decider::KIND).
    const MANIFEST: &'static str;

    /// The columns of its table, beside name, status, provider, age and detail. They are the names of the same facts in JSON:
    /// `address`.
    const COLUMNS: &'static [&'static str];

    /// Every status that one can be shown with.
    const STATUSES: &'static [&'static str] =
        &["waiting", "creating", "ready", "replacing", "deleting", "failed", "removed"];

    /// What `spec` of its manifest holds. A field that it does not know should be refused (`deny_unknown_fields`).
    type Spec: Clone + PartialEq + Serialize + DeserializeOwned;

    /// The command that declares one.
    fn declare(spec: Self::Spec) -> Self::Command;

    /// The provider that a declaration names.
    fn maker(spec: &Self::Spec) -> &Name;

    /// The command that removes one.
    fn remove() -> Self::Command;

    /// The command that tries again what failed.
    fn retry() -> Self::Command;

    /// What was declared last; none before the first declaration.
    fn spec(&self) -> Option<&Self::Spec>;

    /// One of [`Self::STATUSES`].
    fn status(&self) -> &'static str {
        match (self.life(), self.kept()) {
            (Life::Undeclared | Life::Removed, _) => "removed",
            (_, Kept::Making(effort) | Kept::Undoing { effort, .. })
                if matches!(effort.outlook, Outlook::GivenUp { .. }) =>
            {
                "failed"
            }
            (Life::Dying | Life::Dead, _) => "deleting",
            (Life::Alive, Kept::None) => "waiting",
            (Life::Alive, Kept::Making(_)) => "creating",
            (Life::Alive, Kept::There { .. }) => "ready",
            (Life::Alive, Kept::Undoing { .. }) => "replacing",
        }
    }

    /// Whether it is as declared.
    fn is_ready(&self) -> bool {
        self.life() == Life::Alive && self.kept().made().is_some()
    }

    /// What it waits for, if that is nothing that its provider does.
    fn waits_for(&self) -> Option<String>;

    /// What it says in each of [`Self::COLUMNS`], in that order.
    fn cells(&self) -> Vec<Option<String>>;

    /// What a simulated provider makes. The same for the same wish.
    fn simulated(id: EffectId, wish: &Self::Wish) -> Self::Made;

    /// The providers that a node of this program has; what they keep may be below its data directory.
    ///
    /// # Errors
    /// If one of them cannot be started; the node does not start then.
    fn providers(_data_dir: &Path) -> io::Result<Providers<Self>> {
        Ok(BTreeMap::new())
    }
}
