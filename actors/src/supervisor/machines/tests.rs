//! What the machines supervisor concludes, and what it does not.

use std::collections::BTreeMap;

use bailiwick_journal::{Body, Entry, EntryKind, Header, Meta, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::{Change, Command, Event, Reason, Sighting, SightingStatus, State, View, differences};
use crate::{
    contract::{Decider, Decision, Facts, Stored, View as _},
    machine,
    policy::{Document, Harvest},
    ports::{InstanceStatus, Listing, MachineInstance},
    supervisor::{Order, Orders},
    vocab::{EffectId, Fault, FaultCode, HarvestMode, InstanceId, Name, Timestamp},
};

const HARVEST: Harvest = Harvest { mode: HarvestMode::All, sightings_min: 2, grace_ms: 300_000 };

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn web() -> StreamId {
    "machine/web".parse().expect("a stream")
}

fn own() -> StreamId {
    "supervisor/machines".parse().expect("a stream")
}

fn effect() -> EffectId {
    EffectId::of(&web(), Version(2))
}

fn instance(status: InstanceStatus) -> MachineInstance {
    let instance = InstanceId("i-1".into());
    MachineInstance { effect: effect(), instance, machine: name("web"), facts: BTreeMap::new(), status }
}

fn entry(position: u64, stream: StreamId, first: u64, outcome: Outcome, id: Uuid, events: Vec<Body>) -> Entry {
    let meta = Meta {
        kind: EntryKind::Decision,
        outcome,
        code: String::new(),
        time_ms: 0,
        command_id: id,
        command_hash: [0; 16],
        cause: None,
        principal: String::new(),
        policy: None,
        view: None,
    };
    let events_count = u32::try_from(events.len()).expect("few");
    let first_version = Version(first);
    let header = Header { position: Position(position), stream, first_version, events: events_count, meta };
    Entry { header, command: Body::default(), facts: Body::default(), verdict: Body::default(), events }
}

/// A view in which machine web runs since 50.
fn view() -> View {
    let spec = machine::Spec { provider: name("local"), workloads: Vec::new(), labels: BTreeMap::new() };
    let events = [
        machine::Event::Declared { spec },
        machine::Event::CreateRequested { at: Timestamp(1) },
        machine::Event::Created { instance: instance(InstanceStatus::Running), at: Timestamp(50) },
    ];
    let bodies = events.iter().map(|event| event.store().expect("small")).collect();
    let mut view = View::default();
    view.apply(&entry(1, web(), 1, Outcome::Done, Uuid::nil(), bodies)).expect("readable");
    view
}

fn listing(as_of: u64, complete: bool, items: Vec<MachineInstance>) -> Listing<MachineInstance> {
    Listing { complete, as_of: Timestamp(as_of), items }
}

fn seen(status: SightingStatus, as_of: u64) -> State {
    let sighting = Sighting {
        provider: name("local"),
        machine: name("web"),
        status,
        instance: Some(instance(InstanceStatus::Running)),
        unclaimed: None,
    };
    State {
        sightings: [(effect(), sighting)].into(),
        observed: [(name("local"), Timestamp(as_of))].into(),
        ..State::default()
    }
}

fn answer(state: &State, view: &View, command: &Command) -> Decision<State> {
    let (stream, policy) = (own(), Document::default());
    let journal = Uuid::nil();
    let facts = Facts { stream: &stream, next: Version(1), now: Timestamp(100), policy: &policy, view, journal };
    let decision = state.decide(command, &facts).expect("it refuses nothing");
    assert_eq!(state.decide(command, &facts).as_ref(), Ok(&decision), "the same inputs give the same answer");
    decision
}

fn observe(as_of: u64, changes: Vec<Change>) -> Command {
    Command::Observe { provider: name("local"), as_of: Timestamp(as_of), changes }
}

fn vanished() -> Change {
    Change::Vanished { effect: effect(), machine: name("web") }
}

fn lost() -> Event {
    let command = machine::Command::Report(machine::Report::Lost { effect: effect() });
    Event::Issued { order: Order::Machine { machine: name("web"), command } }
}

#[test]
fn an_absence_counts_only_in_a_complete_list_that_is_newer_than_the_instance() {
    let local = name("local");
    let missed =
        |as_of, complete| differences(&State::default(), &view(), &local, &listing(as_of, complete, vec![]), &HARVEST);
    assert_eq!(missed(60, true), [vanished()]);
    assert_eq!(missed(60, false), [], "a partial list");
    assert_eq!(missed(50, true), [], "a list as old as the instance");
    assert_eq!(differences(&State::default(), &view(), &name("other"), &listing(60, true, vec![]), &HARVEST), []);
}

#[test]
fn a_list_older_than_what_was_seen_says_nothing() {
    let state = seen(SightingStatus::Running, 70);
    assert_eq!(differences(&state, &View::default(), &name("local"), &listing(69, true, vec![]), &HARVEST), []);
    assert_eq!(
        differences(&state, &View::default(), &name("local"), &listing(71, true, vec![]), &HARVEST),
        [vanished()]
    );
    assert_eq!(answer(&state, &view(), &observe(69, vec![vanished()])).reason, Reason::ListTooOld);
}

#[test]
fn what_appears_changes_or_is_forgotten_is_told_once() {
    let local = name("local");
    let running = instance(InstanceStatus::Running);
    let list = listing(60, false, vec![running.clone()]);
    let appeared = differences(&State::default(), &view(), &local, &list, &HARVEST);
    assert_eq!(appeared, [Change::Appeared { instance: running.clone() }]);
    assert_eq!(differences(&seen(SightingStatus::Running, 60), &view(), &local, &list, &HARVEST), []);
    let stopped = listing(61, true, vec![instance(InstanceStatus::Stopped)]);
    let changed = Change::StatusChanged { effect: effect(), status: InstanceStatus::Stopped };
    assert_eq!(differences(&seen(SightingStatus::Running, 60), &view(), &local, &stopped, &HARVEST), [changed]);
    let gone = seen(SightingStatus::Gone, 60);
    let forgotten = differences(&gone, &View::default(), &local, &listing(61, true, vec![]), &HARVEST);
    assert_eq!(forgotten, [Change::Forgotten { effect: effect() }]);
    assert_eq!(differences(&gone, &view(), &local, &listing(61, true, vec![]), &HARVEST), [], "it is still asked for");
}

#[test]
fn a_machine_whose_instance_is_missed_or_stopped_is_told_so() {
    let stopped = Change::StatusChanged { effect: effect(), status: InstanceStatus::Stopped };
    for (state, change) in [(State::default(), vanished()), (seen(SightingStatus::Running, 60), stopped)] {
        let decision = answer(&state, &view(), &observe(61, vec![change]));
        assert_eq!(decision.reason, Reason::WorldDiffers);
        assert_eq!(decision.events[1..], [lost()]);
    }
}

#[test]
fn looking_finds_what_an_earlier_sighting_means() {
    let look = Command::Look { machines: vec![name("web")] };
    let gone = seen(SightingStatus::Gone, 60);
    assert_eq!(answer(&gone, &view(), &look), Decision::because(Reason::OrdersFollow, [lost()]));
    let running = seen(SightingStatus::Running, 60);
    assert_eq!(answer(&running, &view(), &look), Decision::nothing(Reason::NothingFollows));
}

#[test]
fn an_order_is_not_repeated_while_it_is_open_nor_before_its_target_has_changed() {
    let look = Command::Look { machines: vec![name("web")] };
    let (state, mut view) = (seen(SightingStatus::Gone, 60), view());
    view.apply(&entry(2, own(), 1, Outcome::Done, Uuid::nil(), vec![lost().store().unwrap()])).unwrap();
    assert_eq!(answer(&state, &view, &look).reason, Reason::NothingFollows, "it is open");
    assert_eq!(view.orders.open().count(), 1);
    assert_eq!(state.pending(&view).len(), 1, "an open order is owed");
    let id = Orders::command_id(&own(), Version(1));
    view.apply(&entry(3, web(), 4, Outcome::Nothing, id, vec![])).unwrap();
    assert_eq!(view.orders.open().count(), 0);
    assert_eq!(answer(&state, &view, &look).reason, Reason::NothingFollows, "it was in vain");
    let changed = machine::Event::NodeWentStale { last_seen: Timestamp(1) }.store().unwrap();
    view.apply(&entry(4, web(), 4, Outcome::Done, Uuid::nil(), vec![changed])).unwrap();
    assert_eq!(answer(&state, &view, &look).reason, Reason::OrdersFollow, "its target has changed");
}

#[test]
fn a_provider_that_fails_is_noted_once_and_so_is_its_return() {
    let mut state = State::default();
    let failed = Command::ReportListFailed { provider: name("local"), fault: Fault::new(FaultCode::Internal, "no") };
    let back = Command::ReportListRecovered { provider: name("local") };
    assert_eq!(answer(&state, &view(), &back).reason, Reason::NothingNew);
    let decision = answer(&state, &view(), &failed);
    assert_eq!(decision.reason, Reason::ProviderSilent);
    state.evolve(Version(1), &decision.events[0]);
    assert_eq!(answer(&state, &view(), &failed).reason, Reason::NothingNew);
    let decision = answer(&state, &view(), &back);
    assert_eq!(decision.reason, Reason::ProviderBack);
    state.evolve(Version(2), &decision.events[0]);
    assert_eq!(state.failing, BTreeMap::new());
}

#[test]
fn a_machine_that_is_removed_leaves_the_view() {
    let mut view = view();
    let removed = machine::Event::Removed.store().unwrap();
    view.apply(&entry(2, web(), 4, Outcome::Done, Uuid::nil(), vec![removed])).unwrap();
    assert_eq!(view.machines.iter().count(), 0);
}
