//! Disruption budgets: whose workloads may end, among the machines of one application.

use std::sync::Arc;

use super::*;
use crate::{
    contract::Stored,
    document::{self, Application, Content},
    machine::{BudgetSeen, Node, Spec, Workload},
};

fn put<E: Stored>(view: &mut View, position: u64, stream: &str, first: u64, events: &[E]) {
    let bodies = events.iter().map(|event| event.store().expect("small")).collect();
    let stream = stream.parse().expect("a stream");
    view.apply(&entry(position, stream, first, Outcome::Done, Uuid::nil(), bodies)).expect("readable");
}

/// Three machines of one application, all of which run well.
fn shop(min_available: Option<u32>) -> View {
    let mut view = View::default();
    let machines = ["a", "b", "c"].map(name).into();
    let says = Content::Application(Application { machines, min_available, ..Application::default() });
    put(&mut view, 1, "application/shop", 1, &[document::Event::Declared { content: Box::new(says) }]);
    for (position, machine) in (2..).zip(["a", "b", "c"]) {
        let app = Workload { name: name("app"), command: vec!["app".into()], env: [].into(), volumes: [].into() };
        let spec = Arc::new(Spec { workloads: vec![app], ..Spec::with_provider(name("local")) });
        let at = Timestamp(1);
        let stream: StreamId = format!("machine/{machine}").parse().expect("a stream");
        let instance = MachineInstance {
            effect: EffectId::of(JOURNAL, &stream, Version(3)),
            instance: InstanceId(format!("i-{machine}")),
            machine: name(machine),
            facts: [].into(),
            status: InstanceStatus::Running,
        };
        let events = [
            machine::Event::Declared { spec },
            machine::Event::UnitAssigned { application: name("shop") },
            machine::Event::CreateRequested { at },
            machine::Event::Created { instance, at },
            machine::Event::NodeReported { conditions: Vec::new(), at },
        ];
        put(&mut view, position, stream.as_str(), 1, &events);
    }
    view
}

fn drains(view: &mut View, position: u64, machine: &str) {
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000) };
    put(view, position, &format!("machine/{machine}"), 6, &[began]);
}

/// What follows for these machines, as `name: what`.
fn answers(view: &View, machines: &[&str]) -> Vec<String> {
    let machines = machines.iter().map(|machine| name(machine)).collect();
    let decision = answer(&State::default(), view, &Command::Look { machines });
    let said = |event: Event| match event {
        Event::Issued { order: Order::Machine { machine, command }, .. } => match command {
            machine::Command::AllowEviction { .. } => format!("{machine}: allowed"),
            machine::Command::RefuseEviction { budget, .. } => {
                let BudgetSeen { available, needed, .. } = budget;
                let hopeless = if budget.is_hopeless() { ", hopeless" } else { "" };
                format!("{machine}: {available} of {needed}{hopeless}")
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    decision.events.into_iter().map(said).collect()
}

#[test]
fn two_who_ask_at_once_do_not_both_take_the_last_room() {
    let mut view = shop(Some(2));
    drains(&mut view, 10, "a");
    drains(&mut view, 11, "b");
    assert_eq!(answers(&view, &["a", "b"]), ["a: allowed", "b: 1 of 2"]);
    // What was said and is not taken in yet counts, too.
    let effect = view.machines.get("a").and_then(|state| state.running_effect()).unwrap();
    let order = Order::Machine { machine: name("a"), command: machine::Command::AllowEviction { effect } };
    put(&mut view, 12, "supervisor/machines", 1, &[Event::Issued { order, cites: Vec::new() }]);
    assert_eq!(answers(&view, &["b"]), ["b: 1 of 2"]);
    assert_eq!(answers(&view, &["a"]), [""; 0], "it was answered");
}

#[test]
fn a_budget_that_needs_more_machines_than_there_are_is_hopeless() {
    let mut view = shop(Some(3));
    drains(&mut view, 10, "a");
    assert_eq!(answers(&view, &["a"]), ["a: 2 of 3, hopeless"]);
    // That another one is gone for now is no reason to give up hope.
    let mut view = shop(Some(2));
    drains(&mut view, 10, "a");
    put(&mut view, 11, "machine/b", 6, &[machine::Event::NodeWentStale { last_seen: Timestamp(1) }]);
    assert_eq!(answers(&view, &["a"]), ["a: 1 of 2"]);
}

#[test]
fn who_has_no_budget_asks_nobody() {
    let mut view = shop(None);
    drains(&mut view, 10, "a");
    assert_eq!(answers(&view, &["a"]), [""; 0]);
    assert!(!super::super::waits_for_eviction(view.machines.get("a").unwrap(), &view.documents));
    let mut view = shop(Some(0));
    drains(&mut view, 10, "a");
    assert!(super::super::waits_for_eviction(view.machines.get("a").unwrap(), &view.documents));
    assert_eq!(answers(&view, &["a"]), ["a: allowed"]);
}

#[test]
fn who_is_silent_or_ill_is_not_available() {
    let mut view = shop(Some(2));
    drains(&mut view, 10, "a");
    put(&mut view, 11, "machine/b", 6, &[machine::Event::NodeWentStale { last_seen: Timestamp(1) }]);
    assert!(matches!(view.machines.get("b").unwrap().node, Node::Stale { .. }));
    assert_eq!(answers(&view, &["a"]), ["a: 1 of 2"]);
}

#[test]
fn who_ends_its_workloads_one_after_the_other_is_told_to_begin_budget_or_not() {
    let mut view = shop(None);
    let app =
        Workload { name: name("app"), command: vec!["app".into()], env: [].into(), volumes: [name("data")].into() };
    let spec = Arc::new(Spec { workloads: vec![app], ..Spec::with_provider(name("local")) });
    put(&mut view, 9, "machine/a", 6, &[machine::Event::SpecChanged { spec }]);
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000) };
    put(&mut view, 10, "machine/a", 7, &[began]);
    let waits = |view: &View| super::super::waits_for_eviction(view.machines.get("a").unwrap(), &view.documents);
    assert!(waits(&view), "nothing is told to end before that");
    assert_eq!(answers(&view, &["a"]), ["a: allowed"]);
    put(&mut view, 11, "machine/a", 8, &[machine::Event::EvictionAllowed { is_forced: false, at: Timestamp(3) }]);
    assert!(!waits(&view));
    assert_eq!(answers(&view, &["a"]), [""; 0]);
}
