//! A large fleet: how long it takes to come up, how often providers are called for it, and what one changed machine costs.
//!
//! ```text
//! cargo bench --bench fleet -- [MACHINES]
//! ```
//!
//! The fleet is simulated, with one transient error in a hundred items; everything is replayed at the end, which is not
//! measured apart. What one change costs is measured on the machines supervisor and the machine sets supervisor alone: the
//! entry is taken into their views, and they decide what follows. The fleets take turns, so that what else the machine does
//! concerns all of them.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{
    collections::BTreeMap,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use bailiwick::{
    actors::{
        contract::{Decider, Facts, Stored, View},
        machine::{self, Event, Spec},
        machine_set,
        policy::Document,
        ports::{InstanceStatus, MachineInstance},
        supervisor::{machine_sets, machines},
        vocab::{EffectId, FaultCode, InstanceId, Name, Timestamp},
    },
    journal::{Body, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version},
    manifest::{self, Known, Source},
    providers::simulated::Faults,
    simulation::{Happening, Planned, Simulation},
};
use uuid::Uuid;

/// The journal that the machines are in.
const JOURNAL: Uuid = Uuid::from_u128(1);

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Changes of one fleet until it is the next one's turn; of their times the median counts.
const CHANGES: usize = 1_001;
/// Turns of each fleet.
const ROUNDS: usize = 15;

fn main() {
    bailiwick::cli::allocator::settle();
    let machines = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10_000);
    one_change();
    come_up(machines);
}

/// What one change costs in fleets of several sizes.
fn one_change() {
    let mut fleets: Vec<Settled> = [1_000, 10_000, 100_000].into_iter().map(settled).collect();
    let mut rounds: Vec<Vec<f64>> = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        rounds.push(fleets.iter_mut().map(|fleet| fleet.changes(round * CHANGES)).collect());
    }
    for (index, fleet) in fleets.iter().enumerate() {
        let micros = median(rounds.iter().map(|round| round[index]));
        let ratio = median(rounds.iter().map(|round| round[index] / round[0]));
        let machines = fleet.machines;
        println!(
            "a machine of {machines} falls ill, becomes well, and is seen stopped: {micros:.1} µs to decide all that"
        );
        println!("  {ratio:.2} of what it costs among 1000, in the median of {ROUNDS} rounds");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn come_up(machines: usize) {
    let text = format!(
        "apiVersion: bailiwick/v1\nkind: MachineSet\nmetadata: {{name: fleet}}\nspec: {{replicas: {machines}, template: \
         {{spec: {{provider: simulated}}}}}}\n"
    );
    let manifest = manifest::parse(&[Source::new("bench", text.into_bytes())], &Known::default()).expect("good");
    let wishes = manifest.documents.into_iter().map(|document| document.wish).collect();
    let provider: Name = "simulated".parse().expect("a name");
    let faults = Faults { fail_per_mille: 10, fail_codes: vec![FaultCode::Unavailable], ..Faults::default() };
    let mut simulation = Simulation::new(1);
    let misbehave = Happening::Misbehave { provider, faults: Box::new(faults) };
    simulation.script = [misbehave, Happening::Apply(wishes)].map(|what| Planned { at_ms: 0, what }).into();
    simulation.until_ms = 4 * 3_600_000;
    let begun = Instant::now();
    let report = simulation.run().expect("a simulation");
    let took = begun.elapsed().as_secs_f64();
    assert!(report.converged && report.wrong.is_empty(), "{:?} {:?}", report.wrong, report.unready.iter().next());
    let items = report.items.get("simulated create-machine").copied().unwrap_or(0);
    let lists = report.calls.get("simulated list-machines").copied().unwrap_or(0);
    println!("{machines} machines of one set, 1 % transient errors: {took:.1} s until all are ready, replay included");
    println!("{:.3} creates per machine in {:?}", items as f64 / machines as f64, report.calls);
    println!("{lists} lists in {} virtual s; {} entries", report.virtual_ms / 1000, report.entries);
}

fn entry(position: u64, stream: &StreamId, first: u64, events: &[Event]) -> Entry {
    let meta = Meta {
        kind: EntryKind::Decision,
        outcome: Outcome::Done,
        code: String::new(),
        time_ms: position,
        command_id: Uuid::from_u128(u128::from(position)),
        command_hash: [0; 16],
        cause: None,
        principal: String::new(),
        policy: None,
        view: None,
        cites: Vec::new(),
    };
    let events: Vec<Body> = events.iter().map(|event| event.store().expect("small")).collect();
    let count = u32::try_from(events.len()).expect("few");
    let (position, first_version) = (Position(position), Version(first));
    let header = Header { position, stream: stream.clone(), first_version, events: count, meta };
    Entry { header, command: Body::default(), facts: Body::default(), verdict: Body::default(), events }
}

fn machine(number: usize) -> (Name, StreamId) {
    let name: Name = format!("m-{number}").parse().expect("a name");
    let stream = StreamId::new("machine", name.as_str()).expect("a stream");
    (name, stream)
}

/// A settled fleet: of one set, in three zones, all of them well and seen.
struct Settled {
    machines: usize,
    view: machines::View,
    state: machines::State,
    sets: machine_sets::View,
}

fn settled(machines: usize) -> Settled {
    let (mut view, mut state, mut sets) =
        (machines::View::default(), machines::State::default(), machine_sets::View::default());
    let provider: Name = "cloud".parse().expect("a name");
    let set: Name = "fleet".parse().expect("a name");
    let template = Arc::new(Spec::with_provider(provider.clone()));
    let replicas = u32::try_from(machines).expect("few");
    let spec = machine_set::Spec { replicas, template, priorities: BTreeMap::new(), deployment: None };
    let declared = machine_set::Event::Declared { spec: spec.clone() }.store().expect("small");
    let of_set = StreamId::new("machine-set", "fleet").expect("a stream");
    sets.apply(&Entry { events: vec![declared], ..entry(1, &of_set, 1, &[Event::Died]) }).expect("readable");
    for number in 0..machines {
        let (name, stream) = machine(number);
        let at = Timestamp(1);
        let instance = MachineInstance {
            effect: EffectId::of(JOURNAL, &stream, Version(2)),
            instance: InstanceId(format!("i-{number}")),
            machine: name,
            facts: [("zone".to_owned(), ["a", "b", "c"][number % 3].to_owned())].into(),
            status: InstanceStatus::Running,
        };
        let events = [
            Event::Declared { spec: spec.member(&set, &instance.machine) },
            Event::CreateRequested { at },
            Event::Created { instance: instance.clone(), at },
            Event::BecameWell { at },
        ];
        let entry = entry(2 + number as u64, &stream, 1, &events);
        view.apply(&entry).expect("readable");
        sets.apply(&entry).expect("readable");
        let changes = vec![machines::Change::Appeared { instance }];
        state.evolve(Version(1), &machines::Event::Observed { provider: provider.clone(), as_of: at, changes });
    }
    Settled { machines, view, state, sets }
}

impl Settled {
    /// The median of what changes cost, in microseconds, from one of them on.
    fn changes(&mut self, first: usize) -> f64 {
        let (own, of_sets) = ("supervisor/machines".parse().expect("a stream"), "supervisor/machine-sets".parse());
        let of_sets: StreamId = of_sets.expect("a stream");
        let took =
            (first..first + CHANGES).map(|change| self.change(change, &own, &of_sets).as_nanos() as f64 / 1000.0);
        median(took)
    }

    fn change(&mut self, change: usize, own: &StreamId, of_sets: &StreamId) -> Duration {
        let Self { machines: fleet, view, state, sets } = self;
        let policy = Document::default();
        let (next, now, journal) = (Version(1), Timestamp(1_000_000), JOURNAL);
        let (name, stream) = machine(change * 7_919 % *fleet);
        let overdue = Event::BecameOverdue { cause: machine::Cause::Silent, until: Timestamp(5), at: Timestamp(5) };
        let well = Event::BecameWell { at: Timestamp(6) };
        let position = (*fleet + 10 + 2 * change) as u64;
        let (ill, cured) = (entry(position, &stream, 5, &[overdue]), entry(position + 1, &stream, 6, &[well]));
        let (effect, status) = (EffectId::of(JOURNAL, &stream, Version(2)), InstanceStatus::Stopped);
        let changes = vec![machines::Change::StatusChanged { effect, status }];
        let observe =
            machines::Command::Observe { provider: "cloud".parse().expect("a name"), as_of: Timestamp(9), changes };
        let begun = Instant::now();
        for entry in [&ill, &cured] {
            view.apply(entry).expect("readable");
            sets.apply(entry).expect("readable");
            let facts = Facts { stream: own, next, now, policy: &policy, view, journal };
            let look = machines::Command::Look { machines: vec![name.clone()] };
            black_box(state.decide(&look, &facts).expect("it refuses nothing"));
            let facts = Facts { stream: of_sets, next, now, policy: &policy, view: sets, journal };
            let look = machine_sets::Command::Look { about: vec![stream.clone()] };
            black_box(machine_sets::State.decide(&look, &facts).expect("it refuses nothing"));
        }
        let facts = Facts { stream: own, next, now, policy: &policy, view, journal };
        black_box(state.decide(&observe, &facts).expect("it refuses nothing"));
        begun.elapsed()
    }
}
