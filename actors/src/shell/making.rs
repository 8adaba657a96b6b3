//! How something is made: what may have been begun is asked for by id first, the rest is made in one call.

use std::{collections::BTreeMap, fmt};

use uuid::Uuid;

use super::{
    AnyCommand, Providers, Services, Source,
    budgets::Calls,
    bulk::{bulk, each, ids},
    calls::{AnyWish, At, Carried, Item, Report, Wish},
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
    fn operation(&self) -> Operation {
        M::OPERATION
    }

    fn carry_out(batch: Vec<Item<Self>>, at: At<'_>) -> Carried<'_> {
        Box::pin(async move {
            let (items, wishes): (Vec<_>, Vec<_>) = batch.into_iter().map(Item::split).unzip();
            let failed = |attempt, fault| M::report(attempt, Err(fault));
            let Some(by) = AtPort::<M>::provider(&at.services.providers, at.source) else {
                return nobody(items, at, failed);
            };
            let (by, journal) = (&*by, at.services.journal_id());
            let lookup = |ids| {
                let known = M::Thing::lookup(by, ids);
                each(known, move |known: Lookup<Made<M>>| known.map(|made| there::<M>(made, journal)))
            };
            let make = |places: Vec<usize>| {
                let wanted = places.into_iter().map(|place| wishes[place].0.clone()).collect();
                each(M::make(by, at.services, wanted), move |made| there::<M>(made, journal))
            };
            let calls = &at.calls::<AtPort<M>, _>(&items);
            make_all(calls, items, How { lookup: Box::new(lookup), make: Box::new(make), failed }).await
        })
    }

    fn cancel(providers: &Providers, source: &Source, id: EffectId) {
        AtPort::<M>::provider(providers, source).inspect(|by| AtPort::<M>::cancel(by, id));
    }

    fn spared(item: &Item<Self>, taken_over: &TakenOver) -> Option<AnyCommand> {
        let is_touched = taken_over.has_any(&item.wish.0.works_on());
        is_touched.then(|| M::report(item.attempt, Err(refusal())))
    }
}

/// What is there, as it is told to its entity: a command, once it is known at which attempt it was found.
type There = Box<dyn FnOnce(u32) -> AnyCommand + Send>;

fn there<M: Make>(made: Made<M>, journal: Uuid) -> There {
    Box::new(move |attempt| M::foreign(&made, journal).unwrap_or_else(|| M::report(attempt, Ok(made))))
}

/// How things of a kind are made.
struct How<'c, 'p> {
    lookup: Box<dyn FnOnce(Vec<EffectId>) -> BulkAnswer<'p, Lookup<There>> + 'c>,
    /// Makes those at some places of the batch.
    make: Box<dyn FnOnce(Vec<usize>) -> BulkAnswer<'p, There> + 'c>,
    /// How a failed attempt is told to its entity.
    failed: fn(u32, Fault) -> AnyCommand,
}

/// What is reported if nobody can be asked.
fn nobody(batch: Vec<Item<()>>, at: At<'_>, failed: fn(u32, Fault) -> AnyCommand) -> Vec<Report> {
    let nobody = at.services.providers.nobody(at.source);
    let report = |item: Item<()>| {
        let command = failed(item.attempt, nobody.clone());
        item.report(command)
    };
    batch.into_iter().map(report).collect()
}

/// Adopts what is there of what may have been begun, and makes the rest. One body for all kinds: each of them would weigh
/// as much as this one.
async fn make_all(calls: &Calls<'_>, batch: Vec<Item<()>>, how: How<'_, '_>) -> Vec<Report> {
    let How { lookup, make, failed } = how;
    let (to_ask, mut to_make): (Vec<usize>, Vec<usize>) = (0..batch.len()).partition(|place| batch[*place].ask_first);
    let mut results: BTreeMap<usize, Result<There, Fault>> = BTreeMap::new();
    if !to_ask.is_empty() {
        let asked = ids(to_ask.iter().map(|place| &batch[*place]));
        let known = bulk(calls, CallKind::LookUp, asked.len(), Box::new(|| lookup(asked))).await;
        adopt(known, to_ask, &mut results, &mut to_make);
    }
    if !to_make.is_empty() {
        let wanted = to_make.clone();
        let made = bulk(calls, CallKind::Make, wanted.len(), Box::new(|| make(wanted))).await;
        results.extend(to_make.into_iter().zip(made));
    }
    let report = |(item, result): (Item<()>, Result<There, Fault>)| {
        let command = match result {
            Ok(there) => there(item.attempt),
            Err(fault) => failed(item.attempt, fault),
        };
        item.report(command)
    };
    batch.into_iter().zip(results.into_values()).map(report).collect()
}

/// Turns what is known about items into answers; the places of those that are absent go on the list of things to make.
fn adopt(
    known: Vec<Result<Lookup<There>, Fault>>,
    places: Vec<usize>,
    results: &mut BTreeMap<usize, Result<There, Fault>>,
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
