//! What keeps workloads running until it is their turn to end, and their volumes where they are until then.

use std::collections::BTreeSet;

use bailiwick::actors::{
    document::{Application, Content},
    machine::{Command, Report, TurnStep, Workload},
    policy::Document,
    ports::Operation,
    supervisor::Order,
    testing::{Asked, name},
    vocab::Name,
};

use super::super::lab::Lab;

fn workload<const N: usize>(title: &str, priority: i32, volumes: [&str; N]) -> Workload {
    let volumes = volumes.map(name).into();
    Workload { volumes, priority, ..Workload::new(name(title), vec![title.to_owned()]) }
}

/// Declares a machine on which these run.
fn declare_with(lab: &mut Lab, machine: &str, workloads: Vec<Workload>) {
    lab.declare(machine, |spec| spec.workloads = workloads);
}

/// Lets these machines come to run well.
fn start(lab: &mut Lab, machines: &[&str]) {
    lab.search();
    for machine in machines {
        lab.desk.report_node(machine, true).expect("it runs");
    }
    lab.search();
}

/// Machines of one application, so many of which have to run well before one of the others is drained.
fn application(machines: &[&str], min_available: u32, policy: Document) -> Lab {
    let mut lab = Lab::new(policy);
    let (of, min_available) = (machines.iter().map(|machine| name(machine)).collect(), Some(min_available));
    let says = Application { machines: of, min_available, ..Application::default() };
    lab.desk.declare_document("shop", Content::Application(says));
    for machine in machines {
        declare_with(&mut lab, machine, vec![workload("web", 0, [])]);
        lab.desk.machine(machine, Command::Assign { application: name("shop") });
    }
    start(&mut lab, machines);
    lab
}

/// Whether a workload was told to end.
fn is_told(lab: &Lab, machine: &str, workload: &str) -> bool {
    let state = lab.state(machine);
    let turn = state.turns().and_then(|turns| turns.of(&name(workload))).expect("its machine is drained");
    !turn.goes_on()
}

fn asked_to(lab: &Lab, operation: Operation) -> usize {
    lab.desk.provider.calls.iter().filter(|call| call.asked == Asked::Operation(operation)).count()
}

/// The agent says that these do not run any more.
fn end<const N: usize>(lab: &mut Lab, workloads: [&str; N]) {
    let workloads: BTreeSet<Name> = workloads.map(name).into();
    lab.desk.agent_says("1", |effect| Report::WorkloadsEnded { effect, workloads }).expect("it runs");
    lab.desk.settle();
}

#[test]
fn two_who_ask_at_once_do_not_both_take_the_last_room_of_a_budget() {
    // Given an application of three machines, two of which have to run
    let mut lab = application(&["1", "2", "3"], 2, Document::default());
    // When two of them are to go at once
    for machine in ["1", "2"] {
        lab.desk.machine(machine, Command::Remove);
    }
    lab.desk.settle();
    // Then the workload of one is told to end, and the other one's goes on
    let told = ["1", "2"].map(|machine| is_told(&lab, machine, "web"));
    assert_eq!(told.iter().filter(|is_told| **is_told).count(), 1, "{told:?}");
}

#[test]
fn who_was_told_to_end_is_not_available_to_the_budget() {
    // Given such an application, one of whose machines is about to be told that its workload may end
    let mut lab = application(&["1", "2", "3"], 2, Document::default());
    lab.desk.machine("1", Command::Remove);
    lab.desk.look();
    let allows = |order: &Order| matches!(order, Order::Machine { command: Command::AllowEviction { .. }, .. });
    assert!(lab.desk.machines_view().orders.open_to(&Lab::stream("1")).any(allows));
    // When another one is to go before that order arrives
    lab.desk.machine("2", Command::Remove);
    lab.desk.settle();
    // Then that one's goes on
    assert_eq!(["1", "2"].map(|machine| is_told(&lab, machine, "web")), [true, false]);
}

#[test]
fn a_budget_that_can_never_have_room_forces_nothing_by_how_often_it_refuses() {
    // Given an application with a machine less than its budget wants to run, where the second refusal is the last
    let mut policy = Document::default();
    policy.reconciliation.drain.evictions_max = 2;
    let mut lab = application(&["1"], 1, policy);
    // When its machine is to go, and is refused again and again
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    for _ in 0..4 {
        assert!(lab.desk.wake_next(), "it asks again");
        lab.desk.settle();
        // Then its workload goes on
        assert!(!is_told(&lab, "1", "web"));
    }
}

/// A machine with a volume that both of its workloads use.
fn sharing() -> Lab {
    let mut lab = Lab::new(Document::default());
    declare_with(&mut lab, "1", vec![workload("db", 0, ["data"]), workload("web", 0, ["data"])]);
    attach(&mut lab);
    lab
}

/// The machine `1` comes to run with its volume.
fn attach(lab: &mut Lab) {
    lab.desk.declare_volume("data");
    lab.desk.attach("1", "data");
    start(lab, &["1"]);
    assert_eq!(asked_to(lab, Operation::AttachVolume), 1);
}

#[test]
fn a_volume_of_a_machine_that_is_drained_waits_for_its_turn() {
    // Given a machine whose workloads use its volume
    let mut lab = sharing();
    // When it is to go
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // Then the first of them is told to end, and nobody takes the volume away meanwhile
    assert!(is_told(&lab, "1", "db"));
    assert_eq!(asked_to(&lab, Operation::DetachVolume), 0);
}

#[test]
fn a_volume_that_several_workloads_use_leaves_with_the_last_of_them() {
    // Given such a machine, which is to go
    let mut lab = sharing();
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // When the first of them has ended
    end(&mut lab, ["db"]);
    // Then the volume stays for the other one
    assert!(is_told(&lab, "1", "web"));
    assert_eq!(asked_to(&lab, Operation::DetachVolume), 0);
    // And leaves with it
    end(&mut lab, ["web"]);
    assert_eq!(asked_to(&lab, Operation::DetachVolume), 1);
    lab.desk.agent_says("1", |effect| Report::Drained { effect });
    lab.desk.settle();
    assert!(!lab.state("1").life.exists());
}

#[test]
fn a_turn_ends_when_its_time_has_passed() {
    // Given a machine one of whose workloads was told to end, and does not
    let mut lab = sharing();
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    let until = match lab.state("1").turns().and_then(|turns| turns.of(&name("db"))).map(|turn| turn.step.clone()) {
        Some(TurnStep::Ending { until }) => until,
        step => panic!("it is its turn: {step:?}"),
    };
    assert!(!is_told(&lab, "1", "web"));
    // When its time is over
    lab.desk.now = until;
    lab.desk.wake(&Lab::stream("1"), until);
    lab.desk.settle();
    // Then it is not waited for any longer: the next one is told
    assert!(is_told(&lab, "1", "web"));
}

#[test]
fn a_wave_waits_for_the_one_before() {
    // Given a machine with a workload that ends before another one
    let mut lab = Lab::new(Document::default());
    declare_with(&mut lab, "1", vec![workload("web", 0, []), workload("logs", 1, [])]);
    start(&mut lab, &["1"]);
    // When it is to go
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // Then the first is told to end, and the other one when that has
    assert_eq!(["web", "logs"].map(|title| is_told(&lab, "1", title)), [true, false]);
    end(&mut lab, ["web"]);
    assert!(is_told(&lab, "1", "logs"));
}

#[test]
fn a_volume_that_has_left_is_not_attached_again_to_what_is_about_to_go() {
    // Given a machine that is not well, beside one that is, and whose second workload is still ending
    let mut lab = Lab::new(Document::default());
    declare_with(&mut lab, "1", vec![workload("db", 0, ["data"]), workload("logs", 1, [])]);
    lab.declare("2", |_| ());
    attach(&mut lab);
    lab.desk.report_node("2", true);
    lab.desk.report_node("1", false);
    let until = lab.state("1").health.until().expect("its time runs");
    lab.desk.now = until;
    lab.desk.wake(&Lab::stream("1"), until);
    lab.desk.settle();
    let own = lab.state("1").running_effect();
    // When the volume of the first has left the instance that is to be replaced
    assert!(is_told(&lab, "1", "db"));
    end(&mut lab, ["db"]);
    assert!(is_told(&lab, "1", "logs"));
    assert_eq!(asked_to(&lab, Operation::DetachVolume), 1);
    // Then it is attached to the next one, and not to this one again
    assert_eq!((lab.state("1").running_effect(), asked_to(&lab, Operation::AttachVolume)), (own, 1));
    end(&mut lab, ["logs"]);
    lab.desk.agent_says("1", |effect| Report::Drained { effect });
    lab.search();
    assert_ne!(lab.state("1").running_effect(), own);
    assert_eq!(asked_to(&lab, Operation::AttachVolume), 2);
}
