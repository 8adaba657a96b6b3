//! What the machines supervisor concludes, and what it does not.

mod asking;
mod evicting;
mod keeping;
mod outage;
mod placement;
mod starting;

use std::collections::{BTreeMap, BTreeSet};

use bailiwick_journal::{Body, Entry, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::{Change, Command, Event, Reason, Sighting, SightingStatus, State, View, Withholding, differences};
use crate::{
    contract::{
        Decider, Decision, Facts, Stored, View as _, Written,
        given::{JOURNAL, facts},
    },
    machine,
    policy::{AskReading, Document, Harvest},
    ports::{InstanceStatus, Listing, MachineInstance},
    supervisor::{Order, Orders},
    vocab::{EffectId, Fault, FaultCode, HarvestMode, InstanceId, Name, Timestamp, Zone},
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
    EffectId::of(JOURNAL, &web(), Version(2))
}

fn instance(status: InstanceStatus) -> MachineInstance {
    let instance = InstanceId("i-1".into());
    MachineInstance { effect: effect(), instance, machine: name("web"), facts: BTreeMap::new(), status }
}

fn entry(position: u64, stream: StreamId, first: u64, outcome: Outcome, id: Uuid, events: Vec<Body>) -> Entry {
    let (position, first) = (Position(position), Version(first));
    Written { position, first, command_id: id, outcome, ..Written::first(stream) }.with(facts(), events)
}

/// A view in which machine web runs since 50.
fn view() -> View {
    let spec = machine::Spec::with_provider(name("local"));
    let events = [
        machine::Event::Declared { spec: spec.into() },
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

/// The policy under which nobody is asked before a machine is given up.
fn unasked() -> Document {
    let mut policy = Document::default();
    policy.reconciliation.readings.ask_provider = AskReading::Never;
    policy
}

fn answer(state: &State, view: &View, command: &Command) -> Decision<State> {
    let (stream, policy) = (own(), unasked());
    let journal = JOURNAL;
    let facts = Facts { stream: &stream, next: Version(1), now: Timestamp(100), policy: &policy, view, journal };
    let decision = state.decide(command, &facts).expect("it refuses nothing");
    assert_eq!(state.decide(command, &facts).as_ref(), Ok(&decision), "the same inputs give the same answer");
    decision
}

/// The same events without what their orders rest on.
fn without_cites(events: &[Event]) -> Vec<Event> {
    let bare = |event: &Event| match event {
        Event::Issued { order, .. } => Event::Issued { order: order.clone(), cites: Vec::new() },
        other => other.clone(),
    };
    events.iter().map(bare).collect()
}

/// What the orders among these events rest on.
fn cites(events: &[Event]) -> Vec<String> {
    let of = |event: &Event| match event {
        Event::Issued { cites, .. } => cites.clone(),
        _ => Vec::new(),
    };
    events.iter().flat_map(of).map(|cite| cite.to_string()).collect()
}

fn observe(as_of: u64, changes: Vec<Change>) -> Command {
    Command::Observe { provider: name("local"), as_of: Timestamp(as_of), changes }
}

fn vanished() -> Change {
    Change::Vanished { effect: effect(), machine: name("web") }
}

fn lost() -> Event {
    let command = machine::Command::Report(machine::Report::Lost { effect: effect() });
    Event::Issued { order: Order::Machine { machine: name("web"), command }, cites: Vec::new() }
}

#[test]
fn an_absence_counts_only_in_a_complete_list_that_is_newer_than_the_instance() {
    let local = name("local");
    let missed = |as_of, complete| {
        differences(&State::default(), &view(), &local, &listing(as_of, complete, vec![]), &HARVEST, JOURNAL)
    };
    assert_eq!(missed(60, true), [vanished()]);
    assert_eq!(missed(60, false), [], "a partial list");
    assert_eq!(missed(50, true), [], "a list as old as the instance");
    assert_eq!(
        differences(&State::default(), &view(), &name("other"), &listing(60, true, vec![]), &HARVEST, JOURNAL),
        []
    );
}

#[test]
fn a_list_older_than_what_was_seen_says_nothing() {
    let state = seen(SightingStatus::Running, 70);
    assert_eq!(
        differences(&state, &View::default(), &name("local"), &listing(69, true, vec![]), &HARVEST, JOURNAL),
        []
    );
    assert_eq!(
        differences(&state, &View::default(), &name("local"), &listing(71, true, vec![]), &HARVEST, JOURNAL),
        [vanished()]
    );
    assert_eq!(answer(&state, &view(), &observe(69, vec![vanished()])).reason, Reason::ListTooOld);
}

#[test]
fn what_appears_changes_or_is_forgotten_is_told_once() {
    let local = name("local");
    let running = instance(InstanceStatus::Running);
    let list = listing(60, false, vec![running.clone()]);
    let appeared = differences(&State::default(), &view(), &local, &list, &HARVEST, JOURNAL);
    assert_eq!(appeared, [Change::Appeared { instance: running.clone() }]);
    assert_eq!(differences(&seen(SightingStatus::Running, 60), &view(), &local, &list, &HARVEST, JOURNAL), []);
    let stopped = listing(61, true, vec![instance(InstanceStatus::Stopped)]);
    let changed = Change::StatusChanged { effect: effect(), status: InstanceStatus::Stopped };
    assert_eq!(
        differences(&seen(SightingStatus::Running, 60), &view(), &local, &stopped, &HARVEST, JOURNAL),
        [changed]
    );
    let gone = seen(SightingStatus::Gone, 60);
    let forgotten = differences(&gone, &View::default(), &local, &listing(61, true, vec![]), &HARVEST, JOURNAL);
    assert_eq!(forgotten, [Change::Forgotten { effect: effect() }]);
    assert_eq!(
        differences(&gone, &view(), &local, &listing(61, true, vec![]), &HARVEST, JOURNAL),
        [],
        "it is still asked for"
    );
}

#[test]
fn a_machine_whose_instance_is_missed_or_stopped_is_told_so() {
    let stopped = Change::StatusChanged { effect: effect(), status: InstanceStatus::Stopped };
    for (state, change) in [(State::default(), vanished()), (seen(SightingStatus::Running, 60), stopped)] {
        let decision = answer(&state, &view(), &observe(61, vec![change]));
        assert_eq!(decision.reason, Reason::WorldDiffers);
        assert_eq!(without_cites(&decision.events[1..]), [lost()]);
        assert_eq!(cites(&decision.events), ["machine/web@3", "supervisor/machines@1"]);
    }
}

#[test]
fn looking_finds_what_an_earlier_sighting_means() {
    let look = Command::Look { machines: vec![name("web")] };
    let gone = seen(SightingStatus::Gone, 60);
    let decision = answer(&gone, &view(), &look);
    assert_eq!((decision.reason, without_cites(&decision.events)), (Reason::OrdersFollow, vec![lost()]));
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

/// A fleet in one zone: so many machines that are well, then so many whose time is over, named `m-00` and so on.
fn fleet(well: usize, overdue: usize) -> View {
    let mut view = View::default();
    for number in 0..well + overdue {
        add(&mut view, number as u64, Some("a"), number < well);
    }
    view
}

/// One more machine, which is well or whose time is over.
fn add(view: &mut View, number: u64, zone: Option<&str>, is_well: bool) {
    add_overdue(view, number, zone, (!is_well).then_some(machine::Cause::Silent));
}

/// One more machine, whose time is over for this cause; it is well if there is none.
fn add_overdue(view: &mut View, number: u64, zone: Option<&str>, cause: Option<machine::Cause>) {
    add_like(view, machine::Spec::with_provider(name("local")), number, zone, cause);
}

/// The same of one that is declared like this.
fn add_like(view: &mut View, spec: machine::Spec, number: u64, zone: Option<&str>, cause: Option<machine::Cause>) {
    let machine = name(&format!("m-{number:02}"));
    let stream: StreamId = format!("machine/{machine}").parse().expect("a stream");
    let facts = zone.map(|zone| ("zone".to_owned(), zone.to_owned())).into_iter().collect();
    let effect = EffectId::of(JOURNAL, &stream, Version(2));
    let made = MachineInstance { effect, machine: machine.clone(), facts, ..instance(InstanceStatus::Running) };
    let at = Timestamp(50);
    let mut events = vec![
        machine::Event::Declared { spec: spec.into() },
        machine::Event::CreateRequested { at },
        machine::Event::Created { instance: made, at },
        machine::Event::BecameWell { at },
    ];
    if let Some(cause) = cause {
        events.push(machine::Event::BecameOverdue { cause, until: Timestamp(60), at: Timestamp(60 + number) });
    }
    let bodies = events.iter().map(|event| event.store().expect("small")).collect();
    view.apply(&entry(1 + number, stream, 1, Outcome::Done, Uuid::nil(), bodies)).expect("readable");
}

fn look() -> Command {
    Command::Look { machines: vec![name("m-00")] }
}

fn given_up(events: &[Event]) -> Vec<String> {
    let ordered = |event: &Event| match event {
        Event::Issued { order: Order::Machine { machine, command: machine::Command::GiveUp { .. } }, .. } => {
            Some(machine.to_string())
        }
        _ => None,
    };
    events.iter().filter_map(ordered).collect()
}

fn held_back(events: &[Event]) -> Vec<(String, Withholding)> {
    let held = |event: &Event| match event {
        Event::Withheld { machine, why } => Some((machine.to_string(), why.clone())),
        _ => None,
    };
    events.iter().filter_map(held).collect()
}

#[test]
fn one_machine_is_given_up_at_a_time_and_the_rest_waits_for_room() {
    let view = fleet(2, 3);
    let decision = answer(&State::default(), &view, &look());
    assert_eq!(given_up(&decision.events), ["m-02"], "who waits longest goes first");
    let rest = ["m-03", "m-04"].map(|name| (name.to_owned(), Withholding::BudgetSpent));
    assert_eq!(held_back(&decision.events), rest);
    // It is said once, and the order that is out takes its room.
    let mut state = State::default();
    let mut seen = view;
    let bodies = decision.events.iter().map(|event| event.store().unwrap()).collect();
    seen.apply(&entry(9, own(), 1, Outcome::Done, Uuid::nil(), bodies)).unwrap();
    for (event, at) in decision.events.iter().zip(1..) {
        state.evolve(Version(at), event);
    }
    assert_eq!(answer(&state, &seen, &look()).reason, Reason::NothingFollows);
}

#[test]
fn a_machine_that_is_being_replaced_takes_the_room() {
    let mut view = fleet(2, 1);
    let going = machine::Event::DeleteRequested { at: Timestamp(70) }.store().unwrap();
    view.apply(&entry(9, "machine/m-00".parse().unwrap(), 5, Outcome::Done, Uuid::nil(), vec![going])).unwrap();
    let decision = answer(&State::default(), &view, &look());
    assert_eq!(held_back(&decision.events), [("m-02".to_owned(), Withholding::BudgetSpent)]);
    // A machine that everybody has given up on does not keep others from being replaced.
    let fault = Fault::new(FaultCode::PermissionDenied, "no");
    let over = machine::Event::DeleteGivenUp { fault }.store().unwrap();
    view.apply(&entry(10, "machine/m-00".parse().unwrap(), 6, Outcome::Done, Uuid::nil(), vec![over])).unwrap();
    assert_eq!(given_up(&answer(&State::default(), &view, &look()).events), ["m-02"]);
}

#[test]
fn nobody_is_replaced_while_a_whole_zone_is_silent() {
    let silent = Withholding::ZoneSilent { zone: Zone("a".into()) };
    let decision = answer(&State::default(), &fleet(0, 3), &look());
    assert_eq!(decision.reason, Reason::ReplacementsHeld);
    let all = ["m-00", "m-01", "m-02"].map(|name| (name.to_owned(), silent.clone()));
    assert_eq!((given_up(&decision.events), held_back(&decision.events)), (vec![], all.to_vec()));
    // Two machines are no zone, and one that is well shows that the zone is there.
    assert_eq!(given_up(&answer(&State::default(), &fleet(0, 2), &look()).events).len(), 1);
    assert_eq!(given_up(&answer(&State::default(), &fleet(1, 3), &look()).events).len(), 1);
    // A machine that was left alone because of its zone gets some more time when the zone is back.
    let state = State { withheld: [(name("m-01"), silent.clone())].into(), ..State::default() };
    let events = answer(&state, &fleet(1, 1), &look()).events;
    let stream: StreamId = "machine/m-01".parse().unwrap();
    let command = machine::Command::Reprieve { effect: EffectId::of(JOURNAL, &stream, Version(2)) };
    let reprieved = Event::Issued { order: Order::Machine { machine: name("m-01"), command }, cites: Vec::new() };
    assert_eq!(without_cites(&events), [reprieved, Event::Released { machine: name("m-01") }]);
    // When one is well again the others are released from that.
    let state = State { withheld: [(name("m-01"), silent)].into(), ..State::default() };
    let events = answer(&state, &fleet(2, 0), &look()).events;
    assert_eq!(events, [Event::Released { machine: name("m-01") }]);
}

#[test]
fn instances_that_vanish_with_their_whole_zone_are_not_replaced() {
    let view = fleet(3, 0);
    let vanished = |count: usize| {
        let change = |number: usize| {
            let stream: StreamId = format!("machine/m-{number:02}").parse().unwrap();
            Change::Vanished { effect: EffectId::of(JOURNAL, &stream, Version(2)), machine: name(stream.name()) }
        };
        answer(&State::default(), &view, &observe(80, (0..count).map(change).collect())).events
    };
    let lost = |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Issued { .. })).count();
    assert_eq!((lost(&vanished(2)), held_back(&vanished(2)).len()), (2, 0));
    assert_eq!((lost(&vanished(3)), held_back(&vanished(3)).len()), (0, 3));
}

/// What a provider shows of an instance that nobody asked for.
fn stranger() -> MachineInstance {
    MachineInstance { effect: EffectId(Uuid::from_u128(9)), ..instance(InstanceStatus::Running) }
}

#[test]
fn an_unknown_instance_is_removed_after_two_complete_lists_and_the_grace_period_and_not_before() {
    let (local, view, mut state) = (name("local"), view(), State::default());
    let policy = Document { harvest: HARVEST, ..Document::default() };
    let mut told = Vec::new();
    let mut see = |as_of: u64, complete: bool| {
        let all = listing(as_of, complete, vec![instance(InstanceStatus::Running), stranger()]);
        let changes = differences(&state, &view, &local, &all, &policy.harvest, JOURNAL);
        if changes.is_empty() {
            return 0;
        }
        let (stream, journal) = (own(), JOURNAL);
        let facts =
            Facts { stream: &stream, next: Version(1), now: Timestamp(as_of), policy: &policy, view: &view, journal };
        let decision = state.decide(&observe(as_of, changes.clone()), &facts).expect("it refuses nothing");
        for event in &decision.events {
            state.evolve(Version(1), event);
        }
        told.extend(without_cites(&decision.events).into_iter().filter(|event| matches!(event, Event::Issued { .. })));
        changes.len()
    };
    assert_eq!(see(100, true), 2, "both appear");
    assert_eq!(see(200, false), 0, "a partial list says nothing about whose it is");
    assert_eq!((see(300, true), see(400, true)), (1, 1), "seen unknown once and again");
    assert_eq!(see(300_299, true), 0, "the grace period counts from the first sighting");
    assert_eq!(see(300_300, true), 1);
    assert_eq!(see(900_000, true), 0, "its machine was told");
    let command = machine::Command::RemoveStray { provider: local, instance: stranger() };
    assert_eq!(told, [Event::Issued { order: Order::Machine { machine: name("web"), command }, cites: Vec::new() }]);
}

#[test]
fn an_instance_that_was_deleted_and_is_still_shown_is_deleted_again_wherever_those_of_dead_machines_are() {
    for (mode, goes) in [(HarvestMode::None, false), (HarvestMode::Destroyed, true)] {
        let (local, mut view, mut state) = (name("local"), view(), seen(SightingStatus::Running, 60));
        let going = [
            machine::Event::RemovalBegan { at: Timestamp(8) },
            machine::Event::Died,
            machine::Event::DeleteRequested { at: Timestamp(61) },
        ];
        let stored = |events: &[machine::Event]| events.iter().map(|event| event.store().unwrap()).collect();
        view.apply(&entry(2, web(), 4, Outcome::Done, Uuid::nil(), stored(&going))).unwrap();
        let gone = [machine::Event::Deleted, machine::Event::Removed];
        view.apply(&entry(3, web(), 7, Outcome::Done, Uuid::nil(), stored(&gone))).unwrap();
        let policy = Document { harvest: Harvest { mode, ..HARVEST }, ..Document::default() };
        let mut orders = Vec::new();
        for as_of in [100, 200, 300_300, 900_000] {
            let all = listing(as_of, true, vec![instance(InstanceStatus::Running)]);
            let changes = differences(&state, &view, &local, &all, &policy.harvest, JOURNAL);
            let (stream, journal, now) = (own(), JOURNAL, Timestamp(as_of));
            let facts = Facts { stream: &stream, next: Version(1), now, policy: &policy, view: &view, journal };
            let decision = state.decide(&observe(as_of, changes), &facts).expect("it refuses nothing");
            for event in decision.events {
                state.evolve(Version(1), &event);
                if let Event::Issued { order, .. } = event {
                    orders.push((as_of, order));
                }
            }
        }
        let instance = instance(InstanceStatus::Running);
        let command = machine::Command::RemoveReturned { provider: local, instance };
        let order = Order::Machine { machine: name("web"), command };
        assert_eq!(orders, if goes { vec![(300_300, order)] } else { vec![] }, "{mode}");
    }
}

#[test]
fn an_unknown_instance_is_left_alone_in_the_other_modes_and_noted_only_so_often() {
    for mode in [HarvestMode::None, HarvestMode::Destroyed] {
        let (local, view, mut state) = (name("local"), view(), State::default());
        let policy = Harvest { mode, ..HARVEST };
        let mut noted = 0;
        for as_of in 1..100 {
            let all = listing(as_of * 100_000, true, vec![stranger()]);
            let changes = differences(&state, &view, &local, &all, &policy, JOURNAL);
            let unclaimed = changes.iter().filter(|change| matches!(change, Change::Unclaimed { .. })).count();
            noted += unclaimed;
            let seen = Event::Observed { provider: local.clone(), as_of: Timestamp(as_of * 100_000), changes };
            state.evolve(Version(1), &seen);
        }
        assert_eq!(noted, 3, "{mode}: once, again, and when the grace period was over");
    }
}

#[test]
fn what_a_machine_claims_or_an_operator_keeps_is_not_unknown() {
    let mut view = view();
    assert!(view.is_claimed(JOURNAL, &name("web"), effect()), "its own");
    assert!(!view.is_claimed(JOURNAL, &name("web"), stranger().effect));
    let left = machine::Event::InstanceLeft { effect: effect(), why: machine::Leaving::OperatorKeeps };
    let gone = [machine::Event::RemovalBegan { at: Timestamp(8) }, machine::Event::Died, left, machine::Event::Removed];
    let bodies = gone.iter().map(|event| event.store().unwrap()).collect();
    view.apply(&entry(2, web(), 4, Outcome::Done, Uuid::nil(), bodies)).unwrap();
    assert!(view.is_claimed(JOURNAL, &name("web"), effect()), "kept, also after its machine has gone");
}
