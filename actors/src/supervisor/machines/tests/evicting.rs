//! Disruption budgets: whose workloads may end, among the machines of one application.

use std::sync::Arc;

use super::*;
use crate::{
    contract::Stored,
    document::{self, Application, Content},
    machine::{BudgetSeen, Node, Spec, TurnPlan, Workload},
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
        let app = Workload::new(name("app"), vec!["app".into()]);
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

fn plan(workload: &str, volumes: &[&str], wave: u32) -> TurnPlan {
    let volumes = volumes.iter().map(|volume| name(volume)).collect();
    TurnPlan { workload: name(workload), volumes, wave, grace_ms: 5 }
}

fn drains(view: &mut View, position: u64, machine: &str) {
    let turns = vec![plan("app", &[], 0)];
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000), turns };
    put(view, position, &format!("machine/{machine}"), 6, &[began]);
}

/// What follows for these machines, as `name: what`.
fn answers(view: &View, machines: &[&str]) -> Vec<String> {
    let machines = machines.iter().map(|machine| name(machine)).collect();
    let decision = answer(&State::default(), view, &Command::Look { machines });
    let said = |event: Event| match event {
        Event::Issued { order: Order::Machine { machine, command }, .. } => match command {
            machine::Command::AllowEviction { workloads, .. } => {
                let all: Vec<&str> = workloads.iter().map(Name::as_str).collect();
                format!("{machine}: {} allowed", all.join(" and "))
            }
            machine::Command::RefuseEviction { workload, budget, .. } => {
                let BudgetSeen { available, needed, .. } = budget;
                let hopeless = if budget.is_hopeless() { ", hopeless" } else { "" };
                format!("{machine}: {workload} {available} of {needed}{hopeless}")
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
    assert_eq!(answers(&view, &["a", "b"]), ["a: app allowed", "b: app 1 of 2"]);
    // What was said and is not taken in yet counts, too.
    let effect = view.machines.get("a").and_then(|state| state.running_effect()).unwrap();
    let order = Order::Machine {
        machine: name("a"),
        command: machine::Command::AllowEviction { effect, workloads: [name("app")].into() },
    };
    put(&mut view, 12, "supervisor/machines", 1, &[Event::Issued { order, cites: Vec::new() }]);
    assert_eq!(answers(&view, &["b"]), ["b: app 1 of 2"]);
    assert_eq!(answers(&view, &["a"]), [""; 0], "it was answered");
}

#[test]
fn a_budget_that_needs_more_machines_than_there_are_is_hopeless() {
    let mut view = shop(Some(3));
    drains(&mut view, 10, "a");
    assert_eq!(answers(&view, &["a"]), ["a: app 2 of 3, hopeless"]);
    // That another one is gone for now is no reason to give up hope.
    let mut view = shop(Some(2));
    drains(&mut view, 10, "a");
    put(&mut view, 11, "machine/b", 6, &[machine::Event::NodeWentStale { last_seen: Timestamp(1) }]);
    assert_eq!(answers(&view, &["a"]), ["a: app 1 of 2"]);
}

#[test]
fn what_a_hopeless_budget_refused_is_asked_for_again_once_its_application_says_something_else() {
    // given a workload that a budget without hope keeps running
    let stranded = || {
        let mut view = shop(Some(3));
        drains(&mut view, 10, "a");
        let budget = BudgetSeen { application: name("shop"), available: 2, needed: 3, others: 2 };
        let refused = machine::Event::EvictionRefused { workload: name("app"), budget, until: Timestamp(600_000) };
        put(&mut view, 11, "machine/a", 7, &[refused]);
        view
    };
    let application: StreamId = "application/shop".parse().expect("a stream");
    let view = stranded();
    assert_eq!(answers(&view, &["a"]), [""; 0], "it has heard that");
    assert_eq!(view.woken_by(&application), ["machine/a".parse().expect("a stream")]);
    // when the application is changed or removed, then it is answered anew, for that reason
    let says = |min_available| {
        let machines = ["a", "b", "c", "d"].map(name).into();
        let says = Content::Application(Application { machines, min_available, ..Application::default() });
        document::Event::Revised { content: Box::new(says) }
    };
    let then = |event: document::Event| {
        let mut view = stranded();
        put(&mut view, 12, application.as_str(), 2, &[event]);
        let decision = answer(&State::default(), &view, &Command::Look { machines: [name("a")].into() });
        let cites = match &decision.events[..] {
            [Event::Issued { cites, .. }] => cites.iter().any(|cite| cite.stream == application),
            other => panic!("{other:?}"),
        };
        assert!(cites, "{decision:?}");
        answers(&view, &["a"])
    };
    assert_eq!(then(says(Some(2))), ["a: app allowed"]);
    assert_eq!(then(says(Some(3))), ["a: app 2 of 3"], "it could have room now");
    assert_eq!(then(says(None)), ["a: app allowed"]);
    assert_eq!(then(document::Event::Removed), ["a: app allowed"]);
}

#[test]
fn who_asks_is_answered_before_what_was_refused_for_good() {
    // given a workload that asks, and a later one that a budget without hope keeps running
    let mut view = shop(Some(3));
    let turns = vec![plan("app", &[], 0), plan("late", &[], 1)];
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000), turns };
    let budget = BudgetSeen { application: name("shop"), available: 2, needed: 3, others: 2 };
    let refused = machine::Event::EvictionRefused { workload: name("late"), budget, until: Timestamp(600_000) };
    put(&mut view, 10, "machine/a", 6, &[began, refused]);
    // when that could have room, and has none yet, then they hear of it one after the other
    let machines = ["a", "b", "c", "d"].map(name).into();
    let says = Content::Application(Application { machines, min_available: Some(3), ..Application::default() });
    put(&mut view, 11, "application/shop", 2, &[document::Event::Revised { content: Box::new(says) }]);
    assert_eq!(answers(&view, &["a"]), ["a: app 2 of 3"]);
    let budget = BudgetSeen { application: name("shop"), available: 2, needed: 3, others: 3 };
    let refused = machine::Event::EvictionRefused { workload: name("app"), budget, until: Timestamp(20_000) };
    put(&mut view, 12, "machine/a", 8, &[refused]);
    assert_eq!(answers(&view, &["a"]), ["a: late 2 of 3"]);
}

#[test]
fn what_was_refused_for_good_ends_in_its_order() {
    // given two workloads, one after the other, that the same budget keeps running
    let mut view = mixed(Some(3));
    let turns = vec![plan("app", &[], 0), plan("logs", &[], 1)];
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000), turns };
    let refused = |workload: &str| {
        let budget = BudgetSeen { application: name("shop"), available: 2, needed: 3, others: 2 };
        machine::Event::EvictionRefused { workload: name(workload), budget, until: Timestamp(600_000) }
    };
    put(&mut view, 10, "machine/a", 7, &[began, refused("app"), refused("logs")]);
    // when that is gone, then they end as they would have
    put(&mut view, 11, "application/shop", 2, &[document::Event::Removed]);
    assert_eq!(answers(&view, &["a"]), ["a: app allowed"]);
    let began = machine::Event::TurnBegan { workload: name("app"), is_forced: false, until: Timestamp(90) };
    put(&mut view, 12, "machine/a", 10, &[began]);
    assert_eq!(answers(&view, &["a"]), [""; 0]);
    let over = machine::Event::TurnEnded { workload: name("app"), outcome: machine::TurnOutcome::Done };
    put(&mut view, 13, "machine/a", 11, &[over]);
    assert_eq!(answers(&view, &["a"]), ["a: logs allowed"]);
}

#[test]
fn who_has_no_budget_asks_nobody() {
    let mut view = shop(None);
    drains(&mut view, 10, "a");
    assert_eq!(answers(&view, &["a"]), [""; 0]);
    let goes_on = |view: &View| super::super::going_on(view.machines.get("a").unwrap(), &view.documents);
    assert_eq!(goes_on(&view), [].into());
    let mut view = shop(Some(0));
    drains(&mut view, 10, "a");
    assert_eq!(goes_on(&view), [name("app")].into());
    assert_eq!(answers(&view, &["a"]), ["a: app allowed"]);
}

#[test]
fn who_is_silent_or_ill_is_not_available() {
    let mut view = shop(Some(2));
    drains(&mut view, 10, "a");
    put(&mut view, 11, "machine/b", 6, &[machine::Event::NodeWentStale { last_seen: Timestamp(1) }]);
    assert!(matches!(view.machines.get("b").unwrap().node, Node::Stale { .. }));
    assert_eq!(answers(&view, &["a"]), ["a: app 1 of 2"]);
}

/// Two workloads on each machine of the shop: one of it, and one of something else that has no budget.
fn mixed(min_available: Option<u32>) -> View {
    let mut view = shop(min_available);
    let of = |title: &str, application: &str| Workload {
        application: Some(name(application)),
        ..Workload::new(name(title), vec![title.into()])
    };
    for (position, machine) in (5..).zip(["a", "b", "c"]) {
        let workloads = vec![of("app", "shop"), of("logs", "logging")];
        let spec = Arc::new(Spec { workloads, ..Spec::with_provider(name("local")) });
        put(&mut view, position, &format!("machine/{machine}"), 6, &[machine::Event::SpecChanged { spec }]);
    }
    view
}

fn drains_both(view: &mut View, position: u64, machine: &str) {
    let turns = vec![plan("app", &[], 0), plan("logs", &[], 0)];
    let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000), turns };
    put(view, position, &format!("machine/{machine}"), 7, &[began]);
}

#[test]
fn a_budget_keeps_the_workloads_of_its_application_and_no_others() {
    let mut view = mixed(Some(3));
    drains_both(&mut view, 10, "a");
    assert_eq!(answers(&view, &["a"]), ["a: logs allowed"]);
    let began = machine::Event::TurnBegan { workload: name("logs"), is_forced: false, until: Timestamp(90) };
    put(&mut view, 11, "machine/a", 8, &[began]);
    assert_eq!(answers(&view, &["a"]), ["a: app 2 of 3, hopeless"]);
    let goes_on = super::super::going_on(view.machines.get("a").unwrap(), &view.documents);
    assert_eq!(goes_on, [name("app")].into());
}

#[test]
fn who_ended_something_else_still_counts_for_an_application() {
    let mut view = mixed(Some(2));
    drains_both(&mut view, 10, "a");
    let began =
        |title: &str| machine::Event::TurnBegan { workload: name(title), is_forced: false, until: Timestamp(90) };
    put(&mut view, 11, "machine/a", 8, &[began("logs")]);
    drains_both(&mut view, 12, "b");
    assert_eq!(answers(&view, &["b"]), ["b: app and logs allowed"], "the others are a, which keeps its app, and c");
    put(&mut view, 13, "machine/a", 9, &[began("app")]);
    put(&mut view, 14, "machine/b", 8, &[began("logs")]);
    assert_eq!(answers(&view, &["b"]), ["b: app 1 of 2"]);
}

#[test]
fn where_workloads_end_in_an_order_they_are_told_one_wave_after_the_other() {
    for (first, second) in
        [(plan("app", &["data"], 0), plan("logs", &["more"], 0)), (plan("app", &[], 0), plan("logs", &[], 1))]
    {
        let mut view = mixed(None);
        let turns = vec![first, second];
        let began = machine::Event::DrainBegan { at: Timestamp(2), until: Timestamp(9_000), turns };
        put(&mut view, 10, "machine/a", 7, &[began]);
        let goes_on = |view: &View| super::super::going_on(view.machines.get("a").unwrap(), &view.documents);
        assert_eq!(goes_on(&view), [name("app"), name("logs")].into(), "nothing is told to end before that");
        assert_eq!(answers(&view, &["a"]), ["a: app allowed"], "budget or not");
        let began = machine::Event::TurnBegan { workload: name("app"), is_forced: false, until: Timestamp(90) };
        put(&mut view, 11, "machine/a", 8, &[began]);
        assert_eq!(goes_on(&view), [name("logs")].into());
        assert_eq!(answers(&view, &["a"]), [""; 0]);
        let over = machine::Event::TurnEnded { workload: name("app"), outcome: machine::TurnOutcome::Done };
        put(&mut view, 12, "machine/a", 9, &[over]);
        assert_eq!(answers(&view, &["a"]), ["a: logs allowed"]);
    }
}
