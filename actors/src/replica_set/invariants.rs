//! What holds of every replica set.

use super::{Phase, State};
use crate::{
    contract::Invariant,
    vocab::guard::{self, Guard},
};

pub(super) const ALL: &[Invariant<State>] = &[
    Invariant { says: "what exists was declared", holds: |state| !state.life.exists() || state.spec.is_some() },
    Invariant {
        says: "what is gone has nothing done to it",
        holds: |state| state.life.exists() || state.phase == Phase::Idle,
    },
    Invariant {
        says: "whoever may have got a vote counts as a voter",
        holds: |state| !guard::holds(Guard::FlagsFollowTheCommitted) || state.doubtful.is_subset(&state.flags),
    },
    Invariant { says: "who votes was seen", holds: |state| state.seen.is_some() || state.flags.is_empty() },
];
