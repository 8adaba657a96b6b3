//! The bounded queue between those who append and the commit thread.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::{
    AppendError, QueueLimits,
    commit::request::{Batch, Request},
};

/// A group takes no further append once it would have more bytes than this.
const GROUP_BYTES: usize = 512 * 1024;

pub(crate) struct Queue {
    limits: QueueLimits,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    /// What goes to the disk together stands together already: an appender puts its records where they belong.
    waiting: VecDeque<Batch>,
    appends: usize,
    bytes: usize,
    /// How long the records of the last group were that was taken: the next one may become as long.
    last_bytes: usize,
    closed: bool,
    /// Whether the commit thread waits to be woken: waking is a call of the system, and mostly nobody waits.
    asleep: bool,
}

impl State {
    /// Puts a request into the last group, if it has room, and hands back the memory of its records.
    fn push(&mut self, request: Request) -> Vec<u8> {
        self.appends += 1;
        self.bytes += request.bytes();
        match self.waiting.back_mut() {
            Some(last) if last.bytes() + request.bytes() <= GROUP_BYTES => last.push(request),
            _ => {
                let mut batch = Batch::with_room(self.last_bytes.max(request.bytes()));
                let records = batch.push(request);
                self.waiting.push_back(batch);
                records
            }
        }
    }
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self { limits, state: Mutex::default(), filled: Condvar::new() }
    }

    /// Puts a request at the end, or gives it back with the reason why not.
    pub(crate) fn push(&self, request: Request) -> Result<(), Box<(Request, AppendError)>> {
        let mut state = self.lock();
        if state.closed {
            return Err(Box::new((request, AppendError::Closed)));
        }
        let waiting = state.appends;
        let too_many = waiting >= self.limits.appends_max;
        let too_much = waiting > 0 && state.bytes + request.bytes() > self.limits.bytes_max;
        if too_many || too_much {
            return Err(Box::new((request, AppendError::Overloaded { waiting })));
        }
        let records = state.push(request);
        let wake = std::mem::take(&mut state.asleep);
        drop(state);
        drop(records);
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits for something and takes all that waits, up to the size of a group; none once closed and empty.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            if let Some(batch) = state.waiting.pop_front() {
                state.appends -= batch.requests.len();
                state.bytes -= batch.bytes();
                state.last_bytes = batch.bytes();
                return Some(batch);
            }
            if state.closed {
                return None;
            }
            state.asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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
        (state.appends, state.bytes) = (0, 0);
        let waiting = state.waiting.drain(..).flat_map(|batch| batch.requests).collect();
        drop(state);
        self.filled.notify_all();
        waiting
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lock().appends
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
