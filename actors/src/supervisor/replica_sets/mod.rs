//! The replica sets supervisor: plans the next step of each set, on what the set has seen and how its machines are.
//!
//! It looks whenever a set, or a machine that has a seat in one, has changed; what the servers themselves say is read by
//! the sets when something was done, and polled in between. It is one actor, so there is one holder of the decision. Its
//! plan is [`peer_group::decide`](crate::supervisor::peer_group::decide); of the plan it orders the first step, and plans
//! anew when that was read back. Before a step that counts on a machine that machine is engaged, and the members hear what
//! their set has seen of them and does with them.

mod engagements;
mod members;
mod plan;
mod publication;
mod rests;
mod state;
mod view;

#[cfg(feature = "shell")]
pub(crate) mod shell;
#[cfg(test)]
mod tests;

pub use plan::{Plan, begins_on, data_lost_condition, plan, snapshot};
pub use state::{Command, Effect, Event, Reason, Rejection, State};
pub use view::View;
