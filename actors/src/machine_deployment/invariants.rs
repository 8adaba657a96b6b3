//! What holds of every machine deployment.

use super::State;
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "what exists was declared", holds: |state| !state.life.exists() || state.spec.is_some() },
    Invariant { says: "what is gone has no sets", holds: |state| state.life.exists() || state.sets.is_empty() },
    Invariant {
        says: "its declaration is no newer than its generation",
        holds: |state| state.declared_at <= state.generation,
    },
];
