//! Whose an instance is, asked right before something is done to it: what another control plane has started is left alone.

use uuid::Uuid;

use super::{
    AnyCommand, Providers, Source,
    budgets::Calls,
    bulk::{bulk, ids},
    calls::{At, Carried, Item, Report, Wish},
    port::{Machines, Port, Thing},
    undoing::{self, Undo, undo_all},
};
use crate::{
    machine,
    ports::{BulkAnswer, CallKind, Lookup, MachineInstance, MachineProvider, Operation},
    vocab::{EffectId, Fault, FaultCode, Nonce},
};

/// Instances of machines.
#[derive(Debug)]
pub struct Instances;

impl Thing for Instances {
    type Port = Machines;
    type Made = MachineInstance;

    fn lookup(by: &dyn MachineProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<MachineInstance>> {
        by.lookup(ids)
    }
}

/// A deletion of an instance that is ours.
#[derive(Clone, Debug)]
pub(crate) struct IfOurs<U> {
    pub wish: U,
    /// Whether it was seen to be ours; if not, that is looked at first.
    pub is_proven: bool,
}

impl<U: Undo<Thing = Instances>> Wish for IfOurs<U> {
    const OPERATION: Operation = U::OPERATION;

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(delete(batch, at))
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        Machines::provider(providers, source).inspect(|provider| Machines::cancel(&**provider, id));
    }
}

/// Deletes instances, but for those that another control plane has started. Where the provider cannot tell, nothing is
/// deleted.
async fn delete<U: Undo<Thing = Instances>>(batch: Vec<Item<IfOurs<U>>>, at: At<'_>) -> Vec<Report> {
    let (proven, doubtful): (Vec<_>, Vec<_>) = batch.into_iter().partition(|item| item.wish.is_proven);
    let wishes = |items: Vec<Item<IfOurs<U>>>| items.into_iter().map(|item| item.map(|deletion| deletion.wish));
    let (mut ours, doubtful): (Vec<Item<U>>, Vec<Item<U>>) = (wishes(proven).collect(), wishes(doubtful).collect());
    let Some(provider) = Machines::provider(&at.services.providers, at.source) else {
        ours.extend(doubtful);
        return undoing::nobody(ours, at);
    };
    let streams = ours.iter().chain(&doubtful).map(|item| item.stream.clone()).collect();
    let calls = &undoing::calls::<U>(streams, at);
    let told = ask(&*provider, at.services.journal_id(), calls, doubtful, &mut ours).await;
    let deleted = if ours.is_empty() { Vec::new() } else { undo_all(&*provider, at, calls, ours).await };
    deleted.into_iter().chain(told).collect()
}

/// Asks by id. What may be deleted goes to `ours`; the answer is what is reported of the others.
async fn ask<U: Undo>(
    provider: &dyn MachineProvider,
    journal: Uuid,
    calls: &Calls<'_>,
    doubtful: Vec<Item<U>>,
    ours: &mut Vec<Item<U>>,
) -> Vec<Report> {
    let seen = bulk(calls, CallKind::LookUp, doubtful.len(), || provider.lookup(ids(&doubtful))).await;
    let mut told = Vec::new();
    for (item, seen) in doubtful.into_iter().zip(seen) {
        let command = match seen {
            Ok(Lookup::Present(instance)) => match foreign(&instance, journal) {
                Some(command) => command,
                None => {
                    ours.push(item);
                    continue;
                }
            },
            // Making it may still be under way somewhere: only a deletion ends that.
            Ok(Lookup::Absent) => {
                ours.push(item);
                continue;
            }
            Ok(Lookup::Unknown) => {
                let unknown = Fault::new(FaultCode::Unknown, "the provider cannot tell who owns it");
                U::report(item.id, item.attempt, Err(unknown))
            }
            Err(fault) => U::report(item.id, item.attempt, Err(fault)),
        };
        told.push(item.report(command));
    }
    told
}

/// What is reported of an instance that another control plane has started; none if it is ours.
pub(crate) fn foreign(instance: &MachineInstance, journal: Uuid) -> Option<AnyCommand> {
    let nonce = instance.nonce().filter(|nonce| *nonce != Nonce::of(journal, instance.effect).as_str())?;
    Some(machine::shell::started_by_other(instance, nonce))
}
