//! What holds of every member.

use super::State;
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant {
        name: "voter-has-id",
        says: "a member with a vote has an id",
        holds: |state| !state.flagged || state.last_id.is_some(),
    },
    Invariant {
        name: "id-is-remembered",
        says: "a member in the configuration has had its id before",
        holds: |state| state.seen.is_none() || state.last_id.is_some(),
    },
];
