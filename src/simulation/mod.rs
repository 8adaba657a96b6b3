//! The whole node on one thread, on virtual time, in a simulated world.
//!
//! There is no second engine: the node is put together by the same [`assemble`](bailiwick_actors::shell::assemble) as the
//! real one. What differs is the clock ([`SimulatedClock`]), the journal's disk, and the provider
//! ([`SimulatedProvider`](crate::providers::simulated::SimulatedProvider)). One seed gives one history, byte for byte.
//!
//! A crash is exact: at the chosen moment disk and world are kept as they are, whatever the doomed node still does is
//! lost, and another node starts over what was kept.

mod agents;
mod clock;
mod crash;
mod devices;
mod ending;
mod engine;
mod history;
mod observer;
mod report;
mod scenario;
mod script;
mod sets;
mod storage;
mod story;

pub use clock::SimulatedClock;
pub use crash::{CrashAt, CrashKind};
pub use devices::Devices;
pub use ending::Ends;
pub(crate) use engine::add;
pub use engine::{Beginning, Simulation, SimulationError};
pub use history::HistoryInvariant;
pub use observer::{Awaited, Observer};
pub use report::Report;
pub use scenario::{
    CrashLine, EventLine, Expectations, For, HoldLine, OfZone, Options, RemovalLine, Scenario, ScenarioError,
    ScenarioFile, StrayLine, read, simulation,
};
pub use script::{DiskSpace, Happening, Planned, commands_for};
pub use sets::KnownSet;
pub use story::{StoryLine, tell};
