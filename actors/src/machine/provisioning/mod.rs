//! One machine on its way to an instance, and back: where it stands, what it waits for, and what follows from each answer.
//!
//! ```text
//!            ┌───────────── retry, or not wanted now ─────────────┐
//!            ▼                                                    │
//!   pending ───▶ requesting zone ───▶ provisioning ───▶ registering ───▶ running ───▶ stopping ───▶ removing ───▶ complete
//!      │              │                    │                │               └── keep instance ───────▲
//!      │              │                    ▼                ▼                                        │
//!      │              └────────────────▶ error ◀──── rolling back                                    │
//!      └── dead, and never had an instance ──────────────────────────────────────────────────────────┘
//! ```
//!
//! Source: the per-machine worker of Juju's provisioner (4.0); its older task states are a view of it ([`TaskState`]):
//!
//! | phase here | Juju 4.0 worker | Juju 4.0 task | Juju 2016 status |
//! |---|---|---|---|
//! | `Pending` | pending | Pending | pending |
//! | `RequestingZone`, `Provisioning`, `Registering` | the same words | Starting; CancellingStart once it is dead | pending |
//! | `RollingBack` | rolling back | CancellingStart | error |
//! | `Running` | running | Running | started |
//! | `Stopping`, `Removing` | the same words | Stopping | (dead) |
//! | `Complete` | complete | Dead | (removed) |
//! | `Error` | error | Failed | error |
//!
//! What the originals do worse, and this does not: no wait holds up another machine; a retry count of 0 still makes one
//! attempt; a machine that dies while it is started is stopped when the start has ended, from a state and not from a list
//! beside it; an instance that could neither be recorded nor stopped is an orphan with a name, and is stopped again and
//! again; nothing starts for a machine that is dying or dead.

mod command;
mod decide;
mod policy;
mod state;

#[cfg(test)]
mod tests;

pub use command::{Blame, Command, Event, StartFault};
pub use decide::{decide, evolve, pending};
pub use policy::{AfterLostRecord, Policy, RetryOn};
pub use state::{Effect, Phase, Problem, State, TaskState, Trouble, WorkerState};
