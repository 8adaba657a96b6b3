//! Bulk calls: every item by itself, on blocking threads, so many at a time.

use std::{future::Future, pin::Pin, sync::Arc};

use bailiwick_actors::{
    ports::{BulkAnswer, Clock, Lookup},
    vocab::{EffectId, Fault, FaultCode},
};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{JoinHandle, spawn_blocking},
};

use super::{Ground, StorageError};
use crate::providers::keys::Keys;

/// What the providers of one machine share.
#[derive(Clone)]
pub(super) struct Desk {
    pub ground: Arc<Ground>,
    pub clock: Arc<dyn Clock>,
    keys: Arc<Keys>,
    lane: Arc<Semaphore>,
}

/// Work on one item.
pub(super) type Work<T> = Pin<Box<dyn Future<Output = Result<T, StorageError>> + Send>>;

/// So many items are worked on at the same time; commands mostly wait for a disk.
const AT_ONCE: usize = 8;

impl Desk {
    pub fn new(ground: Arc<Ground>, clock: Arc<dyn Clock>) -> Self {
        Self { ground, clock, keys: Arc::default(), lane: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Changes every item by itself. `id` names the id that the change is made under. What waits for its turn inside this
    /// process waits here; a turn that somebody outside has is answered with "unavailable".
    pub fn change<I, T>(
        &self,
        items: Vec<I>,
        id: impl Fn(&I) -> (EffectId, EffectId),
        work: impl Fn(Arc<Ground>, I) -> Work<T>,
    ) -> BulkAnswer<'static, T>
    where
        I: Send + 'static,
        T: Send + 'static,
    {
        let run = |item: I| {
            let (made_under, thing) = id(&item);
            let change = self.keys.announce(made_under);
            let desk = self.clone();
            let work = work(self.ground.clone(), item);
            async move {
                let turn = change.turn().await;
                let other = if thing == made_under { None } else { Some(desk.keys.turn(thing).await) };
                let permit = desk.lane.acquire_owned().await;
                let held = (change, turn, other, permit);
                let answer = on_a_blocking_thread(work).await;
                drop(held);
                answer
            }
        };
        all(items.into_iter().map(run).collect())
    }

    /// Looks every item up by itself; what is being changed, by us or by a command that a crash left, is unknown.
    pub fn look<T: Send + 'static>(
        &self,
        ids: Vec<EffectId>,
        work: impl Fn(Arc<Ground>, EffectId) -> Work<Lookup<T>>,
    ) -> BulkAnswer<'static, Lookup<T>> {
        let run = |id: EffectId| {
            let desk = self.clone();
            let work = work(self.ground.clone(), id);
            async move {
                let Some(turn) = desk.keys.look(id).await else { return Ok(Lookup::Unknown) };
                let held = (turn, desk.lane.acquire_owned().await);
                let work = async move {
                    match work.await {
                        Err(StorageError::Busy { .. }) => Ok(Lookup::Unknown),
                        answer => answer,
                    }
                };
                let answer = on_a_blocking_thread(Box::pin(work)).await;
                drop(held);
                answer
            }
        };
        all(ids.into_iter().map(run).collect())
    }

    /// Does one thing.
    pub async fn once<T: Send + 'static>(&self, work: Work<T>) -> Result<T, Fault> {
        on_a_blocking_thread(work).await
    }
}

/// Whatever happens to the caller, what was begun goes on; so each item is a task of its own, begun when it is asked for.
fn all<T, F>(runs: Vec<F>) -> BulkAnswer<'static, T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>> + Send + 'static,
{
    Box::pin(async move {
        let tasks: Vec<JoinHandle<_>> = runs.into_iter().map(tokio::spawn).collect();
        let mut answers = Vec::with_capacity(tasks.len());
        for task in tasks {
            answers.push(task.await.unwrap_or_else(|error| lost(&error)));
        }
        Ok(answers)
    })
}

/// Files and devices may block for long, so no work is polled on a thread of the runtime.
async fn on_a_blocking_thread<T: Send + 'static>(work: Work<T>) -> Result<T, Fault> {
    let handle = Handle::current();
    let done = spawn_blocking(move || handle.block_on(work)).await;
    done.map_or_else(|error| lost(&error), |answer| answer.map_err(StorageError::into_fault))
}

/// The runtime ended, or we panicked: either way nobody knows how far it got.
fn lost<T>(error: &tokio::task::JoinError) -> Result<T, Fault> {
    let text = if error.is_panic() { "the storage provider panicked" } else { "the storage provider was stopped" };
    Err(Fault::new(FaultCode::Aborted, text))
}
