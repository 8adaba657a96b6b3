//! Members of replica sets: what one machine is to one set, in the stream `member/SET:MACHINE`.
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ removed ─▶ (followed again) alive
//!
//! status  declared ─▶ joining ─▶ learner ─▶ voter
//!            ▲ ▲         │         │ ▲        │
//!            │ └─────────┘         │ └────────┤
//!            └──── leaving ◀───────┴──────────┘
//! ```
//!
//! One configuration is of all members, so the steps are the set's and a member owes the world nothing. The supervisor
//! tells it what its set has in hand and has seen: a [`Picture`], as of a version of the set's stream. What that means for
//! its life is decided here, and why is kept: the reason of the step that brought it where it is.
//!
//! Guards, where they stand, and which test fails without them (`tests.rs`):
//!
//! | guard | where | test |
//! |---|---|---|
//! | what is older than what is known says nothing | `decide::is_older` | `an_older_picture_says_nothing` |
//! | another id is another member: the old one left first | `decide::seen` | `another_id_is_another_member` |
//! | a step that is on its way is no membership | `state::State::status` | `who_is_asked_to_join_is_no_member_yet` |
//! | it is flagged as long as it may vote | `decide::follow` | `a_voter_is_flagged_until_its_set_says_otherwise` |
//!
//! A member of a configuration that names no machine is not followed, as an instance that no machine claims is none of
//! ours: its set shows it among what it has seen.

mod command;
mod decide;
mod event;
mod evolve;
mod invariants;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::{Command, Part, Picture, Sighting, Task};
pub use event::Event;
pub use state::State;
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, Invariant, NoEffect, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "member";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = NoEffect;
    type View = NoView;

    const INVARIANTS: &'static [Invariant<Self>] = invariants::ALL;

    fn decide(&self, command: &Command, _facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn goes_on_from(&self, event: &Event) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<NoEffect> {
        BTreeSet::new()
    }
}
