//! One change at a time per effect id.
//!
//! A caller may drop a call and ask "is it there?" while the dropped call still works. So every change is announced the
//! moment it is asked for, and until it has ended the answer to that question is "unknown".

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use bailiwick_actors::vocab::EffectId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The effect ids that somebody works with now.
#[derive(Debug, Default)]
pub struct Keys {
    keys: Mutex<KnownKeys>,
}

#[derive(Debug, Default)]
struct KnownKeys {
    by_id: BTreeMap<EffectId, Weak<Key>>,
    /// When the map has grown to this, keys that nobody holds are dropped.
    tidy_at: usize,
}

/// One effect id.
#[derive(Debug, Default)]
pub struct Key {
    turn: Arc<Turn<()>>,
    changes: AtomicUsize,
}

/// A change that has been asked for and has not ended.
#[derive(Debug)]
pub struct Change(Arc<Key>);

/// The turn at one effect id, until dropped.
#[derive(Debug)]
pub struct Held {
    _guard: OwnedMutexGuard<()>,
    _key: Arc<Key>,
}

impl Keys {
    /// Says that a change of this id begins, now.
    pub fn announce(&self, id: EffectId) -> Change {
        let key = self.of(id);
        key.changes.fetch_add(1, Ordering::SeqCst);
        Change(key)
    }

    /// The turn at this id for looking at it; none while a change is under way or waits.
    pub async fn look(&self, id: EffectId) -> Option<Held> {
        let key = self.of(id);
        if key.is_changing() {
            return None;
        }
        let held = key.clone().turn().await;
        (!key.is_changing()).then_some(held)
    }

    /// As [`look`](Self::look), and none if anybody else is at it, be it only to look.
    pub fn try_look(&self, id: EffectId) -> Option<Held> {
        let key = self.of(id);
        let guard = key.turn.clone().try_lock_owned().ok()?;
        (!key.is_changing()).then_some(Held { _guard: guard, _key: key })
    }

    /// The turn at this id, without a change being announced.
    pub async fn turn(&self, id: EffectId) -> Held {
        self.of(id).turn().await
    }

    /// The same on a thread that may block.
    pub fn blocking_turn(&self, id: EffectId) -> Held {
        let key = self.of(id);
        Held { _guard: key.turn.clone().blocking_lock_owned(), _key: key }
    }

    fn of(&self, id: EffectId) -> Arc<Key> {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.by_id.get(&id).and_then(Weak::upgrade) {
            return key;
        }
        if known.tidy_at <= known.by_id.len() {
            known.by_id.retain(|_, key| 0 < key.strong_count());
            known.tidy_at = (2 * known.by_id.len()).max(64);
        }
        let key = Arc::new(Key::default());
        known.by_id.insert(id, Arc::downgrade(&key));
        key
    }
}

impl Key {
    fn is_changing(&self) -> bool {
        0 < self.changes.load(Ordering::SeqCst)
    }

    async fn turn(self: Arc<Self>) -> Held {
        Held { _guard: self.turn.clone().lock_owned().await, _key: self }
    }
}

impl Change {
    /// Waits until earlier calls for this id have ended.
    pub async fn turn(&self) -> Held {
        self.0.clone().turn().await
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        self.0.changes.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> EffectId {
        EffectId(uuid::Uuid::from_u128(n))
    }

    #[tokio::test]
    async fn an_announced_change_hides_its_id_until_it_ends() {
        let keys = Keys::default();
        let change = keys.announce(id(1));
        assert!(keys.look(id(1)).await.is_none());
        assert!(keys.try_look(id(1)).is_none());
        assert!(keys.look(id(2)).await.is_some());
        drop(change);
        assert!(keys.look(id(1)).await.is_some());
    }

    #[test]
    fn ids_that_nobody_works_with_are_forgotten() {
        let keys = Keys::default();
        let kept = keys.announce(id(0));
        for n in 1..10_000 {
            keys.announce(id(n));
        }
        assert!(keys.keys.lock().unwrap().by_id.len() <= 128);
        assert!(keys.try_look(id(0)).is_none());
        drop(kept);
    }
}
