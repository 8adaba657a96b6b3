//! Machine sets: so many machines of one kind, kept at that number.
//!
//! One pass of a set: machines that were given up are told to go, then what is missing is made or what is too much is told
//! to go, in the same pass.
//!
//! | file | what |
//! |---|---|
//! | `member.rs` | what a set knows about a machine; who counts |
//! | `rank.rs` | who goes first |
//! | `slow_start.rs` | how many are made at once |
//! | `plan.rs` | what a pass has to do |
//! | `pass.rs` | the pass: state, events, effects |
//! | `hold.rs` | when an operator has it leave its number alone |
//! | `freeze.rs` | when it has too many to make more |
//! | `status.rs` | what a set tells about itself |
//! | `spec.rs` `command.rs` `event.rs` `state.rs` `decide.rs` `verdict.rs` | the entity, whose passes these are |
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ dying (its machines go) ─▶ removed ─▶ (declared again) alive
//!
//! pass    at rest ─▶ machines that were given up are told to go ─▶ one, two, four … are made ─▶ at rest
//!            ▲                                                 └─▶ or some are told to go ──────▶ │
//!            └── due ◀── resting ◀── something of the pass was refused ◀───────────────────────────┘
//! ```
//!
//! The entity owns the pass and the names; what its machines are, the supervisor sees (`supervisor/machine_sets`): it plans
//! the next pass, carries it out by orders to the machines, and reports. A machine belongs to a set by its own `set`, which
//! cannot change; nobody is taken over by labels.
//!
//! Source: the machine sets of Gardener's machine controller, 0.49. A machine counts as going only when its removal was
//! accepted; there it was hidden from every count even if nobody had been told.

mod command;
mod decide;
mod event;
mod freeze;
mod hold;
mod invariants;
mod member;
pub mod pass;
mod pass_end;
mod plan;
mod rank;
mod slow_start;
mod spec;
mod state;
mod status;
mod verdict;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use command::Command;
pub use event::Event;
pub use freeze::{Bound, Frozen, is_worth_telling};
pub use hold::Hold;
pub use member::{Member, SetSeen};
pub use plan::{BURST_MAX, Change, Plan, plan};
pub use rank::{pick, ranked};
pub use slow_start::SlowStart;
pub use spec::Spec;
pub use state::{Effect, State};
pub use status::{Status, status};
pub use verdict::{Reason, Rejection};

pub use crate::vocab::FailureReason;

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, Invariant, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "machine-set";
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
        state::evolve(self, at, event);
    }

    fn touches(event: &Event) -> Touches {
        event.touches()
    }

    fn goes_on_from(&self, event: &Event) -> Touches {
        event.follows()
    }

    fn pending(&self, _view: &NoView) -> BTreeSet<Effect> {
        let held_until = self.hold.as_ref().and_then(|hold| hold.until);
        self.rests_until.into_iter().chain(held_until).map(Effect::WakeAt).collect()
    }
}
