//! What holds of every volume and every filesystem.

use super::{Provisioned, State, Storage};
use crate::contract::Invariant;

impl<K: Provisioned> State<K> {
    pub(super) const CLAIMS: &'static [Invariant<Self>] = &[
        Invariant {
            name: "declared",
            says: "what exists was declared",
            holds: |state| !state.life.exists() || state.spec.is_some(),
        },
        Invariant {
            name: "gone-keeps-nothing",
            says: "nothing is kept for what is gone",
            holds: |state| state.life.exists() || state.storage == Storage::None,
        },
        Invariant {
            name: "gone-is-attached-nowhere",
            says: "what is gone is attached nowhere, and holds nothing",
            holds: |state| state.life.exists() || (state.attached_to.is_empty() && K::holds(state).is_none()),
        },
        Invariant {
            name: "claimed-or-outlived",
            says: "it belongs to a machine of a set, or outlived it",
            holds: |state| state.claim.is_none() || state.kept_of.is_none(),
        },
        K::CLAIMS[0],
        K::CLAIMS[1],
    ];
}
