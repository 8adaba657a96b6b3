//! How a node is asked.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use actix::Addr;
use bailiwick_actors::{
    ports::Clock,
    shell::{
        AgentReport, Answer, AnyCommand, Ask, AskError, AskGroup, GroupAnswer, Heartbeat, Limits, Origin, Registry,
        RegistryStats, Running, Stats, SupervisorActor,
    },
    supervisor::machines,
    vocab::{Life, Timestamp},
};
use bailiwick_journal::{Journal, LocalJournal, Outcome, Position, ReadError, StreamId, digest};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::{
    manifest::{Document, Known},
    plan::{Plan, Prune, plan, removal},
    view::{Fleet, FleetError},
};

/// Asks a running node. Can be cloned and sent; works on any runtime.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    journal: Arc<LocalJournal>,
    clock: Arc<dyn Clock>,
    registry: Addr<Registry>,
    machines: Addr<SupervisorActor<machines::State>>,
    /// What was folded so far; brought up to date when somebody looks.
    fleet: Mutex<Fleet>,
    admission: Semaphore,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("journal", &self.journal.id()).finish_non_exhaustive()
    }
}

/// What an apply did.
#[derive(Clone, Debug)]
pub struct Applied {
    pub plan: Plan,
    /// One answer per command of the plan; empty when nothing had to be asked.
    pub answers: Vec<Answer>,
}

/// Why an apply did nothing.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// At least one entity refused; nothing was applied.
    #[error("{} refused", refusing(.refusals))]
    Refused { refusals: Vec<Answer> },
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn refusing(refusals: &[Answer]) -> String {
    refusals.iter().map(|answer| format!("{} ({})", answer.stream, answer.text)).collect::<Vec<_>>().join(", ")
}

impl Handle {
    pub(super) fn new(journal: Arc<LocalJournal>, clock: Arc<dyn Clock>, running: &Running, limits: Limits) -> Self {
        let shared = Shared {
            journal,
            clock,
            registry: running.registry.clone(),
            machines: running.supervisors.machines.clone(),
            fleet: Mutex::new(Fleet::default()),
            admission: Semaphore::new(limits.asks_max),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The journal, to read from.
    pub fn journal(&self) -> Arc<dyn Journal> {
        self.shared.journal.clone()
    }

    /// The node's time.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Looks at everything as of now. The closure must be quick: others wait meanwhile.
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
        Ok(look(&fleet))
    }

    /// Asks one entity.
    ///
    /// # Errors
    /// As [`AskError`]; a refusal is an answer, not an error.
    pub async fn ask(&self, stream: StreamId, command: AnyCommand, id: Uuid) -> Result<Answer, AskError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        let ask = Ask { stream, command, origin: operator(id) };
        self.shared.registry.send(ask).await.map_err(|_| AskError::Stopping)?
    }

    /// What would have to be asked so that these documents become true.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn plan(&self, documents: &[Document], prune: Prune) -> Result<Plan, ReadError> {
        self.look(|fleet| plan(fleet, documents, prune))
    }

    /// Makes these documents the declared truth: all of them or none. Returns when that is durable; what follows from it
    /// goes on afterwards. The same id again gets the first answer.
    ///
    /// # Errors
    /// If an entity refuses, or the node cannot answer.
    pub async fn apply(&self, documents: &[Document], prune: Prune, id: Uuid) -> Result<Applied, ApplyError> {
        let plan = self.plan(documents, prune)?;
        let wishes: Vec<_> = documents.iter().map(|document| &document.wish).collect();
        self.carry_out(plan, id, digest(format!("apply {prune:?} {wishes:?}").as_bytes())).await
    }

    /// Asks these entities to go, together with nothing else: what depends on them is asked by the supervisors.
    ///
    /// # Errors
    /// As [`Handle::apply`].
    pub async fn remove(&self, streams: &[StreamId], id: Uuid) -> Result<Applied, ApplyError> {
        let plan = self.look(|fleet| removal(fleet, streams))?;
        self.carry_out(plan, id, digest(format!("remove {streams:?}").as_bytes())).await
    }

    async fn carry_out(&self, plan: Plan, id: Uuid, content: [u8; 16]) -> Result<Applied, ApplyError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        let group = AskGroup { commands: plan.commands.clone(), origin: operator(id), content };
        let answer = self.shared.registry.send(group).await.map_err(|_| AskError::Stopping)??;
        let GroupAnswer { done, answers } = answer;
        if !done {
            let refusals = answers.into_iter().filter(|answer| answer.outcome == Outcome::Refused).collect();
            return Err(ApplyError::Refused { refusals });
        }
        Ok(Applied { plan, answers })
    }

    /// The names that documents may point at although they do not declare them.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn known(&self) -> Result<Known, ReadError> {
        self.look(known)
    }

    /// Hands an agent's report on.
    ///
    /// # Errors
    /// If the node is stopping or takes no more.
    pub async fn agent_report(&self, report: AgentReport) -> Result<Heartbeat, AskError> {
        let _permit = self.shared.admission.try_acquire().map_err(|_| AskError::Overloaded)?;
        self.shared.machines.send(report).await.map_err(|_| AskError::Stopping)
    }

    /// How the registry is.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn stats(&self) -> Result<RegistryStats, AskError> {
        self.shared.registry.send(Stats).await.map_err(|_| AskError::Stopping)
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

/// The names that documents may point at although they do not declare them.
pub fn known(fleet: &Fleet) -> Known {
    let alive = |life: Life| life == Life::Alive;
    let machines: BTreeSet<_> = fleet.machines.iter().filter(|(_, f)| alive(f.state.life)).map(|(n, _)| n).collect();
    let volumes: BTreeSet<_> = fleet.volumes.iter().filter(|(_, f)| alive(f.state.life)).map(|(n, _)| n).collect();
    Known {
        machines: machines.into_iter().filter_map(|name| name.parse().ok()).collect(),
        volumes: volumes.into_iter().filter_map(|name| name.parse().ok()).collect(),
    }
}

fn operator(id: Uuid) -> Origin {
    Origin { id, principal: "operator".into(), cause: None, routine: false }
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
