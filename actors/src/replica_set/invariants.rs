//! What holds of every replica set.

use super::{Phase, State};
use crate::{
    contract::Invariant,
    vocab::guard::{self, Guard},
};

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant {
        name: "declared",
        says: "what exists was declared",
        holds: |state| !state.life.exists() || state.spec.is_some(),
    },
    Invariant {
        name: "gone-is-idle",
        says: "what is gone has nothing done to it",
        holds: |state| state.life.exists() || state.phase == Phase::Idle,
    },
    Invariant {
        name: "doubtful-votes-count",
        says: "a member that may have a vote counts as a voter",
        holds: |state| !guard::holds(Guard::FlagsFollowTheCommitted) || state.doubtful.is_subset(&state.flags),
    },
    Invariant {
        name: "voters-were-seen",
        says: "voters are known only once the set was seen",
        holds: |state| state.seen.is_some() || state.flags.is_empty(),
    },
];
