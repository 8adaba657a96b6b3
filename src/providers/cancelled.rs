//! Which calls under way nobody wants any more.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::vocab::{EffectId, Fault, FaultCode};
use tokio::sync::Notify;

/// The ids whose calls were cancelled while under way. Works with any runtime, and on virtual time.
#[derive(Debug, Default)]
pub(super) struct Cancelled {
    ids: Mutex<BTreeSet<EffectId>>,
    told: Notify,
}

impl Cancelled {
    /// A call for these ids begins: what was said about earlier ones is over.
    pub(super) fn begin(&self, ids: &BTreeSet<EffectId>) {
        self.ids().retain(|id| !ids.contains(id));
    }

    /// The call under way for this id is not wanted any more.
    pub(super) fn cancel(&self, id: EffectId) {
        self.ids().insert(id);
        self.told.notify_waiters();
    }

    /// Whether it was cancelled since its call began.
    pub(super) fn holds(&self, id: EffectId) -> bool {
        self.ids().contains(&id)
    }

    /// Comes when every one of these ids is cancelled; never for none.
    pub(super) async fn all(&self, ids: &BTreeSet<EffectId>) {
        loop {
            // Registered before looking, so that what comes in between is not missed.
            let told = self.told.notified();
            if !ids.is_empty() && ids.is_subset(&self.ids()) {
                return;
            }
            told.await;
        }
    }

    fn ids(&self) -> MutexGuard<'_, BTreeSet<EffectId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call that was cut short answers: nobody knows how far it got.
pub(super) fn canceled() -> Fault {
    Fault::new(FaultCode::Canceled, "canceled: no longer wanted; it may still take effect")
}
