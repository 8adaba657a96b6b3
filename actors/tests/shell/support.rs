//! A node on virtual time, over a journal in memory and a provider that does as it is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicI64, Ordering},
    },
};

use bailiwick_actors::{
    contract::Stored as _,
    machine,
    ports::{
        Answer, BulkAnswer, CallBudget, Clock, CreateMachine, InstanceStatus, Listing, Lookup, MachineInstance,
        MachineProvider, StartedMachine,
    },
    replay::assert_replays,
    shell::{self, AnyCommand, Ask, AskError, Limits, Origin, Providers, RegistryStats, Running, Stats, assemble},
    testing::MemoryJournal,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Name, Timestamp, derived_uuid},
    volume_attachment,
};
use bailiwick_journal::{Draft, Entry, Journal as _, Meta, StreamId, append_blocking};
use tokio::{sync::Notify, time::Instant};

/// Runs on a system of its own, whose time goes on only when nothing else can.
pub fn on_a_system<T>(act: impl Future<Output = T>) -> T {
    let runner = actix::System::with_tokio_rt(|| {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    });
    runner.block_on(act)
}

/// A wall clock that can be set.
#[derive(Debug)]
pub struct WallClock {
    began: Instant,
    pub set_by_ms: AtomicI64,
}

/// 2026-01-01.
pub const EPOCH_MS: u64 = 1_767_225_600_000;

impl WallClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), set_by_ms: AtomicI64::new(0) })
    }
}

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let elapsed_ms = self.began.elapsed().as_millis() as u64;
        Timestamp((EPOCH_MS + elapsed_ms).saturating_add_signed(self.set_by_ms.load(Ordering::SeqCst)))
    }
}

/// What a provider does with its next calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    #[default]
    Willing,
    /// Calls are never answered, and nothing happens.
    Hanging,
    /// Calls fail.
    Failing(FaultCode),
    /// Calls take this long.
    Slow { ms: u64 },
}

/// A provider that does as it is told, and remembers.
#[derive(Debug, Default)]
pub struct Obedient {
    state: Mutex<State>,
    cancelled: Notify,
}

#[derive(Debug, Default)]
pub struct State {
    pub mood: Mood,
    pub instances: BTreeMap<EffectId, MachineInstance>,
    /// Every call: operation, and the machines or ids in it.
    pub calls: Vec<(&'static str, Vec<String>)>,
    pub under_way: usize,
    pub under_way_max: usize,
    pub cancelled: BTreeSet<EffectId>,
    /// Of these machines a lookup cannot tell whether they are there.
    pub untold: BTreeSet<Name>,
}

impl Obedient {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn set(&self, mood: Mood) {
        self.state().mood = mood;
    }

    pub fn calls_of(&self, operation: &str) -> usize {
        self.state().calls.iter().filter(|(name, _)| *name == operation).count()
    }

    /// Comes when one of these ids is cancelled from now on.
    async fn cancelled(&self, ids: &BTreeSet<EffectId>) {
        while self.state().cancelled.is_disjoint(ids) {
            self.cancelled.notified().await;
        }
    }

    async fn called(&self, operation: &'static str, items: Vec<String>) -> Result<(), Fault> {
        let mood = {
            let mut state = self.state();
            state.calls.push((operation, items));
            state.under_way += 1;
            state.under_way_max = state.under_way_max.max(state.under_way);
            state.mood
        };
        match mood {
            Mood::Hanging => std::future::pending::<()>().await,
            Mood::Slow { ms } => tokio::time::sleep(std::time::Duration::from_millis(ms)).await,
            Mood::Willing | Mood::Failing(_) => (),
        }
        self.state().under_way -= 1;
        match mood {
            Mood::Failing(code) => Err(Fault::new(code, "as told")),
            _ => Ok(()),
        }
    }
}

impl MachineProvider for Obedient {
    fn create(&self, machines: Vec<CreateMachine>) -> BulkAnswer<'_, StartedMachine> {
        Box::pin(async move {
            let ids = machines.iter().map(|create| create.id).collect();
            tokio::select! {
                biased;
                called = self.called("create", machines.iter().map(|create| create.machine.to_string()).collect()) => called?,
                () = self.cancelled(&ids) => {
                    self.state().under_way -= 1;
                    return Err(Fault::new(FaultCode::Canceled, "as asked"));
                }
            }
            let mut state = self.state();
            let make = |create: CreateMachine| {
                let instance = InstanceId(format!("i-{}", create.machine));
                let (facts, status) = (BTreeMap::new(), InstanceStatus::Running);
                let made = MachineInstance { effect: create.id, instance, machine: create.machine, facts, status };
                Ok(state.instances.entry(create.id).or_insert(made).clone().into())
            };
            Ok(machines.into_iter().map(make).collect())
        })
    }

    fn delete(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(async move {
            self.called("delete", ids.iter().map(ToString::to_string).collect()).await?;
            let gone: BTreeSet<EffectId> = ids.iter().copied().collect();
            self.state().instances.retain(|id, _| !gone.contains(id));
            Ok(ids.iter().map(|_| Ok(())).collect())
        })
    }

    fn lookup(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<StartedMachine>> {
        Box::pin(async move {
            self.called("lookup", ids.iter().map(ToString::to_string).collect()).await?;
            let state = self.state();
            let find = |id: &EffectId| match state.instances.get(id) {
                Some(instance) if state.untold.contains(&instance.machine) => Ok(Lookup::Unknown),
                found => Ok(found.map_or(Lookup::Absent, |instance| Lookup::Present(instance.clone().into()))),
            };
            Ok(ids.iter().map(find).collect())
        })
    }

    fn cancel(&self, id: EffectId) {
        self.state().cancelled.insert(id);
        self.cancelled.notify_waiters();
    }

    fn list(&self) -> Answer<'_, Result<Listing<MachineInstance>, Fault>> {
        // Partial for ever: these tests are not about what a list lacks.
        let items: Vec<MachineInstance> = self.state().instances.values().cloned().collect();
        Box::pin(async move { Ok(Listing { complete: false, as_of: Timestamp(0), items }) })
    }
}

/// What a test node is made of. When it is done with, every decision in its journal is decided again.
pub struct Bench {
    pub journal: MemoryJournal,
    pub clock: Arc<WallClock>,
    /// `a` and `b`.
    pub providers: BTreeMap<Name, Arc<Obedient>>,
    pub limits: Limits,
    pub budgets: BTreeMap<Name, CallBudget>,
    /// Whether somebody wrote into the journal what no decision leads to.
    is_forged: bool,
}

impl Bench {
    pub fn new() -> Self {
        let names: [Name; 2] = ["a".parse().unwrap(), "b".parse().unwrap()];
        let providers = names.into_iter().map(|name| (name, Arc::new(Obedient::default()))).collect();
        let (limits, budgets) = (Limits::default(), BTreeMap::new());
        let journal = MemoryJournal::new("bench");
        Self { journal, clock: WallClock::new(), providers, limits, budgets, is_forged: false }
    }

    pub fn provider(&self, name: &str) -> &Arc<Obedient> {
        &self.providers[&name.parse::<Name>().unwrap()]
    }

    /// The same over a journal that is there already.
    pub fn over(journal: MemoryJournal) -> Self {
        let mut bench = Self::new();
        bench.journal = journal;
        bench
    }

    /// Writes an event that does not follow from the last entry of its stream.
    pub fn forge(&mut self, to: &str, event: &machine::Event) {
        let entries = self.journal.entries();
        let last = entries.iter().rfind(|entry| entry.header.stream == stream(to)).unwrap();
        let Entry { header, command, facts, verdict, .. } = (**last).clone();
        let draft = Draft {
            expected: self.journal.version(&header.stream),
            stream: header.stream,
            meta: Meta { command_id: derived_uuid("forged"), ..header.meta },
            command,
            facts,
            verdict,
            events: vec![event.store().unwrap()],
        };
        append_blocking(&self.journal, vec![draft]).unwrap();
        self.is_forged = true;
    }

    /// Starts a node over the journal as it is.
    pub async fn start(&self) -> Running {
        let mut providers = Providers { budgets: self.budgets.clone(), ..Providers::default() };
        for (name, provider) in &self.providers {
            providers.machines.insert(name.clone(), provider.clone());
        }
        assemble(Arc::new(self.journal.clone()), self.clock.clone(), providers, self.limits).await.unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // A test that fails already says more than this would.
        if !std::thread::panicking() && !self.is_forged {
            assert_replays(&self.journal);
        }
    }
}

pub fn stream(text: &str) -> StreamId {
    text.parse().unwrap()
}

/// A command of an operator; the text is its id.
pub fn ask(to: &str, command: AnyCommand, id: &str) -> Ask {
    let origin = Origin {
        id: derived_uuid(id),
        principal: "operator".into(),
        cause: None,
        cites: Vec::new(),
        routine: false,
        expected: None,
    };
    Ask { stream: stream(to), command, origin }
}

/// Declares a machine of a provider.
pub fn machine_of(provider: &str) -> AnyCommand {
    let spec = machine::Spec::with_provider(provider.parse().unwrap());
    AnyCommand::from(machine::Command::Declare(Arc::new(spec)))
}

/// Declares an attachment, which waits, and owes nothing, until somebody sees to it.
pub fn attachment(name: &str) -> (String, AnyCommand) {
    let spec =
        volume_attachment::Spec { machine: name.parse().unwrap(), volume: "v".parse().unwrap(), read_only: false };
    let to = format!("volume-attachment/{}", spec.stream_name());
    (to, AnyCommand::from(volume_attachment::Command::Declare(spec)))
}

/// Sends a command and waits for its answer.
pub async fn told(node: &Running, ask: Ask) -> Result<shell::Answer, AskError> {
    node.registry.send(ask).await.unwrap()
}

pub async fn stats(node: &Running) -> RegistryStats {
    node.registry.send(Stats).await.unwrap()
}

/// Lets virtual time go by.
pub async fn after_ms(ms: u64) {
    tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
}

/// The codes of all entries of a stream.
pub fn codes(journal: &MemoryJournal, of: &str) -> Vec<String> {
    let of = stream(of);
    let entries = journal.entries();
    entries.iter().filter(|e| e.header.stream == of).map(|e| e.header.meta.code.clone()).collect()
}
