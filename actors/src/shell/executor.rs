//! Carries effects out: sorted bulk calls to providers, bounded in number and time.

use std::{collections::BTreeMap, rc::Rc};

use actix::{Actor, AsyncContext, Context, Handler, Message};
use bailiwick_journal::{StreamId, crash};
use tokio::task::JoinSet;

use super::{
    Limits, Providers, Registry, Services, Source,
    calls::{Call, Perform},
    perform::{perform, report},
};
use crate::{
    ports::{Batch, Operation, Turn as ReadyTurn},
    vocab::EffectId,
};

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Turn;

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
}

impl UnderWay {
    fn of(call: &Call, source: &Source) -> Self {
        Self { operation: call.operation(), source: source.clone(), id: call.id() }
    }

    /// Tells the provider that something else is wanted now, so that a call that hangs does not hold it up.
    fn cancel(&self, providers: &Providers) {
        let Some(name) = &self.source.provider else { return };
        match self.operation {
            Operation::CreateMachine | Operation::DeleteMachine | Operation::DeleteStray => {
                providers.machines.get(name).inspect(|provider| provider.cancel(self.id));
            }
            Operation::CreateVolume
            | Operation::ImportVolume
            | Operation::DestroyVolume
            | Operation::ReleaseVolume
            | Operation::AttachVolume
            | Operation::DetachVolume => {
                providers.volumes_of(&self.source).inspect(|provider| provider.cancel(self.id));
            }
            Operation::CreateFilesystem
            | Operation::DestroyFilesystem
            | Operation::ReleaseFilesystem
            | Operation::AttachFilesystem
            | Operation::DetachFilesystem => {
                providers.filesystems_of(&self.source).inspect(|provider| provider.cancel(self.id));
            }
            // An engine cannot take back what it was asked; its answer is stale when it comes.
            Operation::LookAtReplicaSet | Operation::StepReplicaSet => (),
        }
    }
}

/// Items in one call.
fn bulk_max(limits: &Limits, operation: Operation) -> usize {
    if operation.is_single() { 1 } else { limits.bulk_max }
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
            turn_is_due: false,
            calls: JoinSet::new(),
        }
    }

    fn enqueue(&mut self, perform: Perform, ctx: &mut Context<Self>) {
        let stream = perform.call.stream().clone();
        if let Some(under_way) = self.busy.get(&stream) {
            if under_way.operation != perform.call.operation() || under_way.id != perform.call.id() {
                under_way.cancel(&self.services.providers);
            }
            self.next.insert(stream, perform);
            return;
        }
        // What was wanted before and has not begun is not wanted any more.
        let source = self.services.providers.source(perform.call.provider(), perform.call.machine());
        self.ready.add(perform.call.operation(), source, stream, perform);
        self.turn_later(ctx);
    }

    fn turn_later(&mut self, ctx: &mut Context<Self>) {
        if !self.turn_is_due && !self.ready.is_empty() {
            self.turn_is_due = true;
            ctx.notify(Turn);
        }
    }

    /// Takes out what may be called for now.
    fn take_ready(&mut self) -> Vec<Batch<StreamId, Perform, Source>> {
        let Self { ready, under_way, services, .. } = self;
        let limits = &services.limits;
        ready.take_some(|operation, source, ready| {
            let bulk_max = bulk_max(limits, operation);
            let under_way = under_way.entry(source.clone()).or_default();
            let calls = ready.div_ceil(bulk_max).min(limits.calls_max.saturating_sub(*under_way));
            *under_way += calls;
            calls * bulk_max
        })
    }

    /// Makes one bulk call, reports how it went, and says that it is over.
    fn begin(&mut self, source: &Source, batch: Vec<Perform>, ctx: &mut Context<Self>) {
        let streams: Vec<StreamId> = batch.iter().map(|item| item.call.stream().clone()).collect();
        self.busy.extend(streams.iter().cloned().zip(batch.iter().map(|item| UnderWay::of(&item.call, source))));
        self.services.calls.set(self.services.calls.get() + streams.len());
        let services = self.services.clone();
        let registry = self.registry.clone();
        let executor = ctx.address().downgrade();
        let source = source.clone();
        self.calls.spawn_local(async move {
            crash::point("before-call");
            let reports = perform(&services, batch).await;
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
        for Batch { operation, source, items } in self.take_ready() {
            let bulk_max = bulk_max(&self.services.limits, operation);
            let mut items = items.into_iter().map(|(_, perform)| perform).peekable();
            while items.peek().is_some() {
                self.begin(&source, items.by_ref().take(bulk_max).collect(), ctx);
            }
        }
    }
}

impl Handler<Finished> for Executor {
    type Result = ();

    fn handle(&mut self, finished: Finished, ctx: &mut Self::Context) {
        while self.calls.try_join_next().is_some() {}
        match self.under_way.get_mut(&finished.source) {
            Some(under_way) if *under_way > 1 => *under_way -= 1,
            _ => drop(self.under_way.remove(&finished.source)),
        }
        let calls = &self.services.calls;
        calls.set(calls.get().saturating_sub(finished.streams.len()));
        for stream in finished.streams {
            self.busy.remove(&stream);
            if let Some(next) = self.next.remove(&stream) {
                self.enqueue(next, ctx);
            }
        }
        self.turn_later(ctx);
    }
}
