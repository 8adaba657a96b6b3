//! What holds of every member.

use super::State;
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "whoever votes has an id", holds: |state| !state.flagged || state.last_id.is_some() },
    Invariant {
        says: "whoever is in the configuration has had its id before",
        holds: |state| state.seen.is_none() || state.last_id.is_some(),
    },
];
