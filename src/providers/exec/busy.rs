//! Which effect ids have a call under way that may change something.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::vocab::EffectId;

/// How many changing calls wait or are under way for each id.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(Arc<Mutex<BTreeMap<EffectId, usize>>>);

/// Keeps ids busy until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    busy: Busy,
    ids: Vec<EffectId>,
}

impl Busy {
    /// These ids are busy from now on.
    pub fn hold(&self, ids: Vec<EffectId>) -> Held {
        let mut counts = self.counts();
        for id in &ids {
            *counts.entry(*id).or_default() += 1;
        }
        Held { busy: self.clone(), ids }
    }

    pub fn holds(&self, id: EffectId) -> bool {
        self.counts().contains_key(&id)
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<EffectId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    pub fn ids(&self) -> &[EffectId] {
        &self.ids
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut counts = self.busy.counts();
        for id in &self.ids {
            if let Some(count) = counts.get_mut(id) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(id);
                }
            }
        }
    }
}
