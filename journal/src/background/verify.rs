//! Reads behind the opening what a checkpoint was trusted for: every full segment, block by block, against the index, and
//! the block store against the whole log. On a thread of its own and slowly, because the work of the node comes first;
//! without threads one segment with every append, and the rest when somebody waits for it.
//!
//! `open/by_checkpoint.rs` tells what is promised. What is damaged in the log is taken from the store, and the store is built
//! anew from the log; both are noted in the journal. What neither has whole fails the journal.

mod verifier;

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

pub(crate) use verifier::Verifier;
use verifier::{Course, GivenUp, Patience};

/// The share of a processor that reading takes: one part in two.
const REST: u32 = 1;
const REST_MAX: Duration = Duration::from_secs(1);
/// How often it is asked whether the store has been opened.
const STORE_WAIT: Duration = Duration::from_millis(20);

/// The reading behind an opening; it ends with the journal.
#[derive(Default)]
pub(crate) struct Verification {
    state: Arc<SharedProgress>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// What is read by an appender, where there are no threads.
    here: Mutex<Option<(Verifier, Course)>>,
}

#[derive(Default)]
struct SharedProgress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hurried: bool,
    ended: bool,
    progress: Progress,
}

/// How far the reading behind an opening is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Everything that was there at the opening has been read and is right.
    #[default]
    Done,
    /// Some of it is still to be read.
    Reading,
    /// It was given up: the journal has failed, or ended before.
    GivenUp,
}

/// Without threads nobody else works at the store.
struct Nobody;

impl Patience for Nobody {
    fn wait(&self) -> bool {
        false
    }
}

impl Verification {
    pub(crate) fn start(&self, verifier: Verifier) -> io::Result<()> {
        self.state.set(Progress::Reading);
        let state = self.state.clone();
        let run = move || state.set(verifier.conclude(run(&verifier, &state)));
        let thread = std::thread::Builder::new().name("journal-verify".into()).spawn(run)?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// Leaves the reading to the caller of [`Verification::step`], or to one that waits.
    pub(crate) fn start_here(&self, verifier: Verifier) {
        self.state.set(Progress::Reading);
        let course = verifier.begin();
        *lock(&self.here) = Some((verifier, course));
    }

    /// Reads one segment more, where there are no threads for it; whether there is more.
    pub(crate) fn step(&self) -> bool {
        // Taken out meanwhile: a note that is appended comes by here again.
        let Some((verifier, mut course)) = lock(&self.here).take() else { return false };
        match verifier.go_on(&mut course, &Nobody) {
            Ok(true) => {
                *lock(&self.here) = Some((verifier, course));
                true
            }
            ended => {
                self.state.set(verifier.conclude(ended.map(drop)));
                false
            }
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        lock(&self.state.state).progress
    }

    /// Waits until everything was read or given up.
    pub(crate) fn wait(&self) -> Progress {
        while self.step() {}
        let state = lock(&self.state.state);
        let waited = self.state.changed.wait_while(state, |state| state.progress == Progress::Reading);
        waited.unwrap_or_else(PoisonError::into_inner).progress
    }

    /// Ends the reading, after so long at the latest; meanwhile it does not rest.
    pub(crate) fn end(&self, patience: Duration) -> Progress {
        while !patience.is_zero() && self.step() {}
        if let Some((verifier, _)) = lock(&self.here).take() {
            self.state.set(verifier.conclude(Err(None)));
        }
        let mut state = lock(&self.state.state);
        state.hurried = true;
        self.state.changed.notify_all();
        let still_reading = |state: &mut State| state.progress == Progress::Reading;
        let waited = self.state.changed.wait_timeout_while(state, patience, still_reading);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended = true;
        self.state.changed.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
        self.progress()
    }
}

/// Reads everything, with a rest after each segment.
fn run(verifier: &Verifier, shared: &SharedProgress) -> Result<(), GivenUp> {
    let mut course = verifier.begin();
    loop {
        let begun = Instant::now();
        if !verifier.go_on(&mut course, shared)? {
            return Ok(());
        }
        if !shared.rest((begun.elapsed() * REST).min(REST_MAX)) {
            return Err(None);
        }
    }
}

impl Drop for Verification {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl SharedProgress {
    /// Rests for so long, unless somebody waits; whether to go on.
    fn rest(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(lock(&self.state), time, |state| !state.ended && !state.hurried);
        !waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn set(&self, progress: Progress) {
        lock(&self.state).progress = progress;
        self.changed.notify_all();
    }
}

impl Patience for SharedProgress {
    fn wait(&self) -> bool {
        let waited = self.changed.wait_timeout_while(lock(&self.state), STORE_WAIT, |state| !state.ended);
        !waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
