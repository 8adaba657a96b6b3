//! A lock that a thread holds once at a time.
//!
//! A second reader waits for a writer who came in between, and that writer waits for the first read to end:
//! for ever. Builds with debug assertions panic where a thread takes it twice, whether or not a writer is there.

use std::{
    ops::{Deref, DerefMut},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

#[derive(Debug, Default)]
pub(crate) struct HeldOnce<T> {
    lock: RwLock<T>,
}

/// What is held, until it is dropped.
pub(crate) struct Held<G> {
    guard: G,
    _mark: Mark,
}

impl<T> HeldOnce<T> {
    pub(crate) fn new(content: T) -> Self {
        Self { lock: RwLock::new(content) }
    }

    pub(crate) fn read(&self) -> Held<RwLockReadGuard<'_, T>> {
        let mark = Mark::set(self.address());
        Held { guard: self.lock.read().unwrap_or_else(PoisonError::into_inner), _mark: mark }
    }

    pub(crate) fn write(&self) -> Held<RwLockWriteGuard<'_, T>> {
        let mark = Mark::set(self.address());
        Held { guard: self.lock.write().unwrap_or_else(PoisonError::into_inner), _mark: mark }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.lock).addr()
    }
}

impl<G: Deref> Deref for Held<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Held<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

#[cfg(not(debug_assertions))]
struct Mark;

#[cfg(not(debug_assertions))]
impl Mark {
    fn set(_lock: usize) -> Self {
        Self
    }
}

/// That this thread holds a lock.
#[cfg(debug_assertions)]
struct Mark {
    lock: usize,
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(debug_assertions)]
impl Mark {
    fn set(lock: usize) -> Self {
        HELD.with_borrow_mut(|held| {
            assert!(!held.contains(&lock), "this thread holds the lock already, and may wait for itself");
            held.push(lock);
        });
        Self { lock }
    }
}

#[cfg(debug_assertions)]
impl Drop for Mark {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.retain(|lock| *lock != self.lock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_taken_again_once_it_was_let_go_of() {
        let lock = HeldOnce::new(1);
        *lock.write() += *HeldOnce::new(1).read();
        assert_eq!(*lock.read(), 2);
    }

    #[test]
    #[should_panic(expected = "may wait for itself")]
    fn a_thread_that_takes_it_twice_is_found_out() {
        let lock = HeldOnce::new(1);
        let first = lock.read();
        assert_eq!(*first, *lock.read());
    }
}
