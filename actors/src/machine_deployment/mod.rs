//! Machine deployments: machine sets of one template after another, each taking over from the one before it.
//!
//! A deployment has one set for each template that it ever had and still remembers. A pass looks at how many machines its sets
//! have, and decides which of them grow and which shrink, never with more machines than the surge allows, and never with fewer
//! available ones than may be missing.
//!
//! | file | what |
//! |---|---|
//! | `bounds.rs` | what a strategy comes to for a number of machines |
//! | `owned.rs` | what a deployment knows about a set; which is the new one |
//! | `rolling.rs` | one step of a rolling update, and of a recreation |
//! | `scale.rs` | another size in the middle of a rollout |
//! | `windows.rs` | when it may replace machines that work |
//! | `progress.rs` | whether it gets on, and what it tells about itself |
//! | `pass.rs` | the pass: which rule holds when |
//! | `spec.rs` `command.rs` `event.rs` `state.rs` `decide.rs` `verdict.rs` | the entity, whose passes these are |
//!
//! ```text
//! life    undeclared ─▶ alive ─▶ dying (its sets go) ─▶ removed ─▶ (declared again) alive
//!
//! pass    counts differ, or its declaration, or something is due
//!           ─▶ paused, or another size: its sets are scaled
//!           ─▶ rolling: the new set grows, or old ones shrink, or nothing is left to do: old empty sets go
//!           ─▶ recreated: old sets shrink to nothing, and only then the new one is made
//!           ─▶ outside its windows: nothing of both, but what is missing of its number is made
//! ```
//!
//! The entity owns the sizes of its sets; the machines are counted, and the sizes carried out, by the machine sets supervisor
//! (`supervisor/machine_sets/deployments.rs`). A set belongs to a deployment by its own `deployment`, so it has one owner.
//!
//! Source: the machine deployments of Gardener's machine controller, 0.49, which come from those of Kubernetes. There, a pass
//! counts the machines that sets have; here, a set that is yet to make machines counts as having them, and one that is yet to
//! tell some to go as not having them. Otherwise two passes in a row would both make use of the same room.

mod bounds;
mod command;
mod decide;
mod event;
mod invariants;
mod owned;
mod pass;
mod progress;
mod rolling;
mod scale;
mod spec;
mod standing;
mod state;
mod verdict;
mod windows;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use bounds::{Bounds, bounds, fenceposts};
pub use command::Command;
pub use event::Event;
pub use owned::{Counts, Found, OwnedSet, active_or_latest, find, last_revision, max_revision};
pub use progress::{
    Condition, Progress, ProgressReason, Status, Totals, is_complete, is_progressing, is_timed_out, status, totals,
};
pub use rolling::{Size, new_size, recreate, restored_size, rolling, to_clean};
pub use scale::{is_saturated, scale};
pub use spec::{Amount, BadAmount, RollingUpdate, Spec, Strategy};
pub use state::{Effect, State};
pub use verdict::{Reason, Rejection};

use std::collections::BTreeSet;

use bailiwick_journal::Version;

use crate::contract::{Decider, Facts, Invariant, NoView, Touches, Verdict};

impl Decider for State {
    const KIND: &'static str = "machine-deployment";
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
        self.due().into_iter().map(Effect::WakeAt).collect()
    }
}
