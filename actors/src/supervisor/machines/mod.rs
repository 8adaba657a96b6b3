//! The machines supervisor: compares what providers have with what machines should run.
//!
//! Its own stream holds what it has seen of the world, as changes. What it concludes from them are orders to machines.
//! Nothing is concluded from the absence of an instance unless the list was complete and newer than the instance.

mod asking;
mod decide;
mod deleted;
mod evicting;
mod facts;
pub mod harvest;
mod observe;
mod placement;
mod preparing;
mod remedy;
mod rests;
mod seen;
pub mod starting;
mod state;
mod tally;
mod view;
pub mod zones;

#[cfg(feature = "shell")]
pub(crate) mod shell;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use bailiwick_journal::Version;

pub use crate::vocab::{HarvestMode, InvalidHarvestMode};
pub use asking::{Question, Round, answered, questions};
pub use deleted::Deleted;
pub use evicting::going_on;
pub use observe::differences;
#[cfg(feature = "shell")]
pub use shell::{AgentReport, Heartbeat, PROVIDER, Unseen};
pub use state::{
    Change, Command, Effect, Event, Found, Reason, Rejection, Sighting, SightingStatus, State, Unclaimed, Withholding,
};
pub use tally::{Share, Standing, Tally};
pub use view::View;

use crate::{
    contract::{self, Decider, Touches},
    vocab::Call,
};

impl Decider for State {
    const KIND: &'static str = "supervisor";
    type Command = Command;
    type Event = Event;
    type Reason = Reason;
    type Rejection = Rejection;
    type Effect = Effect;
    type View = View;

    fn decide(&self, command: &Command, facts: &facts::Facts<'_>) -> contract::Verdict<Self> {
        decide::decide(self, command, facts)
    }

    fn evolve(&mut self, at: Version, event: &Event) {
        self.take(at, event);
    }

    fn touches(_event: &Event) -> Touches {
        Touches::Some(&[])
    }

    fn calls_for(event: &Event) -> Option<Call> {
        match event {
            Event::Issued { order, .. } => order.calls_for(),
            _ => None,
        }
    }

    fn pending(&self, view: &View) -> BTreeSet<Effect> {
        view.orders.open().map(|(command, _)| Effect::Send { command: *command }).collect()
    }
}
