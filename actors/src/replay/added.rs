//! Kinds that a program adds: who decides their entries again.

use bailiwick_journal::Journal;

use super::{Redecide, Redecider};
use crate::{contract::Decider, vocab::Added};

/// A kind and its supervisor.
pub(super) struct AddedKind {
    pub name: &'static str,
    pub kind: Again,
    pub supervisor: Again,
}

/// Decides the entries of a journal again.
type Again = for<'j> fn(&'j dyn Journal) -> Box<dyn Redecide + 'j>;

pub(super) static ADDED: Added<AddedKind> = Added::new();

struct Of<K, S>(std::marker::PhantomData<(K, S)>);

impl<K: Decider, S: Decider> Of<K, S> {
    const ENTRY: AddedKind = AddedKind {
        name: K::KIND,
        kind: |journal| Box::new(Redecider::<K>::new(journal)),
        supervisor: |journal| Box::new(Redecider::<S>::of_supervisor(journal)),
    };
}

/// Adds a kind, and the supervisor that has its name.
#[cfg(feature = "shell")]
pub(crate) fn add<K: Decider, S: Decider>() {
    ADDED.add(&Of::<K, S>::ENTRY);
}
