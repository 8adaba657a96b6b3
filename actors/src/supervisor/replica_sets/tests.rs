//! What the replica sets supervisor orders.

mod members;

use std::collections::BTreeMap;

use bailiwick_journal::{StreamId, Version};

use super::{Command, Event, Plan, State, View, data_lost_condition, plan, rests::rests_on};
use crate::{
    contract::{Decider, Facts, Stored, given::JOURNAL},
    machine,
    policy::{Document, PeerRules, ReplicaSets},
    ports::{
        Condition, Healthy, InstanceStatus, MachineInstance,
        replica_set::{
            Action, Change, Configuration, EngineRules, MACHINE_TAG, Member, MemberId, MemberState, MemberStatus,
            Observation, Priority, Stamp, Step, StepReason,
        },
    },
    replica_set::{self, Rhythm, Seat, Spec},
    supervisor::Order,
    testing::Past,
    vocab::{EffectId, InstanceId, Name, Timestamp},
};

#[derive(Default)]
struct Seen(Past<View>);

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

impl Seen {
    fn then<E: Stored>(mut self, stream: &str, events: impl IntoIterator<Item = E>) -> Self {
        self.0.happened(&stream.parse().expect("a stream"), events);
        self
    }

    fn machine(self, machine: &str) -> Self {
        let stream: StreamId = format!("machine/{machine}").parse().expect("a stream");
        let spec = machine::Spec::with_provider(name("local"));
        let instance = MachineInstance {
            effect: EffectId::of(JOURNAL, &stream, Version(2)),
            instance: InstanceId("i".into()),
            machine: name(machine),
            facts: BTreeMap::new(),
            status: InstanceStatus::Running,
        };
        let created = machine::Event::Created { instance, at: Timestamp(2) };
        let events = [
            machine::Event::Declared { spec: spec.into() },
            machine::Event::CreateRequested { at: Timestamp(1) },
            created,
        ];
        self.then(stream.as_str(), events)
    }

    /// These machines stay because the set needs them.
    fn engaged(mut self, machines: &[&str]) -> Self {
        for machine in machines {
            self = self.then(&format!("machine/{machine}"), [machine::Event::Engaged { set: name("db") }]);
        }
        self
    }

    fn look_after(&self, about: &str) -> Vec<Order> {
        self.decide(Command::Look { about: vec![about.parse().expect("a stream")] })
    }

    /// The steps of sets among the orders.
    fn look(&self, about: &str) -> Vec<Order> {
        let is_step =
            |order: &Order| matches!(order, Order::ReplicaSet { command: replica_set::Command::TakeStep { .. }, .. });
        self.look_after(about).into_iter().filter(is_step).collect()
    }

    fn decide(&self, command: Command) -> Vec<Order> {
        self.decide_by(PeerRules::Default, command)
    }

    fn decide_by(&self, rules: PeerRules, command: Command) -> Vec<Order> {
        let own = "supervisor/replica-sets".parse().expect("a stream");
        let policy = Document { replica_sets: ReplicaSets { rules }, ..Document::default() };
        let (now, journal) = (Timestamp(9), JOURNAL);
        let facts = Facts { stream: &own, next: Version(1), now, policy: &policy, view: &self.0.view, journal };
        let decision = State.decide(&command, &facts).expect("it refuses nothing");
        decision.events.into_iter().map(|Event::Issued { order, .. }| order).collect()
    }

    fn step(&self, about: &str) -> Option<(Action, Version)> {
        let order = self.look(about).pop()?;
        match order {
            Order::ReplicaSet {
                command: replica_set::Command::TakeStep { step: Step { action, .. }, seen }, ..
            } => Some((action, seen)),
            other => panic!("{other:?}"),
        }
    }
}

fn spec(servers: u32) -> Spec {
    let seat = |number: u16| Seat::at(name(&format!("m{number}")), &format!("10.0.0.{number}"), 7, 8);
    Spec {
        engine: name("e"),
        servers,
        seats: (1..=3).map(seat).collect(),
        one_host: false,
        rhythm: Rhythm::default(),
        space: None,
    }
}

fn member(number: u64, votes: bool) -> Member {
    let (votes, priority) = if votes { (None, None) } else { (Some(0), Some(Priority::NONE)) };
    let tags = [(MACHINE_TAG.to_owned(), format!("m{number}"))].into();
    Member {
        id: MemberId(number),
        address: format!("10.0.0.{number}:7").into(),
        tags,
        votes,
        priority,
        other: BTreeMap::new(),
    }
}

fn observation(members: &[Member], down: &[u64]) -> Observation {
    let status = |member: &Member| {
        let healthy = !down.contains(&member.id.0);
        let state = match (healthy, member.id.0) {
            (false, _) => MemberState::Down,
            (true, 1) => MemberState::Primary,
            (true, _) => MemberState::Secondary,
        };
        MemberStatus { id: member.id, healthy, state, lag_ms: None }
    };
    let configuration =
        Configuration { stamp: Stamp { term: 1, version: 1 }, committed: true, members: members.to_vec() };
    Observation { configuration, statuses: members.iter().map(status).collect(), rules: EngineRules::etcd() }
}

fn with(servers: u32, members: &[Member], down: &[u64]) -> Seen {
    let events = [
        replica_set::Event::Declared { spec: spec(servers) },
        replica_set::Event::Seen { observation: observation(members, down) },
    ];
    Seen::default().machine("m1").machine("m2").machine("m3").then("replica-set/db", events)
}

fn write(change: Change) -> Action {
    Action::Write { changes: vec![change] }
}

#[test]
fn one_more_joins_then_gets_its_vote_when_it_is_in_sync() {
    let alone = with(3, &[member(1, true)], &[]).engaged(&["m2"]);
    let (action, seen) = alone.step("replica-set/db").expect("a step");
    assert_eq!(seen, Version(2));
    assert!(matches!(&action, Action::Write { changes } if matches!(&changes[..], [Change::Join { member }]
        if member.machine_tag() == Some("m2") && member.address == "10.0.0.2:7")));
    let catching_up = with(3, &[member(1, true), member(2, false)], &[2]);
    assert_eq!(catching_up.step("replica-set/db"), None, "it is not in sync, and nobody else may join meanwhile");
    let in_sync = with(3, &[member(1, true), member(2, false)], &[]).engaged(&["m2"]);
    let (action, _) = in_sync.step("replica-set/db").expect("a step");
    assert_eq!(action, write(Change::Promote { member: MemberId(2) }));
}

#[test]
fn a_machine_that_changes_is_a_reason_to_look() {
    let all = [member(1, true), member(2, true), member(3, true)];
    let going = with(3, &all, &[]).then("machine/m3", [machine::Event::RemovalBegan { at: Timestamp(8) }]);
    assert_eq!(with(3, &all, &[]).step("machine/m3"), None);
    // Two voters survive no more failures than one, so the second goes as well (etcd takes no votes back).
    assert!(going.step("machine/m3").is_some());
}

#[test]
fn nothing_is_planned_while_something_is_under_way() {
    let step = Step { action: write(Change::Promote { member: MemberId(2) }), because: StepReason::ReadyToVote };
    let begun = replica_set::Event::StepBegun { step, base: Stamp::default(), at: Timestamp(1) };
    let seen = with(3, &[member(1, true), member(2, false)], &[]).then("replica-set/db", [begun]);
    assert_eq!(
        plan(&seen.0.view.machines, &name("db"), seen.0.view.sets.get("db").expect("a set"), PeerRules::Default),
        Some(Plan::Later)
    );
    assert_eq!(seen.step("replica-set/db"), None);
}

#[test]
fn a_member_that_lost_its_data_goes_and_its_machine_joins_anew() {
    let lost = || Condition { kind: data_lost_condition(&name("db")), healthy: Healthy::No, text: "no data".into() };
    let says_so = |seen: Seen| {
        seen.then("machine/m3", [machine::Event::NodeReported { conditions: vec![lost()], at: Timestamp(5) }])
    };
    let all = [member(1, true), member(2, true), member(3, true)];
    let seen = says_so(with(3, &all, &[3]));
    assert_eq!(seen.step("machine/m3").expect("a step").0, write(Change::Remove { member: MemberId(3) }));
    // For that reason, and because its agent says so.
    let told = seen.decide(Command::Look { about: vec!["machine/m3".parse().expect("a stream")] });
    let Some(order @ Order::ReplicaSet { command: replica_set::Command::TakeStep { step, .. }, .. }) = told.last()
    else {
        panic!("{told:?}")
    };
    assert_eq!(step.because, StepReason::DataLost);
    let cites: Vec<String> = rests_on(&seen.0.view, order).iter().map(ToString::to_string).collect();
    assert!(cites.contains(&"machine/m3@4".to_owned()), "{cites:?}");
    let gone = says_so(with(3, &all[..2], &[]).engaged(&["m3"]));
    let (action, _) = gone.step("machine/m3").expect("a step");
    assert!(matches!(&action, Action::Write { changes } if matches!(&changes[..], [Change::Join { .. }])));
    let mut anew = observation(&[member(1, true), member(2, true), member(3, false)], &[3]);
    anew.statuses[2].state = MemberState::Startup;
    let anew = says_so(with(3, &all, &[])).then("replica-set/db", [replica_set::Event::Seen { observation: anew }]);
    assert_eq!(anew.step("machine/m3"), None, "who has never started is not the one that lost its data");
    for copying in [MemberState::Startup2, MemberState::Recovering] {
        let mut anew = observation(&[member(1, true), member(2, true), member(3, false)], &[]);
        anew.statuses[2].state = copying;
        let anew = says_so(with(3, &all, &[])).then("replica-set/db", [replica_set::Event::Seen { observation: anew }]);
        assert_eq!(anew.step("machine/m3"), None, "who has joined anew copies its data, whatever an agent still says");
    }
    let answers = says_so(with(3, &all, &[]));
    assert_eq!(answers.step("machine/m3"), None, "who answers has its data, whatever an agent says");
}

#[test]
fn a_set_that_is_not_there_begins_on_its_first_machine() {
    let events = || [replica_set::Event::Declared { spec: spec(1) }, replica_set::Event::SeenNotBegun];
    let seen = Seen::default().then("replica-set/db", events());
    assert_eq!(seen.step("replica-set/db"), None, "its first machine does not run");
    let (action, _) = seen.machine("m1").engaged(&["m1"]).step("machine/m1").expect("a step");
    assert!(matches!(&action, Action::Initiate { first } if first.machine_tag() == Some("m1")));
}

#[test]
fn a_set_begins_on_the_next_seat_when_the_first_machine_is_gone_for_good() {
    let mut spec = spec(1);
    spec.seats.truncate(2);
    let events = [replica_set::Event::Declared { spec }, replica_set::Event::SeenNotBegun];
    let both = Seen::default().then("replica-set/db", events).machine("m1").machine("m2");
    let dying = both.then("machine/m1", [machine::Event::RemovalBegan { at: Timestamp(8) }]);
    assert_eq!(dying.step("machine/m1"), None, "it may have begun, and is still there");
    let dead = dying.then("machine/m1", [machine::Event::Died]).engaged(&["m2"]);
    let (action, _) = dead.step("machine/m1").expect("a step");
    assert!(matches!(&action, Action::Initiate { first } if first.machine_tag() == Some("m2")));
}

#[test]
fn nobody_joins_etcd_while_a_voter_is_sick() {
    let seen = with(3, &[member(1, true), member(2, true)], &[]).engaged(&["m3"]);
    assert!(seen.step("replica-set/db").is_some());
    let mut spec = spec(3);
    spec.seats.extend((4..=5).map(|number| Seat::at(name(&format!("m{number}")), &format!("10.0.0.{number}"), 7, 8)));
    spec.servers = 5;
    let members = [member(1, true), member(2, true), member(3, true)];
    let changed = || [replica_set::Event::SpecChanged { spec: spec.clone() }];
    let well = with(3, &members, &[]).machine("m4").engaged(&["m4"]).then("replica-set/db", changed());
    assert!(well.step("replica-set/db").is_some());
    let sick = with(3, &members, &[3]).machine("m4").engaged(&["m4"]).then("replica-set/db", changed());
    assert_eq!(sick.step("replica-set/db"), None);
}

#[test]
fn the_policy_says_by_whose_rules_a_set_is_planned() {
    // Given a set on MongoDB that has lost two of its three machines' votes, all of them well
    let seen =
        |rules| Observation { rules, ..observation(&[member(1, true), member(2, false), member(3, false)], &[]) };
    let set = |rules| {
        let events =
            [replica_set::Event::Declared { spec: spec(3) }, replica_set::Event::Seen { observation: seen(rules) }];
        let set = Seen::default().machine("m1").machine("m2").machine("m3").then("replica-set/db", events);
        set.engaged(&["m2", "m3"])
    };
    let steps = |rules, engine| -> Vec<Action> {
        let look = Command::Look { about: vec!["replica-set/db".parse().expect("a stream")] };
        let action = |order| match order {
            Order::ReplicaSet { command: replica_set::Command::TakeStep { step, .. }, .. } => Some(step.action),
            _ => None,
        };
        set(engine).decide_by(rules, look).into_iter().filter_map(action).collect()
    };
    let promote = |number| Change::Promote { member: MemberId(number) };
    // Then ours gives one vote at a time, Juju's both at once, and none where a vote cannot be taken again
    assert_eq!(steps(PeerRules::Default, EngineRules::mongodb()), [write(promote(2))]);
    let both = Action::Write { changes: vec![promote(2), promote(3)] };
    assert_eq!(steps(PeerRules::Juju2019, EngineRules::mongodb()), [both]);
    assert_eq!(steps(PeerRules::Juju2019, EngineRules::etcd()), []);
}
