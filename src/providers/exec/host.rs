//! Keeps a process running: one after the other, with pauses that grow.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use tracing::warn;

use super::{
    ExecConfig,
    process::end_predecessor,
    session::{self, Ended},
    shared::{Order, Shared},
    trouble::Trouble,
};
use crate::providers::known::KnownSecrets;

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
