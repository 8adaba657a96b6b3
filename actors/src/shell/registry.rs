//! Finds the actor of a stream, or starts it; one actor per stream.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::Arc,
};

use actix::{
    Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, MailboxError, Message, ResponseActFuture, WrapFuture,
};
use bailiwick_journal::{AppendError, Body, Draft, Entry, EntryKind, Filter, Intake, Meta, Outcome, StreamId, digest};

use super::{
    Answer, AnyCommand, Ask, AskError, AskGroup, EntityActor, Executor, GroupAnswer, Kind, Limits, Origin, Propose,
    Recorded, Retire, ScheduleActor, Services, Submit, entity_actor::Proposal, entity_actor::verdict_text,
};
use crate::{
    contract::{Decider, Entity},
    machine, policy,
    vocab::{Timestamp, derived_uuid},
    volume, volume_attachment,
};

/// How often a group is decided again because somebody else changed one of its streams meanwhile.
const GROUP_TRIES_MAX: u32 = 8;

/// The address of an entity's actor, of whatever kind.
#[derive(Clone, Debug)]
enum AnyAddr {
    Machine(Addr<EntityActor<machine::State>>),
    Volume(Addr<EntityActor<volume::State>>),
    VolumeAttachment(Addr<EntityActor<volume_attachment::State>>),
    Policy(Addr<EntityActor<policy::State>>),
}

type Later<T> = Pin<Box<dyn Future<Output = Result<T, MailboxError>>>>;

/// Runs the same expression for whatever kind the address is of.
macro_rules! each_kind {
    ($addr:expr, $inner:ident => $run:expr) => {
        match $addr {
            AnyAddr::Machine($inner) => $run,
            AnyAddr::Volume($inner) => $run,
            AnyAddr::VolumeAttachment($inner) => $run,
            AnyAddr::Policy($inner) => $run,
        }
    };
}

impl AnyAddr {
    fn submit(&self, command: AnyCommand, origin: Origin) -> Option<Later<Result<Answer, AskError>>> {
        let is_report = command.is_report();
        Some(match (self, command) {
            (Self::Machine(addr), AnyCommand::Machine(command)) => later(addr, Submit { command, origin, is_report }),
            (Self::Volume(addr), AnyCommand::Volume(command)) => later(addr, Submit { command, origin, is_report }),
            (Self::VolumeAttachment(addr), AnyCommand::VolumeAttachment(command)) => {
                later(addr, Submit { command, origin, is_report })
            }
            (Self::Policy(addr), AnyCommand::Policy(command)) => later(addr, Submit { command, origin, is_report }),
            _ => return None,
        })
    }

    fn propose(&self, commands: Vec<(AnyCommand, Origin)>) -> Option<Later<Result<Vec<Proposal>, AskError>>> {
        macro_rules! of_kind {
            ($addr:expr, $variant:path) => {{
                let mut own = Vec::new();
                for (command, origin) in commands {
                    let $variant(command) = command else {
                        return None;
                    };
                    own.push((command, origin));
                }
                let request = $addr.send(Propose { commands: own });
                Some(Box::pin(request))
            }};
        }
        match self {
            Self::Machine(addr) => of_kind!(addr, AnyCommand::Machine),
            Self::Volume(addr) => of_kind!(addr, AnyCommand::Volume),
            Self::VolumeAttachment(addr) => of_kind!(addr, AnyCommand::VolumeAttachment),
            Self::Policy(addr) => of_kind!(addr, AnyCommand::Policy),
        }
    }

    fn recorded(&self, entries: Vec<Arc<Entry>>) -> Later<Result<(), AskError>> {
        each_kind!(self, addr => Box::pin(addr.send(Recorded { entries })))
    }

    fn retire(&self) {
        // It is idle and its mailbox empty; if a message is on its way all the same, that one finds a closed mailbox and
        // is sent again to a new actor.
        each_kind!(self, addr => drop(addr.try_send(Retire)));
    }

    fn connected(&self) -> bool {
        each_kind!(self, addr => addr.connected())
    }
}

fn later<D: Kind>(addr: &Addr<EntityActor<D>>, submit: Submit<D>) -> Later<Result<Answer, AskError>> {
    Box::pin(addr.send(submit))
}

#[derive(Debug)]
struct Slot {
    addr: AnyAddr,
    /// Commands on their way to it.
    asks: usize,
    /// Whether its last answer said that it waits for nothing but commands and due times.
    idle: bool,
    used: u64,
}

/// Finds the actor of a stream, or starts it from the journal.
#[derive(Debug)]
pub struct Registry {
    services: Rc<Services>,
    executor: Option<Addr<Executor>>,
    schedule: Addr<ScheduleActor>,
    slots: BTreeMap<StreamId, Slot>,
    /// Idle actors by when they were used last.
    idle: BTreeMap<u64, StreamId>,
    crashes: BTreeMap<StreamId, VecDeque<Timestamp>>,
    quarantined: BTreeSet<StreamId>,
    asks: usize,
    uses: u64,
    stopping: bool,
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
    pub quarantined: Vec<StreamId>,
    /// Decisions that were only counted.
    pub only_counted: u64,
}

impl Registry {
    /// A registry without actors. Its executor is started with it.
    pub fn new(services: Rc<Services>, schedule: Addr<ScheduleActor>) -> Self {
        Self {
            services,
            executor: None,
            schedule,
            slots: BTreeMap::new(),
            idle: BTreeMap::new(),
            crashes: BTreeMap::new(),
            quarantined: BTreeSet::new(),
            asks: 0,
            uses: 0,
            stopping: false,
        }
    }

    /// The actor of a stream, started from the journal if need be.
    fn find(&mut self, stream: &StreamId) -> Result<AnyAddr, AskError> {
        if self.quarantined.contains(stream) {
            return Err(AskError::Quarantined { stream: stream.clone() });
        }
        if let Some(slot) = self.slots.get(stream)
            && slot.addr.connected()
        {
            return Ok(slot.addr.clone());
        }
        let addr = match stream.kind() {
            machine::State::KIND => AnyAddr::Machine(self.spawn(EntityActor::load(stream, &self.services)?)),
            volume::State::KIND => AnyAddr::Volume(self.spawn(EntityActor::load(stream, &self.services)?)),
            volume_attachment::State::KIND => {
                AnyAddr::VolumeAttachment(self.spawn(EntityActor::load(stream, &self.services)?))
            }
            policy::State::KIND => AnyAddr::Policy(self.spawn(EntityActor::load(stream, &self.services)?)),
            _ => return Err(AskError::Misdirected { stream: stream.clone() }),
        };
        self.insert(stream.clone(), addr.clone());
        Ok(addr)
    }

    fn insert(&mut self, stream: StreamId, addr: AnyAddr) {
        self.uses += 1;
        if let Some(old) = self.slots.remove(&stream) {
            self.idle.remove(&old.used);
        }
        self.slots.insert(stream, Slot { addr, asks: 0, idle: false, used: self.uses });
        self.retire_some();
    }

    fn spawn<D: Kind>(&self, entity: Entity<D>) -> Addr<EntityActor<D>> {
        let executor = self.executor.as_ref().expect("the executor starts with the registry").downgrade();
        EntityActor::new(entity, self.services.clone(), executor, self.schedule.downgrade()).start()
    }

    /// Sends the actors that were not used for longest out of memory while there are too many.
    fn retire_some(&mut self) {
        while self.slots.len() > self.services.limits.actors_max {
            let Some((_, stream)) = self.idle.pop_first() else {
                return;
            };
            if let Some(slot) = self.slots.remove(&stream) {
                slot.addr.retire();
            }
        }
    }

    fn asked(&mut self, stream: &StreamId) {
        self.asks += 1;
        self.uses += 1;
        let used = self.uses;
        if let Some(slot) = self.slots.get_mut(stream) {
            self.idle.remove(&slot.used);
            slot.used = used;
            slot.asks += 1;
        }
    }

    fn answered(&mut self, stream: &StreamId, idle: bool) {
        self.asks -= 1;
        if let Some(slot) = self.slots.get_mut(stream) {
            slot.asks = slot.asks.saturating_sub(1);
            slot.idle = idle;
            if slot.idle && slot.asks == 0 {
                self.idle.insert(slot.used, stream.clone());
            }
        }
        self.retire_some();
    }

    /// An actor broke: its state is dropped, the crash journaled; the next command finds a new one. One that breaks again
    /// and again is taken out of service.
    fn crashed(&mut self, stream: &StreamId) {
        if let Some(slot) = self.slots.remove(stream) {
            self.idle.remove(&slot.used);
            slot.addr.retire();
        }
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
        let draft = note(&self.services, stream, code, now);
        self.services.journal.append(vec![draft], Intake::Report, Box::new(|_| ()));
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
    type Result = ResponseActFuture<Self, Result<Answer, AskError>>;

    fn handle(&mut self, ask: Ask, _ctx: &mut Self::Context) -> Self::Result {
        let refuse =
            |error: AskError| -> Self::Result { Box::pin(actix::fut::wrap_future(std::future::ready(Err(error)))) };
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
                    self.crashed(&stream);
                }
                return refuse(error);
            }
        };
        let Some(answer) = addr.submit(command, origin) else {
            return refuse(AskError::Misdirected { stream });
        };
        self.asked(&stream);
        Box::pin(answer.into_actor(self).map(move |answer, registry, _ctx| {
            let idle = matches!(&answer, Ok(Ok(answer)) if answer.idle);
            registry.answered(&stream, idle);
            match answer {
                Ok(Err(AskError::Crashed { stream })) => {
                    registry.crashed(&stream);
                    Err(AskError::Crashed { stream })
                }
                Ok(answer) => answer,
                // It ended while the command was on its way, by a panic outside of its core or because it retired.
                Err(_) => {
                    registry.crashed(&stream);
                    Err(AskError::Crashed { stream })
                }
            }
        }))
    }
}

impl Handler<AskGroup> for Registry {
    type Result = ResponseActFuture<Self, Result<GroupAnswer, AskError>>;

    fn handle(&mut self, group: AskGroup, ctx: &mut Self::Context) -> Self::Result {
        let refuse =
            |error: AskError| -> Self::Result { Box::pin(actix::fut::wrap_future(std::future::ready(Err(error)))) };
        if self.stopping {
            return refuse(AskError::Stopping);
        }
        if self.asks >= self.services.limits.asks_max {
            return refuse(AskError::Overloaded);
        }
        self.asks += 1;
        let registry = ctx.address();
        let services = self.services.clone();
        let run = async move { ask_group(&registry, &services, group).await };
        Box::pin(run.into_actor(self).map(|answer, registry, _ctx| {
            registry.asks -= 1;
            if let Err(AskError::Crashed { stream }) = &answer {
                registry.crashed(stream);
            }
            answer
        }))
    }
}

/// The actor of a stream, for a group.
#[derive(Debug, Message)]
#[rtype(result = "Result<Found, AskError>")]
struct Find(StreamId);

#[derive(Debug)]
struct Found(AnyAddr);

impl Handler<Find> for Registry {
    type Result = Result<Found, AskError>;

    fn handle(&mut self, find: Find, _ctx: &mut Self::Context) -> Self::Result {
        self.find(&find.0).map(Found)
    }
}

/// Decides the commands of a group on the present states, records all of them in one append, and tells the actors. If a
/// stream has changed meanwhile, the journal refuses the append and everything is decided anew.
async fn ask_group(registry: &Addr<Registry>, services: &Services, group: AskGroup) -> Result<GroupAnswer, AskError> {
    let commands: Vec<(StreamId, AnyCommand, Origin)> = group
        .commands
        .into_iter()
        .zip(0u32..)
        .map(|((stream, command), index)| {
            let id = derived_uuid(&format!("group {} {index}", group.origin.id));
            (stream, command, Origin { id, ..group.origin.clone() })
        })
        .collect();
    for _ in 0..GROUP_TRIES_MAX {
        if let Some(answer) = first_group_answer(services, &commands)? {
            return Ok(answer);
        }
        let mut addrs: BTreeMap<StreamId, AnyAddr> = BTreeMap::new();
        for (stream, ..) in &commands {
            if !addrs.contains_key(stream) {
                let Found(addr) = registry.send(Find(stream.clone())).await.map_err(|_| AskError::Stopping)??;
                addrs.insert(stream.clone(), addr);
            }
        }
        let proposals = propose_all(&addrs, &commands).await?;
        let refused = proposals.iter().any(|proposal| proposal.draft.meta.outcome == Outcome::Refused);
        let drafts: Vec<Draft> = proposals
            .iter()
            .map(|proposal| proposal.draft.clone())
            .filter(|draft| !refused || draft.meta.outcome == Outcome::Refused)
            .collect();
        // Refusals that follow other commands of the same group were based on states that will not be.
        let drafts = if refused { drafts.into_iter().map(|d| rebased(services, d)).collect() } else { drafts };
        match services.append(drafts, Intake::Ordinary).await {
            Ok(appended) => {
                let mut by_stream: BTreeMap<StreamId, Vec<Arc<Entry>>> = BTreeMap::new();
                for entry in &appended.entries {
                    by_stream.entry(entry.header.stream.clone()).or_default().push(entry.clone());
                }
                for (stream, entries) in by_stream {
                    if let Some(addr) = addrs.get(&stream) {
                        // An actor that has ended meanwhile is built from the journal, which has the entries.
                        if let Ok(taken_in) = addr.recorded(entries).await {
                            taken_in?;
                        }
                    }
                }
                let answers = proposals.iter().map(|proposal| group_item(proposal, &appended.entries)).collect();
                return Ok(GroupAnswer { done: !refused, answers });
            }
            Err(AppendError::Conflict { .. } | AppendError::Repeated { .. }) => (),
            Err(AppendError::Overloaded { .. }) => return Err(AskError::Overloaded),
            Err(error) => return Err(AskError::NotRecorded(error)),
        }
    }
    Err(AskError::Contended)
}

/// A refusal of a group is recorded alone: at the version that its stream really has.
fn rebased(services: &Services, draft: Draft) -> Draft {
    Draft { expected: services.journal.version(&draft.stream), ..draft }
}

fn group_item(proposal: &Proposal, entries: &[Arc<Entry>]) -> Answer {
    let meta = &proposal.draft.meta;
    let entry = entries.iter().find(|entry| entry.header.meta.command_id == meta.command_id);
    match entry {
        Some(entry) => Answer::of(entry, proposal.text.clone(), false, false),
        None => Answer {
            stream: proposal.draft.stream.clone(),
            position: None,
            version: proposal.draft.expected,
            outcome: meta.outcome,
            code: meta.code.clone(),
            text: proposal.text.clone(),
            repeated: false,
            idle: false,
        },
    }
}

async fn propose_all(
    addrs: &BTreeMap<StreamId, AnyAddr>,
    commands: &[(StreamId, AnyCommand, Origin)],
) -> Result<Vec<Proposal>, AskError> {
    let mut proposals: BTreeMap<usize, Proposal> = BTreeMap::new();
    for (stream, addr) in addrs {
        let own: Vec<(usize, &(StreamId, AnyCommand, Origin))> =
            commands.iter().enumerate().filter(|(_, (of, ..))| of == stream).collect();
        let wanted = own.iter().map(|(_, (_, command, origin))| (command.clone(), origin.clone())).collect();
        let misdirected = || AskError::Misdirected { stream: stream.clone() };
        let answer = addr.propose(wanted).ok_or_else(misdirected)?;
        let answers = answer.await.map_err(|_| AskError::Crashed { stream: stream.clone() })??;
        proposals.extend(own.iter().map(|(index, _)| *index).zip(answers));
    }
    Ok(proposals.into_values().collect())
}

/// The answer that a group with these ids had before, if it had one.
fn first_group_answer(
    services: &Services,
    commands: &[(StreamId, AnyCommand, Origin)],
) -> Result<Option<GroupAnswer>, AskError> {
    let mut answers = Vec::new();
    for (stream, command, origin) in commands {
        let Some(answered) = services.journal.answered(&origin.id) else {
            continue;
        };
        if answered.command_hash != hash(command, stream)? {
            return Err(AskError::CommandReused { id: origin.id });
        }
        let unreadable = |problem: String| AskError::Unreadable { stream: stream.clone(), problem };
        let entry = services
            .journal
            .read(answered.position, answered.position, &Filter::all())
            .next()
            .ok_or_else(|| unreadable(format!("entry {} is missing", answered.position)))?
            .map_err(|error| unreadable(error.to_string()))?;
        let text = any_verdict_text(&entry).map_err(unreadable)?;
        answers.push(Answer::of(&entry, text, true, false));
    }
    let done = answers.len() == commands.len() && answers.iter().all(|a| a.outcome != Outcome::Refused);
    Ok((!answers.is_empty()).then_some(GroupAnswer { done, answers }))
}

fn hash(command: &AnyCommand, stream: &StreamId) -> Result<[u8; 16], AskError> {
    use crate::contract::Stored;
    let body = match command {
        AnyCommand::Machine(command) => command.store(),
        AnyCommand::Volume(command) => command.store(),
        AnyCommand::VolumeAttachment(command) => command.store(),
        AnyCommand::Policy(command) => command.store(),
    };
    body.map(|body| digest(&body.bytes))
        .map_err(|error| AskError::Unstorable { stream: stream.clone(), problem: error.to_string() })
}

fn any_verdict_text(entry: &Entry) -> Result<String, String> {
    match entry.header.stream.kind() {
        machine::State::KIND => verdict_text::<machine::State>(entry),
        volume::State::KIND => verdict_text::<volume::State>(entry),
        volume_attachment::State::KIND => verdict_text::<volume_attachment::State>(entry),
        policy::State::KIND => verdict_text::<policy::State>(entry),
        kind => Err(format!("{kind} is no kind of entity")),
    }
}

/// Start the actors of these streams: they have work to do.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct StartAll(pub Vec<StreamId>);

impl Handler<StartAll> for Registry {
    type Result = ();

    fn handle(&mut self, start: StartAll, _ctx: &mut Self::Context) {
        for stream in start.0 {
            if let Err(error) = self.find(&stream) {
                tracing::error!(%stream, %error, "an actor could not be started");
                if matches!(error, AskError::Crashed { .. }) {
                    self.crashed(&stream);
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
            quarantined: self.quarantined.iter().cloned().collect(),
            only_counted: self.services.only_counted.get(),
        })
    }
}
