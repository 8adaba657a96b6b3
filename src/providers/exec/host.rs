//! Keeps a process running: one after the other, with pauses that grow.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bailiwick_actors::{
    ports::Progress,
    vocab::{EffectId, Fault, Zone},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};
use tracing::warn;

use super::{
    ExecConfig,
    busy::Busy,
    process::end_predecessor,
    session::{self, Ended},
    table::Call,
    trouble::Trouble,
    wire::{Hello, Nature},
};
use crate::providers::known::KnownSecrets;

/// What the provider asks its thread for.
#[derive(Debug)]
pub(super) enum Order {
    Call(Call),
    Cancel(EffectId),
    /// What the process has said about itself.
    Hello(oneshot::Sender<Result<Hello, Fault>>),
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

/// Serves until nobody can ask any more.
pub(super) async fn run(
    config: ExecConfig,
    shared: Arc<Shared>,
    known: KnownSecrets,
    mut inbox: mpsc::Receiver<Order>,
) {
    let limits = config.limits;
    let mut pause = limits.pause_first;
    loop {
        let begun = Instant::now();
        let ended = match end_predecessor(&config).await {
            Ok(()) => session::serve(&config, &shared, &known, &mut inbox).await,
            Err(error) => Ended::Broken(Trouble::CannotStart(error.to_string())),
        };
        shared.set_pid(None);
        shared.all_progress().clear();
        let Ended::Broken(trouble) = ended else { return };
        if limits.recovered_after <= begun.elapsed() {
            pause = limits.pause_first;
        }
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        warn!(provider = %config.name, pause_ms, "{trouble}; restarting it");
        if !refuse_for(pause, &trouble, &mut inbox).await {
            return;
        }
        pause = (pause * 2).min(limits.pause_max);
    }
}

/// Answers that the provider is not there, for a while; says whether anybody can still ask.
async fn refuse_for(pause: Duration, trouble: &Trouble, inbox: &mut mpsc::Receiver<Order>) -> bool {
    let until = Instant::now() + pause;
    loop {
        match timeout_at(until, inbox.recv()).await {
            Ok(Some(order)) => order.refuse(trouble),
            Ok(None) => return false,
            Err(_elapsed) => return true,
        }
    }
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
