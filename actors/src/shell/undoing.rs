//! How something is undone: in one call, and that it is not there is believed only if a lookup says so.

use std::fmt;

use super::{
    AnyCommand, Providers, Source,
    absence::confirmed,
    budgets::Calls,
    bulk::{bulk, each, ids},
    calls::{AnyWish, At, Carried, Item, Report, Wish},
    port::{Keeper, Port, Thing},
    taken_over::TakenOver,
};
use crate::{
    ports::{BulkAnswer, CallKind, Lookup, Operation},
    vocab::{EffectId, Fault},
};

/// One way in which things of a kind are undone: deleted, destroyed, released or detached.
pub struct Undo<T: Thing> {
    pub operation: Operation,
    /// Has these undone.
    pub undo: for<'a> fn(&'a Keeper<T>, Vec<T::Handle>) -> BulkAnswer<'a, ()>,
    /// How that went at an attempt, as a command to the entity.
    pub report: fn(EffectId, u32, Result<(), Fault>) -> AnyCommand,
}

impl<T: Thing> fmt::Debug for Undo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operation.fmt(f)
    }
}

/// A wish to undo something.
#[derive(Clone, Debug)]
pub(super) struct Undoing<T: Thing> {
    pub how: &'static Undo<T>,
    pub what: T::Handle,
}

impl AnyWish {
    /// To have something undone.
    pub fn undo<T: Thing>(how: &'static Undo<T>, what: T::Handle) -> Self {
        Self::of(Undoing { how, what })
    }
}

impl<T: Thing> Wish for Undoing<T> {
    fn operation(&self) -> Operation {
        self.how.operation
    }

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(async move {
            match T::Port::provider(&at.services.providers, at.source) {
                Some(by) => undo_all(&*by, at, &at.calls::<T::Port, _>(&batch), batch).await,
                None => nobody(batch, at),
            }
        })
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        T::Port::provider(providers, source).inspect(|by| T::Port::cancel(by, id));
    }

    /// There is nothing of it here.
    fn spared(item: &Item<Self>, taken_over: &TakenOver) -> Option<AnyCommand> {
        let is_touched = taken_over.has_any(T::works_on(&item.wish.what).as_slice());
        is_touched.then(|| (item.wish.how.report)(item.id, item.attempt, Ok(())))
    }
}

/// What is reported if nobody can be asked.
pub(super) fn nobody<T: Thing>(batch: Vec<Item<Undoing<T>>>, at: At<'_>) -> Vec<Report> {
    let nobody = at.services.providers.nobody(at.source);
    let report = |item: Item<Undoing<T>>| {
        let command = (item.wish.how.report)(item.id, item.attempt, Err(nobody.clone()));
        item.report(command)
    };
    batch.into_iter().map(report).collect()
}

/// Undoes a batch, which is undone in one way.
pub(super) async fn undo_all<T: Thing>(
    by: &Keeper<T>,
    at: At<'_>,
    calls: &Calls<'_>,
    batch: Vec<Item<Undoing<T>>>,
) -> Vec<Report> {
    let Some(how) = batch.first().map(|item| item.wish.how) else { return Vec::new() };
    let whats = batch.iter().map(|item| item.wish.what.clone()).collect();
    let results = bulk(calls, CallKind::Remove, batch.len(), Box::new(|| (how.undo)(by, whats))).await;
    let lookup = Box::new(|ids| each(T::lookup(by, ids), |known: Lookup<T::Made>| known.map(drop)));
    let results = confirmed(calls, &ids(&batch), results, lookup).await;
    let report = |(item, result): (Item<Undoing<T>>, Result<(), Fault>)| {
        if result.is_ok() {
            T::undone(at.services, item.id);
        }
        let command = (how.report)(item.id, item.attempt, result);
        item.report(command)
    };
    batch.into_iter().zip(results).map(report).collect()
}
