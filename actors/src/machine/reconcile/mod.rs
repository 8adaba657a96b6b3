//! A machine's whole life, reconciled: what Gardener's machine controller does to one machine, pass by pass.
//!
//! A machine is four small states side by side, each moving on its own; Gardener's phase and last operation are a view of
//! them (`phase.rs`). Read from the top, the first line that fits is the phase:
//!
//! | removal | instance | health | phase |
//! |---|---|---|---|
//! | under way | | | Terminating |
//! | none | failing | | CrashLoopBackOff |
//! | none | given up | | Failed |
//! | none | | given up | Failed |
//! | none | | suspect | Unknown |
//! | none | | well | Running |
//! | none | joining | unjudged | Pending |
//! | none | alone | unjudged | Available |
//! | none | none, joined | unjudged | blank |
//!
//! ```text
//! life       wanted ─▶ unwanted ─▶ gone
//! instance   none ─▶ joining ─▶ joined          failing: making it failed, and is tried again
//!              └▶ failing ─▶ given up            given up: too old for that, or it never joined
//! health     unjudged ─▶ well ◀─▶ suspect ─▶ given up
//! removal    none ─▶ get VM status ─▶ drain ─▶ delete VM ─▶ delete node ─▶ let go
//!                          └────── VM is gone ──────────────▲
//! ```
//!
//! The last operation is the kind and state of the latest attempt; its next step is the step of the removal.
//!
//! **One pass.** [`Command::Reconcile`] carries all that was seen: class, node, secret, budget. `decide` takes every step
//! that needs nobody's answer and ends the pass with an armed wake-up, or owes the world one thing and waits for its
//! report; the report goes on where the pass stopped. A pass that was cut short by a crash still owes that thing, so
//! nothing has to be remembered elsewhere. Whoever holds the machine asks for the next pass when the wake-up is due, or
//! when something of note has changed.
//!
//! | file | what |
//! |---|---|
//! | `state.rs` | the four states, and what is kept beside them |
//! | `phase.rs` | Gardener's view |
//! | `seen.rs` | what a pass has seen |
//! | `pass.rs` | a whole pass: what is looked at, in which order |
//! | `creation.rs`, `health.rs`, `sync.rs`, `removal.rs` | the parts of a pass |
//!
//! Errors of the store have no place here: a decision that cannot be journaled has not happened.

mod command;
mod creation;
mod decide;
mod effect;
mod event;
mod evolve;
mod health;
mod pass;
mod phase;
mod removal;
mod seen;
mod state;
mod sync;
mod verdict;

#[cfg(test)]
mod tests;

pub use command::{Answered, CallError, Command, Created, Found, Report, Scope};
pub use decide::{Decision, Facts, decide};
pub use effect::Effect;
pub use event::Event;
pub use phase::{LastOperation, last_operation, phase};
pub use seen::{NodeSeen, Seen};
pub use state::{
    Cleanup, Health, Import, Instance, Life, Operation, OperationKind, OperationState, Pass, Record, RemovalStep,
    Removing, State, Step,
};
pub use verdict::{Outcome, Reason, Rejection, Retry};
