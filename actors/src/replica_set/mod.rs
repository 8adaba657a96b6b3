//! Replica sets: the servers that keep one database together.
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ removed ─▶ (declared again) alive
//!
//! phase   looking ─▶ settled ─▶ stepping ─┬─ done ───────────────▶ looking
//!            ▲ ▲        │ ▲               └─ refused, unknown ─▶ waiting
//!            │ └────────┘ │ a poll saw something else               │
//!            └────────────┴───────────────── due ◀──────────────────┘
//! ```
//!
//! Who shall be a member and vote is not decided here: the supervisor decides it, on what this entity has seen, and orders
//! one step. This entity sees to it that there is one step in flight at a time, that it is taken on the configuration it
//! was planned on, that whatever came of it is read back before the next one, and that the flags cover everybody who
//! votes or may vote.
//!
//! Guards of the execution, where they stand, and which test fails without them (`tests.rs`, `shell.rs`, and the seeds over the models):
//!
//! | guard | where | test |
//! |---|---|---|
//! | one step in flight | `decide::take_step` | `a_second_step_waits_for_the_first` |
//! | a step is taken on what was read last | `decide::take_step` | `a_plan_on_an_older_view_is_refused` |
//! | an unknown outcome is read back, never called failed | `decide::report_stepped` | `an_unknown_outcome_is_read_back` |
//! | a step that a restart may have cut is not repeated | `shell::take` | `a_step_that_may_have_begun_is_not_taken_again` |
//! | who is asked to step down is looked at right before | `shell::take` | `a_step_down_is_not_sent_to_one_that_does_not_lead` |
//! | flags are raised with the step, lowered by a committed configuration | `evolve` | `flags_cover_every_voter` |
//! | a flag raised for an unknown outcome outlives one reading | `evolve` | `a_doubtful_vote_stays_flagged` |
//! | a set that was seen is never begun again | `decide::take_step`, `decide::report_not_begun` | `a_set_that_was_seen_is_not_begun_again` |
//!
//! Source: the worker around Juju's peer grouper.

pub mod addresses;
mod command;
mod decide;
mod effect;
pub mod enable_ha;
mod event;
mod evolve;
pub mod flags;
mod invariants;
pub mod publication;
pub mod rhythm;
mod spec;
mod state;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::{Command, Report};
pub use effect::Effect;
pub use event::Event;
pub use publication::{Endpoint, Endpoints};
pub use spec::{Rhythm, Seat, Spec};
pub use state::{Phase, State};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::{
    contract::{Decider, Facts, Invariant, NoView, Touches, Verdict},
    vocab::Call,
};

impl Decider for State {
    const KIND: &'static str = "replica-set";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = NoView;

    const INVARIANTS: &'static [Invariant<Self>] = invariants::ALL;

    fn decide(&self, command: &Command, facts: &Facts<'_, Self>) -> Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        evolve::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn calls_for(event: &Event) -> Option<Call> {
        matches!(event, Event::StepBegun { .. }).then_some(Call::Reconfigure)
    }

    fn goes_on_from(&self, event: &Event) -> Touches {
        // Nobody asked for what is seen by the way.
        match (&self.phase, event) {
            (Phase::Settled, Event::Seen { .. }) => Touches::Some(&[]),
            _ => event.touches(),
        }
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        effect::pending(self)
    }
}
