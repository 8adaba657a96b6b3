//! From history to live, without gap or repeat.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{Entry, Filter, Journal, Position, ReadError, Subscription};

/// Reads a journal in order, and goes on as it grows.
///
/// It holds a position and nothing else: whatever lies behind that is read from the journal, so nothing can be missed
/// however slow the follower is. An async reader uses [`Journal::on_append`] to wake itself and
/// [`Follower::next_batch`] to read.
#[derive(Debug)]
pub struct Follower {
    journal: Arc<dyn Journal>,
    next: Position,
    grown: Arc<Grown>,
    _subscription: Subscription,
}

#[derive(Debug, Default)]
struct Grown {
    head: Mutex<Position>,
    changed: Condvar,
}

impl Follower {
    /// Begins at `from`; 0 and 1 are the beginning.
    pub fn new(journal: Arc<dyn Journal>, from: Position) -> Self {
        let grown = Arc::new(Grown::default());
        let noticed = grown.clone();
        let subscription = journal.on_append(Box::new(move |head| noticed.reach(head.position)));
        // What came before the subscription is known by looking, once.
        grown.reach(journal.head().position);
        Self { journal, next: from.max(Position(1)), grown, _subscription: subscription }
    }

    /// The next entries, at most `max`; empty if there are none yet. Does not wait.
    ///
    /// # Errors
    /// If an entry cannot be read; the follower stays where it is.
    pub fn next_batch(&mut self, max: usize) -> Result<Vec<Arc<Entry>>, ReadError> {
        let head = self.journal.head().position;
        if max == 0 || head < self.next {
            return Ok(Vec::new());
        }
        let to = head.min(Position(self.next.0.saturating_add(max as u64 - 1)));
        let batch: Vec<Arc<Entry>> = self.journal.read(self.next, to, &Filter::all()).collect::<Result<_, _>>()?;
        if let Some(last) = batch.last() {
            self.next = last.header.position.next();
        }
        Ok(batch)
    }

    /// Waits until there is something to read; false if there is nothing after `timeout`. Not for use inside an async
    /// runtime.
    pub fn wait(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut head = self.grown.lock();
        while *head < self.next {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.grown.changed.wait_timeout(head, left);
            head = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// The position that is read next.
    pub fn position(&self) -> Position {
        self.next
    }
}

impl Grown {
    fn reach(&self, position: Position) {
        let mut head = self.lock();
        *head = (*head).max(position);
        drop(head);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Position> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
