//! Runs a node in a simulated world, crash after crash, until the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix::System;
use bailiwick_actors::{
    contract::{Decider, StoredError},
    custom::Provider,
    machine,
    ports::{CallBudget, Clock, SecretData},
    provider,
    shell::{AnyCommand, AnyProvider, AskError, AskGroup, AssembleError, Limits, Origin, Providers, Running, assemble},
    vocab::{Added, Name, Timestamp, derived_uuid, hex},
};
use bailiwick_journal::{Journal, OpenError, ReadOnlyJournal, StreamId, digest, disk::SimulatedDisk};
use uuid::Uuid;

use super::{
    CrashAt, Devices, Happening, KnownSet, Observer, Planned, Report, SimulatedClock, agents,
    crash::{Kept, Points, WatchedJournal},
    ending::{Ending, Ends},
    history::{check_history, reasons},
    script::commands_for,
    sets::Sets,
    storage::Storage,
    story::{StoryLine, tell},
};
use crate::{
    custom_kind::CustomKind,
    plan::{Going, going, protecting, retrying},
    providers::simulated::{SimulatedProvider, SimulatedSecrets, World, WorldState, check},
};

/// An operator whose wish could not be recorded asks again after this time.
const ASKED_AGAIN_MS: u64 = 60_000;
/// How often the simulation looks whether the node has converged.
const LOOK_MS: u64 = 1_000;
/// What a secret holds of which only the name is known.
const PLACEHOLDER: &str = "a placeholder for what nobody but the provider is told";
/// The moment at which simulations begin unless told otherwise: 2026-01-01T00:00:00Z.
const EPOCH: Timestamp = Timestamp(1_767_225_600_000);

/// Who makes the things of a kind that a program adds.
struct AddedKind {
    kind: &'static str,
    provider: fn(SimulatedProvider) -> AnyProvider,
}

static ADDED: Added<AddedKind> = Added::new();

struct Of<K>(PhantomData<K>);

impl<K: CustomKind> Of<K> {
    const ENTRY: AddedKind =
        AddedKind { kind: K::KIND, provider: |provider| AnyProvider::new::<dyn Provider<K>>(Arc::new(provider)) };
}

/// Adds a kind.
pub(crate) fn add<K: CustomKind>() {
    ADDED.add(&Of::<K>::ENTRY);
}

/// A node in a simulated world, and what will happen to it.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// All chance comes from it.
    pub seed: u64,
    pub epoch: Timestamp,
    /// The names of the simulated providers; each makes machines and volumes.
    pub providers: Vec<Name>,
    pub limits: Limits,
    /// How often some of the providers may be called.
    pub budgets: BTreeMap<Name, CallBudget>,
    /// What happens; in the order of time.
    pub script: Vec<Planned>,
    /// Crashes at exact points, besides those of the script.
    pub crashes: Vec<CrashAt>,
    /// When it ends.
    pub until_ms: u64,
    /// When it ends before that.
    pub ends: Ends,
    /// These need not become ready, nor need what waits for them.
    pub resigned: BTreeSet<StreamId>,
    /// Secrets that are there from the beginning; what they hold says nothing.
    pub secrets: Vec<Name>,
    /// What agents see of volumes; none if volumes are no block devices.
    pub devices: Option<Devices>,
    /// What is there already; an empty disk and an empty world if nothing.
    pub beginning: Option<Beginning>,
    /// Whether operators whose wish could not be recorded, as on a full disk, ask again a minute later; else that ends the
    /// simulation.
    pub operators_insist: bool,
}

/// What a simulation begins with.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The disk with a journal that nobody has open, and the journal's id.
    pub disk: SimulatedDisk,
    pub journal: Uuid,
    pub world: WorldState,
    /// Replica sets whose servers are there.
    pub sets: Vec<KnownSet>,
}

/// Why a simulation could not go on. What goes wrong in the simulated world is no such reason.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("the simulated node could not start")]
    Assemble(#[source] Box<AssembleError>),
    #[error("the journal of the simulated node cannot be decoded")]
    Journal(#[from] StoredError),
    #[error("the simulated journal does not open")]
    Open(#[from] OpenError),
    #[error("the event at {at_ms} ms could not be carried out: {what}")]
    Happening { at_ms: u64, what: String, source: AskError },
}

/// How a run of the node ended.
enum Ended {
    AtTheEnd,
    Crashed(Box<Kept>),
}

/// When each provider was called, in milliseconds from the beginning, whatever the wall clock was set to meanwhile.
type CallTimes = BTreeMap<String, Vec<u64>>;

/// What goes on from run to run.
struct Course {
    setup: Simulation,
    storage: Storage,
    /// The journal of the last run, for the report.
    journal: Option<Arc<dyn Journal>>,
    world: World,
    sets: Sets,
    secrets: Arc<SimulatedSecrets>,
    clock: Arc<SimulatedClock>,
    /// When each provider was called.
    called: Arc<Mutex<CallTimes>>,
    points: Points,
    next: usize,
    /// What the operator is asking for in this step: after a crash it is asked for again, in the same words.
    asking: Option<(usize, Vec<(StreamId, AnyCommand)>)>,
    crashes: u64,
    ending: Ending,
    /// Lines that no entry tells, with the number of entries before them.
    asides: Vec<(u64, StoryLine)>,
}

impl Simulation {
    /// A simulation in which nothing happens.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            epoch: EPOCH,
            providers: vec!["simulated".parse().expect("a valid name")],
            limits: Limits::default(),
            budgets: BTreeMap::new(),
            script: Vec::new(),
            crashes: Vec::new(),
            until_ms: 3_600_000,
            ends: Ends::WhenConverged,
            resigned: BTreeSet::new(),
            secrets: Vec::new(),
            devices: None,
            beginning: None,
            operators_insist: false,
        }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// If it cannot go on. That the node does not converge is no error; the report says it.
    pub fn run(self) -> Result<Report, SimulationError> {
        self.run_to_end()?.report()
    }

    /// Runs it to its end, and opens the journal that it made for reading.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_and_read(self) -> Result<(Report, ReadOnlyJournal), SimulationError> {
        let course = self.run_to_end()?;
        let (disk, _) = course.storage.clone().into_parts();
        let report = course.report()?;
        Ok((report, ReadOnlyJournal::open_on(Arc::new(disk))?))
    }

    /// Runs it to its end, and keeps what another one could go on from, but for the servers of replica sets.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[cfg(feature = "testing")]
    pub fn run_and_keep(self) -> Result<(Report, Beginning), SimulationError> {
        let course = self.run_to_end()?;
        let (disk, journal) = course.storage.clone().into_parts();
        let kept = Beginning { disk, journal, world: course.world.snapshot(), sets: Vec::new() };
        Ok((course.report()?, kept))
    }

    fn run_to_end(mut self) -> Result<Course, SimulationError> {
        let world = World::new(self.seed);
        let (storage, known) = match self.beginning.take() {
            None => (Storage::new(&format!("simulation {}", self.seed)), Vec::new()),
            Some(Beginning { disk, journal, world: there, sets }) => {
                world.restore(there);
                (Storage::of(disk, journal), sets)
            }
        };
        let sets = Sets::new(self.seed, &known, self.epoch);
        let points = Points::new(self.crashes.clone(), storage.clone(), world.clone(), sets.clone(), self.seed);
        let secrets = Arc::new(SimulatedSecrets::default());
        for name in &self.secrets {
            let holds = [("userData".to_owned(), PLACEHOLDER.to_owned())];
            secrets.set(name, Some(SecretData::new(holds.into())));
        }
        let clock = Arc::new(SimulatedClock::new(self.epoch));
        let mut course = Course {
            setup: self,
            storage,
            journal: None,
            world,
            sets,
            secrets,
            clock,
            called: Arc::default(),
            points,
            next: 0,
            asking: None,
            crashes: 0,
            ending: Ending::default(),
            asides: Vec::new(),
        };
        while let Ended::Crashed(kept) = course.run_node()? {
            course.crashes += 1;
            course.world.restore(kept.world);
            course.sets.restore(&kept.sets);
            course.storage = kept.storage;
        }
        Ok(course)
    }
}

impl Course {
    /// One run of the node: from its start to the end, or to a crash. Whatever is left of it is dropped.
    fn run_node(&mut self) -> Result<Ended, SimulationError> {
        let runner = System::with_tokio_rt(|| {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().expect("a runtime without I/O")
        });
        let points = self.points.clone();
        let live = || {
            runner.block_on(async {
                self.clock.begin();
                let ended = self.live().await;
                self.clock.end();
                ended
            })
        };
        within_points(points, live)
    }

    async fn live(&mut self) -> Result<Ended, SimulationError> {
        let inner = match self.storage.open(self.clock.now()) {
            Ok(journal) => journal,
            Err(error) => match self.crashed(0) {
                Some(ended) => return Ok(ended),
                None => return Err(error.into()),
            },
        };
        let journal: Arc<dyn Journal> = Arc::new(WatchedJournal { inner, points: self.points.clone() });
        self.journal = Some(journal.clone());
        let assembled =
            assemble(journal.clone(), self.clock.clone(), self.simulated_providers(), self.setup.limits).await;
        let running = match assembled {
            Ok(running) => running,
            Err(error) => match self.crashed(journal.head().position.0) {
                Some(ended) => return Ok(ended),
                None => return Err(SimulationError::Assemble(Box::new(error))),
            },
        };
        let (world, sets, devices) = (self.world.clone(), self.sets.clone(), self.setup.devices.clone());
        let around = agents::Surroundings { world, sets, devices };
        actix::spawn(agents::report_all(around, self.clock.clone(), running.supervisors.clone()));
        let mut observer = Observer::of(journal.id());
        self.ending = Ending::default();
        loop {
            if let Some(ended) = self.crashed(journal.head().position.0) {
                return Ok(ended);
            }
            let now_ms = self.clock.elapsed_ms();
            observer.advance(&*journal)?;
            let due = self.setup.script.get(self.next).filter(|planned| planned.at_ms <= now_ms).cloned();
            if let Some(planned) = due {
                let failed = self.happen(&planned, &running, &observer).await.err();
                if let Some(ended) = self.crashed(journal.head().position.0) {
                    self.next += usize::from(matches!(planned.what, Happening::Crash(_)));
                    return Ok(ended);
                }
                match failed {
                    None => (),
                    Some(_) if self.setup.operators_insist => self.plan_again(planned, now_ms + ASKED_AGAIN_MS),
                    Some(source) => {
                        let (at_ms, what) = (planned.at_ms, planned.what.text());
                        return Err(SimulationError::Happening { at_ms, what, source });
                    }
                }
                self.next += 1;
                continue;
            }
            self.ending.look(&observer, &self.setup.resigned, now_ms);
            let all_has_happened = self.next == self.setup.script.len();
            let is_over = all_has_happened && self.ending.is_over(&self.setup, now_ms, self.clock.now());
            if now_ms >= self.setup.until_ms || is_over {
                return Ok(Ended::AtTheEnd);
            }
            self.wait(now_ms).await;
        }
    }

    /// What could not be done is to be done later.
    fn plan_again(&mut self, planned: Planned, at_ms: u64) {
        self.asking = None;
        let later = self.setup.script.partition_point(|other| other.at_ms <= at_ms);
        self.setup.script.insert(later, Planned { at_ms, ..planned });
    }

    /// Waits for the next thing to happen, a crash, or a while.
    async fn wait(&self, now_ms: u64) {
        let next_ms = self.setup.script.get(self.next).map_or(u64::MAX, |planned| planned.at_ms);
        let until_ms = next_ms.min(now_ms + LOOK_MS).min(self.setup.until_ms).max(now_ms + 1);
        let pause = tokio::time::sleep(Duration::from_millis(until_ms - now_ms));
        tokio::select! {
            biased;
            () = self.points.crashed() => (),
            () = pause => (),
        }
    }

    /// Whether the node has crashed meanwhile. What it did after that moment has never been.
    fn crashed(&mut self, entries: u64) -> Option<Ended> {
        let kept = self.points.take()?;
        let text = format!("crash ({})", kept.at);
        self.aside(entries.min(kept.entries), text);
        Some(Ended::Crashed(Box::new(kept)))
    }

    fn simulated_providers(&self) -> Providers {
        let budgets = self.setup.budgets.clone();
        let mut providers = Providers { secrets: Some(self.secrets.clone()), budgets, ..Providers::default() };
        for name in &self.setup.providers {
            let (points, called, clock) = (self.points.clone(), self.called.clone(), self.clock.clone());
            let of = name.to_string();
            let watch = move |point| {
                if point == "before-call" {
                    let mut called = called.lock().unwrap_or_else(PoisonError::into_inner);
                    called.entry(of.clone()).or_default().push(clock.elapsed_ms());
                }
                points.reach(point);
            };
            let provider =
                SimulatedProvider::new(name.clone(), self.world.clone(), self.clock.clone()).watched(Arc::new(watch));
            let provider = Arc::new(provider);
            providers.machines.insert(name.clone(), provider.clone());
            providers.volumes.insert(name.clone(), provider.clone());
            providers.filesystems.insert(name.clone(), provider.clone());
            let added = ADDED.all().into_iter();
            let of_added = added.map(|added| ((added.kind, name.clone()), (added.provider)((*provider).clone())));
            providers.added.extend(of_added);
        }
        providers.replica_sets = self.sets.engines(&self.clock);
        providers
    }

    async fn happen(&mut self, planned: &Planned, running: &Running, known: &Observer) -> Result<(), AskError> {
        let entries = running.services.journal.head().position.0;
        let now = self.clock.now();
        let after = |ms: u64| Timestamp(now.0 + ms);
        self.aside(entries, planned.what.text());
        match &planned.what {
            Happening::Apply(wishes) => self.ask(running, commands_for(wishes, known)).await?,
            Happening::Asked { by, commands } => self.ask_as(by, running, commands.clone()).await?,
            Happening::Remove(streams) => {
                let removals = streams
                    .iter()
                    .filter_map(|stream| Some((stream.clone(), going(stream, Going::default())?)))
                    .collect();
                self.ask(running, removals).await?;
            }
            Happening::RetryFailed => {
                let retrials =
                    known.given_up().into_iter().filter_map(|stream| Some((stream.clone(), retrying(&stream)?)));
                self.ask(running, retrials.collect()).await?;
            }
            Happening::Hold { machine, reason, for_ms } => {
                let command = machine::Command::Hold { reason: reason.clone(), until: for_ms.map(after) };
                self.ask(running, one(machine, command)).await?;
            }
            Happening::HoldProvider { provider, reason, for_ms } => {
                let command = provider::Command::Hold { reason: reason.clone(), until: for_ms.map(after) };
                self.ask(running, of_provider(provider, command)).await?;
            }
            Happening::UnholdProvider(provider) => {
                self.ask(running, of_provider(provider, provider::Command::Unhold)).await?;
            }
            Happening::Protect { entity, on } => {
                let asked = protecting(entity, *on).map(|command| (entity.clone(), command));
                self.ask(running, asked.into_iter().collect()).await?;
            }
            Happening::Unhold(machine) => self.ask(running, one(machine, machine::Command::Unhold)).await?,
            Happening::Disown(machine) => self.ask(running, one(machine, machine::Command::Disown)).await?,
            Happening::Adopt(machine) => {
                let found = self.world.other_instance(machine, known.own(machine));
                let adopt = |(provider, instance)| one(machine, machine::Command::Adopt { provider, instance });
                self.ask(running, found.map(adopt).unwrap_or_default()).await?;
            }
            Happening::RemoveWith { machine, how } => {
                self.ask(running, one(machine, machine::Command::RemoveWith(*how))).await?;
            }
            Happening::Stray { provider, machine } => self.world.stray(provider, machine),
            Happening::Dark { zone, for_ms } => self.world.darken(zone, after(*for_ms)),
            Happening::Cling(machine) => self.world.cling(machine),
            Happening::Kill(machine) => drop(self.world.kill(machine)),
            Happening::Vanish(machine) => drop(self.world.vanish(machine)),
            Happening::Silence { machine, for_ms } => self.world.silence(machine, after(*for_ms)),
            Happening::Crash(kind) => self.points.crash(*kind),
            Happening::Outage { provider, for_ms } => self.world.add_outage(provider, now, after(*for_ms)),
            Happening::Zones { provider, zones } => self.world.set_zones(provider, zones.clone()),
            Happening::ZoneOutage { provider, zone, for_ms } => {
                self.world.add_zone_outage(provider, zone, now, after(*for_ms));
            }
            Happening::KillZone { provider, zone } => drop(self.world.kill_zone(provider, zone)),
            Happening::Misbehave { provider, faults } => self.world.set_faults(provider, (**faults).clone()),
            Happening::Secret { name, holds } => self.secrets.set(name, holds.clone().map(SecretData::new)),
            Happening::Calm => self.world.stop_faults(),
            Happening::Jump { by_ms } => self.clock.jump(*by_ms),
            Happening::Suspend { for_ms } => tokio::time::advance(Duration::from_millis(*for_ms)).await,
            Happening::Disk(space) => self.storage.set_space(*space),
        }
        Ok(())
    }

    /// An operator asks.
    async fn ask(&mut self, running: &Running, commands: Vec<(StreamId, AnyCommand)>) -> Result<(), AskError> {
        self.ask_as("operator", running, commands).await
    }

    /// Somebody asks; whoever gets no answer because the node crashed asks again under the same id.
    async fn ask_as(
        &mut self,
        by: &str,
        running: &Running,
        commands: Vec<(StreamId, AnyCommand)>,
    ) -> Result<(), AskError> {
        if commands.is_empty() {
            return Ok(());
        }
        let commands = match self.asking.take() {
            Some((step, earlier)) if step == self.next => earlier,
            _ => commands,
        };
        self.asking = Some((self.next, commands.clone()));
        let first = commands.first().map(|(stream, _)| stream.to_string()).unwrap_or_default();
        let id = derived_uuid(&format!("simulation {} {} {first}", self.setup.seed, self.next));
        let origin =
            Origin { id, principal: by.to_owned(), cause: None, cites: Vec::new(), routine: false, expected: None };
        let stored =
            commands.iter().flat_map(|(_, command)| command.store().map(|body| body.bytes).unwrap_or_default());
        let content = digest(&stored.collect::<Vec<u8>>());
        let asked = running.registry.send(AskGroup { commands, origin, content });
        let answer = tokio::select! {
            biased;
            answer = asked => answer.map_err(|_| AskError::Stopping)?,
            () = tokio::time::sleep(Duration::from_secs(600)) => Err(AskError::Overloaded),
        };
        answer.map(drop)
    }

    fn aside(&mut self, entries: u64, text: String) {
        let at_ms = self.clock.now().since(self.setup.epoch);
        self.asides.push((entries, StoryLine::aside(at_ms, text)));
    }

    fn report(self) -> Result<Report, SimulationError> {
        let journal = self.journal.as_ref().expect("a simulation runs at least once");
        let mut observer = Observer::of(journal.id());
        observer.advance(&**journal)?;
        let mut wrong = check(&self.world.snapshot(), &observer.claims());
        wrong.extend(self.sets.wrong());
        wrong.extend(check_history(&**journal, self.setup.epoch));
        let unready = observer.unready();
        let not_offered: BTreeSet<StreamId> = observer.not_offered().into_iter().collect();
        let resigned = self.setup.resigned.union(&not_offered).cloned().collect();
        let resting: BTreeMap<StreamId, StreamId> = unready
            .iter()
            .filter_map(|stream| observer.waits_for(stream, &resigned).map(|reason| (stream.clone(), reason)))
            .collect();
        let awaited = unready
            .iter()
            .filter(|stream| !resting.contains_key(*stream))
            .filter_map(|stream| Some((stream.clone(), observer.awaits_operator(stream)?)));
        let elapsed_ms = self.clock.elapsed_ms();
        let converged_ms = self.ending.converged_ms(&self.setup, elapsed_ms);
        let head = journal.head();
        Ok(Report {
            seed: self.setup.seed,
            story: tell(&**journal, self.setup.epoch, self.asides),
            journal_hash: hex(&head.hash),
            converged: converged_ms.is_some(),
            converged_ms,
            awaited: awaited.collect(),
            left: observer.left_to_operators(self.clock.now()).into_iter().collect(),
            resting,
            given_up: observer.given_up().into_iter().collect(),
            not_offered,
            entries: head.position.0,
            reasons: reasons(&**journal),
            crashes: self.crashes,
            points: self.points.reached(),
            items: self.world.snapshot().items,
            calls: self.world.snapshot().calls,
            called_ms: self.called.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            virtual_ms: elapsed_ms,
            quiet_ms: self.ending.quiet_ms(elapsed_ms),
            unready,
            statuses: observer.statuses().into_iter().map(|(stream, word)| (stream.to_string(), word)).collect(),
            wrong,
        })
    }
}

fn one(machine: &Name, command: machine::Command) -> Vec<(StreamId, AnyCommand)> {
    let stream = StreamId::new("machine", machine.as_str()).expect("names are checked");
    vec![(stream, AnyCommand::from(command))]
}

fn of_provider(provider: &Name, command: provider::Command) -> Vec<(StreamId, AnyCommand)> {
    let stream = StreamId::new(provider::State::KIND, provider.as_str()).expect("names are checked");
    vec![(stream, AnyCommand::from(command))]
}

/// Counts the journal's own points too, where they are compiled in.
#[cfg(feature = "crash-points")]
fn within_points<T>(points: Points, act: impl FnOnce() -> T) -> T {
    bailiwick_journal::crash::with_hook(move |name| points.reach(name), act)
}

#[cfg(not(feature = "crash-points"))]
fn within_points<T>(_points: Points, act: impl FnOnce() -> T) -> T {
    act()
}
