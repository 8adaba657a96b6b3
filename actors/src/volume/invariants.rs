//! What holds of every volume.

use super::{State, Storage};
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "what exists was declared", holds: |state| !state.life.exists() || state.spec.is_some() },
    Invariant {
        says: "nothing is kept for what is gone",
        holds: |state| state.life.exists() || state.storage == Storage::None,
    },
    Invariant {
        says: "what is gone is attached nowhere, and holds no filesystem",
        holds: |state| state.life.exists() || (state.attached_to.is_none() && state.filesystem.is_none()),
    },
    Invariant { says: "only what is there can be lost", holds: |state| is_there(state) || state.lost.is_none() },
    Invariant {
        says: "a volume belongs to a machine of a set, or outlived it",
        holds: |state| state.claim.is_none() || state.kept_of.is_none(),
    },
];

fn is_there(state: &State) -> bool {
    matches!(state.storage, Storage::Provisioned { .. })
}
