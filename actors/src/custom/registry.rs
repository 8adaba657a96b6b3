//! The custom kinds of this process.

use std::sync::{PoisonError, RwLock};

use bailiwick_journal::Journal;

use crate::replay::Redecide;

/// A kind that is registered.
#[derive(Clone, Copy)]
pub(crate) struct Registered {
    pub name: &'static str,
    /// Decides its entries again, and those of its supervisor.
    pub redecider: for<'j> fn(&'j dyn Journal) -> Box<dyn Redecide + 'j>,
    pub supervisor: for<'j> fn(&'j dyn Journal) -> Box<dyn Redecide + 'j>,
    #[cfg(feature = "shell")]
    pub entry: &'static crate::shell::KindEntry,
    #[cfg(feature = "shell")]
    pub supervision: fn() -> Box<dyn crate::shell::AnySupervision>,
}

pub(super) static REGISTERED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());

/// Why a kind cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name belongs to a built-in kind, or is used for something else.
    #[error("kind {kind} cannot be registered: the name is reserved")]
    Reserved { kind: &'static str },
    /// It is no name that a stream can have.
    #[error("kind {kind:?} cannot be registered: a kind has lower-case letters, digits and hyphens")]
    Unusable { kind: &'static str },
    /// It is registered already.
    #[error("kind {kind} is already registered")]
    Registered { kind: &'static str },
}

/// All that are registered, in that order.
pub(crate) fn registered() -> Vec<Registered> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The names of the registered kinds, in the order in which they were registered.
pub fn kinds() -> Vec<&'static str> {
    registered().into_iter().map(|one| one.name).collect()
}
