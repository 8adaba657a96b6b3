//! Finds the actor of a stream, or starts it; one actor per stream.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    rc::Rc,
    sync::Arc,
};

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, ResponseFuture, WrapFuture};
use bailiwick_journal::{AppendError, Body, Draft, EntryKind, Intake, Meta, Outcome, StreamId, digest};

use super::{
    Answer, Ask, AskError, Executor, Limits, Services,
    any::AnyAddr,
    table::{self, Around},
};
use crate::{
    schedule::ScheduleActor,
    vocab::{Timestamp, derived_uuid},
};

/// How often a note about a broken actor is tried again because the stream has changed meanwhile.
const NOTE_TRIES_MAX: u32 = 5;

#[derive(Debug)]
struct Slot {
    addr: Arc<dyn AnyAddr>,
    /// Commands on their way to it.
    asks: usize,
    /// Whether its last answer said that it waits for nothing but commands and due times.
    idle: bool,
    used: u64,
    /// Tells it from earlier actors of the same stream.
    born: u64,
}

/// Finds the actor of a stream, or starts it from the journal.
#[derive(Debug)]
pub struct Registry {
    pub(super) services: Rc<Services>,
    executor: Option<Addr<Executor>>,
    schedule: Addr<ScheduleActor>,
    /// Each is looked up several times for every command, and never in order.
    slots: HashMap<StreamId, Slot>,
    /// Idle actors by when they were used last.
    idle: BTreeMap<u64, StreamId>,
    crashes: BTreeMap<StreamId, VecDeque<Timestamp>>,
    /// All of them since the node started.
    crashed: u64,
    quarantined: BTreeSet<StreamId>,
    pub(super) asks: usize,
    uses: u64,
    pub(super) stopping: bool,
}

/// Take no new commands; what running effects report is still recorded.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Quiesce;

/// How is the registry?
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "RegistryStats")]
pub struct Stats;

/// How the registry is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryStats {
    /// Actors in memory.
    pub actors: usize,
    /// Of these, the idle ones.
    pub idle: usize,
    /// Commands that wait for their answers.
    pub asks: usize,
    /// Items of provider calls under way.
    pub calls: usize,
    pub quarantined: Vec<StreamId>,
    /// Decisions that were only counted.
    pub only_counted: u64,
    /// How often an actor broke since the node started, and was built anew from its stream.
    pub crashes: u64,
    /// How often an invariant came not to hold of an object since the node started, by kind and name.
    pub broken: BTreeMap<(&'static str, &'static str), u64>,
}

impl Registry {
    /// A registry without actors. Its executor is started with it.
    pub fn new(services: Rc<Services>, schedule: Addr<ScheduleActor>) -> Self {
        Self {
            services,
            executor: None,
            schedule,
            slots: HashMap::new(),
            idle: BTreeMap::new(),
            crashes: BTreeMap::new(),
            crashed: 0,
            quarantined: BTreeSet::new(),
            asks: 0,
            uses: 0,
            stopping: false,
        }
    }

    /// The actor of a stream, started from the journal if need be.
    pub(super) fn find(&mut self, stream: &StreamId) -> Result<Arc<dyn AnyAddr>, AskError> {
        if self.quarantined.contains(stream) {
            return Err(AskError::Quarantined { stream: stream.clone() });
        }
        if let Some(slot) = self.slots.get(stream)
            && slot.addr.connected()
        {
            return Ok(slot.addr.clone());
        }
        let kind = table::kind(stream.kind()).ok_or_else(|| AskError::Misdirected { stream: stream.clone() })?;
        let executor = self.executor.as_ref().expect("the executor starts with the registry").downgrade();
        let schedule = self.schedule.downgrade();
        let addr = (kind.start)(stream, Around { services: &self.services, executor, schedule })?;
        self.insert(stream.clone(), addr.clone());
        Ok(addr)
    }

    fn insert(&mut self, stream: StreamId, addr: Arc<dyn AnyAddr>) {
        self.uses += 1;
        if let Some(old) = self.slots.remove(&stream) {
            self.idle.remove(&old.used);
        }
        self.slots.insert(stream, Slot { addr, asks: 0, idle: false, used: self.uses, born: self.uses });
        self.retire_some();
    }

    /// Sends the actors that were not used for longest out of memory while there are too many.
    fn retire_some(&mut self) {
        while self.slots.len() > self.services.limits.actors_max {
            let Some((_, stream)) = self.idle.pop_first() else {
                return;
            };
            let slot = self.slots.remove(&stream);
            debug_assert!(
                slot.as_ref().is_some_and(|slot| slot.idle && slot.asks == 0),
                "what is idle is in memory, and nobody asks it: {stream}"
            );
            if let Some(slot) = slot {
                slot.addr.retire();
            }
        }
    }

    /// Somebody is about to ask the actor of a stream: it stays in memory until it has answered. The answer tells the
    /// actor from later ones of the same stream.
    pub(super) fn enter(&mut self, stream: &StreamId) -> u64 {
        self.uses += 1;
        let used = self.uses;
        let Some(slot) = self.slots.get_mut(stream) else {
            return 0;
        };
        self.idle.remove(&slot.used);
        slot.used = used;
        slot.asks += 1;
        slot.born
    }

    /// It has answered.
    pub(super) fn leave(&mut self, stream: &StreamId, born: u64, idle: bool) {
        if let Some(slot) = self.slots.get_mut(stream).filter(|slot| slot.born == born) {
            slot.asks -= 1;
            slot.idle = idle;
            if slot.idle && slot.asks == 0 {
                self.idle.insert(slot.used, stream.clone());
            }
        }
        self.retire_some();
    }

    /// An actor broke: its state is dropped, the crash journaled; the next command finds a new one. One that breaks again
    /// and again is taken out of service. However many waited for the answer of a broken actor, it broke once.
    pub(super) fn crashed(&mut self, stream: &StreamId, born: Option<u64>, ctx: &mut Context<Self>) {
        if born.is_some() && self.slots.get(stream).map(|slot| slot.born) != born {
            return;
        }
        if let Some(slot) = self.slots.remove(stream) {
            self.idle.remove(&slot.used);
            slot.addr.retire();
        }
        self.crashed += 1;
        let now = self.services.now();
        let times = self.crashes.entry(stream.clone()).or_default();
        times.push_back(now);
        while times.front().is_some_and(|time| now.since(*time) > Limits::CRASH_WINDOW_MS) {
            times.pop_front();
        }
        let quarantine = times.len() >= self.services.limits.crashes_max;
        let code = if quarantine { "quarantined" } else { "crashed" };
        tracing::error!(%stream, crashes = times.len(), code, "an actor broke");
        if quarantine {
            self.quarantined.insert(stream.clone());
        }
        let (services, stream) = (self.services.clone(), stream.clone());
        let noted = async move {
            for _ in 0..NOTE_TRIES_MAX {
                let draft = note(&services, &stream, code, services.now());
                match services.append(vec![draft], Intake::Report).await {
                    Err(AppendError::Conflict { .. }) => (),
                    Err(error) => return tracing::error!(%stream, %error, "the crash of an actor was not recorded"),
                    Ok(_) => return,
                }
            }
        };
        ctx.spawn(noted.into_actor(self));
    }
}

/// A note about the actor of a stream.
fn note(services: &Services, stream: &StreamId, code: &str, now: Timestamp) -> Draft {
    let command = Body { schema: 1, bytes: code.as_bytes().to_vec() };
    let meta = Meta {
        kind: EntryKind::Note,
        outcome: Outcome::Nothing,
        code: code.to_owned(),
        time_ms: now.0,
        command_id: derived_uuid(&format!("{code} {stream} {} {}", services.journal.head().position, now.0)),
        command_hash: digest(&command.bytes),
        cause: None,
        principal: "node".into(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    Draft {
        stream: stream.clone(),
        expected: services.journal.version(stream),
        meta,
        command,
        facts: Body { schema: 1, bytes: Vec::new() },
        verdict: Body { schema: 1, bytes: Vec::new() },
        events: Vec::new(),
    }
}

impl Actor for Registry {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.services.limits.asks_max);
        let executor = Executor::new(self.services.clone(), ctx.address().downgrade());
        self.executor = Some(executor.start());
    }
}

impl Handler<Ask> for Registry {
    // A task of its own, which is polled when its answer is there. A future of this actor would be polled with every
    // message to it, and many of them would cost their square.
    type Result = ResponseFuture<Result<Answer, AskError>>;

    fn handle(&mut self, ask: Ask, ctx: &mut Self::Context) -> Self::Result {
        let refuse = |error: AskError| -> Self::Result { Box::pin(std::future::ready(Err(error))) };
        let Ask { stream, command, origin } = ask;
        if self.stopping && !command.is_report() {
            return refuse(AskError::Stopping);
        }
        if self.asks >= self.services.limits.asks_max && !command.is_report() {
            return refuse(AskError::Overloaded);
        }
        if command.kind() != stream.kind() {
            return refuse(AskError::Misdirected { stream });
        }
        let addr = match self.find(&stream) {
            Ok(addr) => addr,
            Err(error) => {
                if matches!(error, AskError::Crashed { .. }) {
                    self.crashed(&stream, None, ctx);
                }
                return refuse(error);
            }
        };
        let Some(answer) = addr.submit(command, origin) else {
            return refuse(AskError::Misdirected { stream });
        };
        self.asks += 1;
        let born = self.enter(&stream);
        let registry = ctx.address().downgrade();
        Box::pin(async move {
            // Without an answer it ended while the command was on its way, by a panic outside of its core.
            let answer = answer.await.unwrap_or_else(|_| Err(AskError::Crashed { stream: stream.clone() }));
            let has_crashed = matches!(answer, Err(AskError::Crashed { .. }));
            let idle = matches!(&answer, Ok(answer) if answer.idle);
            // Before the answer is given, so the caller's next question finds what follows from it.
            if let Some(registry) = registry.upgrade() {
                let _ = registry.send(Answered { stream, born, idle, has_crashed }).await;
            }
            answer
        })
    }
}

/// The actor of a stream has answered a command.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Answered {
    stream: StreamId,
    born: u64,
    idle: bool,
    has_crashed: bool,
}

impl Handler<Answered> for Registry {
    type Result = ();

    fn handle(&mut self, answered: Answered, ctx: &mut Self::Context) {
        let Answered { stream, born, idle, has_crashed } = answered;
        self.asks -= 1;
        self.leave(&stream, born, idle);
        if has_crashed {
            self.crashed(&stream, Some(born), ctx);
        }
    }
}

/// Start the actors of these streams: they have work to do.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct StartAll(pub Vec<StreamId>);

impl Handler<StartAll> for Registry {
    type Result = ();

    fn handle(&mut self, start: StartAll, ctx: &mut Self::Context) {
        for stream in start.0 {
            if let Err(error) = self.find(&stream) {
                tracing::error!(%stream, %error, "an actor could not be started");
                if matches!(error, AskError::Crashed { .. }) {
                    self.crashed(&stream, None, ctx);
                }
            }
        }
    }
}

impl Handler<Quiesce> for Registry {
    type Result = ();

    fn handle(&mut self, _: Quiesce, _ctx: &mut Self::Context) {
        self.stopping = true;
    }
}

impl Handler<Stats> for Registry {
    type Result = actix::MessageResult<Stats>;

    fn handle(&mut self, _: Stats, _ctx: &mut Self::Context) -> Self::Result {
        actix::MessageResult(RegistryStats {
            actors: self.slots.len(),
            idle: self.idle.len(),
            asks: self.asks,
            calls: self.services.calls.get(),
            quarantined: self.quarantined.iter().cloned().collect(),
            only_counted: self.services.only_counted.get(),
            crashes: self.crashed,
            broken: self.services.broken_counts(),
        })
    }
}
