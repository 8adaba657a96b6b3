//! The machines supervisor: compares what providers have with what machines should run.
//!
//! Its own stream holds what it has seen of the world, as changes. What it concludes from them are orders to machines.
//! Nothing is concluded from the absence of an instance unless the list was complete and newer than the instance.

mod asking;
mod decide;
mod deleted;
mod evicting;
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

pub use crate::vocab::{HarvestMode, InvalidHarvestMode};
pub use asking::{Question, Round, answered, questions};
pub use deleted::Deleted;
pub use evicting::going_on;
pub use observe::differences;
pub use state::{
    Change, Command, Effect, Event, Found, Reason, Rejection, Sighting, SightingStatus, State, Unclaimed, Withholding,
};
pub use tally::{Share, Standing, Tally};
pub use view::View;
