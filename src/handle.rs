//! How a node is asked.

mod agents;
mod change;
mod clock;
mod denials;
mod host;
pub mod not_offered;
mod offer;
mod operate;
mod pending;
mod watch;

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use actix::Addr;
use bailiwick_actors::{
    contract::{Decider, Folded},
    filesystem, machine, machine_deployment,
    ports::Clock,
    shell::{
        Allowance, Answer, AnyCommand, Ask, AskError, AskGroup, Budgets, CallTimes, Expected, Follower, GroupAnswer,
        Growth, Limits, Origin, Registry, RegistryStats, RehearseGroup, Running, Stats,
    },
    storage_rules::{PoolName, PoolSettings},
    supervisor::SupervisorActor,
    supervisor::{machines, storage},
    vocab::{Life, Name, Timestamp},
    volume,
};
use bailiwick_journal::{Journal, LocalJournal, Position, ReadError, StreamId, Version, digest};
use tokio::sync::Semaphore;
use uuid::Uuid;

use self::host::HostWatch;
pub use self::{
    change::{Applied, ApplyError, ImportVolume, Refusal},
    clock::CorrectError,
    not_offered::NotOffered,
    offer::{Offer, Releases},
    operate::OperateError,
    pending::QuestionError,
    watch::Decisions,
};
use crate::{
    api::wire::agent,
    manifest::{Document, Known},
    plan::{Action, Going, Plan, Prune, Step, mounted_from, plan, removal},
    providers::machine_storage::Desk,
    view::{self, Fleet, FleetError, storage_config},
};

/// Asks a running node. Can be cloned and sent; works on any runtime.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    /// In whose name it asks.
    principal: Arc<str>,
    /// What the caller saw.
    expected: Option<Expected>,
}

struct Shared {
    journal: Arc<LocalJournal>,
    clock: Arc<dyn Clock>,
    registry: Addr<Registry>,
    machines: Addr<SupervisorActor<machines::State>>,
    storage: Addr<SupervisorActor<storage::State>>,
    /// What lies between the node and the agents of its machines.
    desk: Arc<Desk>,
    /// What was folded so far; brought up to date when somebody looks.
    fleet: Mutex<Fleet>,
    /// What the agent of each machine was told last, by this node.
    told: Mutex<BTreeMap<Name, agent::Answer>>,
    /// What the agent of each machine may still say of itself by joining.
    joins: Mutex<BTreeMap<Name, Allowance>>,
    host: HostWatch,
    budgets: Budgets,
    call_times: CallTimes,
    growth: Growth,
    admission: Semaphore,
    offer: Offer,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("journal", &self.journal.id()).finish_non_exhaustive()
    }
}

impl Handle {
    pub(crate) fn new(
        journal: Arc<LocalJournal>,
        clock: Arc<dyn Clock>,
        running: &Running,
        desk: Arc<Desk>,
        offer: Offer,
        limits: Limits,
    ) -> Self {
        let shared = Shared {
            journal,
            clock,
            registry: running.registry.clone(),
            machines: running.supervisors.machines.clone(),
            storage: running.supervisors.storage.clone(),
            desk,
            fleet: Mutex::new(Fleet::default()),
            told: Mutex::default(),
            joins: Mutex::default(),
            host: HostWatch::default(),
            budgets: running.services.budgets.clone(),
            call_times: running.services.call_times.clone(),
            offer,
            growth: running.services.growth(),
            admission: Semaphore::new(limits.asks_max),
        };
        let own = user(rustix::process::geteuid().as_raw());
        Self { shared: Arc::new(shared), principal: own.into(), expected: None }
    }

    /// The same, asking in the name of somebody else: what the journal calls the principal of a command. A handle that nobody
    /// named asks in the name of the user that the process runs as, `uid:1000`.
    #[must_use]
    pub fn in_the_name_of(&self, principal: impl Into<Arc<str>>) -> Self {
        Self { principal: principal.into(), ..self.clone() }
    }

    /// The same, for commands that are decided only if this object is at this version; its rows and descriptions tell the
    /// version. Otherwise the answer is [`AskError::Changed`], and nothing was done.
    #[must_use]
    pub fn expecting(&self, stream: StreamId, version: Version) -> Self {
        Self { expected: Some(Expected { stream, version }), ..self.clone() }
    }

    fn origin(&self, id: Uuid) -> Origin {
        Origin {
            id,
            principal: self.principal.to_string(),
            cause: None,
            cites: Vec::new(),
            routine: false,
            expected: self.expected.clone(),
        }
    }

    /// The journal, to read from.
    pub fn journal(&self) -> Arc<dyn Journal> {
        self.shared.journal.clone()
    }

    /// The journal, to be exported, checked or counted while the node runs.
    pub fn local_journal(&self) -> Arc<LocalJournal> {
        self.shared.journal.clone()
    }

    /// Follows the journal from here on.
    pub(crate) fn follow(&self) -> Follower {
        self.shared.growth.follow()
    }

    /// The node's time.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// What the host's clock shows: another time than the node's if it was set while the node ran, or was wrong before.
    pub fn clock(&self) -> Timestamp {
        self.shared.clock.wall()
    }

    /// Looks at everything as of now; at the node's own disk and journal as they were when
    /// [somebody looked](Self::look_at_host) last. The closure must be quick: others wait meanwhile.
    ///
    /// # Errors
    /// If the journal cannot be read or understood.
    pub fn look<T>(&self, look: impl FnOnce(&Fleet) -> T) -> Result<T, ReadError> {
        let mut fleet = self.shared.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        let journal: &dyn Journal = &*self.shared.journal;
        fleet.follow(journal, journal.head().position).map_err(|error| match error {
            FleetError::Read(error) => error,
            FleetError::Stored { position, source, .. } => ReadError::Damaged { position, problem: source.to_string() },
        })?;
        fleet.time = fleet.time.max(self.now());
        fleet.clock = Some(self.clock());
        fleet.host = self.shared.host.last();
        fleet.budgets = view::Budgets { seen: self.shared.budgets.seen(), at: fleet.time };
        Ok(look(&fleet))
    }

    /// Asks one entity.
    ///
    /// # Errors
    /// As [`AskError`]; a refusal is an answer, not an error.
    pub async fn ask(&self, stream: StreamId, command: AnyCommand, id: Uuid) -> Result<Answer, AskError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        let ask = Ask { stream, command, origin: self.origin(id) };
        self.shared.registry.send(ask).await.map_err(|_| AskError::Stopping)?
    }

    /// What would have to be asked so that these documents become true. Decided as [`Handle::apply`] would, and not recorded.
    ///
    /// # Errors
    /// As [`Handle::apply`]: what that would refuse is refused.
    pub async fn plan(&self, documents: &[Document], prune: Prune) -> Result<Plan, ApplyError> {
        let plan = self.offered(documents, prune)?;
        let group = AskGroup { commands: plan.commands.clone(), origin: self.origin(Uuid::nil()), content: [0; 16] };
        let answer = self.shared.registry.send(RehearseGroup(group)).await.map_err(|_| AskError::Stopping)??;
        if answer.done { Ok(plan) } else { Err(ApplyError::refused(answer.answers)) }
    }

    /// What has to be asked, if what this node has can make all of it.
    fn offered(&self, documents: &[Document], prune: Prune) -> Result<Plan, ApplyError> {
        self.look(|fleet| self.shared.offer.check(fleet, documents).map(|()| plan(fleet, documents, prune)))?
            .map_err(ApplyError::from)
    }

    /// Makes these documents the declared truth: all of them or none. Returns when that is durable; what follows from it
    /// goes on afterwards. The same id again gets the first answer.
    ///
    /// # Errors
    /// If an entity refuses, or the node cannot answer.
    pub async fn apply(&self, documents: &[Document], prune: Prune, id: Uuid) -> Result<Applied, ApplyError> {
        let plan = self.offered(documents, prune)?;
        let wishes: Vec<_> = documents.iter().map(|document| (document.wish.digest(), document.protect)).collect();
        let prune = if prune == Prune::Yes { "and prune" } else { "only" };
        self.carry_out(plan, id, digest(format!("apply {prune} {wishes:?}").as_bytes())).await
    }

    /// Asks these entities to go, together with nothing else: what depends on them is asked by the supervisors.
    ///
    /// # Errors
    /// As [`Handle::apply`].
    pub async fn remove(&self, streams: &[StreamId], how: Going, id: Uuid) -> Result<Applied, ApplyError> {
        let (plan, mounted) = self.look(|fleet| {
            let plan = removal(fleet, streams, how, &self.shared.offer.inside);
            (plan, held_by_mount(fleet, streams).filter(|_| !how.force))
        })?;
        if let Some((entity, by)) = mounted {
            return Err(ApplyError::StillMounted { entity, by });
        }
        if how.release {
            let check = |fleet: &Fleet| {
                let alive = streams.iter().filter(|stream| fleet.life(stream) != Some(Life::Removed));
                alive.into_iter().try_for_each(|stream| self.shared.offer.check_release(fleet, stream))
            };
            self.look(check)??;
        }
        let names: Vec<&str> = streams.iter().map(StreamId::as_str).collect();
        let Going { force, keep_instance, release, destroy } = how;
        let content = format!("remove {} {:?}", names.join(" "), [force, keep_instance, release, destroy]);
        self.carry_out(plan, id, digest(content.as_bytes())).await
    }

    /// Has a volume that is there already taken over as one of ours. The same id again gets the first answer.
    ///
    /// # Errors
    /// As [`Handle::apply`].
    pub async fn import(&self, wish: &ImportVolume, id: Uuid) -> Result<Applied, ApplyError> {
        let ImportVolume { name, spec, volume_id, machine } = wish.clone();
        let stream = StreamId::new(volume::State::KIND, name.as_str()).expect("names are checked");
        self.look(|fleet| self.shared.offer.check_import(fleet, &stream, &spec.provider, machine.as_ref()))??;
        let command = AnyCommand::from(volume::Command::from(volume::Declaration {
            wanted: volume::Wanted { machine, import: Some(volume_id) },
            ..volume::Declaration::of(spec)
        }));
        let stored = command.store().map(|body| body.bytes).unwrap_or_default();
        let content = digest(&[stream.as_str().as_bytes(), &stored].concat());
        let mut plan = Plan::default();
        let (entity, fields, follows) = (stream.to_string(), Vec::new(), Vec::new());
        plan.steps.push(Step { action: Action::Create, entity, fields, stays: None, brings: Vec::new(), follows });
        plan.commands.push((stream, command));
        self.carry_out(plan, id, content).await
    }

    /// The providers that objects name and this node does not have, with the number of those objects.
    ///
    /// # Errors
    /// If the journal cannot be understood.
    pub fn missing_providers(&self) -> Result<BTreeMap<Name, usize>, ReadError> {
        self.look(|fleet| self.shared.offer.missing_from(fleet))
    }

    /// Whether storage can be made from a pool like this, as far as this node can tell.
    ///
    /// # Errors
    /// If the pool names a provider that this node does not have.
    pub fn check_pool(&self, name: &PoolName, settings: &PoolSettings) -> Result<(), ApplyError> {
        Ok(self.shared.offer.check_pool(name, settings)?)
    }

    async fn carry_out(&self, plan: Plan, id: Uuid, content: [u8; 16]) -> Result<Applied, ApplyError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        let group = AskGroup { commands: plan.commands.clone(), origin: self.origin(id), content };
        let answer = self.shared.registry.send(group).await.map_err(|_| AskError::Stopping)??;
        let GroupAnswer { done, answers } = answer;
        if !done {
            return Err(ApplyError::refused(answers));
        }
        let repeated = answers.first().is_some_and(|answer| answer.repeated);
        let plan = if repeated { plan_of(&answers) } else { plan };
        Ok(Applied { plan, answers, repeated })
    }

    /// The names that documents may point at although they do not declare them.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn known(&self) -> Result<Known, ReadError> {
        let engines = Some(self.shared.offer.engines.clone());
        Ok(Known { engines, ..self.look(known)? })
    }

    /// How the registry is.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn stats(&self) -> Result<RegistryStats, AskError> {
        self.shared.registry.send(Stats).await.map_err(|_| AskError::Stopping)
    }

    /// The calls that providers have had since the node started, and how long they took.
    pub(crate) fn call_times(&self) -> &CallTimes {
        &self.shared.call_times
    }

    /// The last durable entry.
    pub fn head(&self) -> Position {
        self.shared.journal.head().position
    }

    /// Waits for the answer to a question on the calling thread, for callers without an async runtime.
    pub fn wait<T>(&self, question: impl Future<Output = T>) -> T {
        block_on(question)
    }
}

/// What was done, as the first answers say it.
fn plan_of(answers: &[Answer]) -> Plan {
    let mut plan = Plan::default();
    for answer in answers {
        let action = match answer.code.as_str() {
            "newly-declared" | "waits-for-machine" => Action::Create,
            "spec-differs" | "content-differs" | "revised" | "differs" | "protection-asked" => Action::Change,
            "removal-asked"
            | "removal-drains"
            | "removal-blocked"
            | "removal-forced"
            | "instance-spared"
            | "never-connected"
            | "removal-waits"
            | "release-asked"
            | "awaits-filesystem"
            | "removal-waits-for-containers" => Action::Remove,
            // Reservations are part of their attachments, and units of their applications.
            "attachment-wanted" | "filesystem-wanted" | "unit-wanted" | "unit-unwanted" | "volume-seen"
            | "volume-zone-known" => continue,
            _ => Action::Unchanged,
        };
        let (entity, fields, follows) = (answer.stream.to_string(), Vec::new(), Vec::new());
        plan.steps.push(Step { action, entity, fields, stays: None, brings: Vec::new(), follows });
    }
    plan
}

/// The first attachment among these whose volume is mounted from, where neither its volume nor its machine goes too: then
/// nobody would detach it afterwards.
fn held_by_mount(fleet: &Fleet, streams: &[StreamId]) -> Option<(StreamId, StreamId)> {
    let goes = |kind: &str, name: &str| streams.iter().any(|stream| stream.kind() == kind && stream.name() == name);
    streams.iter().find_map(|stream| {
        let (machine, volume) = stream.name().split_once(':')?;
        let mount = mounted_from(fleet, stream)?;
        (!goes("machine", machine) && !goes("volume", volume)).then(|| (stream.clone(), mount))
    })
}

/// The names that documents may point at although they do not declare them.
pub fn known(fleet: &Fleet) -> Known {
    let classes = fleet.machine_classes.iter().filter(|(_, f)| f.state.life == Life::Alive);
    let classes =
        classes.filter_map(|(name, f)| Some((name.parse().ok()?, f.state.content.as_ref()?.provider.clone())));
    let mounts = fleet.filesystem_attachments.iter().filter(|(_, f)| f.state.life.exists());
    let mounts = mounts.filter_map(|(name, f)| Some((name.to_owned(), f.state.spec.as_ref()?.path.clone()?)));
    let hosts = fleet.machines.iter().filter(|(_, f)| f.state.life.exists() && !f.state.units.is_empty());
    let hosts = hosts.filter_map(|(name, f)| Some((name.parse::<Name>().ok()?, &f.state.units)));
    let units = hosts.flat_map(|(machine, units)| units.iter().map(move |unit| (unit.clone(), machine.clone())));
    Known {
        classes: classes.collect(),
        spaces: fleet.names().spaces.clone(),
        applications: fleet.names().applications.clone(),
        units: units.collect(),
        filesystems: fleet.names().filesystems.clone(),
        own_volumes: own_volumes(fleet),
        machines: fleet.names().machines.clone(),
        volumes: fleet.names().volumes.clone(),
        engines: None,
        storage: storage_config(fleet),
        mounts: mounts.collect(),
        deployments: deployments(fleet),
        free_sets: free_sets(fleet),
    }
}

fn deployments(fleet: &Fleet) -> BTreeMap<Name, machine_deployment::Spec> {
    let alive = fleet.machine_deployments.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    alive.filter_map(|(name, folded)| Some((name.parse().ok()?, folded.state.spec.clone()?))).collect()
}

/// The templates of the sets that belong to no deployment.
fn free_sets(fleet: &Fleet) -> BTreeMap<Name, Arc<machine::Spec>> {
    let alive = fleet.machine_sets.iter().filter(|(_, folded)| folded.state.life == Life::Alive);
    let free = alive.filter_map(|(name, folded)| Some((name, folded.state.spec.as_ref()?)));
    let free = free.filter(|(_, spec)| spec.deployment.is_none());
    free.filter_map(|(name, spec)| Some((name.parse().ok()?, spec.template.clone()))).collect()
}

/// The volumes that are there only for the filesystems on them.
fn own_volumes(fleet: &Fleet) -> BTreeMap<Name, Name> {
    let own = |(name, folded): (&str, &Folded<filesystem::State>)| {
        let backing = folded.state.backing().filter(|_| folded.state.life == Life::Alive)?;
        let owner = fleet.volumes.get(backing.as_str())?.owner.as_ref()?;
        let is_own = owner.kind() == filesystem::State::KIND && owner.name() == name;
        is_own.then(|| Some((name.parse().ok()?, backing.clone()))).flatten()
    };
    fleet.filesystems.iter().filter_map(own).collect()
}

/// A user of this machine, as a principal.
pub(crate) fn user(uid: u32) -> String {
    format!("uid:{uid}")
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
