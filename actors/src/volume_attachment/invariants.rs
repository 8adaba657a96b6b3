//! What holds of every attachment of a volume.

use super::{Link, State};
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "what exists was declared", holds: |state| !state.life.exists() || state.spec.is_some() },
    Invariant {
        says: "what is gone connects nothing",
        holds: |state| state.life.exists() || state.link == Link::Waiting,
    },
];
