//! A control plane over an engine: the real actors and supervisors, a journal in memory, machines that are always there.

use std::sync::Arc;

use bailiwick::{
    providers::simulated::{SimulatedProvider, World},
    words::Line,
};
use bailiwick_actors::{
    contract::{Decider, View as _},
    machine,
    policy::PeerRules,
    ports::{Clock, Condition, Healthy, ReplicaSetEngine},
    replica_set::{self, Rhythm, Seat, Spec},
    shell::{Answer, AnyCommand, Ask, AskError, Limits, Origin, Providers, Running, assemble},
    supervisor::machines::AgentReport,
    supervisor::replica_sets::{Plan, View, data_lost_condition, plan},
    testing::MemoryJournal,
    vocab::{Name, derived_uuid},
};
use bailiwick_journal::{Entry, Filter, Journal, Position, StreamId};

use crate::lab::name;

/// What stays when the node ends: journal, machines, engine.
pub struct Bench {
    pub journal: MemoryJournal,
    pub machines: World,
    pub clock: Arc<dyn Clock>,
    pub engine: Arc<dyn ReplicaSetEngine>,
}

impl Bench {
    pub async fn start(&self) -> Running {
        let mut providers = Providers::default();
        let simulated = SimulatedProvider::new(name("simulated"), self.machines.clone(), self.clock.clone());
        providers.machines.insert(name("simulated"), Arc::new(simulated));
        providers.replica_sets.insert(name("engine"), self.engine.clone());
        let journal = Arc::new(self.journal.clone());
        assemble(journal, self.clock.clone(), providers, Limits::default()).await.expect("the node starts")
    }

    /// The agents of all machines report; of these sets, that the data of their member is gone.
    pub async fn agents_report(&self, running: &Running, lost: impl Fn(&Name) -> Vec<Name>) {
        for (machine, effect) in self.machines.reporting(self.clock.now()) {
            let condition = |set: &Name| Condition {
                kind: data_lost_condition(set),
                healthy: Healthy::No,
                text: "the directory of the member is empty".into(),
            };
            let conditions = lost(&machine).iter().map(condition).collect();
            let report = AgentReport { machine, provider: None, effect, conditions, running: None };
            running.supervisors.machines.send(report).await.ok();
        }
    }
}

/// What the journal says, as far as it was read.
#[derive(Default)]
pub struct Seen {
    pub view: View,
    at: Position,
}

impl Seen {
    pub fn advance(&mut self, journal: &MemoryJournal) {
        for entry in journal.read(self.at.next(), journal.head().position, &Filter::all()) {
            let entry = entry.expect("it is in memory");
            if View::wants(entry.header.stream.kind()) {
                self.view.apply(&entry).expect("it can be read");
            }
            self.at = entry.header.position;
        }
    }

    pub fn set(&self) -> Option<&replica_set::State> {
        self.view.sets.get("db")
    }

    fn plan(&self) -> Option<Plan> {
        plan(&self.view.machines, &name("db"), self.set()?, PeerRules::Default)
    }

    /// Whether there is nothing left to be done, and nobody is missed.
    pub fn is_at_rest(&self) -> bool {
        let Some(Plan::Desired(verdict)) = self.plan() else { return false };
        let Ok(desired) = *verdict else { return false };
        let seen = self.set().and_then(|set| set.seen.as_ref());
        let all_well = seen.is_some_and(|seen| seen.statuses.iter().all(|status| status.is_ready()));
        !desired.changed && all_well
    }

    pub fn plan_text(&self) -> String {
        format!("{:#?}", self.plan())
    }
}

pub async fn ask(running: &Running, to: &str, command: AnyCommand, id: &str) -> Result<Answer, AskError> {
    let origin = Origin {
        id: derived_uuid(id),
        principal: "operator".into(),
        cause: None,
        cites: Vec::new(),
        routine: false,
        expected: None,
    };
    let stream: StreamId = to.parse().unwrap();
    running.registry.send(Ask { stream, command, origin }).await.expect("the node runs")
}

pub async fn declare_machine(running: &Running, machine: &str, id: &str) {
    let spec = machine::Spec::with_provider(name("simulated"));
    let declare = AnyCommand::from(machine::Command::Declare(Arc::new(spec)));
    ask(running, &format!("machine/{machine}"), declare, id).await.expect("it is recorded");
}

pub fn set_command(command: replica_set::Command) -> AnyCommand {
    AnyCommand::from(command)
}

/// A set with seats at these addresses; each seat is machine, host, peer port, client port.
pub fn spec(servers: u32, seats: Vec<Seat>, one_host: bool, rhythm: Rhythm) -> Spec {
    Spec { engine: name("engine"), servers, seats, one_host, rhythm, space: None }
}

/// What happened to the set, one line per entry.
pub fn story(journal: &MemoryJournal) -> String {
    let lines = history(journal).into_iter().map(|(_, _, entry)| {
        let line = Line::of(&entry);
        format!("{:>9} {}: {:?}", line.time_ms, line.what(), line.because)
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// The set's history: after each of its entries the time and the state.
pub fn history(journal: &MemoryJournal) -> Vec<(u64, replica_set::State, Arc<Entry>)> {
    let mut state = replica_set::State::default();
    let mut all = Vec::new();
    let stream: StreamId = "replica-set/db".parse().unwrap();
    for entry in journal.read_stream(&stream, bailiwick_journal::Version::ZERO) {
        let entry = entry.expect("it is in memory");
        for (at, body) in entry.versioned_events() {
            let event = bailiwick_actors::contract::Stored::load(body).expect("it can be read");
            state.evolve(at, &event);
        }
        all.push((entry.header.meta.time_ms, state.clone(), entry));
    }
    all
}
