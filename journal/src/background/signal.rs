//! How the keeper's thread is called, and what it is told.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::lock;

/// What the keeper's thread is told.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<BellState>,
    rung: Condvar,
}

#[derive(Default)]
struct BellState {
    rung: bool,
    /// Whether memory is to be given back.
    freshen: bool,
    /// Why the store is to be built anew.
    build_anew: Option<String>,
    end: Option<Ending>,
}

impl BellState {
    fn is_called(&self) -> bool {
        self.freshen || self.build_anew.is_some() || self.end.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Store everything, make it durable.
    InOrder,
    /// Stop where you are.
    AtOnce,
}

impl Bell {
    /// Says that there are new blocks.
    pub(crate) fn ring(&self) {
        let mut state = lock(&self.state);
        if !state.rung {
            state.rung = true;
            drop(state);
            self.rung.notify_one();
        }
    }

    /// Asks for memory to be given back.
    pub(crate) fn freshen(&self) {
        let mut state = lock(&self.state);
        state.freshen = true;
        state.rung = true;
        drop(state);
        self.rung.notify_one();
    }

    /// Asks for the store to be built anew.
    pub(crate) fn build_anew(&self, problem: String) {
        let mut state = lock(&self.state);
        state.build_anew = Some(problem);
        state.rung = true;
        drop(state);
        self.rung.notify_one();
    }

    /// Waits for so long, or until something else is asked for than new blocks.
    pub(super) fn is_called_within(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let waited = self.rung.wait_timeout_while(state, time, |state| !state.is_called());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let called = state.is_called();
        // What was rung for since is being stored; but whoever is called comes back for it.
        state.rung = called;
        called
    }

    pub(super) fn take_freshen(&self) -> bool {
        std::mem::take(&mut lock(&self.state).freshen)
    }

    pub(super) fn take_build_anew(&self) -> Option<String> {
        lock(&self.state).build_anew.take()
    }

    pub(crate) fn end(&self, how: Ending) {
        lock(&self.state).end = Some(how);
        self.rung.notify_one();
    }

    /// Whether the end was asked for.
    pub(super) fn is_ended(&self) -> bool {
        lock(&self.state).end.is_some()
    }

    /// Waits until there is something to do; answers with the end, if it was asked for.
    pub(super) fn wait(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        while !state.rung && state.end.is_none() {
            state = self.rung.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.rung = false;
        state.end
    }
}
