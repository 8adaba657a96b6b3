//! Tells those who follow the journal that it has grown.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bailiwick_journal::Position;
use tokio::sync::Notify;

/// How far the journal has got. Waiters for more are woken in the order in which they began to wait: a channel that
/// wakes in an order of chance would make two runs of one simulation differ.
#[derive(Clone, Debug)]
pub struct Growth(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    head: AtomicU64,
    grown: Notify,
}

/// One who follows.
#[derive(Debug)]
pub struct Follower {
    growth: Growth,
    seen: u64,
}

impl Growth {
    pub(super) fn new(head: Position) -> Self {
        Self(Arc::new(Inner { head: AtomicU64::new(head.0), grown: Notify::new() }))
    }

    /// The journal has got as far as this. From any thread.
    pub(super) fn tell(&self, head: Position) {
        self.0.head.store(head.0, Ordering::Release);
        self.0.grown.notify_waiters();
    }

    /// Follows from here on.
    pub fn follow(&self) -> Follower {
        Follower { growth: self.clone(), seen: self.0.head.load(Ordering::Acquire) }
    }
}

impl Follower {
    /// Waits until there is more than was known at the last answer.
    pub async fn grown(&mut self) {
        loop {
            // Before the look: what is told between the two wakes this one.
            let told = self.growth.0.grown.notified();
            let head = self.growth.0.head.load(Ordering::Acquire);
            if head != self.seen {
                self.seen = head;
                return;
            }
            told.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    #[tokio::test]
    async fn followers_are_woken_in_the_order_in_which_they_wait() {
        let tasks = tokio::task::LocalSet::new();
        tasks
            .run_until(async {
                // Given eight who wait
                let (growth, order) = (Growth::new(Position(0)), Rc::new(RefCell::new(Vec::new())));
                let all: Vec<_> = (0..8)
                    .map(|name| {
                        let (mut follower, order) = (growth.follow(), order.clone());
                        tokio::task::spawn_local(async move {
                            follower.grown().await;
                            order.borrow_mut().push(name);
                        })
                    })
                    .collect();
                tokio::task::yield_now().await;
                // When
                growth.tell(Position(1));
                for follower in all {
                    follower.await.unwrap();
                }
                // Then
                assert_eq!(*order.borrow(), [0, 1, 2, 3, 4, 5, 6, 7]);
            })
            .await;
    }

    #[tokio::test]
    async fn what_was_told_before_somebody_waits_is_not_missed() {
        // Given
        let growth = Growth::new(Position(3));
        let mut follower = growth.follow();
        // When
        growth.tell(Position(4));
        // Then it does not wait
        follower.grown().await;
    }
}
