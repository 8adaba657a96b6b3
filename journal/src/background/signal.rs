//! How the keeper's thread is called, and what it is told.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::lock;

/// What the keeper's thread is told.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<SignalState>,
    woken: Condvar,
}

#[derive(Default)]
struct SignalState {
    woken: bool,
    /// Whether memory is to be given back.
    release_memory: bool,
    /// Why the store is to be built anew.
    build_anew: Option<String>,
    end: Option<Ending>,
}

impl SignalState {
    fn is_interrupted(&self) -> bool {
        self.release_memory || self.build_anew.is_some() || self.end.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Store everything, make it durable.
    InOrder,
    /// Stop where you are.
    AtOnce,
}

impl Signal {
    /// Says that there are new blocks.
    pub(crate) fn wake(&self) {
        let mut state = lock(&self.state);
        if !state.woken {
            state.woken = true;
            drop(state);
            self.woken.notify_one();
        }
    }

    /// Asks for memory to be given back.
    pub(crate) fn release_memory(&self) {
        let mut state = lock(&self.state);
        state.release_memory = true;
        state.woken = true;
        drop(state);
        self.woken.notify_one();
    }

    /// Asks for the store to be built anew.
    pub(crate) fn build_anew(&self, problem: String) {
        let mut state = lock(&self.state);
        state.build_anew = Some(problem);
        state.woken = true;
        drop(state);
        self.woken.notify_one();
    }

    /// Waits for so long, or until something else is asked for than new blocks.
    pub(super) fn is_interrupted_within(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let waited = self.woken.wait_timeout_while(state, time, |state| !state.is_interrupted());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let called = state.is_interrupted();
        // What was rung for since is being stored; but the thread that is called comes back for it.
        state.woken = called;
        called
    }

    pub(super) fn take_release_memory(&self) -> bool {
        std::mem::take(&mut lock(&self.state).release_memory)
    }

    pub(super) fn take_build_anew(&self) -> Option<String> {
        lock(&self.state).build_anew.take()
    }

    pub(crate) fn end(&self, how: Ending) {
        lock(&self.state).end = Some(how);
        self.woken.notify_one();
    }

    /// Whether the end was asked for.
    pub(super) fn is_ended(&self) -> bool {
        lock(&self.state).end.is_some()
    }

    /// Waits until there is something to do; answers with the end, if it was asked for.
    pub(super) fn wait(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        while !state.woken && state.end.is_none() {
            state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.woken = false;
        state.end
    }
}
