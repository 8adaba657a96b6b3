//! Draining a node: its pods leave before its instance goes.
//!
//! ```text
//! idle ─▶ cordoning ─▶ listing ─▶ emptying ─▶ over: done | failed | timed out
//!             │           │                       ▲
//!             └───────────┴─ cannot be done ──────┘
//! ```
//!
//! Its pods are listed after it takes no new ones. While a node is emptied, two things go on side by side:
//! - Pods without volumes leave all at once, each on its own lane: evict, wait while a disruption budget refuses, delete
//!   when the tries are used up, wait for its end.
//! - Pods with volumes leave one after the other, highest priority first, because a volume has to leave the node before
//!   the next one may be asked for; refused ones are asked again in the next round.
//!
//! A forced drain deletes all at once and waits for none. Mirror pods and daemon pods stay always. Every pod reports
//! exactly once, and every wait has an end. Time comes in with the commands only.
//!
//! Source: the drain of Gardener's machine controller, 0.49, without its hang at zero tries and with volume ids compared
//! exactly. Whether a drain whose time is up is done or timed out is a reading (`policy::DeadlineReading`).

mod command;
mod decide;
mod effect;
mod event;
mod evolve;
mod pod;
mod state;

#[cfg(test)]
mod tests;

pub use command::{Answer, Command, Report};
pub use decide::decide;
pub use effect::Effect;
pub use event::Event;
pub use pod::{Budget, Pod, PodOwner, own_volumes};
pub use state::{How, Lane, LaneStep, Outcome, Plan, PodFault, Round, State, Turn};
