//! The bounded queue between those who append and the commit thread.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::{AppendError, request::Request};

/// A group takes no further append once it would have more bytes than this.
const GROUP_BYTES: usize = 512 * 1024;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    pub appends_max: usize,
    /// Encoded bytes; one append always fits.
    pub bytes_max: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { appends_max: 8192, bytes_max: 64 * 1024 * 1024 }
    }
}

pub(crate) struct Queue {
    limits: QueueLimits,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Request>,
    bytes: usize,
    closed: bool,
    /// Whether the commit thread waits to be woken: waking is a call of the system, and mostly nobody waits.
    asleep: bool,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self { limits, state: Mutex::default(), filled: Condvar::new() }
    }

    /// Puts a request at the end, or gives it back with the reason why not.
    pub(crate) fn push(&self, request: Request) -> Result<(), (Request, AppendError)> {
        let mut state = self.lock();
        if state.closed {
            return Err((request, AppendError::Closed));
        }
        let waiting = state.waiting.len();
        let too_many = waiting >= self.limits.appends_max;
        let too_much = waiting > 0 && state.bytes + request.bytes() > self.limits.bytes_max;
        if too_many || too_much {
            return Err((request, AppendError::Overloaded { waiting }));
        }
        state.bytes += request.bytes();
        state.waiting.push_back(request);
        let wake = std::mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits for something and takes all that waits, up to the size of a group; none once closed and empty.
    pub(crate) fn take(&self) -> Option<Vec<Request>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state.asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut count = 0;
        let mut bytes = 0;
        while let Some(request) = state.waiting.get(count)
            && (count == 0 || bytes + request.bytes() <= GROUP_BYTES)
        {
            bytes += request.bytes();
            count += 1;
        }
        state.bytes -= bytes;
        Some(state.waiting.drain(..count).collect())
    }

    /// Nothing more is taken in; what waits is still given out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }

    /// As [`Queue::close`], and what waits is given back.
    pub(crate) fn abandon(&self) -> Vec<Request> {
        let mut state = self.lock();
        state.closed = true;
        state.bytes = 0;
        let waiting = state.waiting.drain(..).collect();
        drop(state);
        self.filled.notify_all();
        waiting
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
