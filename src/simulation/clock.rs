//! Virtual time that can be made to jump.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bailiwick_actors::{ports::Clock, vocab::Timestamp};
use tokio::time::Instant;

/// The wall clock of a simulation: it begins at a fixed moment, goes on with the runtime's virtual time, and survives a
/// crash of the node. It can be set forward and back; as every [`Clock`] it answers with a time that never goes back.
#[derive(Debug)]
pub struct SimulatedClock(Mutex<State>);

#[derive(Debug)]
struct State {
    epoch_ms: u64,
    /// What went by in earlier runs of the node.
    before_ms: u64,
    /// When this run began; none between two runs.
    began: Option<Instant>,
    jumped_ms: i64,
    /// The last answer, and what had gone by then.
    last: (u64, u64),
}

impl SimulatedClock {
    /// A clock that stands at `epoch` until a run begins.
    pub fn new(epoch: Timestamp) -> Self {
        Self(Mutex::new(State { epoch_ms: epoch.0, before_ms: 0, began: None, jumped_ms: 0, last: (epoch.0, 0) }))
    }

    /// A run begins; to be called inside its runtime.
    pub(super) fn begin(&self) {
        self.state().began = Some(Instant::now());
    }

    /// The run ends, or crashes; to be called inside its runtime.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.before_ms = state.elapsed_ms();
        state.began = None;
    }

    /// What has gone by since the simulation began, jumps left out.
    pub fn elapsed_ms(&self) -> u64 {
        self.state().elapsed_ms()
    }

    /// Somebody sets the wall clock.
    pub fn jump(&self, by_ms: i64) {
        self.state().jumped_ms += by_ms;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn elapsed_ms(&self) -> u64 {
        let this_run = self.began.map_or(0, |began| began.elapsed().as_millis());
        self.before_ms + u64::try_from(this_run).unwrap_or(u64::MAX)
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let mut state = self.state();
        let elapsed_ms = state.elapsed_ms();
        let wall_ms = (state.epoch_ms + elapsed_ms).saturating_add_signed(state.jumped_ms);
        let (last_ms, last_elapsed_ms) = state.last;
        let now_ms = wall_ms.max(last_ms + elapsed_ms.saturating_sub(last_elapsed_ms));
        state.last = (now_ms, elapsed_ms);
        Timestamp(now_ms)
    }
}
