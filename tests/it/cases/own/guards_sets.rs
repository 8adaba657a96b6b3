//! What keeps a set from making or replacing machines where that is of no use, and what keeps a list that is too old
//! from being believed.

use std::sync::Arc;

use bailiwick::actors::{
    machine::{self, Spec},
    machine_set::{Change, Command, Plan, Spec as SetSpec},
    policy::Document,
    testing::{Answer, name},
    vocab::{Fault, FaultCode, Life, MachinePhase},
};

use super::super::lab::{Lab, fails};

fn declare(lab: &mut Lab, replicas: u32) {
    let template = Arc::new(Spec::with_provider(name("desk")));
    let spec = SetSpec { replicas, template, priorities: [].into(), deployment: None };
    lab.desk.machine_set("fleet", Command::Declare(spec));
}

/// A set of one machine that has four, all of which are to go and cannot.
fn frozen() -> Lab {
    let mut lab = Lab::new(Document::default());
    let machines = ["a", "b", "c", "d"];
    for machine in machines {
        lab.declare(machine, |spec| spec.set = Some(name("fleet")));
        lab.desk.machine(machine, machine::Command::ReserveAttachment { volume: name("data") });
    }
    declare(&mut lab, 1);
    lab.desk.settle();
    for machine in machines {
        lab.desk.machine(machine, machine::Command::Remove);
    }
    lab.desk.settle();
    assert!(machines.iter().all(|machine| lab.state(machine).life == Life::Dying), "a volume is still attached");
    assert!(lab.desk.machine_set_state("fleet").is_some_and(|set| set.frozen.is_some()));
    lab
}

#[test]
fn a_set_that_is_frozen_takes_no_pass_that_makes_machines() {
    // Given a set that is frozen and lacks a machine
    let mut lab = frozen();
    let first = name("fleet-1");
    assert_eq!(lab.state(first.as_str()).life, Life::Undeclared, "nobody orders one");
    // When a pass comes that was planned before it froze
    let plan = Plan { stale: Vec::new(), change: Change::Create(1) };
    lab.desk.machine_set("fleet", Command::BeginPass { plan, names: vec![first.clone()] });
    lab.desk.settle();
    // Then no machine is made
    assert_eq!(lab.state(first.as_str()).life, Life::Undeclared);
    assert!(lab.desk.machine_set_state("fleet").is_some_and(|set| set.is_at_rest()));
}

#[test]
fn a_set_replaces_nobody_while_its_provider_cannot_be_reached() {
    // Given a set whose machine is being made when its provider ceases to answer
    let mut lab = Lab::new(Document::default());
    lab.creates("fleet-1", [Answer::Late]);
    declare(&mut lab, 1);
    lab.search();
    lab.desk.provider.list_fails = Some(Fault::new(FaultCode::Unavailable, "no answer"));
    lab.desk.list();
    lab.desk.now = lab.desk.now.after(60_000);
    lab.desk.list();
    assert!(lab.desk.machines_seen().out.contains_key(&name("desk")));
    // When that fails for good
    lab.creates("fleet-1", [0; 3].map(|_| fails(FaultCode::InvalidArgument, "no")));
    lab.run_attempts();
    // Then the machine stays as it is until the provider answers
    assert_eq!(machine::phase(&lab.state("fleet-1")), MachinePhase::Failed);
    lab.desk.provider.list_fails = None;
    lab.search();
    assert!(!lab.state("fleet-1").life.exists());
    assert!(lab.state("fleet-2").running_effect().is_some(), "another one is made instead");
}

#[test]
fn nothing_is_concluded_from_a_list_that_is_older_than_what_was_seen() {
    // Given a machine that runs, which a list has shown
    let mut lab = Lab::new(Document::default());
    lab.declare("1", |_| ());
    lab.desk.settle();
    let earlier = lab.desk.now.after(1);
    lab.desk.now = earlier.after(60_000);
    lab.search();
    let own = lab.state("1").running_effect().expect("it runs");
    let told = lab.entries("1").len();
    // When a list arrives late that was made before that, and lacks it
    let hidden = lab.desk.provider.instances.remove(&own).expect("it is there");
    lab.desk.provider.lists_as_of = Some(earlier);
    lab.desk.list();
    lab.desk.provider.instances.insert(own, hidden);
    lab.desk.settle();
    // Then it is not missed
    assert_eq!(lab.state("1").running_effect(), Some(own));
    assert_eq!(lab.entries("1").len(), told, "it was told nothing");
}
