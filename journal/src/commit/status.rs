//! What the writer shares with those who hand in: answers, notices, and whether the log has failed.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use crate::{AppendError, Appended, Done, Head};

/// Calls the waiters. A panic over there is not ours: it is caught, so that the others are answered too.
pub(crate) fn answer(done: Done, answer: Result<Appended, AppendError>) {
    if catch_unwind(AssertUnwindSafe(|| done(answer))).is_err() {
        tracing::error!("a caller panicked on the answer to its append");
    }
}

/// Those who want to know of every group.
#[derive(Default)]
pub(crate) struct Notices {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Notice>>,
    /// How many there are, for those who only ask whether.
    count: AtomicUsize,
}

type Notice = Arc<dyn Fn(Head) + Send + Sync>;

impl Notices {
    pub(crate) fn add(&self, notice: Notice) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.lock();
        all.insert(number, notice);
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        number
    }

    /// Whether anybody wants to know.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    pub(crate) fn remove(&self, number: u64) {
        let mut all = self.lock();
        let removed = all.remove(&number);
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        // Released first: a waiter that is let go may end others.
        drop(removed);
    }

    /// Called without the lock held, so that a notice may end itself.
    pub(crate) fn call(&self, head: Head) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        for notice in all {
            if catch_unwind(AssertUnwindSafe(|| notice(head))).is_err() {
                tracing::error!("whoever follows the journal panicked over a notice");
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Notice>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the entries of an append are kept on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// As entries too: somebody follows, and reads them as soon as they are durable.
    Built,
    /// As records only.
    Encoded,
}

/// What the writer shares with those who hand in.
#[derive(Default)]
pub(crate) struct WriterStatus {
    pub(crate) notices: Notices,
    /// Why nothing more is taken, once the log has failed.
    failed: OnceLock<String>,
    pub(crate) groups: AtomicU64,
    /// The head file could not be written: the log is whole, but a cut would no longer be seen.
    pub(crate) head_trouble: AtomicU64,
}

impl WriterStatus {
    pub(crate) fn failure(&self) -> Option<AppendError> {
        self.failed.get().map(|problem| AppendError::Unknown { problem: problem.clone() })
    }

    pub(crate) fn fail(&self, problem: String) -> AppendError {
        tracing::error!(%problem, "the journal failed and accepts no more appends");
        AppendError::Unknown { problem: self.failed.get_or_init(|| problem).clone() }
    }

    /// How appends are kept on their way.
    pub(crate) fn keep(&self) -> Keep {
        if self.notices.any() { Keep::Built } else { Keep::Encoded }
    }
}
