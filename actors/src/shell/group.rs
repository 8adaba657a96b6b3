//! Commands to several entities that happen together or not at all.
//!
//! They are decided on the present states and recorded in one append. The request as a whole is recorded with them, as a
//! note under its own id, so the same request asked again gets the first answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use actix::{ActorFutureExt, Addr, AsyncContext, Context, Handler, Message, ResponseActFuture, WrapFuture};
use bailiwick_journal::{
    AppendError, Body, Draft, Entry, EntryKind, Filter, Intake, Meta, Outcome, Position, StreamId,
};
use serde::{Deserialize, Serialize};

use super::{
    Answer, AnyCommand, AskError, AskGroup, GroupAnswer, Origin, Registry, RehearseGroup, Services,
    any::{AnyAddr, AnyEntity},
    entity_actor::Proposal,
    table,
};
use crate::{
    contract::{Known, Stored},
    vocab::{Timestamp, derived_uuid},
};

/// How often a group is decided again because somebody else changed one of its streams meanwhile.
const GROUP_TRIES_MAX: u32 = 16;

/// The stream that requests as a whole are noted in. It has no events.
pub const REQUESTS: &str = "node/requests";

/// What is noted of a request, as the command of its entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestNote {
    /// The entries of its commands follow at once; so many of them were recorded.
    pub recorded: u32,
}

impl Stored for RequestNote {
    const SCHEMA: u16 = 1;
}

impl Handler<AskGroup> for Registry {
    type Result = ResponseActFuture<Self, Result<GroupAnswer, AskError>>;

    fn handle(&mut self, group: AskGroup, ctx: &mut Self::Context) -> Self::Result {
        self.with_members(ctx, async move |registry, services, members| {
            ask_group(&registry, &services, group, members).await
        })
    }
}

impl Handler<RehearseGroup> for Registry {
    type Result = ResponseActFuture<Self, Result<GroupAnswer, AskError>>;

    fn handle(&mut self, RehearseGroup(group): RehearseGroup, ctx: &mut Self::Context) -> Self::Result {
        self.with_members(ctx, async move |registry, services, members| {
            rehearse_group(&registry, &services, &group, members).await
        })
    }
}

impl Registry {
    /// Runs something with the actors of a group, which stay in memory meanwhile.
    fn with_members(
        &mut self,
        ctx: &mut Context<Self>,
        run: impl AsyncFnOnce(Addr<Self>, Rc<Services>, &mut Members) -> Result<GroupAnswer, AskError> + 'static,
    ) -> ResponseActFuture<Self, Result<GroupAnswer, AskError>> {
        let refused = match self {
            Self { stopping: true, .. } => Some(AskError::Stopping),
            Self { asks, services, .. } if *asks >= services.limits.asks_max => Some(AskError::Overloaded),
            _ => None,
        };
        if let Some(error) = refused {
            return Box::pin(actix::fut::wrap_future(std::future::ready(Err(error))));
        }
        self.asks += 1;
        let registry = ctx.address();
        let services = self.services.clone();
        let run = async move {
            let mut members = Members::new();
            let answer = run(registry, services, &mut members).await;
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
    addr: Arc<dyn AnyAddr>,
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
    if let Some(answer) = first_answer(services, &group.origin, group.content)? {
        return Ok(answer);
    }
    let commands = commands_of(&group)?;
    *members = found(registry, &commands).await?;
    for _ in 0..GROUP_TRIES_MAX {
        if let Some(answer) = first_answer(services, &group.origin, group.content)? {
            return Ok(answer);
        }
        let mut entities = snapshots(members).await?;
        if let Some(expected) = &group.origin.expected {
            // What is on its way into the journal is a conflict, and then this is looked at again.
            expected.check(services.journal.version(&expected.stream))?;
        }
        // From here to the append nobody else runs: all have the same time, and nothing later comes before them.
        let now = services.now();
        let proposals = propose_all(services, now, &mut entities, &commands)?;
        let refused = proposals.iter().any(|proposal| proposal.draft.meta.outcome == Outcome::Refused);
        let mut drafts: Vec<Draft> = proposals
            .iter()
            .map(|proposal| proposal.draft.clone())
            .filter(|draft| !refused || is_refused_as_it_is(services, draft))
            .collect();
        drafts.insert(0, request_note(&group.origin, group.content, &drafts, refused, now)?);
        let is_urgent = proposals.iter().all(|proposal| proposal.intake == Intake::Report);
        let intake = if is_urgent && !proposals.is_empty() { Intake::Report } else { Intake::Ordinary };
        match services.append(drafts, intake).await {
            Ok(appended) => {
                tell_members(members, appended.entries()).await?;
                let answers = proposals.iter().map(|proposal| group_item(proposal, appended.entries())).collect();
                return Ok(GroupAnswer { done: !refused, answers });
            }
            Err(AppendError::Conflict { .. } | AppendError::Repeated { .. }) => (),
            Err(AppendError::Overloaded { .. }) => return Err(AskError::Overloaded),
            Err(error) => return Err(AskError::NotRecorded(error)),
        }
    }
    Err(AskError::Contended)
}

/// Decides the commands of a group on the present states, and records nothing.
async fn rehearse_group(
    registry: &Addr<Registry>,
    services: &Services,
    group: &AskGroup,
    members: &mut Members,
) -> Result<GroupAnswer, AskError> {
    let commands = commands_of(group)?;
    *members = found(registry, &commands).await?;
    let proposals = propose_all(services, services.now(), &mut snapshots(members).await?, &commands)?;
    let refused = proposals.iter().any(|proposal| proposal.draft.meta.outcome == Outcome::Refused);
    Ok(GroupAnswer { done: !refused, answers: proposals.iter().map(|proposal| group_item(proposal, &[])).collect() })
}

/// The commands of a group, each under its own id.
fn commands_of(group: &AskGroup) -> Result<Vec<(StreamId, AnyCommand, Origin)>, AskError> {
    if let Some((stream, _)) = group.commands.iter().find(|(stream, command)| stream.kind() != command.kind()) {
        return Err(AskError::Misdirected { stream: stream.clone() });
    }
    let numbered = group.commands.iter().cloned().zip(0u32..);
    let commands = numbered.map(|((stream, command), index)| {
        let id = derived_uuid(&format!("group {} {index}", group.origin.id));
        (stream, command, Origin { id, ..group.origin.clone() })
    });
    Ok(commands.collect())
}

async fn found(registry: &Addr<Registry>, commands: &[(StreamId, AnyCommand, Origin)]) -> Result<Members, AskError> {
    let streams = commands.iter().map(|(stream, ..)| stream.clone()).collect();
    registry.send(FindAll(streams)).await.map_err(|_| AskError::Stopping)?
}

async fn snapshots(members: &Members) -> Result<BTreeMap<StreamId, Box<dyn AnyEntity>>, AskError> {
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
    now: Timestamp,
    entities: &mut BTreeMap<StreamId, Box<dyn AnyEntity>>,
    commands: &[(StreamId, AnyCommand, Origin)],
) -> Result<Vec<Proposal>, AskError> {
    let known = Known { now, ..services.known() };
    let mut proposals = Vec::with_capacity(commands.len());
    for (stream, entity) in entities.iter_mut() {
        // Whatever was recorded since its snapshot was taken; what is still on its way into the journal is a conflict.
        entity.catch_up(stream, services)?;
    }
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

/// The note of a request: under its own id, with the hash of what was asked.
fn request_note(
    origin: &Origin,
    content: [u8; 16],
    drafts: &[Draft],
    refused: bool,
    now: Timestamp,
) -> Result<Draft, AskError> {
    let stream = requests();
    let (outcome, code) = match (refused, drafts.is_empty()) {
        (true, _) => (Outcome::Refused, "request-refused"),
        (false, true) => (Outcome::Nothing, "nothing-asked"),
        (false, false) => (Outcome::Done, "request-done"),
    };
    let recorded = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
    let note = RequestNote { recorded };
    let unstorable = |problem: String| AskError::Unstorable { stream: requests(), problem };
    let meta = Meta {
        kind: EntryKind::Note,
        outcome,
        code: code.to_owned(),
        time_ms: now.0,
        command_id: origin.id,
        command_hash: content,
        cause: origin.cause,
        principal: origin.principal.clone(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    Ok(Draft {
        stream,
        expected: bailiwick_journal::Version::ZERO,
        meta,
        command: note.store().map_err(|error| unstorable(error.to_string()))?,
        facts: Body::default(),
        verdict: Body::default(),
        events: Vec::new(),
    })
}

fn requests() -> StreamId {
    REQUESTS.parse().expect("a valid name")
}

/// The answer that this request had before, if it had one.
fn first_answer(services: &Services, origin: &Origin, content: [u8; 16]) -> Result<Option<GroupAnswer>, AskError> {
    let Some(answered) = services.journal.answered(&origin.id) else {
        return Ok(None);
    };
    let reused = AskError::CommandReused { id: origin.id };
    if answered.command_hash != content {
        return Err(reused);
    }
    let unreadable = |problem: String| AskError::Unreadable { stream: requests(), problem };
    let note = read(services, answered.position, answered.position)?.pop().ok_or(reused.clone())?;
    if note.header.stream != requests() {
        return Err(reused);
    }
    let RequestNote { recorded } = RequestNote::load(&note.command).map_err(|error| unreadable(error.to_string()))?;
    let last = answered.position.plus(u64::from(recorded));
    let mut answers = Vec::new();
    for entry in read(services, answered.position.next(), last)? {
        let stream = &entry.header.stream;
        let kind = table::kind(stream.kind()).ok_or_else(|| unreadable(format!("{stream} is of an unknown kind")))?;
        let text = (kind.verdict_text)(&entry).map_err(unreadable)?;
        answers.push(Answer::of(&entry, text, true, false));
    }
    Ok(Some(GroupAnswer { done: note.header.meta.outcome != Outcome::Refused, answers }))
}

fn read(services: &Services, from: Position, to: Position) -> Result<Vec<Arc<Entry>>, AskError> {
    let entries = services.journal.read(from, to, &Filter::all()).collect::<Result<Vec<_>, _>>();
    entries.map_err(|error| AskError::Unreadable { stream: requests(), problem: error.to_string() })
}
