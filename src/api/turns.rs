//! Questions that read all of history take turns: two at a time, and one of each principal's.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many run at once: each takes a processor as long as it runs.
const AT_ONCE: usize = 2;

/// Who is at work on history, and who waits for that.
#[derive(Debug)]
pub(super) struct Turns {
    all: Arc<Semaphore>,
    each: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>>,
}

/// Somebody's turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_his: OwnedSemaphorePermit,
}

impl Default for Turns {
    fn default() -> Self {
        Self::of(AT_ONCE)
    }
}

impl Turns {
    /// So many at once.
    pub(super) fn of(at_once: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(at_once)), each: Mutex::default() }
    }

    /// Waits for a turn, first come first served. A caller that stops waiting is forgotten. None if the node stops.
    pub(super) async fn take(&self, principal: &Arc<str>) -> Option<Turn> {
        let of_his = self.his(principal).acquire_owned().await.ok()?;
        let of_all = self.all.clone().acquire_owned().await.ok()?;
        Some(Turn { _of_all: of_all, _of_his: of_his })
    }

    fn his(&self, principal: &Arc<str>) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        // Only of those who work or wait: there is no end of principals in time.
        each.retain(|_, his| Arc::strong_count(his) > 1);
        each.entry(principal.clone()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
    }

    /// Nobody gets a turn any more.
    pub(super) fn close(&self) {
        self.all.close();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn each_has_one_turn_at_a_time_and_all_together_two() {
        let (turns, ada, ben, cy) = (Turns::default(), "account:ada".into(), "account:ben".into(), "account:cy".into());
        let first = now(turns.take(&ada)).flatten().expect("a turn");
        assert!(now(turns.take(&ada)).is_none(), "ada works already");
        let second = now(turns.take(&ben)).flatten().expect("a turn");
        assert!(now(turns.take(&cy)).is_none(), "two work already");
        drop(first);
        let third = now(turns.take(&cy)).flatten().expect("a turn");
        assert_eq!(turns.each.lock().unwrap().len(), 2, "ada is forgotten");
        drop((second, third));
        turns.close();
        assert!(now(turns.take(&ada)).expect("an answer at once").is_none(), "the node stops");
    }
}
