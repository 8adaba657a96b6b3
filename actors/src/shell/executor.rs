//! Carries effects out: sorted bulk calls to providers, bounded in number and time, and within their budgets.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use actix::{Actor, AsyncContext, Context, Handler, Message};
use bailiwick_journal::{StreamId, crash};
use tokio::task::JoinSet;

use super::{
    Budgets, Limits, Providers, Registry, Services, Source,
    budgets::Place,
    calls::{Call, Cancel, Perform},
    perform::{perform, report},
};
use crate::{
    ports::{Batch, CallKind, Operation, Turn as ReadyTurn},
    vocab::{EffectId, Name},
};

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Turn;

/// A call may go out there: it is its turn in the budget of its provider.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct ItsTurn(Place);

/// A provider is held from now on, or is not any more.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct HoldsChanged;

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Finished {
    source: Source,
    streams: Vec<StreamId>,
}

/// The call that an entity has out.
#[derive(Debug)]
struct UnderWay {
    operation: Operation,
    source: Source,
    id: EffectId,
    cancel: Cancel,
}

impl UnderWay {
    fn of(call: &Call, source: &Source) -> Self {
        let (operation, cancel) = (call.wish.operation(), call.wish.cancel());
        Self { operation, source: source.clone(), id: call.id, cancel }
    }

    /// Tells the provider that something else is wanted now, so that a call that hangs does not hold it up.
    fn cancel(&self, providers: &Providers) {
        (self.cancel)(providers, &self.source, self.id);
    }
}

/// What goes out together.
type Ready = Batch<StreamId, Perform, Source>;

/// Items in one call.
fn bulk_max(limits: &Limits, budgets: &Budgets, (operation, source): &Place) -> usize {
    if operation.is_single() {
        return 1;
    }
    let allowed = budgets.of(source.provider.as_ref()).and_then(|budget| budget.items_per_call());
    allowed.map_or(limits.bulk_max, |items| items.min(limits.bulk_max))
}

/// The provider whose budget a call is paid from. Engines of replica sets have none: they ask the user's own servers.
fn payer<'a>(budgets: &Budgets, (operation, source): &'a Place) -> Option<&'a Name> {
    let provider = source.provider.as_ref().filter(|_| !operation.is_single())?;
    budgets.of(Some(provider)).map(|_| provider)
}

/// Carries effects out. One entity has at most one call under way; a newer one waits for it, and asks the provider to cut
/// it short if it wants something else.
#[derive(Debug)]
pub struct Executor {
    services: Rc<Services>,
    registry: actix::WeakAddr<Registry>,
    ready: ReadyTurn<StreamId, Perform, Source>,
    busy: BTreeMap<StreamId, UnderWay>,
    /// What came while the entity's earlier call was under way; a newer one takes its place.
    next: BTreeMap<StreamId, Perform>,
    /// How many calls each source has under way. What is more than it may have stays ready, and goes out with what comes
    /// meanwhile, in fewer and larger calls.
    under_way: BTreeMap<Source, usize>,
    /// Where a call waits for its turn in the budget of its provider; it has its place among those under way. What it will
    /// take along is decided when it goes out.
    asked: BTreeSet<Place>,
    turn_is_due: bool,
    /// The calls under way, which end with this actor. As tasks of their own they are polled when there is something new;
    /// futures of the actor would be polled with every message to it.
    calls: JoinSet<()>,
}

impl Executor {
    /// An executor that reports to this registry.
    pub fn new(services: Rc<Services>, registry: actix::WeakAddr<Registry>) -> Self {
        Self {
            services,
            registry,
            ready: ReadyTurn::default(),
            busy: BTreeMap::new(),
            next: BTreeMap::new(),
            under_way: BTreeMap::new(),
            asked: BTreeSet::new(),
            turn_is_due: false,
            calls: JoinSet::new(),
        }
    }

    fn enqueue(&mut self, perform: Perform, ctx: &mut Context<Self>) {
        let stream = perform.call.stream.clone();
        if let Some(under_way) = self.busy.get(&stream) {
            if under_way.operation != perform.call.wish.operation() || under_way.id != perform.call.id {
                under_way.cancel(&self.services.providers);
            }
            self.next.insert(stream, perform);
            return;
        }
        // What was wanted before and has not begun is not wanted any more.
        let source = self.services.providers.source(perform.call.provider.as_ref(), perform.call.machine.as_ref());
        let operation = perform.call.wish.operation();
        self.services.budgets.stands(&stream, (operation, source.clone()));
        self.ready.add(operation, source, stream, perform);
        self.turn_later(ctx);
    }

    fn turn_later(&mut self, ctx: &mut Context<Self>) {
        if !self.turn_is_due && !self.ready.is_empty() {
            self.turn_is_due = true;
            ctx.notify(Turn);
        }
    }

    /// Takes out what may be called for now; and says where a call has to wait for its turn.
    fn take_ready(&mut self) -> (Vec<Ready>, Vec<(Place, Name)>) {
        let Self { ready, under_way, services, asked, .. } = self;
        let (limits, budgets, mut waiting) = (&services.limits, &services.budgets, Vec::new());
        let taken = ready.take_some(|operation, source, ready| {
            // It keeps its place until the hold ends.
            if services.holds.bar(source.provider.as_ref(), CallKind::of(operation)) {
                return 0;
            }
            let place = (operation, source.clone());
            let bulk_max = bulk_max(limits, budgets, &place);
            let under_way = under_way.entry(source.clone()).or_default();
            let wanted = ready.div_ceil(bulk_max).min(limits.calls_max.saturating_sub(*under_way));
            let Some(provider) = payer(budgets, &place) else {
                *under_way += wanted;
                return wanted * bulk_max;
            };
            let kind = CallKind::of(operation);
            let calls = (0..wanted).take_while(|_| budgets.goes_at_once(provider, kind)).count();
            *under_way += calls;
            if calls < wanted && asked.insert(place.clone()) {
                *under_way += 1;
                budgets.mark(&place, true);
                waiting.push((place.clone(), provider.clone()));
            }
            calls * bulk_max
        });
        (taken, waiting)
    }

    /// Waits for the turn of a call.
    fn ask_for_turn(&mut self, place: Place, provider: Name, ctx: &mut Context<Self>) {
        let (budgets, executor) = (self.services.budgets.clone(), ctx.address().downgrade());
        self.calls.spawn_local(async move {
            budgets.enter(&provider, CallKind::of(place.0)).await;
            if let Some(executor) = executor.upgrade() {
                let _ = executor.send(ItsTurn(place)).await;
            }
        });
    }

    /// A call of this source is over, or does not go out.
    fn make_room(&mut self, source: &Source) {
        match self.under_way.get_mut(source) {
            Some(under_way) if *under_way > 1 => *under_way -= 1,
            _ => drop(self.under_way.remove(source)),
        }
    }

    /// Makes one bulk call, reports how it went, and says that it is over.
    fn begin(&mut self, source: &Source, batch: Vec<Perform>, ctx: &mut Context<Self>) {
        let streams: Vec<StreamId> = batch.iter().map(|item| item.call.stream.clone()).collect();
        debug_assert!(
            streams.iter().all(|stream| !self.busy.contains_key(stream)),
            "one call at a time about each entity: {streams:?}"
        );
        streams.iter().for_each(|stream| self.services.budgets.leaves(stream));
        self.busy.extend(streams.iter().cloned().zip(batch.iter().map(|item| UnderWay::of(&item.call, source))));
        self.services.calls.set(self.services.calls.get() + streams.len());
        let services = self.services.clone();
        let registry = self.registry.clone();
        let executor = ctx.address().downgrade();
        let source = source.clone();
        let operation = batch.first().map(|item| item.call.wish.operation());
        self.calls.spawn_local(async move {
            crash::point("before-call");
            let begun = services.clock.now();
            let reports = perform(&services, batch).await;
            if let Some(operation) = operation {
                let took_ms = services.clock.now().since(begun);
                services.call_times.note(source.provider.clone(), operation, streams.len(), took_ms);
            }
            crash::point("after-call");
            report(&registry, reports).await;
            crash::point("after-report");
            if let Some(executor) = executor.upgrade() {
                let _ = executor.send(Finished { source, streams }).await;
            }
        });
    }
}

impl Actor for Executor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        // No bound here (0): what comes is bounded by the entities, which have at most one effect out at a time, and an
        // effect that was turned away would be forgotten until the next restart.
        ctx.set_mailbox_capacity(0);
        let (holds, executor) = (self.services.holds.clone(), ctx.address().downgrade());
        self.calls.spawn_local(async move {
            loop {
                holds.changed().await;
                let Some(executor) = executor.upgrade() else { return };
                // Nothing changes between this and the next look: all of it is on one thread.
                if executor.try_send(HoldsChanged).is_err() {
                    return;
                }
            }
        });
    }
}

impl Handler<Perform> for Executor {
    type Result = ();

    fn handle(&mut self, perform: Perform, ctx: &mut Self::Context) {
        self.enqueue(perform, ctx);
    }
}

impl Handler<Turn> for Executor {
    type Result = ();

    fn handle(&mut self, _: Turn, ctx: &mut Self::Context) {
        self.turn_is_due = false;
        let (taken, waiting) = self.take_ready();
        for (place, provider) in waiting {
            self.ask_for_turn(place, provider, ctx);
        }
        for Batch { operation, source, items } in taken {
            let place = (operation, source.clone());
            let bulk_max = bulk_max(&self.services.limits, &self.services.budgets, &place);
            let mut items = items.into_iter().map(|(_, perform)| perform).peekable();
            while items.peek().is_some() {
                self.begin(&source, items.by_ref().take(bulk_max).collect(), ctx);
            }
        }
    }
}

impl Handler<ItsTurn> for Executor {
    type Result = ();

    fn handle(&mut self, ItsTurn(place): ItsTurn, ctx: &mut Self::Context) {
        self.asked.remove(&place);
        self.services.budgets.mark(&place, false);
        if self.services.holds.bar(place.1.provider.as_ref(), CallKind::of(place.0)) {
            self.make_room(&place.1);
            return;
        }
        let items = bulk_max(&self.services.limits, &self.services.budgets, &place);
        let of_place =
            |operation, source: &Source, _| if (operation, source) == (place.0, &place.1) { items } else { 0 };
        let batch = self.ready.take_some(of_place).pop();
        match batch {
            Some(batch) => self.begin(&place.1, batch.items.into_iter().map(|(_, perform)| perform).collect(), ctx),
            // What waited is not wanted any more.
            None => self.make_room(&place.1),
        }
        self.turn_later(ctx);
    }
}

impl Handler<HoldsChanged> for Executor {
    type Result = ();

    fn handle(&mut self, _: HoldsChanged, ctx: &mut Self::Context) {
        self.turn_later(ctx);
    }
}

impl Handler<Finished> for Executor {
    type Result = ();

    fn handle(&mut self, finished: Finished, ctx: &mut Self::Context) {
        while self.calls.try_join_next().is_some() {}
        self.make_room(&finished.source);
        let calls = &self.services.calls;
        calls.set(calls.get().saturating_sub(finished.streams.len()));
        for stream in finished.streams {
            let was_busy = self.busy.remove(&stream);
            debug_assert!(was_busy.is_some(), "a call that is over had begun: {stream}");
            if let Some(next) = self.next.remove(&stream) {
                self.enqueue(next, ctx);
            }
        }
        self.turn_later(ctx);
    }
}
