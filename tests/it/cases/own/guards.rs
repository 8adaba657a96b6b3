//! What keeps a machine from what must not happen to it, where no other case asks for it.

use bailiwick::actors::{
    machine::{Command, Report},
    testing::{Answer, name},
    vocab::{Fault, FaultCode, Life},
};

use super::super::lab::{Lab, Making, making, stranger};
use super::lab;

/// A machine that runs.
fn running() -> Lab {
    let mut lab = lab();
    lab.declare("1", |_| ());
    lab.desk.settle();
    assert!(lab.state("1").running_effect().is_some());
    lab
}

#[test]
fn an_answer_about_another_instance_makes_no_machine() {
    let mut lab = lab();
    lab.creates("1", [Answer::Instance(Box::new(stranger("1", "i-other")))]);
    lab.declare("1", |_| ());
    lab.desk.perform();
    assert_ne!(making(&lab.state("1")), Making::Started);
    assert_eq!(lab.state("1").running_effect(), None);
}

#[test]
fn a_machine_dies_after_its_last_attachment_and_a_volume_is_attached_once() {
    let mut lab = running();
    for volume in ["a", "b", "b"] {
        lab.desk.machine("1", Command::ReserveAttachment { volume: name(volume) });
    }
    assert_eq!(lab.state("1").attachments.len(), 2);
    let again = lab.desk.machine("1", Command::ReserveAttachment { volume: name("b") });
    assert_eq!(again.header.events, 0, "it is there already");
    lab.desk.machine("1", Command::Remove);
    lab.desk.machine("1", Command::ReleaseAttachment { volume: name("a") });
    assert_eq!(lab.state("1").life, Life::Dying, "one is still there");
    lab.desk.machine("1", Command::ReleaseAttachment { volume: name("b") });
    assert_ne!(lab.state("1").life, Life::Dying);
}

#[test]
fn a_report_about_an_attempt_that_is_over_changes_nothing() {
    let mut lab = lab();
    lab.creates("1", [Answer::Fails(Fault::new(FaultCode::Internal, "no"))]);
    lab.declare("1", |_| ());
    lab.desk.perform();
    let before = lab.state("1");
    let late = Report::CreateFailed { attempt: 1, fault: Fault::new(FaultCode::Unavailable, "late") };
    lab.desk.machine("1", Command::Report(late));
    assert_eq!(lab.state("1"), before);
}

#[test]
fn a_machines_own_instance_is_no_stray() {
    let mut lab = running();
    let own = lab.effect("1").expect("it runs");
    let instance = lab.desk.provider.instances[&own].clone();
    lab.desk.machine("1", Command::RemoveStray { provider: name("desk"), instance });
    lab.desk.settle();
    assert!(lab.desk.provider.instances.contains_key(&own));
    assert!(lab.state("1").strays.is_empty());
}
