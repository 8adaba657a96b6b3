//! What is protected is not removed, and nobody makes it less: neither people nor the node.

use std::sync::Arc;

use bailiwick::actors::{
    filesystem, machine,
    machine::{Command, Removal, Spec},
    machine_deployment,
    machine_deployment::Strategy,
    machine_set,
    policy::{AskReading, Document},
    ports::InstanceStatus,
    replica_set::{self, Rhythm, Seat},
    testing::{Answer, name},
    vocab::{Address, EffectId, FaultCode, Life, MachinePhase, Scope, SizeMib},
    volume,
};
use bailiwick_journal::{Entry, Outcome};

use super::{
    super::lab::{Lab, fails},
    guards::silent,
};

fn is_refused(entry: &Entry) -> bool {
    entry.header.meta.outcome == Outcome::Refused
}

fn protect(lab: &mut Lab, machine: &str, on: bool) {
    assert!(!is_refused(&lab.desk.machine(machine, Command::Protect { on })));
}

/// A machine that runs.
fn running() -> (Lab, EffectId) {
    let mut lab = Lab::new(Document::default());
    lab.declare("1", |_| ());
    lab.desk.settle();
    let own = lab.state("1").running_effect().expect("it runs");
    (lab, own)
}

/// Its provider shows that a machine's instance was stopped.
fn stop(lab: &mut Lab, own: EffectId) {
    lab.desk.provider.instances.get_mut(&own).expect("it is there").status = InstanceStatus::Stopped;
    lab.search();
    assert_eq!(lab.state("1").running_effect(), None);
}

/// Whether the provider still has this instance, when nobody has anything more to do.
fn is_there(lab: &mut Lab, effect: EffectId) -> bool {
    lab.search();
    lab.desk.provider.instances.contains_key(&effect)
}

#[test]
fn a_protected_machine_is_not_removed_not_even_by_force() {
    // Given a protected machine
    let (mut lab, own) = running();
    protect(&mut lab, "1", true);
    // When it is removed in whatever way
    for command in [Command::Remove, Command::RemoveWith(Removal { force: true, ..Removal::default() })] {
        assert!(is_refused(&lab.desk.machine("1", command)));
    }
    // Then it stays, until it is not protected any more
    assert!(is_there(&mut lab, own));
    assert_eq!(lab.state("1").running_effect(), Some(own));
    protect(&mut lab, "1", false);
    lab.desk.machine("1", Command::Remove);
    assert!(!is_there(&mut lab, own));
}

#[test]
fn what_is_left_of_a_protected_machines_lost_instance_stays() {
    // Given a protected machine whose instance was stopped
    let (mut lab, own) = running();
    protect(&mut lab, "1", true);
    stop(&mut lab, own);
    // When everything is done that follows
    // Then it is still there, until the machine is not protected any more
    assert!(is_there(&mut lab, own));
    protect(&mut lab, "1", false);
    assert!(!is_there(&mut lab, own));
    assert!(lab.state("1").running_effect().is_some_and(|effect| effect != own), "another one is made instead");
}

#[test]
fn an_operators_retry_does_not_delete_what_is_left_of_a_protected_machines_instance() {
    // Given such a machine
    let (mut lab, own) = running();
    protect(&mut lab, "1", true);
    stop(&mut lab, own);
    // When an operator asks for another attempt
    let entry = lab.desk.machine("1", Command::RetryProvisioning);
    // Then that is refused, and it is still there
    assert!(is_refused(&entry));
    assert!(is_there(&mut lab, own));
}

#[test]
fn nor_does_the_end_of_a_hold() {
    // Given a machine that was held when its instance was stopped, and protected after that
    let (mut lab, own) = running();
    lab.desk.machine("1", Command::Hold { reason: "a look at it".to_owned(), until: None });
    stop(&mut lab, own);
    protect(&mut lab, "1", true);
    // When the hold ends
    lab.desk.machine("1", Command::Unhold);
    // Then it is still there
    assert!(is_there(&mut lab, own));
}

#[test]
fn a_protected_machine_whose_time_is_over_is_not_replaced() {
    // Given a machine whose time is over, where nobody asks its provider first
    let mut policy = Document::default();
    policy.reconciliation.readings.ask_provider = AskReading::Never;
    let mut lab = silent(policy);
    let own = lab.effect("1").expect("it runs");
    // When it is protected before anybody has looked at that
    protect(&mut lab, "1", true);
    // Then it keeps its instance, until it is not protected any more
    assert!(is_there(&mut lab, own));
    assert_eq!(lab.state("1").running_effect(), Some(own));
    protect(&mut lab, "1", false);
    assert!(!is_there(&mut lab, own));
}

/// Declares a set of so many machines.
fn declare_set(lab: &mut Lab, replicas: u32) -> Arc<Entry> {
    let template = Arc::new(Spec::with_provider(name("desk")));
    let spec = machine_set::Spec { replicas, template, priorities: [].into(), deployment: None };
    lab.desk.machine_set("fleet", machine_set::Command::Declare(spec))
}

/// The set has nothing left to do, and nobody refused it anything.
fn is_content(lab: &Lab) -> bool {
    lab.desk.machine_set_state("fleet").is_some_and(|set| set.is_at_rest() && set.rests_until.is_none())
}

#[test]
fn a_set_does_not_tell_a_protected_machine_to_go_that_was_given_up() {
    // Given a set whose machine is protected while it is being made
    let mut lab = Lab::new(Document::default());
    lab.creates("fleet-1", [Answer::Late]);
    declare_set(&mut lab, 1);
    lab.search();
    protect(&mut lab, "fleet-1", true);
    // When that fails for good
    lab.creates("fleet-1", [0; 3].map(|_| fails(FaultCode::InvalidArgument, "no")));
    lab.run_attempts();
    // Then it is not even told to go, and the set has another one
    assert_eq!(machine::phase(&lab.state("fleet-1")), MachinePhase::Failed);
    assert!(!lab.entries("fleet-1").iter().any(|entry| is_refused(entry)));
    assert!(lab.state("fleet-2").running_effect().is_some() && is_content(&lab));
    // And it goes once it is not protected any more
    protect(&mut lab, "fleet-1", false);
    lab.search();
    assert!(!lab.state("fleet-1").life.exists());
}

#[test]
fn a_set_that_has_one_too_many_takes_one_that_is_not_protected() {
    for (protected, other) in [("fleet-1", "fleet-2"), ("fleet-2", "fleet-1")] {
        // Given a set of two, one of which is protected
        let mut lab = Lab::new(Document::default());
        declare_set(&mut lab, 2);
        lab.search();
        protect(&mut lab, protected, true);
        // When it is to have one
        declare_set(&mut lab, 1);
        lab.search();
        // Then the other one goes
        assert!(lab.state(protected).running_effect().is_some() && !lab.state(other).life.exists(), "{protected}");
        // And when it is to have none, nobody is told to go
        declare_set(&mut lab, 0);
        lab.search();
        assert!(!lab.entries(protected).iter().any(|entry| is_refused(entry)) && is_content(&lab));
    }
}

#[test]
fn a_protected_set_is_neither_made_smaller_nor_removed() {
    // Given a protected set
    let mut lab = Lab::new(Document::default());
    declare_set(&mut lab, 2);
    lab.search();
    lab.desk.machine_set("fleet", machine_set::Command::Protect { on: true });
    // When it is to have fewer machines, or to go
    let smaller = declare_set(&mut lab, 1);
    lab.search();
    let runs = |lab: &Lab, machine: &str| lab.state(machine).running_effect().is_some();
    // Then it has what it had
    assert!(is_refused(&smaller) && runs(&lab, "fleet-1") && runs(&lab, "fleet-2"));
    let removed = lab.desk.machine_set("fleet", machine_set::Command::Remove);
    lab.search();
    assert!(is_refused(&removed) && runs(&lab, "fleet-1") && runs(&lab, "fleet-2"));
    // It may have more.
    declare_set(&mut lab, 3);
    lab.search();
    assert!(runs(&lab, "fleet-3"));
}

fn deployment(replicas: u32, image: &str) -> machine_deployment::Spec {
    let tags = [("image".to_owned(), image.to_owned())].into();
    let spec = machine_deployment::Spec::of(replicas, Spec { tags, ..Spec::with_provider(name("desk")) });
    machine_deployment::Spec { strategy: Strategy::Recreate, ..spec }
}

/// The instances of all machines, when nobody has anything more to do.
fn instances(lab: &mut Lab) -> Vec<EffectId> {
    lab.search();
    lab.desk.provider.instances.keys().copied().collect()
}

#[test]
fn a_protected_deployment_keeps_its_machines() {
    use machine_deployment::Command;
    // Given a protected deployment that had another template before
    let mut lab = Lab::new(Document::default());
    for image in ["first", "second"] {
        lab.desk.machine_deployment("shop", Command::Declare(deployment(2, image)));
        lab.search();
    }
    lab.desk.machine_deployment("shop", Command::Protect { on: true });
    let before = instances(&mut lab);
    assert_eq!(before.len(), 2);
    // When it is to have another template or fewer machines, to be made anew, to go back, or to go
    let commands = [
        Command::Declare(deployment(2, "third")),
        Command::Declare(deployment(1, "second")),
        Command::Restart,
        Command::Undo { revision: None },
        Command::Remove,
    ];
    for command in commands {
        let entry = lab.desk.machine_deployment("shop", command.clone());
        // Then all its machines stay
        assert!(is_refused(&entry), "{command:?}");
        assert_eq!(instances(&mut lab), before, "{command:?}");
    }
    // It may have more.
    lab.desk.machine_deployment("shop", Command::Declare(deployment(3, "second")));
    assert_eq!(instances(&mut lab).len(), before.len() + 1);
}

#[test]
fn a_protected_volume_is_neither_removed_nor_released_nor_destroyed() {
    use volume::Command;
    // Given a protected volume
    let mut lab = Lab::new(Document::default());
    lab.desk.declare_volume("data");
    lab.desk.settle();
    lab.desk.volume("data", Command::Protect { on: true });
    let before = lab.desk.volume_state("data").cloned();
    // When it is to go in whatever way
    for command in [Command::Remove, Command::Release, Command::Destroy, Command::RemoveForced] {
        let entry = lab.desk.volume("data", command.clone());
        lab.desk.settle();
        // Then it stays as it is
        assert!(is_refused(&entry), "{command:?}");
        assert_eq!(lab.desk.volume_state("data").cloned(), before, "{command:?}");
    }
}

#[test]
fn nor_is_a_protected_filesystem() {
    use filesystem::Command;
    // Given a protected filesystem
    let mut lab = Lab::new(Document::default());
    let spec = filesystem::Spec { provider: name("desk"), size: SizeMib(64), backing: None, machine: None };
    lab.desk.filesystem("data", Command::declare(spec));
    lab.desk.settle();
    lab.desk.filesystem("data", Command::Protect { on: true });
    let before = lab.desk.filesystem_state("data").cloned();
    assert_eq!(before.as_ref().map(|state| state.life), Some(Life::Alive));
    // When it is to go in whatever way
    for command in [Command::Remove, Command::Release, Command::Destroy, Command::RemoveForced] {
        let entry = lab.desk.filesystem("data", command.clone());
        lab.desk.settle();
        // Then it stays as it is
        assert!(is_refused(&entry), "{command:?}");
        assert_eq!(lab.desk.filesystem_state("data").cloned(), before, "{command:?}");
    }
}

#[test]
fn a_protected_replica_set_gets_no_fewer_servers_and_is_not_removed() {
    use replica_set::Command;
    let seat = |number: u16| Seat {
        machine: name(&format!("db-{number}")),
        addresses: vec![Address {
            value: format!("10.0.0.{number}"),
            scope: Scope::default(),
            space: None,
            port: None,
        }],
        peer_port: 7000,
        client_port: 7001,
    };
    let of = |servers| replica_set::Spec {
        engine: name("model"),
        servers,
        seats: (1..=5).map(seat).collect(),
        one_host: false,
        rhythm: Rhythm::default(),
        space: None,
    };
    // Given a protected replica set
    let mut lab = Lab::new(Document::default());
    lab.desk.replica_set("db", Command::Declare(of(3)));
    lab.desk.replica_set("db", Command::Protect { on: true });
    let before = lab.desk.replica_set_state("db").cloned();
    // When it is to have fewer servers, or not to be looked after any more
    for command in [Command::Declare(of(1)), Command::Remove] {
        let entry = lab.desk.replica_set("db", command.clone());
        // Then it stays as it is
        assert!(is_refused(&entry), "{command:?}");
        assert_eq!(lab.desk.replica_set_state("db").cloned(), before, "{command:?}");
    }
    // It may have more.
    assert!(!is_refused(&lab.desk.replica_set("db", Command::Declare(of(5)))));
}
