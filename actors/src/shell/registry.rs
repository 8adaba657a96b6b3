//! Finds the actor of a stream, or starts it; one actor per stream.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::Future,
    marker::PhantomData,
    pin::Pin,
    rc::Rc,
    sync::Arc,
};

use actix::{
    Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, MailboxError, Message, ResponseActFuture, WrapFuture,
};
use bailiwick_journal::{AppendError, Body, Draft, Entry, EntryKind, Filter, Intake, Meta, Outcome, StreamId, digest};

use super::{
    Answer, AnyCommand, Ask, AskError, AskGroup, EntityActor, Executor, GroupAnswer, Kind, Limits, Origin, Recorded,
    Retire, ScheduleActor, Services, Snapshot, Submit,
    entity_actor::{Proposal, propose_on, verdict_text},
};
use crate::{
    contract::{Decider, Entity, Known, NoView},
    machine, policy,
    vocab::{Timestamp, derived_uuid},
    volume, volume_attachment,
};

/// How often a group is decided again because somebody else changed one of its streams meanwhile.
const GROUP_TRIES_MAX: u32 = 8;
/// How often a note about a broken actor is tried again because the stream has changed meanwhile.
const NOTE_TRIES_MAX: u32 = 5;

/// The address of an entity's actor, of whatever kind.
#[derive(Clone, Debug)]
enum AnyAddr {
    Machine(Addr<EntityActor<machine::State>>),
    Volume(Addr<EntityActor<volume::State>>),
    VolumeAttachment(Addr<EntityActor<volume_attachment::State>>),
    Policy(Addr<EntityActor<policy::State>>),
}

/// The state of an entity, of whatever kind, for deciding about several in one step.
#[derive(Debug)]
enum AnyEntity {
    Machine(Entity<machine::State>),
    Volume(Entity<volume::State>),
    VolumeAttachment(Entity<volume_attachment::State>),
    Policy(Entity<policy::State>),
}

impl AnyEntity {
    /// What it would answer; it is then as it will be once that is recorded.
    fn propose(
        &mut self,
        stream: &StreamId,
        command: AnyCommand,
        origin: Origin,
        known: &Known<'_, NoView>,
    ) -> Result<Proposal, AskError> {
        match (self, command) {
            (Self::Machine(entity), AnyCommand::Machine(command)) => propose_on(entity, command, origin, known),
            (Self::Volume(entity), AnyCommand::Volume(command)) => propose_on(entity, command, origin, known),
            (Self::VolumeAttachment(entity), AnyCommand::VolumeAttachment(command)) => {
                propose_on(entity, command, origin, known)
            }
            (Self::Policy(entity), AnyCommand::Policy(command)) => propose_on(entity, command, origin, known),
            _ => Err(AskError::Misdirected { stream: stream.clone() }),
        }
    }
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

    fn snapshot(&self) -> Later<Result<AnyEntity, AskError>> {
        macro_rules! of_kind {
            ($addr:expr, $variant:path) => {{
                let request = $addr.send(Snapshot(PhantomData));
                Box::pin(async move { Ok(request.await?.map($variant)) })
            }};
        }
        match self {
            Self::Machine(addr) => of_kind!(addr, AnyEntity::Machine),
            Self::Volume(addr) => of_kind!(addr, AnyEntity::Volume),
            Self::VolumeAttachment(addr) => of_kind!(addr, AnyEntity::VolumeAttachment),
            Self::Policy(addr) => of_kind!(addr, AnyEntity::Policy),
        }
    }

    fn recorded(&self, entries: Vec<Arc<Entry>>) -> Later<Result<bool, AskError>> {
        each_kind!(self, addr => Box::pin(addr.send(Recorded { entries })))
    }

    fn retire(&self) {
        // It is idle, and nobody waits for an answer of it: whoever asks it is counted in its slot.
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
    /// Tells it from earlier actors of the same stream.
    born: u64,
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
    /// Items of provider calls under way.
    pub calls: usize,
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
        self.slots.insert(stream, Slot { addr, asks: 0, idle: false, used: self.uses, born: self.uses });
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

    /// Somebody is about to ask the actor of a stream: it stays in memory until it has answered. The answer tells the
    /// actor from later ones of the same stream.
    fn enter(&mut self, stream: &StreamId) -> u64 {
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
    fn leave(&mut self, stream: &StreamId, born: u64, idle: bool) {
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
    fn crashed(&mut self, stream: &StreamId, born: Option<u64>, ctx: &mut Context<Self>) {
        if born.is_some() && self.slots.get(stream).map(|slot| slot.born) != born {
            return;
        }
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

    fn handle(&mut self, ask: Ask, ctx: &mut Self::Context) -> Self::Result {
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
        Box::pin(answer.into_actor(self).map(move |answer, registry, ctx| {
            // Without an answer it ended while the command was on its way, by a panic outside of its core.
            let answer = answer.unwrap_or_else(|_| Err(AskError::Crashed { stream: stream.clone() }));
            registry.asks -= 1;
            let idle = matches!(&answer, Ok(answer) if answer.idle);
            registry.leave(&stream, born, idle);
            if matches!(answer, Err(AskError::Crashed { .. })) {
                registry.crashed(&stream, Some(born), ctx);
            }
            answer
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
        let run = async move {
            let mut members = Members::new();
            let answer = ask_group(&registry, &services, group, &mut members).await;
            (answer, members)
        };
        Box::pin(run.into_actor(self).map(|(answer, members), registry, ctx| {
            registry.asks -= 1;
            for (stream, member) in &members {
                registry.leave(stream, member.born, member.idle);
            }
            if let Err(AskError::Crashed { stream }) = &answer {
                registry.crashed(stream, members.get(stream).map(|member| member.born), ctx);
            }
            answer
        }))
    }
}

/// The actors of a group, by stream.
type Members = BTreeMap<StreamId, Member>;

/// The actor of a stream, kept in memory for a group.
#[derive(Debug)]
struct Member {
    addr: AnyAddr,
    born: u64,
    /// Whether it said that it waits for nothing but commands and due times.
    idle: bool,
}

/// The actors of these streams, for a group.
#[derive(Debug, Message)]
#[rtype(result = "Result<Members, AskError>")]
struct FindAll(BTreeSet<StreamId>);

impl Handler<FindAll> for Registry {
    type Result = Result<Members, AskError>;

    fn handle(&mut self, find: FindAll, _ctx: &mut Self::Context) -> Self::Result {
        let mut found = Vec::new();
        for stream in find.0 {
            // Entered at once: while the others are found, it must not leave.
            let addr = self.find(&stream);
            match addr {
                Ok(addr) => found.push((stream.clone(), Member { addr, born: self.enter(&stream), idle: false })),
                Err(error) => {
                    for (stream, member) in found {
                        self.leave(&stream, member.born, false);
                    }
                    return Err(error);
                }
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// Decides the commands of a group on the present states, records all of them in one append, and tells the actors. If a
/// stream has changed meanwhile, the journal refuses the append and everything is decided anew.
async fn ask_group(
    registry: &Addr<Registry>,
    services: &Services,
    group: AskGroup,
    members: &mut Members,
) -> Result<GroupAnswer, AskError> {
    let commands: Vec<(StreamId, AnyCommand, Origin)> = group
        .commands
        .into_iter()
        .zip(0u32..)
        .map(|((stream, command), index)| {
            let id = derived_uuid(&format!("group {} {index}", group.origin.id));
            (stream, command, Origin { id, ..group.origin.clone() })
        })
        .collect();
    if let Some(answer) = first_group_answer(services, &commands)? {
        return Ok(answer);
    }
    if let Some((stream, ..)) = commands.iter().find(|(stream, command, _)| stream.kind() != command.kind()) {
        return Err(AskError::Misdirected { stream: stream.clone() });
    }
    let streams = commands.iter().map(|(stream, ..)| stream.clone()).collect();
    *members = registry.send(FindAll(streams)).await.map_err(|_| AskError::Stopping)??;
    for _ in 0..GROUP_TRIES_MAX {
        if let Some(answer) = first_group_answer(services, &commands)? {
            return Ok(answer);
        }
        let mut entities = snapshots(members).await?;
        // From here to the append nobody else runs: all have the same time, and nothing later comes before them.
        let proposals = propose_all(services, &mut entities, &commands)?;
        let refused = proposals.iter().any(|proposal| proposal.draft.meta.outcome == Outcome::Refused);
        let drafts: Vec<Draft> = proposals
            .iter()
            .map(|proposal| proposal.draft.clone())
            .filter(|draft| !refused || is_refused_as_it_is(services, draft))
            .collect();
        if drafts.is_empty() {
            let answers = proposals.iter().map(|proposal| group_item(proposal, &[])).collect();
            return Ok(GroupAnswer { done: !refused, answers });
        }
        match services.append(drafts, Intake::Ordinary).await {
            Ok(appended) => {
                tell_members(members, &appended.entries).await?;
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

async fn snapshots(members: &Members) -> Result<BTreeMap<StreamId, AnyEntity>, AskError> {
    let asked: Vec<_> = members.iter().map(|(stream, member)| (stream, member.addr.snapshot())).collect();
    let mut entities = BTreeMap::new();
    for (stream, snapshot) in asked {
        let entity = snapshot.await.map_err(|_| AskError::Crashed { stream: stream.clone() })??;
        entities.insert(stream.clone(), entity);
    }
    Ok(entities)
}

fn propose_all(
    services: &Services,
    entities: &mut BTreeMap<StreamId, AnyEntity>,
    commands: &[(StreamId, AnyCommand, Origin)],
) -> Result<Vec<Proposal>, AskError> {
    let known = services.known();
    let mut proposals = Vec::with_capacity(commands.len());
    for (stream, command, origin) in commands {
        let entity = entities.get_mut(stream).expect("every stream of the group has a snapshot");
        proposals.push(entity.propose(stream, command.clone(), origin.clone(), &known)?);
    }
    Ok(proposals)
}

/// Whether this is a refusal by the entity as it really is. One that followed from other commands of the same group rests
/// on a state that will not be; nobody could decide it again.
fn is_refused_as_it_is(services: &Services, draft: &Draft) -> bool {
    draft.meta.outcome == Outcome::Refused && draft.expected == services.journal.version(&draft.stream)
}

/// Tells the actors of a group what was recorded for them: all at once, so that what follows goes out together.
async fn tell_members(members: &mut Members, entries: &[Arc<Entry>]) -> Result<(), AskError> {
    let mut by_stream: BTreeMap<&StreamId, Vec<Arc<Entry>>> = BTreeMap::new();
    for entry in entries {
        by_stream.entry(&entry.header.stream).or_default().push(entry.clone());
    }
    let mut told = Vec::new();
    for (stream, entries) in by_stream {
        if let Some(member) = members.get(stream) {
            told.push((stream, member.addr.recorded(entries)));
        }
    }
    let mut broken = None;
    for (stream, answer) in told {
        // An actor that has ended meanwhile is built from the journal, which has the entries.
        let idle = match answer.await {
            Ok(Ok(idle)) => idle,
            Ok(Err(error)) => {
                broken.get_or_insert(error);
                false
            }
            Err(_) => false,
        };
        if let Some(member) = members.get_mut(stream) {
            member.idle = idle;
        }
    }
    broken.map_or(Ok(()), Err)
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
        })
    }
}
