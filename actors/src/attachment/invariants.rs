//! What holds of every attachment.

use super::{Attached, Link, State};
use crate::{contract::Invariant, vocab::Life};

impl<A: Attached> State<A> {
    pub(super) const CLAIMS: &'static [Invariant<Self>] = &[
        Invariant {
            name: "declared",
            says: "what exists was declared",
            holds: |state| !state.life.exists() || state.spec.is_some(),
        },
        Invariant {
            name: "gone-connects-nothing",
            says: "what is gone connects nothing",
            holds: |state| state.life.exists() || state.link == Link::Waiting,
        },
        Invariant {
            name: "leaving-is-not-attached",
            says: "what is on its way out is detached, and not attached anew",
            holds: |state| {
                state.life != Life::Dying || !matches!(state.link, Link::Attaching { .. } | Link::Attached { .. })
            },
        },
    ];
}
