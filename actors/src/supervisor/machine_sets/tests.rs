//! A set with its supervisor and its machines, one order after the other.

use std::{collections::BTreeMap, sync::Arc};

use bailiwick_journal::{Body, Outcome, Position, StreamId, Version};
use uuid::Uuid;

use super::{Command, Event, State, View};
use crate::{
    contract::{Decider, Facts, NoView, Stored, View as _, Written, given::JOURNAL},
    machine,
    machine_set::{self, Spec},
    policy::Document,
    ports::{InstanceStatus, MachineInstance},
    supervisor::{Order, Orders, machines},
    vocab::{Fault, FaultCode, InstanceId, Life, Name, Timestamp},
};

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn spec(replicas: u32) -> Spec {
    let template = Arc::new(machine::Spec::with_provider(name("local")));
    Spec { replicas, template, priorities: BTreeMap::new(), deployment: None }
}

/// What is there, and how far the journal is.
#[derive(Default)]
struct Room {
    view: View,
    machines: BTreeMap<StreamId, (machine::State, Version)>,
    set: (machine_set::State, Version),
    own: Version,
    position: u64,
    now: u64,
}

impl Room {
    fn record(&mut self, stream: &StreamId, first: Version, id: Uuid, outcome: Outcome, events: Vec<Body>) {
        self.position += 1;
        let (position, stream, time_ms) = (Position(self.position), stream.clone(), self.now);
        let written = Written { position, stream, first, time_ms, command_id: id, outcome };
        let entry = written.with(Body::default(), events);
        self.view.apply(&entry).expect("readable");
    }

    fn ask<D: Decider<View = NoView>>(
        &mut self,
        stream: &StreamId,
        (state, version): &mut (D, Version),
        command: &D::Command,
        id: Uuid,
    ) {
        let policy = Document::default();
        let (now, journal, view) = (Timestamp(self.now), JOURNAL, &NoView);
        let first = version.next();
        let facts = Facts { stream, next: first, now, policy: &policy, view, journal };
        let (outcome, events) = match state.decide(command, &facts) {
            Ok(decision) if decision.events.is_empty() => (Outcome::Nothing, Vec::new()),
            Ok(decision) => (Outcome::Done, decision.events),
            Err(_) => (Outcome::Refused, Vec::new()),
        };
        for event in &events {
            *version = version.next();
            state.evolve(*version, event);
        }
        let bodies = events.iter().map(|event| event.store().expect("small")).collect();
        self.record(stream, first, id, outcome, bodies);
    }

    fn ask_set(&mut self, command: &machine_set::Command, id: Uuid) {
        let mut set = std::mem::take(&mut self.set);
        self.ask(&"machine-set/web".parse().unwrap(), &mut set, command, id);
        self.set = set;
    }

    fn ask_machine(&mut self, machine: &str, command: &machine::Command, id: Uuid) {
        let stream: StreamId = format!("machine/{machine}").parse().unwrap();
        let mut entity = self.machines.remove(&stream).unwrap_or_default();
        self.ask(&stream, &mut entity, command, id);
        self.machines.insert(stream, entity);
    }

    /// Something happens to a machine.
    fn happen(&mut self, machine: &str, events: &[machine::Event]) {
        let stream: StreamId = format!("machine/{machine}").parse().unwrap();
        let (mut state, mut version) = self.machines.remove(&stream).unwrap_or_default();
        let first = version.next();
        for event in events {
            version = version.next();
            state.evolve(version, event);
        }
        self.machines.insert(stream.clone(), (state, version));
        let bodies = events.iter().map(|event| event.store().expect("small")).collect();
        self.record(&stream, first, Uuid::from_u128(u128::from(self.position)), Outcome::Done, bodies);
    }

    /// Everything is looked at, and the orders are issued. How many.
    fn look(&mut self) -> Vec<(Uuid, Order)> {
        let own: StreamId = "supervisor/machine-sets".parse().unwrap();
        let mut about: Vec<StreamId> = self.machines.keys().cloned().collect();
        about.push("machine-set/web".parse().unwrap());
        let policy = Document::default();
        let (next, now) = (self.own.next(), Timestamp(self.now));
        let facts = Facts { stream: &own, next, now, policy: &policy, view: &self.view, journal: JOURNAL };
        let decision = State.decide(&Command::Look { about }, &facts).expect("it refuses nothing");
        let mut issued = Vec::new();
        let bodies = decision.events.iter().map(|event| event.store().expect("small")).collect();
        for Event::Issued { order, .. } in decision.events {
            self.own = self.own.next();
            issued.push((Orders::command_id(&own, self.own), order));
        }
        self.record(&own, next, Uuid::from_u128(u128::MAX), Outcome::Done, bodies);
        issued
    }

    fn carry_out(&mut self, orders: Vec<(Uuid, Order)>) {
        for (id, order) in orders {
            match order {
                Order::MachineSet { command, .. } => self.ask_set(&command, id),
                Order::Machine { machine, command } => self.ask_machine(machine.as_str(), &command, id),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Looks and carries out until nothing follows any more. How many orders went out.
    fn settle(&mut self) -> usize {
        let mut count = 0;
        for _ in 0..1_000 {
            let orders = self.look();
            if orders.is_empty() {
                return count;
            }
            count += orders.len();
            self.carry_out(orders);
        }
        panic!("it does not settle");
    }

    fn declare(&mut self, spec: Spec) {
        self.ask_set(&machine_set::Command::Declare(spec), Uuid::from_u128(1));
    }

    fn alive(&self) -> Vec<&str> {
        let alive = self.machines.iter().filter(|(_, (machine, _))| machine.life == Life::Alive);
        alive.map(|(stream, _)| stream.name()).collect()
    }

    fn run(&mut self, machine: &str) {
        let stream: StreamId = format!("machine/{machine}").parse().unwrap();
        let instance = MachineInstance {
            effect: self.machines[&stream].0.own(JOURNAL, &stream).expect("it is being made"),
            instance: InstanceId("i-1".into()),
            machine: name(machine),
            facts: BTreeMap::new(),
            status: InstanceStatus::Running,
        };
        let at = Timestamp(self.now);
        self.happen(machine, &[machine::Event::Created { instance, at }, machine::Event::BecameWell { at }]);
    }
}

fn with(replicas: u32) -> Room {
    let mut room = Room::default();
    room.declare(spec(replicas));
    room.settle();
    room
}

fn failed() -> machine::Event {
    machine::Event::CreateGivenUp { fault: Fault::new(FaultCode::InvalidArgument, "no"), again: None }
}

#[test]
fn a_set_has_as_many_machines_as_it_shall_have() {
    let mut room = with(5);
    assert_eq!(room.alive(), ["web-1", "web-2", "web-3", "web-4", "web-5"]);
    assert!(room.set.0.is_at_rest());
    room.declare(spec(7));
    room.settle();
    assert_eq!(room.alive().len(), 7);
    room.declare(spec(2));
    room.settle();
    assert_eq!(room.alive().len(), 2);
    assert_eq!(room.settle(), 0, "and then nothing follows");
}

#[test]
fn its_machines_are_made_one_two_four() {
    let mut room = Room::default();
    room.declare(spec(7));
    let mut batches = Vec::new();
    for _ in 0..20 {
        let orders = room.look();
        let made = orders.iter().filter(|(_, order)| matches!(order, Order::Machine { .. })).count();
        if made > 0 {
            batches.push(made);
        }
        room.carry_out(orders);
    }
    assert_eq!(batches, [1, 2, 4]);
}

#[test]
fn a_machine_that_was_given_up_is_replaced_under_a_new_name() {
    let mut room = with(3);
    room.happen("web-2", &[failed()]);
    room.settle();
    assert_eq!(room.alive(), ["web-1", "web-3", "web-4"]);
}

#[test]
fn a_machine_that_is_replaced_in_its_place_is_not_replaced_twice() {
    let mut room = with(3);
    room.happen("web-2", &[machine::Event::DeleteRequested { at: Timestamp(5) }]);
    assert_eq!(room.settle(), 0);
    let over = machine::Event::DeleteGivenUp { fault: Fault::new(FaultCode::PermissionDenied, "no") };
    room.happen("web-2", &[over]);
    room.settle();
    assert_eq!(room.alive(), ["web-1", "web-3", "web-4"], "what is left of it does not go, so another one is made");
}

#[test]
fn who_is_least_useful_goes_first_unless_a_priority_says_otherwise() {
    let mut room = with(3);
    room.run("web-1");
    room.run("web-3");
    room.declare(spec(2));
    room.settle();
    assert_eq!(room.alive(), ["web-1", "web-3"]);
    let priorities = [(name("web-3"), 1)].into();
    room.declare(Spec { priorities, ..spec(1) });
    room.settle();
    assert_eq!(room.alive(), ["web-1"]);
}

#[test]
fn nobody_is_taken_over_and_no_name_is_given_twice() {
    let mut room = Room::default();
    let own = Arc::new(machine::Spec::with_provider(name("local")));
    room.ask_machine("web-2", &machine::Command::Declare(own), Uuid::from_u128(7));
    room.declare(spec(2));
    room.settle();
    assert_eq!(room.alive(), ["web-1", "web-2", "web-3"]);
    assert_eq!(room.view.set_of(&name("web-2")), None);
    room.declare(spec(1));
    room.settle();
    room.declare(spec(2));
    room.settle();
    assert!(room.alive().contains(&"web-4"), "{:?}", room.alive());
}

#[test]
fn a_machine_that_is_held_keeps_no_set_spinning() {
    let mut room = with(2);
    let held = machine::Event::Held { reason: "look".into(), until: None, at: Timestamp(1) };
    room.happen("web-1", std::slice::from_ref(&held));
    room.happen("web-2", &[held]);
    room.declare(spec(1));
    let orders = room.settle();
    assert!(orders < 6, "{orders} orders, and then it rests");
    assert_eq!(room.set.0.status(), "waiting");
    assert_eq!(room.alive().len(), 2);
    let until = room.set.0.rests_until.expect("it rests");
    room.now = until.0;
    room.happen("web-1", &[machine::Event::HoldEnded]);
    room.happen("web-2", &[machine::Event::HoldEnded]);
    room.ask_set(&machine_set::Command::Wake { due: until }, Uuid::from_u128(9));
    room.settle();
    assert_eq!(room.alive().len(), 1);
}

#[test]
fn a_set_that_goes_takes_its_machines_with_it() {
    let mut room = with(3);
    for machine in ["web-1", "web-2"] {
        room.happen(machine, &[machine::Event::Sited { zone: None, at: Timestamp(1) }]);
    }
    room.ask_set(&machine_set::Command::Remove, Uuid::from_u128(8));
    room.settle();
    // What was never asked for is gone at once.
    assert_eq!(room.alive(), [""; 0]);
    assert_eq!(room.set.0.life, Life::Dying, "as long as one is there");
    for machine in ["web-1", "web-2"] {
        room.happen(machine, &[machine::Event::Deleted, machine::Event::Removed]);
    }
    room.settle();
    assert_eq!(room.set.0.life, Life::Removed);
    // Declared again it goes on with new names.
    room.declare(spec(1));
    room.settle();
    assert_eq!(room.alive(), ["web-4"]);
}

#[test]
fn names_that_are_long_leave_room_for_the_number() {
    let long = name(&"a".repeat(63));
    let made = super::names::member_name(&long, 17);
    assert_eq!(made.as_str().len(), 63);
    assert!(made.as_str().ends_with("a-17"));
}

/// Its newest machine is given up and cannot go: another one is made for it.
fn fails_and_stays(room: &mut Room) {
    let newest = room.alive().last().map(|machine| (*machine).to_owned()).expect("there is one");
    let sited = machine::Event::Sited { zone: None, at: Timestamp(1) };
    room.happen(&newest, &[sited, failed()]);
    room.settle();
}

#[test]
fn a_set_with_far_too_many_machines_makes_no_more_until_they_go() {
    let mut room = with(1);
    for _ in 0..3 {
        fails_and_stays(&mut room);
    }
    let machines = room.view.members(&name("web")).expect("it has some").newest_of(usize::MAX).len();
    assert_eq!((machines, room.set.0.status()), (4, "frozen"), "two times one, and two");
    // What was given up is told to go all the same, and nothing is made for it.
    fails_and_stays(&mut room);
    assert_eq!(room.alive(), [""; 0]);
    // With one fewer it goes on by itself; and then it is full again.
    room.happen("web-1", &[machine::Event::Deleted, machine::Event::Removed]);
    room.settle();
    assert_eq!((room.alive(), room.set.0.status()), (vec!["web-5"], "frozen"));
    // An operator has it go on: those that are there do not count.
    room.ask_set(&machine_set::Command::Thaw, Uuid::from_u128(31));
    fails_and_stays(&mut room);
    assert_eq!((room.alive(), room.set.0.status()), (vec!["web-6"], "at-rest"));
}

#[test]
fn a_set_that_is_held_neither_makes_machines_nor_has_some_go() {
    let mut room = with(2);
    let hold = machine_set::Command::Hold { reason: "audit".into(), until: None };
    room.ask_set(&hold, Uuid::from_u128(32));
    room.happen("web-1", &[failed()]);
    room.declare(spec(5));
    assert_eq!((room.settle(), room.alive().len()), (0, 2));
    room.declare(spec(1));
    assert_eq!((room.settle(), room.alive().len()), (0, 2));
    room.ask_set(&machine_set::Command::Unhold, Uuid::from_u128(33));
    room.settle();
    assert_eq!(room.alive(), ["web-2"]);
}

/// What the machines supervisor has noted.
fn machines_note(room: &mut Room, at: u64, event: machines::Event) {
    let stream: StreamId = "supervisor/machines".parse().unwrap();
    let id = Uuid::from_u128(u128::from(100 + at));
    room.record(&stream, Version(at), id, Outcome::Done, vec![event.store().unwrap()]);
}

#[test]
fn nobody_of_a_set_is_replaced_while_its_provider_is_out() {
    let mut room = with(2);
    let (provider, at) = (name("local"), Timestamp(9));
    machines_note(&mut room, 1, machines::Event::OutageBegan { provider: provider.clone(), since: at, at });
    assert_eq!(room.view.woken_by(&"supervisor/machines".parse().unwrap()), ["machine-set/web".parse().unwrap()]);
    room.happen("web-1", &[failed()]);
    room.declare(spec(3));
    assert_eq!((room.settle(), room.alive()), (0, vec!["web-1", "web-2"]));
    // What is too much goes nevertheless: somebody has asked for that.
    room.declare(spec(0));
    room.settle();
    assert_eq!(room.alive(), ["web-1"]);
    room.declare(spec(2));
    assert_eq!(room.settle(), 0);
    machines_note(&mut room, 2, machines::Event::ListRecovered { provider, at });
    assert_eq!(room.view.woken_by(&"supervisor/machines".parse().unwrap()), ["machine-set/web".parse().unwrap()]);
    room.settle();
    assert_eq!(room.alive(), ["web-3", "web-4"]);
}
