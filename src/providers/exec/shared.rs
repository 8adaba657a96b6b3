//! What a provider and the thread of its process have in common.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bailiwick_actors::{
    ports::Progress,
    vocab::{EffectId, Fault, Zone},
};
use tokio::sync::oneshot;

use super::{
    busy::Busy,
    table::Call,
    trouble::Trouble,
    wire::{Hello, Nature},
};

/// What the provider asks its thread for.
#[derive(Debug)]
pub(super) enum Order {
    Call(Call),
    Cancel(EffectId),
    /// What the process has said about itself.
    Hello(oneshot::Sender<Result<Hello, Fault>>),
}

impl Order {
    /// There is no process that could do it.
    pub fn refuse(self, trouble: &Trouble) {
        match self {
            Self::Call(call) => call.refuse(trouble),
            Self::Cancel(_) => (),
            Self::Hello(answer) => drop(answer.send(Err(trouble.not_begun(Nature::Lists)))),
        }
    }
}

/// What both sides look at.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub busy: Busy,
    pid: Mutex<Option<u32>>,
    progress: Mutex<BTreeMap<EffectId, Progress>>,
    zones: Mutex<BTreeSet<Zone>>,
    can_release: Mutex<Option<bool>>,
}

impl Shared {
    pub fn pid(&self) -> Option<u32> {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_pid(&self, pid: Option<u32>) {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }

    pub fn progress(&self, id: EffectId) -> Option<Progress> {
        self.all_progress().get(&id).cloned()
    }

    /// The zones that were told with the last list.
    pub fn zones(&self) -> BTreeSet<Zone> {
        self.zones.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn take_zones(&self, zones: BTreeSet<Zone>) {
        *self.zones.lock().unwrap_or_else(PoisonError::into_inner) = zones;
    }

    /// Whether it lets go of storage, as far as it has said so.
    pub fn can_release(&self) -> Option<bool> {
        *self.can_release.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_can_release(&self, can: Option<bool>) {
        *self.can_release.lock().unwrap_or_else(PoisonError::into_inner) = can;
    }

    pub fn all_progress(&self) -> MutexGuard<'_, BTreeMap<EffectId, Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
