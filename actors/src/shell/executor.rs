//! Carries effects out: sorted bulk calls to providers, bounded in number and time.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use actix::{Actor, AsyncContext, Context, Handler, Message, WrapFuture};
use bailiwick_journal::{Position, StreamId, crash};
use tokio::sync::Semaphore;

use super::{AnyCommand, Ask, AskError, Origin, Providers, Registry, Services};
use crate::{
    machine,
    ports::{
        Answer, AttachVolume, AttachmentInfo, CreateMachine, CreateVolume, DetachVolume, Lookup, MachineInstance,
        MachineProvider, ProvisionedVolume, VolumeProvider,
    },
    vocab::{EffectId, Fault, FaultCode, Name, derived_uuid},
    volume, volume_attachment,
};

/// One provider call for one entity.
#[derive(Clone, Debug)]
pub enum Call {
    Machine { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: MachineCall },
    Volume { stream: StreamId, provider: Option<Name>, id: EffectId, attempt: u32, call: VolumeCall },
}

/// What a machine provider is asked.
#[derive(Clone, Debug)]
pub enum MachineCall {
    Create(Box<CreateMachine>),
    Delete(EffectId),
}

/// What a volume provider is asked.
#[derive(Clone, Debug)]
pub enum VolumeCall {
    Create(CreateVolume),
    Destroy(EffectId),
    Attach(Box<AttachVolume>),
    Detach(DetachVolume),
}

/// The groups of one turn, in the order in which they go out. Source: the batch order of Juju's storage provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    DeleteMachine,
    DestroyVolume,
    CreateMachine,
    CreateVolume,
    DetachVolume,
    AttachVolume,
}

impl Call {
    fn stream(&self) -> &StreamId {
        match self {
            Self::Machine { stream, .. } | Self::Volume { stream, .. } => stream,
        }
    }

    fn provider(&self) -> Option<&Name> {
        match self {
            Self::Machine { provider, .. } | Self::Volume { provider, .. } => provider.as_ref(),
        }
    }

    /// The effect id: the same over all attempts.
    pub fn id(&self) -> EffectId {
        match self {
            Self::Machine { id, .. } | Self::Volume { id, .. } => *id,
        }
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Machine { attempt, .. } | Self::Volume { attempt, .. } => *attempt,
        }
    }

    fn operation(&self) -> Operation {
        match self {
            Self::Machine { call: MachineCall::Create(_), .. } => Operation::CreateMachine,
            Self::Machine { call: MachineCall::Delete(_), .. } => Operation::DeleteMachine,
            Self::Volume { call: VolumeCall::Create(_), .. } => Operation::CreateVolume,
            Self::Volume { call: VolumeCall::Destroy(_), .. } => Operation::DestroyVolume,
            Self::Volume { call: VolumeCall::Attach(_), .. } => Operation::AttachVolume,
            Self::Volume { call: VolumeCall::Detach(_), .. } => Operation::DetachVolume,
        }
    }
}

/// Carry this out and report to its entity how it went.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Perform {
    pub call: Call,
    /// Whether it may have been begun before: then the provider is asked by id first.
    pub ask_first: bool,
    /// The entry that the effect follows from.
    pub cause: Position,
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Turn;

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Finished {
    streams: Vec<StreamId>,
}

type Batch = Vec<Perform>;

/// The call that an entity has out.
#[derive(Debug)]
struct UnderWay {
    operation: Operation,
    provider: Option<Name>,
    id: EffectId,
}

impl UnderWay {
    fn of(call: &Call) -> Self {
        Self { operation: call.operation(), provider: call.provider().cloned(), id: call.id() }
    }

    /// Tells the provider that something else is wanted now, so that a call that hangs does not hold it up.
    fn cancel(&self, providers: &Providers) {
        let Some(name) = &self.provider else { return };
        match self.operation {
            Operation::CreateMachine | Operation::DeleteMachine => {
                providers.machines.get(name).inspect(|provider| provider.cancel(self.id));
            }
            Operation::CreateVolume | Operation::DestroyVolume | Operation::AttachVolume | Operation::DetachVolume => {
                providers.volumes.get(name).inspect(|provider| provider.cancel(self.id));
            }
        }
    }
}

/// Carries effects out. One entity has at most one call under way; a newer one waits for it, and asks the provider to cut
/// it short if it wants something else.
#[derive(Debug)]
pub struct Executor {
    services: Rc<Services>,
    registry: actix::WeakAddr<Registry>,
    ready: BTreeMap<(Operation, Option<Name>), BTreeMap<StreamId, Perform>>,
    busy: BTreeMap<StreamId, UnderWay>,
    /// What came while the entity's earlier call was under way; a newer one takes its place.
    next: BTreeMap<StreamId, Perform>,
    permits: BTreeMap<Option<Name>, Rc<Semaphore>>,
    turn_is_due: bool,
}

impl Executor {
    /// An executor that reports to this registry.
    pub fn new(services: Rc<Services>, registry: actix::WeakAddr<Registry>) -> Self {
        Self {
            services,
            registry,
            ready: BTreeMap::new(),
            busy: BTreeMap::new(),
            next: BTreeMap::new(),
            permits: BTreeMap::new(),
            turn_is_due: false,
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
        for group in self.ready.values_mut() {
            group.remove(&stream);
        }
        let key = (perform.call.operation(), perform.call.provider().cloned());
        self.ready.entry(key).or_default().insert(stream, perform);
        if !self.turn_is_due {
            self.turn_is_due = true;
            ctx.notify(Turn);
        }
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
        for ((_, provider), group) in std::mem::take(&mut self.ready) {
            let calls_max = self.services.limits.calls_max;
            let permits = self.permits.entry(provider).or_insert_with(|| Rc::new(Semaphore::new(calls_max))).clone();
            let items: Vec<Perform> = group.into_values().collect();
            for batch in items.chunks(self.services.limits.bulk_max) {
                let streams: Vec<StreamId> = batch.iter().map(|item| item.call.stream().clone()).collect();
                self.busy.extend(streams.iter().cloned().zip(batch.iter().map(|item| UnderWay::of(&item.call))));
                self.services.calls.set(self.services.calls.get() + streams.len());
                let services = self.services.clone();
                let registry = self.registry.clone();
                let executor = ctx.address().downgrade();
                let (permits, batch) = (permits.clone(), batch.to_vec());
                let run = async move {
                    let reports = {
                        let _permit = permits.acquire().await;
                        crash::point("before-call");
                        perform(&services, batch).await
                    };
                    crash::point("after-call");
                    report(&registry, reports).await;
                    crash::point("after-report");
                    if let Some(executor) = executor.upgrade() {
                        let _ = executor.send(Finished { streams }).await;
                    }
                };
                ctx.spawn(run.into_actor(self));
            }
        }
    }
}

impl Handler<Finished> for Executor {
    type Result = ();

    fn handle(&mut self, finished: Finished, ctx: &mut Self::Context) {
        let calls = &self.services.calls;
        calls.set(calls.get().saturating_sub(finished.streams.len()));
        for stream in finished.streams {
            self.busy.remove(&stream);
            if let Some(next) = self.next.remove(&stream) {
                self.enqueue(next, ctx);
            }
        }
    }
}

/// A report to be made: to whom, what, and from which entry and attempt it follows.
type Report = (StreamId, AnyCommand, Position);

/// Makes one bulk call; all items are of one operation and one provider.
async fn perform(services: &Services, batch: Batch) -> Vec<Report> {
    let Some(first) = batch.first() else {
        return Vec::new();
    };
    let policy = services.policy();
    let timeout_ms = match &first.call {
        Call::Machine { .. } => policy.document.machines.call_timeout_ms,
        Call::Volume { .. } => policy.document.storage.call_timeout_ms,
    };
    let limit = Duration::from_millis(timeout_ms);
    let name = first.call.provider().cloned();
    let machines = name.as_ref().and_then(|name| services.providers.machines.get(name)).cloned();
    let volumes = name.as_ref().and_then(|name| services.providers.volumes.get(name)).cloned();
    match (first.call.operation(), machines, volumes) {
        (Operation::CreateMachine, Some(provider), _) => create_machines(&*provider, batch, limit).await,
        (Operation::DeleteMachine, Some(provider), _) => {
            let results = bulk(limit, batch.len(), provider.delete(ids(&batch))).await;
            reports(batch, results, machine::shell::deleted)
        }
        (Operation::CreateVolume, _, Some(provider)) => create_volumes(&*provider, batch, limit).await,
        (Operation::DestroyVolume, _, Some(provider)) => {
            let results = bulk(limit, batch.len(), provider.destroy_volumes(ids(&batch))).await;
            reports(batch, results, volume::shell::destroyed)
        }
        (Operation::AttachVolume, _, Some(provider)) => attach_volumes(&*provider, batch, limit).await,
        (Operation::DetachVolume, _, Some(provider)) => {
            let wanted = batch.iter().filter_map(detach).collect();
            let results = bulk(limit, batch.len(), provider.detach_volumes(wanted)).await;
            reports(batch, results, volume_attachment::shell::detached)
        }
        (operation, _, _) => without_provider(operation, name.as_ref(), batch),
    }
}

fn without_provider(operation: Operation, name: Option<&Name>, batch: Batch) -> Vec<Report> {
    let name = name.map_or_else(|| "none".to_owned(), ToString::to_string);
    let fault = Fault::new(FaultCode::InvalidArgument, format!("this node has no provider named {name}"));
    match operation {
        Operation::CreateMachine => fail(batch, &fault, machine::shell::created),
        Operation::DeleteMachine => fail(batch, &fault, machine::shell::deleted),
        Operation::CreateVolume => fail(batch, &fault, volume::shell::created),
        Operation::DestroyVolume => fail(batch, &fault, volume::shell::destroyed),
        Operation::AttachVolume => fail(batch, &fault, volume_attachment::shell::attached),
        Operation::DetachVolume => fail(batch, &fault, volume_attachment::shell::detached),
    }
}

fn fail<T: Clone>(batch: Batch, fault: &Fault, command: fn(u32, Result<T, Fault>) -> AnyCommand) -> Vec<Report> {
    let results = vec![Err(fault.clone()); batch.len()];
    reports(batch, results, command)
}

fn reports<T>(
    batch: Batch,
    results: Vec<Result<T, Fault>>,
    command: fn(u32, Result<T, Fault>) -> AnyCommand,
) -> Vec<Report> {
    let report = |(item, result): (Perform, Result<T, Fault>)| {
        (item.call.stream().clone(), command(item.call.attempt(), result), item.cause)
    };
    batch.into_iter().zip(results).map(report).collect()
}

fn ids(batch: &[Perform]) -> Vec<EffectId> {
    batch.iter().map(|item| item.call.id()).collect()
}

fn detach(item: &Perform) -> Option<DetachVolume> {
    match &item.call {
        Call::Volume { call: VolumeCall::Detach(detach), .. } => Some(detach.clone()),
        Call::Volume { .. } | Call::Machine { .. } => None,
    }
}

/// One bulk call within its time: exactly one answer per item, whatever the provider does.
async fn bulk<T>(
    limit: Duration,
    items: usize,
    call: Answer<'_, Result<Vec<Result<T, Fault>>, Fault>>,
) -> Vec<Result<T, Fault>> {
    let whole = |fault: Fault| (0..items).map(|_| Err(fault.clone())).collect();
    if items == 0 {
        return Vec::new();
    }
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(answers)) if answers.len() == items => answers.into_iter().map(harmless).collect(),
        Ok(Ok(answers)) => {
            let text = format!("the provider gave {} answers to {items} questions", answers.len());
            whole(Fault::new(FaultCode::Unknown, text))
        }
        Ok(Err(fault)) => whole(Fault::new(fault.code, fault.text)),
        Err(_) => {
            let text = format!("no answer within {} ms; it may still happen", limit.as_millis());
            whole(Fault::new(FaultCode::DeadlineExceeded, text))
        }
    }
}

fn harmless<T>(result: Result<T, Fault>) -> Result<T, Fault> {
    result.map_err(|fault| Fault::new(fault.code, fault.text))
}

/// Splits a batch: the items to be looked up first, and those to be made at once; both with their places.
fn split(batch: &[Perform]) -> (Vec<usize>, Vec<usize>) {
    (0..batch.len()).partition(|place| batch[*place].ask_first)
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

async fn create_machines(provider: &dyn MachineProvider, batch: Batch, limit: Duration) -> Vec<Report> {
    let (to_ask, mut to_make) = split(&batch);
    let mut results: BTreeMap<usize, Result<MachineInstance, Fault>> = BTreeMap::new();
    let asked: Vec<EffectId> = to_ask.iter().map(|place| batch[*place].call.id()).collect();
    if !asked.is_empty() {
        let known = bulk(limit, asked.len(), provider.lookup(asked)).await;
        adopt(known, to_ask, &mut results, &mut to_make);
    }
    let wanted: Vec<CreateMachine> = to_make
        .iter()
        .filter_map(|place| match &batch[*place].call {
            Call::Machine { call: MachineCall::Create(create), .. } => Some((**create).clone()),
            Call::Machine { .. } | Call::Volume { .. } => None,
        })
        .collect();
    let made = if wanted.is_empty() { Vec::new() } else { bulk(limit, wanted.len(), provider.create(wanted)).await };
    results.extend(to_make.into_iter().zip(made));
    reports(batch, results.into_values().collect(), machine::shell::created)
}

async fn create_volumes(provider: &dyn VolumeProvider, batch: Batch, limit: Duration) -> Vec<Report> {
    let (to_ask, mut to_make) = split(&batch);
    let mut results: BTreeMap<usize, Result<ProvisionedVolume, Fault>> = BTreeMap::new();
    let asked: Vec<EffectId> = to_ask.iter().map(|place| batch[*place].call.id()).collect();
    if !asked.is_empty() {
        let known = bulk(limit, asked.len(), provider.lookup_volumes(asked)).await;
        adopt(known, to_ask, &mut results, &mut to_make);
    }
    let wanted: Vec<CreateVolume> = to_make
        .iter()
        .filter_map(|place| match &batch[*place].call {
            Call::Volume { call: VolumeCall::Create(create), .. } => Some(create.clone()),
            Call::Machine { .. } | Call::Volume { .. } => None,
        })
        .collect();
    let made =
        if wanted.is_empty() { Vec::new() } else { bulk(limit, wanted.len(), provider.create_volumes(wanted)).await };
    results.extend(to_make.into_iter().zip(made));
    reports(batch, results.into_values().collect(), volume::shell::created)
}

async fn attach_volumes(provider: &dyn VolumeProvider, batch: Batch, limit: Duration) -> Vec<Report> {
    let (to_ask, mut to_make) = split(&batch);
    let mut results: BTreeMap<usize, Result<AttachmentInfo, Fault>> = BTreeMap::new();
    let asked: Vec<EffectId> = to_ask.iter().map(|place| batch[*place].call.id()).collect();
    if !asked.is_empty() {
        let known = bulk(limit, asked.len(), provider.lookup_attachments(asked)).await;
        adopt(known, to_ask, &mut results, &mut to_make);
    }
    let wanted: Vec<AttachVolume> = to_make
        .iter()
        .filter_map(|place| match &batch[*place].call {
            Call::Volume { call: VolumeCall::Attach(attach), .. } => Some((**attach).clone()),
            Call::Machine { .. } | Call::Volume { .. } => None,
        })
        .collect();
    let made =
        if wanted.is_empty() { Vec::new() } else { bulk(limit, wanted.len(), provider.attach_volumes(wanted)).await };
    results.extend(to_make.into_iter().zip(made));
    reports(batch, results.into_values().collect(), volume_attachment::shell::attached)
}

/// Tells the entities. A report that cannot be taken now is made again: what has happened must not be forgotten.
async fn report(registry: &actix::WeakAddr<Registry>, reports: Vec<Report>) {
    let mut open = reports;
    let mut wait_ms = 100;
    loop {
        let mut refused = Vec::new();
        let mut asks = Vec::new();
        for (stream, command, cause) in open {
            let Some(registry) = registry.upgrade() else {
                return;
            };
            let id = derived_uuid(&format!("report {stream} {cause} {command:?}"));
            let origin = Origin { id, principal: "executor".into(), cause: Some(cause), routine: true };
            let ask = Ask { stream: stream.clone(), command: command.clone(), origin };
            asks.push((registry.send(ask), (stream, command, cause)));
        }
        for (ask, report) in asks {
            match ask.await {
                Ok(Err(AskError::Overloaded | AskError::Contended | AskError::Crashed { .. })) => refused.push(report),
                Ok(Err(error)) => tracing::error!(stream = %report.0, %error, "a report was not recorded"),
                Ok(Ok(_)) => (),
                // The registry has ended: the node stops, and asks the provider by id when it starts again.
                Err(_) => return,
            }
        }
        if refused.is_empty() {
            return;
        }
        open = refused;
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        wait_ms = (wait_ms * 2).min(5_000);
    }
}
