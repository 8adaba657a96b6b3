//! What holds of every machine set.

use super::{State, pass};
use crate::contract::Invariant;

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant {
        name: "declared",
        says: "what exists was declared",
        holds: |state| !state.life.exists() || state.spec.is_some(),
    },
    Invariant {
        name: "names-of-a-pass",
        says: "names are for the machines of a pass",
        holds: |state| !is_at_rest(state) || state.names.is_empty(),
    },
    Invariant {
        name: "names-are-given-once",
        says: "no name is given twice",
        holds: |state| u64::try_from(state.names.len()).is_ok_and(|names| names <= state.named),
    },
];

fn is_at_rest(state: &State) -> bool {
    matches!(state.pass, pass::State::Idle | pass::State::Over)
}
