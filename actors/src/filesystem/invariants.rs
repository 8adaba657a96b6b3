//! What holds of every filesystem.

use super::{State, Storage};
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "what exists was declared", holds: |state| !state.life.exists() || state.spec.is_some() },
    Invariant {
        says: "nothing is kept for what is gone",
        holds: |state| state.life.exists() || state.storage == Storage::None,
    },
    Invariant {
        says: "what is gone is mounted nowhere",
        holds: |state| state.life.exists() || state.attached_to.is_empty(),
    },
    Invariant {
        says: "a filesystem belongs to a machine of a set, or outlived it",
        holds: |state| state.claim.is_none() || state.kept_of.is_none(),
    },
    Invariant {
        says: "only on a volume is a filesystem made over others",
        holds: |state| match &state.storage {
            Storage::Creating { backing, over, .. } => backing.is_some() || over.is_empty(),
            Storage::None | Storage::Provisioned { .. } | Storage::Destroying { .. } => true,
        },
    },
];
