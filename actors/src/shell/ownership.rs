//! Whose an instance is, asked right before something is done to it: what another control plane has started is left alone.

use uuid::Uuid;

use super::{
    AnyCommand, AnyWish, Providers, Services, Source,
    budgets::Calls,
    bulk::{bulk, ids},
    calls::{At, Carried, Item, Report, Wish},
    port::{Machines, Port, Thing},
    undoing::{self, Undo, Undoing, undo_all},
};
use crate::{
    machine,
    ports::{BulkAnswer, CallKind, Lookup, MachineInstance, MachineProvider, Operation, StartedMachine},
    vocab::{EffectId, Fault, FaultCode, Nonce},
};

/// Instances of machines.
#[derive(Clone, Debug)]
pub struct Instances;

impl Thing for Instances {
    type Port = Machines;
    type Made = StartedMachine;
    type Handle = EffectId;

    fn lookup(by: &dyn MachineProvider, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        by.lookup(ids)
    }

    /// What is gone joins nowhere any more.
    fn undone(services: &Services, id: EffectId) {
        services.providers.enrolment.iter().for_each(|enrolment| enrolment.forget(id));
    }
}

/// The end of an instance, if it is ours.
#[derive(Clone, Debug)]
struct IfOurs {
    deletion: Undoing<Instances>,
    /// Whether it was seen to be ours; if not, that is looked at first.
    is_proven: bool,
}

impl AnyWish {
    /// To have the instance deleted that was made under an effect id, if it is ours. If that was not seen before, the
    /// provider is asked first.
    pub(crate) fn delete(how: &'static Undo<Instances>, id: EffectId, is_proven: bool) -> Self {
        Self::of(IfOurs { deletion: Undoing { how, what: id }, is_proven })
    }
}

impl Wish for IfOurs {
    fn operation(&self) -> Operation {
        self.deletion.operation()
    }

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(delete(batch, at))
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        Undoing::<Instances>::cancel(providers, source, id);
    }
}

/// Deletes instances, but for those that another control plane has started. Where the provider cannot tell, nothing is
/// deleted.
async fn delete(batch: Vec<Item<IfOurs>>, at: At<'_>) -> Vec<Report> {
    let calls = &at.calls::<Machines, _>(&batch);
    let (proven, doubtful): (Vec<_>, Vec<_>) = batch.into_iter().partition(|item| item.wish.is_proven);
    let deletions = |items: Vec<Item<IfOurs>>| items.into_iter().map(|item| item.map(|wish| wish.deletion));
    let (mut ours, doubtful): (Vec<_>, Vec<_>) = (deletions(proven).collect(), deletions(doubtful).collect());
    let Some(provider) = Machines::provider(&at.services.providers, at.source) else {
        ours.extend(doubtful);
        return undoing::nobody(ours, at);
    };
    let told = ask(&*provider, at.services.journal_id(), calls, doubtful, &mut ours).await;
    undo_all(&*provider, at, calls, ours).await.into_iter().chain(told).collect()
}

/// Asks by id. What may be deleted goes to `ours`; the answer is what is reported of the others.
async fn ask(
    provider: &dyn MachineProvider,
    journal: Uuid,
    calls: &Calls<'_>,
    doubtful: Vec<Item<Undoing<Instances>>>,
    ours: &mut Vec<Item<Undoing<Instances>>>,
) -> Vec<Report> {
    let seen = bulk(calls, CallKind::LookUp, doubtful.len(), Box::new(|| provider.lookup(ids(&doubtful)))).await;
    let mut told = Vec::new();
    for (item, seen) in doubtful.into_iter().zip(seen) {
        let command = match seen {
            Ok(Lookup::Present(found)) => foreign(&found.instance, journal),
            // Making it may still be under way somewhere: only a deletion ends that.
            Ok(Lookup::Absent) => None,
            Ok(Lookup::Unknown) => {
                let unknown = Fault::new(FaultCode::Unknown, "the provider cannot tell who owns it");
                Some((item.wish.how.report)(item.id, item.attempt, Err(unknown)))
            }
            Err(fault) => Some((item.wish.how.report)(item.id, item.attempt, Err(fault))),
        };
        match command {
            Some(command) => told.push(item.report(command)),
            None => ours.push(item),
        }
    }
    told
}

/// What is reported of an instance that another control plane has started; none if it is ours.
pub(crate) fn foreign(instance: &MachineInstance, journal: Uuid) -> Option<AnyCommand> {
    let nonce = instance.nonce().filter(|nonce| *nonce != Nonce::of(journal, instance.effect).as_str())?;
    Some(machine::shell::started_by_other(instance, nonce))
}
