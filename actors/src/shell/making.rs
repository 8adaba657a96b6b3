//! How something is made: what may have been begun is asked for by id first, the rest is made in one call.

use std::{collections::BTreeMap, fmt, time::Duration};

use uuid::Uuid;

use super::{
    AnyCommand, Providers, Services, Source,
    bulk::{bulk, ids},
    calls::{AnyWish, At, Carried, Item, Report, Wish, streams},
    port::{Keeper, Port, Thing},
    taken_over::{TakenOver, refusal},
};
use crate::{
    ports::{BulkAnswer, CallKind, Lookup, Operation},
    vocab::{EffectId, Fault, FaultCode},
};

/// Something that a provider is asked to make, under an effect id: the same call again finds what the first has made.
pub trait Make: Clone + fmt::Debug + Send + 'static {
    const OPERATION: Operation;

    /// What is made.
    type Thing: Thing;

    /// Has these made.
    fn make<'a>(by: &'a Keeper<Self::Thing>, services: &Services, wishes: Vec<Self>) -> BulkAnswer<'a, Made<Self>>;

    /// How it went, as a command to the entity.
    fn report(attempt: u32, result: Result<Made<Self>, Fault>) -> AnyCommand;

    /// What is reported if another control plane has made it, and not the node of this journal; none if we did.
    fn foreign(_made: &Made<Self>, _journal: Uuid) -> Option<AnyCommand> {
        None
    }

    /// The volumes and filesystems that it works on.
    fn works_on(&self) -> Vec<EffectId> {
        Vec::new()
    }
}

/// What is known of what a wish has made.
pub(crate) type Made<M> = <<M as Make>::Thing as Thing>::Made;

type AtPort<M> = <<M as Make>::Thing as Thing>::Port;

/// A wish to make something.
#[derive(Clone, Debug)]
struct Making<M>(M);

impl AnyWish {
    /// To have something made.
    pub fn make(wish: impl Make) -> Self {
        Self::of(Making(wish))
    }

    /// What is to be made, if it is this.
    pub fn making<M: Make>(&self) -> Option<&M> {
        self.get::<Making<M>>().map(|making| &making.0)
    }
}

impl<M: Make> Wish for Making<M> {
    const OPERATION: Operation = M::OPERATION;

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(make_all(batch, at))
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        AtPort::<M>::provider(providers, source).inspect(|by| AtPort::<M>::cancel(by, id));
    }

    fn spared(item: &Item<Self>, taken_over: &TakenOver) -> Option<AnyCommand> {
        let is_touched = taken_over.has_any(&item.wish.0.works_on());
        is_touched.then(|| M::report(item.attempt, Err(refusal())))
    }
}

/// Adopts what is there of what may have been begun, and makes the rest.
async fn make_all<M: Make>(batch: Vec<Item<Making<M>>>, at: At<'_>) -> Vec<Report> {
    let (services, journal) = (at.services, at.services.journal_id());
    let report = |item: Item<Making<M>>, result: Result<Made<M>, Fault>| {
        let foreign = result.as_ref().ok().and_then(|made| M::foreign(made, journal));
        let command = foreign.unwrap_or_else(|| M::report(item.attempt, result));
        item.report(command)
    };
    let Some(by) = AtPort::<M>::provider(&services.providers, at.source) else {
        let nobody = services.providers.nobody(at.source);
        return batch.into_iter().map(|item| report(item, Err(nobody.clone()))).collect();
    };
    let limit = Duration::from_millis(AtPort::<M>::call_timeout_ms(&services.policy().document));
    let calls = &at.calls(streams(&batch), limit);
    let (to_ask, mut to_make): (Vec<usize>, Vec<usize>) = (0..batch.len()).partition(|place| batch[*place].ask_first);
    let mut results: BTreeMap<usize, Result<Made<M>, Fault>> = BTreeMap::new();
    if !to_ask.is_empty() {
        let asked = ids(to_ask.iter().map(|place| &batch[*place]));
        let known = bulk(calls, CallKind::LookUp, asked.len(), || M::Thing::lookup(&by, asked)).await;
        adopt(known, to_ask, &mut results, &mut to_make);
    }
    if !to_make.is_empty() {
        let wanted: Vec<M> = to_make.iter().map(|place| batch[*place].wish.0.clone()).collect();
        let made = bulk(calls, CallKind::Make, wanted.len(), || M::make(&by, services, wanted)).await;
        results.extend(to_make.into_iter().zip(made));
    }
    batch.into_iter().zip(results.into_values()).map(|(item, result)| report(item, result)).collect()
}

/// Turns what is known about items into answers; the places of those that are absent go on the list of things to make.
fn adopt<T>(
    known: Vec<Result<Lookup<T>, Fault>>,
    places: Vec<usize>,
    results: &mut BTreeMap<usize, Result<T, Fault>>,
    to_make: &mut Vec<usize>,
) {
    for (place, known) in places.into_iter().zip(known) {
        match known {
            Ok(Lookup::Present(present)) => drop(results.insert(place, Ok(present))),
            Ok(Lookup::Absent) => to_make.push(place),
            Ok(Lookup::Unknown) => {
                let fault = Fault::new(FaultCode::Unknown, "the provider cannot tell now whether it is there");
                results.insert(place, Err(fault));
            }
            Err(fault) => drop(results.insert(place, Err(fault))),
        }
    }
    to_make.sort_unstable();
}
