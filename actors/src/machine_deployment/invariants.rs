//! What holds of every machine deployment.

use super::State;
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant {
        name: "declared",
        says: "what exists was declared",
        holds: |state| !state.life.exists() || state.spec.is_some(),
    },
    Invariant {
        name: "gone-has-no-sets",
        says: "what is gone has no sets",
        holds: |state| state.life.exists() || state.sets.is_empty(),
    },
    Invariant {
        name: "declaration-is-not-newer",
        says: "its declaration is no newer than its generation",
        holds: |state| state.declared_at <= state.generation,
    },
];
