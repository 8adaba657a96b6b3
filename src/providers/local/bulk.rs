//! Bulk calls: every item by itself, on blocking threads, so many at a time.

use std::{collections::BTreeSet, sync::Arc};

use bailiwick_actors::{
    ports::{Answer, BulkAnswer, Lookup},
    vocab::{EffectId, Fault, FaultCode},
};
use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinHandle, spawn_blocking},
};

use super::{Inner, LocalProvider};
use crate::providers::cancelled::canceled;

/// How much runs at the same time. Items that wait for processes do not keep those waiting that only touch files.
#[derive(Debug)]
pub struct Lanes {
    pub slow: Arc<Semaphore>,
    pub quick: Arc<Semaphore>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { slow: Arc::new(Semaphore::new(32)), quick: Arc::new(Semaphore::new(8)) }
    }
}

impl LocalProvider {
    /// Changes every item by itself. `ids` names the id that the change is made under and, if it has one, the other thing
    /// that it must have to itself.
    pub(super) fn change<I, T>(
        &self,
        lane: &Arc<Semaphore>,
        items: Vec<I>,
        ids: fn(&I) -> (EffectId, Option<EffectId>),
        work: fn(&Inner, I) -> Result<T, Fault>,
    ) -> BulkAnswer<'_, T>
    where
        I: Send + 'static,
        T: Send + 'static,
    {
        let (inner, lane) = (self.inner.clone(), lane.clone());
        Box::pin(async move {
            let run = |item: I| {
                let (id, other) = ids(&item);
                let change = inner.keys.announce(id);
                inner.cancelled.begin(&BTreeSet::from([id]));
                let (inner, lane) = (inner.clone(), lane.clone());
                tokio::spawn(async move {
                    let turn = change.turn().await;
                    let other = match other {
                        Some(other) => Some(inner.keys.turn(other).await),
                        None => None,
                    };
                    let permit = lane.acquire_owned().await;
                    let held = (change, turn, other, permit);
                    // What waited for its turn need not begin; what has begun ends by itself within seconds.
                    if inner.cancelled.holds(id) {
                        return Err(canceled());
                    }
                    blocking(move || {
                        let answer = work(&inner, item);
                        drop(held);
                        answer
                    })
                    .await
                })
            };
            all(items.into_iter().map(run).collect()).await
        })
    }

    /// Looks every item up by itself; what is being changed is unknown.
    pub(super) fn look<T: Send + 'static>(
        &self,
        ids: Vec<EffectId>,
        work: fn(&Inner, EffectId) -> Result<Lookup<T>, Fault>,
    ) -> BulkAnswer<'_, Lookup<T>> {
        let (inner, lane) = (self.inner.clone(), self.lanes.quick.clone());
        Box::pin(async move {
            let run = |id: EffectId| {
                let (inner, lane) = (inner.clone(), lane.clone());
                tokio::spawn(async move {
                    let Some(turn) = inner.keys.look(id).await else { return Ok(Lookup::Unknown) };
                    let held = (turn, lane.acquire_owned().await);
                    blocking(move || {
                        let answer = work(&inner, id);
                        drop(held);
                        answer
                    })
                    .await
                })
            };
            all(ids.into_iter().map(run).collect()).await
        })
    }

    /// Does one thing on a blocking thread.
    pub(super) fn once<T: Send + 'static>(&self, work: fn(&Inner) -> Result<T, Fault>) -> Answer<'_, Result<T, Fault>> {
        let inner = self.inner.clone();
        Box::pin(blocking(move || work(&inner)))
    }
}

async fn all<T>(runs: Vec<JoinHandle<Result<T, Fault>>>) -> Result<Vec<Result<T, Fault>>, Fault> {
    let mut answers = Vec::with_capacity(runs.len());
    for run in runs {
        answers.push(run.await.unwrap_or_else(lost));
    }
    Ok(answers)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Result<T, Fault> {
    spawn_blocking(work).await.unwrap_or_else(lost)
}

/// The runtime ended, or we panicked: either way nobody knows how far it got.
fn lost<T>(error: JoinError) -> Result<T, Fault> {
    let text = if error.is_panic() { "the local provider panicked" } else { "the local provider was stopped" };
    Err(Fault::new(FaultCode::Aborted, text))
}
