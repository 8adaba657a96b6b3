//! One entity with a mailbox.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use actix::{
    Actor, ActorContext, ActorFutureExt, AtomicResponse, Context, Handler, Message, ResponseActFuture, WrapFuture,
};
use bailiwick_journal::{
    AppendError, Appended, Draft, Entry, Intake, Outcome, Position, StreamId, Version, crash, digest,
};

use super::{Answer, AskError, Executor, Expected, Kind, Origin, Perform, Services, Urgency, Work};
use crate::{
    contract::{Decider, Decoded, Entity, Known, NoView, Recorded as RecordedVerdict, Request, Stored, Verdict},
    schedule::{ScheduleActor, ScheduledWake},
};

/// How often a decision is made again because somebody else changed the stream meanwhile.
const TRIES_MAX: u32 = 5;

/// An entity, and what is under way for it.
#[derive(Debug)]
pub struct EntityActor<D: Kind> {
    entity: Entity<D>,
    services: Rc<Services>,
    executor: actix::WeakAddr<Executor>,
    schedule: actix::WeakAddr<ScheduleActor>,
    in_flight: BTreeSet<D::Effect>,
    /// Effects that were pending when the actor was built from the journal: they may have been begun before.
    perhaps_begun: BTreeSet<D::Effect>,
    /// Whether the schedule was told that nothing is due: then it need not be told again.
    is_unscheduled: bool,
}

/// One command.
#[derive(Debug, Message)]
#[rtype(result = "Result<Answer, AskError>")]
pub struct Submit<D: Kind> {
    pub command: D::Command,
    pub origin: Origin,
    /// When it may be recorded although the disk is nearly full.
    pub urgency: Urgency,
}

/// The entity as it is now, for a decision about several entities in one step.
#[derive(Debug, Message)]
#[rtype(result = "Result<Entity<D>, AskError>")]
pub struct Snapshot<D: Kind>(pub PhantomData<D>);

/// One answer that was not recorded yet.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub draft: Draft,
    pub text: String,
    pub intake: Intake,
}

/// Entries of this stream that somebody else has recorded; the answer is whether the entity is idle after them.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<bool, AskError>")]
pub struct Recorded {
    pub entries: Vec<std::sync::Arc<Entry>>,
}

/// Leave memory; everything is in the journal.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Retire;

impl<D: Kind> Actor for EntityActor<D> {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(256);
        self.perhaps_begun = self.entity.state().pending(&NoView);
        self.services.check_invariants(self.entity.stream(), self.entity.state());
        self.perform_pending(&BTreeMap::new());
    }
}

impl<D: Kind> EntityActor<D> {
    /// An actor for an entity that was folded from its stream.
    pub fn new(
        entity: Entity<D>,
        services: Rc<Services>,
        executor: actix::WeakAddr<Executor>,
        schedule: actix::WeakAddr<ScheduleActor>,
    ) -> Self {
        Self {
            entity,
            services,
            executor,
            schedule,
            in_flight: BTreeSet::new(),
            perhaps_begun: BTreeSet::new(),
            is_unscheduled: false,
        }
    }

    /// Folds an entity from its stream.
    ///
    /// # Errors
    /// If the stream cannot be read or holds what cannot be decoded.
    pub fn load(stream: &StreamId, services: &Services) -> Result<Entity<D>, AskError> {
        let mut entity = Entity::new(stream.clone());
        for entry in services.journal.read_stream(stream, Version::ZERO) {
            let unreadable = |problem: String| AskError::Unreadable { stream: stream.clone(), problem };
            let entry = entry.map_err(|error| unreadable(error.to_string()))?;
            guarded(stream, || entity.take_in(&entry))?.map_err(|error| unreadable(error.to_string()))?;
        }
        Ok(entity)
    }

    /// Sends out what is pending and not under way yet, each effect with the entry that it follows from: the last one, if
    /// nothing else is said.
    fn perform_pending(&mut self, causes: &BTreeMap<D::Effect, Position>) {
        let stream = self.entity.stream().clone();
        let pending = self.entity.state().pending(&NoView);
        self.in_flight.retain(|effect| pending.contains(effect));
        self.perhaps_begun.retain(|effect| pending.contains(effect));
        let mut wake = None;
        for effect in &pending {
            match self.entity.state().work(self.services.journal.id(), &stream, effect) {
                // One wake-up at a time: the first of them; what is due later is asked for again then.
                Work::WakeAt(due) => wake = Some(wake.map_or(due, |first| due.min(first))),
                Work::Call(call) => {
                    if self.in_flight.contains(effect) {
                        continue;
                    }
                    let ask_first = self.perhaps_begun.contains(effect) || call.attempt > 1;
                    let cause = causes.get(effect).copied().unwrap_or_else(|| self.entity.position());
                    if let Some(executor) = self.executor.upgrade() {
                        // Its mailbox has no bound of its own: every entity has at most one effect out.
                        match executor.try_send(Perform { call: *call, ask_first, cause }) {
                            Ok(()) => drop(self.in_flight.insert(effect.clone())),
                            Err(error) => tracing::warn!(%stream, %error, "the executor has ended"),
                        }
                    }
                }
            }
        }
        debug_assert!(self.in_flight.is_subset(&pending), "what is out is owed: {:?}", self.in_flight);
        if let Some(schedule) = self.schedule.upgrade().filter(|_| wake.is_some() || !self.is_unscheduled) {
            let is_told = schedule.try_send(ScheduledWake { stream, due: wake }).is_ok();
            self.is_unscheduled = is_told && wake.is_none();
        }
    }

    /// Reads what others have recorded meanwhile.
    fn catch_up(&mut self) -> Result<(), AskError> {
        let stream = self.entity.stream().clone();
        read_on(&mut self.entity, &stream, &self.services)
    }

    fn decide(&self, request: &Request<D>) -> Result<(Draft, String), AskError> {
        let known = self.services.known();
        propose(&self.entity, request, &known)
    }

    /// Takes in what was recorded for it in one append, and sees to what follows from all of it: what the first of several
    /// commands asks for may wait for the second.
    fn recorded<'e>(&mut self, entries: impl IntoIterator<Item = &'e Entry>) -> Result<(), AskError> {
        let mut causes = BTreeMap::new();
        for entry in entries {
            self.take_in(entry)?;
            let (position, pending) = (self.entity.position(), self.entity.state().pending(&NoView));
            for effect in pending {
                causes.entry(effect).or_insert(position);
            }
        }
        self.perform_pending(&causes);
        Ok(())
    }

    fn take_in(&mut self, entry: &Entry) -> Result<(), AskError> {
        let stream = self.entity.stream().clone();
        if entry.header.first_version != self.entity.version().next() && entry.header.position > self.entity.position()
        {
            self.catch_up()?;
        } else {
            // What a core that breaks here leaves behind is seen by nobody: the actor ends.
            let entity = &mut self.entity;
            let events = self.services.decoded_events(entry.header.position);
            guarded(&stream, || entity.take_in_decoded(&Decoded::new(entry, &events)))?
                .map_err(|error| AskError::Unreadable { stream, problem: error.to_string() })?;
        }
        self.services.check_invariants(self.entity.stream(), self.entity.state());
        D::stepped(&self.entity, &self.services);
        Ok(())
    }

    /// Whether nothing is owed but due times, which the schedule keeps.
    fn is_idle(&self) -> bool {
        let stream = self.entity.stream();
        let (journal, state) = (self.services.journal.id(), self.entity.state());
        state.pending(&NoView).iter().all(|effect| matches!(state.work(journal, stream, effect), Work::WakeAt(_)))
    }

    /// The first answer to this command id, if it had one.
    fn first_answer(&self, request: &Request<D>) -> Result<Option<Answer>, AskError> {
        let Some(answered) = self.services.journal.answered(&request.id) else {
            return Ok(None);
        };
        let stream = self.entity.stream();
        let unreadable = |problem: String| AskError::Unreadable { stream: stream.clone(), problem };
        let body = request.command.store().map_err(|error| unreadable(error.to_string()))?;
        if digest(&body.bytes) != answered.command_hash {
            return Err(AskError::CommandReused { id: request.id });
        }
        let filter = bailiwick_journal::Filter::all();
        let entry = self.services.journal.read(answered.position, answered.position, &filter).next();
        let entry = entry
            .ok_or_else(|| unreadable(format!("entry {} is missing", answered.position)))?
            .map_err(|error| unreadable(error.to_string()))?;
        if entry.header.stream != *stream {
            return Err(AskError::CommandReused { id: request.id });
        }
        let text = verdict_text::<D>(&entry).map_err(unreadable)?;
        Ok(Some(Answer::of(&entry, text, true, self.is_idle())))
    }

    fn only_counted(&self, draft: Draft, text: String) -> Answer {
        self.services.only_counted.set(self.services.only_counted.get() + 1);
        Answer {
            stream: draft.stream,
            position: None,
            version: self.entity.version(),
            outcome: draft.meta.outcome,
            code: draft.meta.code,
            text,
            repeated: false,
            idle: self.is_idle(),
        }
    }
}

/// Decides, and puts the verdict into the form that the journal takes.
fn propose<D: Decider<View = NoView>>(
    entity: &Entity<D>,
    request: &Request<D>,
    known: &Known<'_, NoView>,
) -> Result<(Draft, String), AskError> {
    let stream = entity.stream();
    let verdict: Verdict<D> = guarded(stream, || entity.decide(&request.command, known))?;
    let text = match &verdict {
        Ok(decision) => decision.reason.to_string(),
        Err(rejection) => rejection.to_string(),
    };
    let draft = entity
        .draft(request, known, &verdict)
        .map_err(|error| AskError::Unstorable { stream: stream.clone(), problem: error.to_string() })?;
    Ok((draft, text))
}

/// The reason or rejection of an entry, in plain words.
pub(crate) fn verdict_text<D: Decider>(entry: &Entry) -> Result<String, String> {
    match RecordedVerdict::<D>::load(&entry.verdict) {
        Ok(RecordedVerdict::Decided(reason)) => Ok(reason.to_string()),
        Ok(RecordedVerdict::Refused(rejection)) => Ok(rejection.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a piece of a core. Cores are total, so a panic is a bug of ours; it must not take anybody else down.
pub(crate) fn guarded<T>(stream: &StreamId, run: impl FnOnce() -> T) -> Result<T, AskError> {
    let run = || {
        #[cfg(feature = "testing")]
        super::plant::trip(super::plant::Plant::Core, stream);
        run()
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| AskError::Crashed { stream: stream.clone() })
}

impl<D: Kind> Handler<Submit<D>> for EntityActor<D> {
    type Result = AtomicResponse<Self, Result<Answer, AskError>>;

    fn handle(&mut self, submit: Submit<D>, _ctx: &mut Self::Context) -> Self::Result {
        #[cfg(feature = "testing")]
        super::plant::trip(super::plant::Plant::Handler, self.entity.stream());
        let Submit { command, origin, urgency } = submit;
        let Origin { routine, expected, .. } = &origin;
        let how = How { routine: *routine, expected: expected.clone(), urgency };
        let request =
            Request { command, id: origin.id, principal: origin.principal, cause: origin.cause, cites: origin.cites };
        // Nothing else is handled until the append is answered: the version cannot move under the decision.
        AtomicResponse::new(self.attempt(request, how, 1))
    }
}

/// How a command is to be decided and recorded.
#[derive(Clone, Debug)]
struct How {
    routine: bool,
    expected: Option<Expected>,
    urgency: Urgency,
}

impl<D: Kind> EntityActor<D> {
    fn attempt(
        &mut self,
        request: Request<D>,
        how: How,
        attempt: u32,
    ) -> ResponseActFuture<Self, Result<Answer, AskError>> {
        let ready = |result| -> ResponseActFuture<Self, Result<Answer, AskError>> {
            Box::pin(actix::fut::wrap_future(std::future::ready(result)))
        };
        match self.first_answer(&request) {
            Ok(None) => (),
            Ok(Some(answer)) => return ready(Ok(answer)),
            Err(error) => return ready(Err(error)),
        }
        let expected = how.expected.as_ref().filter(|expected| expected.stream == *self.entity.stream());
        if let Some(Err(changed)) = expected.map(|expected| expected.check(self.entity.version())) {
            return ready(Err(changed));
        }
        let (draft, text) = match self.decide(&request) {
            Ok(decided) => decided,
            Err(error) => return ready(Err(error)),
        };
        if how.routine && self.entity.repeats_nothing(&draft) {
            return ready(Ok(self.only_counted(draft, text)));
        }
        crash::point("before-decision-recorded");
        let append = self.services.append(vec![draft], how.urgency.intake(self.entity.state().is_leaving()));
        Box::pin(
            append
                .into_actor(self)
                .then(move |answer, actor, ctx| actor.appended(request, how, attempt, text, answer, ctx)),
        )
    }

    fn appended(
        &mut self,
        request: Request<D>,
        how: How,
        attempt: u32,
        text: String,
        answer: Result<Appended, AppendError>,
        ctx: &mut Context<Self>,
    ) -> ResponseActFuture<Self, Result<Answer, AskError>> {
        let result = match answer {
            Ok(appended) => {
                crash::point("after-decision-recorded");
                let entry = appended.entries().first().expect("one entry for one draft");
                self.recorded([&**entry]).map(|()| Answer::of(entry, text, false, self.is_idle()))
            }
            Err(AppendError::Conflict { .. }) if attempt < TRIES_MAX => match self.catch_up() {
                Ok(()) => return self.attempt(request, how, attempt + 1),
                Err(error) => Err(error),
            },
            Err(AppendError::Repeated { .. }) if attempt < TRIES_MAX => {
                return self.attempt(request, how, attempt + 1);
            }
            Err(AppendError::Conflict { .. }) => Err(AskError::Contended),
            Err(AppendError::Overloaded { .. }) => Err(AskError::Overloaded),
            Err(error) => {
                // We do not guess what reached the disk: the next caller gets an actor built from the journal.
                if matches!(error, AppendError::Unknown { .. }) {
                    ctx.stop();
                }
                Err(AskError::NotRecorded(error))
            }
        };
        if matches!(result, Err(AskError::Crashed { .. } | AskError::Unreadable { .. })) {
            ctx.stop();
        }
        Box::pin(actix::fut::wrap_future(std::future::ready(result)))
    }
}

impl<D: Kind> Handler<Snapshot<D>> for EntityActor<D> {
    type Result = Result<Entity<D>, AskError>;

    fn handle(&mut self, _: Snapshot<D>, _ctx: &mut Self::Context) -> Self::Result {
        Ok(self.entity.clone())
    }
}

/// Takes in what the journal has of an entity and the entity has not seen. If that fails it is as it was.
pub(super) fn read_on<D: Kind>(entity: &mut Entity<D>, stream: &StreamId, services: &Services) -> Result<(), AskError> {
    if services.journal.version(stream) == entity.version() {
        return Ok(());
    }
    let unreadable = |problem: String| AskError::Unreadable { stream: stream.clone(), problem };
    let mut newer = entity.clone();
    for entry in services.journal.read_stream(stream, entity.version().next()) {
        let entry = entry.map_err(|error| unreadable(error.to_string()))?;
        guarded(stream, || newer.take_in(&entry))?.map_err(|error| unreadable(error.to_string()))?;
    }
    *entity = newer;
    Ok(())
}

/// What an entity would answer; the entity is then as it will be once that is recorded.
pub(super) fn propose_on<D: Kind>(
    entity: &mut Entity<D>,
    command: D::Command,
    urgency: Urgency,
    origin: Origin,
    known: &Known<'_, NoView>,
) -> Result<Proposal, AskError> {
    let intake = urgency.intake(entity.state().is_leaving());
    let request =
        Request { command, id: origin.id, principal: origin.principal, cause: origin.cause, cites: origin.cites };
    let (draft, text) = propose(entity, &request, known)?;
    if draft.meta.outcome == Outcome::Done {
        *entity = advance(entity, &draft)?;
    }
    Ok(Proposal { draft, text, intake })
}

/// The entity as it will be once the draft is recorded.
fn advance<D: Decider>(entity: &Entity<D>, draft: &Draft) -> Result<Entity<D>, AskError> {
    let entry = Entry {
        header: bailiwick_journal::Header {
            position: entity.position().next(),
            stream: draft.stream.clone(),
            first_version: draft.expected.next(),
            events: u32::try_from(draft.events.len()).expect("drafts are small"),
            meta: draft.meta.clone(),
        },
        command: draft.command.clone(),
        facts: draft.facts.clone(),
        verdict: draft.verdict.clone(),
        events: draft.events.clone(),
    };
    let mut entity = entity.clone();
    let stream = draft.stream.clone();
    guarded(&stream, || entity.take_in(&entry))?
        .map_err(|error| AskError::Unreadable { stream, problem: error.to_string() })?;
    Ok(entity)
}

impl<D: Kind> Handler<Recorded> for EntityActor<D> {
    type Result = Result<bool, AskError>;

    fn handle(&mut self, recorded: Recorded, ctx: &mut Self::Context) -> Self::Result {
        if let Err(error) = self.recorded(recorded.entries.iter().map(|entry| &**entry)) {
            ctx.stop();
            return Err(error);
        }
        Ok(self.is_idle())
    }
}

impl<D: Kind> Handler<Retire> for EntityActor<D> {
    type Result = ();

    fn handle(&mut self, _: Retire, ctx: &mut Self::Context) {
        ctx.stop();
    }
}
