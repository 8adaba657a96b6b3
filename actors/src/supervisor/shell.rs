//! A supervisor with a mailbox: follows the journal, decides on what it sees, and sends its orders.

mod sending;

use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    rc::Rc,
};

use actix::{Actor, ActorFutureExt, Addr, AsyncContext, Context, Handler, Message, WrapFuture};
use bailiwick_journal::{AppendError, Filter, Intake, Position, StreamId, crash, digest};

use sending::{AGAIN, Sending};

use super::{Ordered, Orders, decision_id, machine_sets, machines, order::ORDERS_MAX, replica_sets, storage};
use crate::{
    contract::{Decider, Decoded, Entity, Request, Stored, StoredError, View},
    shell::{AnyCommand, Registry, Services},
};

/// Entities looked at in one decision; the rest follows in the next.
pub(crate) const LOOK_MAX: usize = 256;

/// A supervisor, as the shell needs it.
pub trait Supervise: Decider + Unpin {
    /// The name of its stream: `machines` for `supervisor/machines`.
    const NAME: &'static str;

    /// What it issues.
    type Order: Ordered + Into<AnyCommand>;

    /// What it keeps in memory beside its state: nothing that a decision may depend on.
    type Watch: Default + fmt::Debug + Unpin + 'static;

    /// The command to look at what has changed; none if nothing of it concerns this supervisor.
    fn look(about: &BTreeSet<StreamId>) -> Option<Self::Command>;

    /// What has to be looked at because of an event of its own.
    fn followed_by(_event: &Self::Event) -> Vec<StreamId> {
        Vec::new()
    }

    /// What has to be looked at because something has happened in another stream.
    fn woken_by(_view: &Self::View, _stream: &StreamId) -> Vec<StreamId> {
        Vec::new()
    }

    /// The orders that wait for an answer.
    fn orders(view: &Self::View) -> &Orders<Self::Order>;

    /// Called whenever nothing waits to be decided, and what was decided is seen.
    fn resting(_actor: &mut SupervisorActor<Self>, _ctx: &mut Context<SupervisorActor<Self>>) {}

    /// Called once, when the actor starts.
    fn watching(_actor: &mut SupervisorActor<Self>, _ctx: &mut Context<SupervisorActor<Self>>) {}
}

/// A supervisor as the journal tells of it: its own state, and what it has seen of others.
#[derive(Debug)]
pub struct Supervision<S: Supervise> {
    pub entity: Entity<S>,
    pub view: S::View,
}

impl<S: Supervise> Default for Supervision<S> {
    fn default() -> Self {
        let stream = StreamId::new(S::KIND, S::NAME).expect("a valid name");
        Self { entity: Entity::new(stream), view: S::View::default() }
    }
}

impl<S: Supervise> Supervision<S> {
    /// Takes the next entry of the journal in.
    ///
    /// # Errors
    /// If it cannot be decoded.
    pub fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        if entry.header.stream == *self.entity.stream() {
            self.entity.take_in_decoded(entry)?;
        }
        if S::View::wants(entry.header.stream.kind()) {
            self.view.apply_decoded(entry)?;
        }
        Ok(())
    }

    /// Starts it, with the journal taken in up to there.
    pub fn start(self, at: Position, services: &Rc<Services>, registry: &Addr<Registry>) -> Addr<SupervisorActor<S>> {
        SupervisorActor::new(self.entity, self.view, at, services.clone(), registry.clone()).start()
    }
}

/// A supervisor, as the journal tells of it, whatever kind it looks after.
pub trait AnySupervision: fmt::Debug {
    /// Takes the next entry of the journal in.
    ///
    /// # Errors
    /// If it cannot be decoded.
    fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError>;

    /// Starts it, with the journal taken in up to there; it lives as long as what is returned.
    fn start(self: Box<Self>, at: Position, services: &Rc<Services>, registry: &Addr<Registry>) -> Rc<dyn fmt::Debug>;
}

impl<S: Supervise> AnySupervision for Supervision<S> {
    fn take_in(&mut self, entry: &Decoded<'_>) -> Result<(), StoredError> {
        Self::take_in(self, entry)
    }

    fn start(self: Box<Self>, at: Position, services: &Rc<Services>, registry: &Addr<Registry>) -> Rc<dyn fmt::Debug> {
        Rc::new(Self::start(*self, at, services, registry))
    }
}

/// The journal has grown.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Advance;

/// A supervisor with its view.
#[derive(Debug)]
pub struct SupervisorActor<S: Supervise> {
    pub(crate) entity: Entity<S>,
    pub(crate) view: S::View,
    pub(super) view_at: Position,
    pub(crate) services: Rc<Services>,
    pub(crate) registry: Addr<Registry>,
    pub(crate) watch: S::Watch,
    changed: BTreeSet<StreamId>,
    /// What is to be decided; of a look also what it is about.
    queue: VecDeque<(S::Command, Option<BTreeSet<StreamId>>)>,
    /// A decision is on its way into the journal; the next one waits until the view has seen it.
    deciding: Option<Position>,
    appending: bool,
    sending: Sending,
}

impl<S: Supervise> SupervisorActor<S> {
    /// A supervisor whose state and view were rebuilt up to `view_at`.
    pub fn new(
        entity: Entity<S>,
        view: S::View,
        view_at: Position,
        services: Rc<Services>,
        registry: Addr<Registry>,
    ) -> Self {
        Self {
            entity,
            view,
            view_at,
            services,
            registry,
            watch: S::Watch::default(),
            changed: BTreeSet::new(),
            queue: VecDeque::new(),
            deciding: None,
            appending: false,
            sending: Sending::default(),
        }
    }

    /// Has something decided in its turn.
    pub(crate) fn decide_later(&mut self, command: S::Command, ctx: &mut Context<Self>) {
        self.queue.push_back((command, None));
        self.step(ctx);
    }

    /// Has these looked at once more, in their turn.
    pub(crate) fn look_again(&mut self, about: impl IntoIterator<Item = StreamId>, ctx: &mut Context<Self>) {
        self.changed.extend(about);
        self.step(ctx);
    }

    /// How many decisions wait.
    pub(crate) fn backlog(&self) -> usize {
        self.queue.len()
    }

    /// Takes in what the journal has and the view has not seen.
    fn advance(&mut self) {
        let head = self.services.journal.head().position;
        if head <= self.view_at {
            return;
        }
        let own = self.entity.stream().clone();
        let services = self.services.clone();
        for entry in services.journal.read(self.view_at.next(), head, &Filter::all()) {
            let taken = entry.map_err(|error| error.to_string()).and_then(|entry| {
                let events = services.decoded_events(entry.header.position);
                let entry = Decoded::new(&entry, &events);
                let stream = &entry.header.stream;
                if *stream == own {
                    self.entity.take_in_decoded(&entry).map_err(|error| error.to_string())?;
                    for event in entry.events::<S::Event>().map_err(|error| error.to_string())?.iter() {
                        self.changed.extend(S::followed_by(event));
                    }
                }
                if S::View::wants(stream.kind()) {
                    // Even if nothing has happened there: another order may have waited for the answer to this one.
                    let is_answer = S::orders(&self.view).get(&entry.header.meta.command_id).is_some();
                    self.view.apply_decoded(&entry).map_err(|error| error.to_string())?;
                    if *stream != own && (is_answer || entry.header.events > 0) {
                        self.changed.insert(stream.clone());
                        self.changed.extend(S::woken_by(&self.view, stream));
                    }
                }
                self.view_at = entry.header.position;
                Ok(())
            });
            if let Err(error) = taken {
                // A view that cannot go on must not decide: it stays where it is, visibly behind.
                tracing::error!(supervisor = %own, view_at = %self.view_at, %error, "the view cannot follow the journal");
                return;
            }
        }
    }

    /// Decides the next thing that is to be decided, if the view is where it has to be.
    fn step(&mut self, ctx: &mut Context<Self>) {
        if self.deciding.is_some_and(|at| at <= self.view_at) {
            self.deciding = None;
        }
        while !self.appending && self.deciding.is_none() {
            let (command, about) = match self.queue.pop_front() {
                Some(waiting) => waiting,
                None => {
                    let about = first_of(&mut self.changed, LOOK_MAX);
                    if about.is_empty() {
                        return;
                    }
                    match S::look(&about) {
                        Some(command) => (command, Some(about)),
                        None => continue,
                    }
                }
            };
            self.decide(command, about, ctx);
        }
    }

    fn decide(&mut self, command: S::Command, about: Option<BTreeSet<StreamId>>, ctx: &mut Context<Self>) {
        let stream = self.entity.stream().clone();
        let known = self.services.known_with(&self.view, Some(self.view_at));
        let verdict = self.entity.decide(&command, &known);
        // Looking is not worth an entry when nothing follows; with every entry of others somebody looks.
        if about.is_some() && verdict.as_ref().is_ok_and(|decision| decision.events.is_empty()) {
            self.services.only_counted.set(self.services.only_counted.get() + 1);
            return;
        }
        let content = command.store().map(|body| digest(&body.bytes)).unwrap_or_default();
        let id = decision_id(&stream, self.view_at, self.entity.position(), content);
        let request =
            // What each of its orders rests on is cited with the order; where the view stood is in the header.
            Request { command: command.clone(), id, principal: stream.to_string(), cause: None, cites: Vec::new() };
        let draft = match self.entity.draft(&request, &known, &verdict) {
            Ok(draft) => draft,
            Err(error) => {
                // What it decided stays undone, and it would decide the same again.
                debug_assert!(false, "a decision of {stream} cannot be stored: {error}");
                tracing::error!(supervisor = %stream, %error, "a decision cannot be stored");
                return;
            }
        };
        // Anything else is, unless it says the same again.
        if self.entity.repeats_nothing(&draft) {
            self.services.only_counted.set(self.services.only_counted.get() + 1);
            return;
        }
        self.appending = true;
        crash::point("before-orders-recorded");
        let append = self.services.append(vec![draft], Intake::Report);
        let recorded = async move {
            let answer = append.await;
            if answer.is_err() {
                tokio::time::sleep(AGAIN).await;
            }
            answer
        };
        ctx.spawn(recorded.into_actor(self).map(move |answer, actor, ctx| {
            actor.appending = false;
            match answer {
                Ok(appended) => {
                    crash::point("after-orders-recorded");
                    let recorded = appended.entries().last().map(|entry| &entry.header);
                    actor.deciding = recorded.map(|header| header.position);
                    // More may follow from it than one entry holds: the rest, when this is seen.
                    if recorded.is_some_and(|header| header.events as usize >= ORDERS_MAX) {
                        actor.changed.extend(about.unwrap_or_default());
                    }
                }
                // What was to be decided is still to be decided, on the view as it is then.
                Err(error) => {
                    tracing::error!(supervisor = %actor.entity.stream(), %error, "a decision was not recorded");
                    if !matches!(error, AppendError::Closed | AppendError::Unknown { .. }) {
                        actor.queue.push_front((command, about));
                    }
                }
            }
            actor.advance_and_act(ctx);
        }));
    }

    fn advance_and_act(&mut self, ctx: &mut Context<Self>) {
        self.advance();
        self.send_orders(ctx);
        self.step(ctx);
        self.rest(ctx);
    }

    /// If nothing is left to be decided.
    pub(crate) fn rest(&mut self, ctx: &mut Context<Self>) {
        if self.queue.is_empty() && !self.appending && self.deciding.is_none() {
            S::resting(self, ctx);
        }
    }
}

impl<S: Supervise> Actor for SupervisorActor<S> {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.services.limits.asks_max);
        let mut journal = self.services.follow();
        let address = ctx.address().downgrade();
        let follow = async move {
            loop {
                journal.grown().await;
                let Some(supervisor) = address.upgrade() else {
                    return;
                };
                if supervisor.send(Advance).await.is_err() {
                    return;
                }
            }
        };
        ctx.spawn(follow.into_actor(self));
        // Something may have been left undone by an earlier run: look at everything once.
        self.changed = everything(&self.services, S::View::wants);
        S::watching(self, ctx);
        self.advance_and_act(ctx);
    }
}

/// Takes the first so many out.
fn first_of(changed: &mut BTreeSet<StreamId>, max: usize) -> BTreeSet<StreamId> {
    match changed.iter().nth(max).cloned() {
        None => std::mem::take(changed),
        Some(next) => {
            let rest = changed.split_off(&next);
            std::mem::replace(changed, rest)
        }
    }
}

fn everything(services: &Services, wants: fn(&str) -> bool) -> BTreeSet<StreamId> {
    let streams = services.journal.streams("");
    streams.into_iter().filter(|stream| stream.kind() != "supervisor" && wants(stream.kind())).collect()
}

impl<S: Supervise> Handler<Advance> for SupervisorActor<S> {
    type Result = ();

    fn handle(&mut self, _: Advance, ctx: &mut Self::Context) {
        self.advance_and_act(ctx);
    }
}

/// The addresses of the supervisors.
#[derive(Clone, Debug)]
pub struct Supervisors {
    pub machines: Addr<SupervisorActor<machines::State>>,
    pub storage: Addr<SupervisorActor<storage::State>>,
    pub replica_sets: Addr<SupervisorActor<replica_sets::State>>,
    pub machine_sets: Addr<SupervisorActor<machine_sets::State>>,
    /// The addresses of those of the kinds that a program has added.
    pub added: Vec<Rc<dyn fmt::Debug>>,
}

/// Starts the supervisors with what was rebuilt.
pub fn start_supervisors(
    rebuilt: crate::shell::Rebuilt,
    services: &Rc<Services>,
    registry: &Addr<Registry>,
) -> Supervisors {
    let at = rebuilt.position;
    Supervisors {
        machines: rebuilt.machines.start(at, services, registry),
        storage: rebuilt.storage.start(at, services, registry),
        replica_sets: rebuilt.replica_sets.start(at, services, registry),
        machine_sets: rebuilt.machine_sets.start(at, services, registry),
        added: rebuilt.added.into_iter().map(|one| one.start(at, services, registry)).collect(),
    }
}
