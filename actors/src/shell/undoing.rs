//! How something is undone: in one call, and that it is not there is believed only if a lookup says so.

use std::{fmt, time::Duration};

use bailiwick_journal::StreamId;

use super::{
    AnyCommand, Providers, Services, Source,
    absence::confirmed,
    budgets::Calls,
    bulk::{bulk, ids},
    calls::{AnyWish, At, Carried, Item, Report, Wish, streams},
    port::{Keeper, Port, Thing},
    taken_over::TakenOver,
};
use crate::{
    ports::{BulkAnswer, CallKind, Operation},
    vocab::{EffectId, Fault},
};

/// Something that a provider is asked to undo: to delete, destroy, release or detach what it keeps under an effect id.
pub trait Undo: Clone + fmt::Debug + Send + 'static {
    const OPERATION: Operation;

    /// What is undone.
    type Thing: Thing;

    /// Has these undone.
    fn undo<'a>(by: &'a Keeper<Self::Thing>, batch: &[Item<Self>]) -> BulkAnswer<'a, ()>;

    /// How it went, as a command to the entity.
    fn report(id: EffectId, attempt: u32, result: Result<(), Fault>) -> AnyCommand;

    /// Called of each that is undone.
    fn undone(_services: &Services, _id: EffectId) {}

    /// The volumes and filesystems that it works on.
    fn works_on(&self) -> Vec<EffectId> {
        Vec::new()
    }
}

type AtPort<U> = <<U as Undo>::Thing as Thing>::Port;

/// A wish to undo something.
#[derive(Clone, Debug)]
struct Undoing<U>(U);

impl AnyWish {
    /// To have something undone.
    pub fn undo(wish: impl Undo) -> Self {
        Self::of(Undoing(wish))
    }
}

impl<U: Undo> Wish for Undoing<U> {
    const OPERATION: Operation = U::OPERATION;

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        let batch = batch.into_iter().map(|item| item.map(|undoing| undoing.0)).collect();
        Box::pin(async move {
            let Some(by) = AtPort::<U>::provider(&at.services.providers, at.source) else {
                return nobody(batch, at);
            };
            undo_all::<U>(&by, at, &calls::<U>(streams(&batch), at), batch).await
        })
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        AtPort::<U>::provider(providers, source).inspect(|by| AtPort::<U>::cancel(by, id));
    }

    /// There is nothing of it here.
    fn spared(item: &Item<Self>, taken_over: &TakenOver) -> Option<AnyCommand> {
        let is_touched = taken_over.has_any(&item.wish.0.works_on());
        is_touched.then(|| U::report(item.id, item.attempt, Ok(())))
    }
}

/// The calls that a batch of these entities comes to.
pub(super) fn calls<U: Undo>(streams: Vec<StreamId>, at: At<'_>) -> Calls<'_> {
    at.calls(streams, Duration::from_millis(AtPort::<U>::call_timeout_ms(&at.services.policy().document)))
}

/// What is reported if nobody can be asked.
pub(super) fn nobody<U: Undo>(batch: Vec<Item<U>>, at: At<'_>) -> Vec<Report> {
    let nobody = at.services.providers.nobody(at.source);
    let report = |item: Item<U>| {
        let command = U::report(item.id, item.attempt, Err(nobody.clone()));
        item.report(command)
    };
    batch.into_iter().map(report).collect()
}

/// Undoes a batch.
pub(super) async fn undo_all<U: Undo>(
    by: &Keeper<U::Thing>,
    at: At<'_>,
    calls: &Calls<'_>,
    batch: Vec<Item<U>>,
) -> Vec<Report> {
    let results = bulk(calls, CallKind::Remove, batch.len(), || U::undo(by, &batch)).await;
    let results = confirmed(calls, &ids(&batch), results, |ids| U::Thing::lookup(by, ids)).await;
    let report = |(item, result): (Item<U>, Result<(), Fault>)| {
        if result.is_ok() {
            U::undone(at.services, item.id);
        }
        let command = U::report(item.id, item.attempt, result);
        item.report(command)
    };
    batch.into_iter().zip(results).map(report).collect()
}
