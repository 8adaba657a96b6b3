//! What keeps a machine from what must not happen to it, where no other case asks for it.

use bailiwick::actors::{
    contract::Stored,
    machine::{Command, Event, Report},
    policy::{AskReading, Document},
    supervisor::machines::Withholding,
    testing::{Answer, Asked, name},
    vocab::{Fault, FaultCode, Life},
};

use super::super::lab::{Lab, Making, making, stranger};
use super::lab;

#[test]
fn what_is_silent_is_replaced_after_its_provider_was_asked_and_stays_where_that_decides() {
    for (ask_provider, stays) in [(AskReading::First, false), (AskReading::Decides, true)] {
        let mut policy = Document::default();
        policy.reconciliation.readings.ask_provider = ask_provider;
        let mut lab = silent(policy);
        let own = lab.effect("1").expect("it runs");
        let calls = lab.desk.provider.calls.len();
        lab.desk.settle();
        let asked: Vec<Asked> = lab.desk.provider.calls[calls..].iter().map(|call| call.asked).collect();
        assert_eq!(asked[0], Asked::Lookup);
        assert_eq!(lab.effect("1") == Some(own), stays, "{ask_provider:?}");
        let withheld = lab.desk.machines_seen().withheld.get(&name("1"));
        assert_eq!(matches!(withheld, Some(Withholding::RunsThere { .. })), stays, "{withheld:?}");
    }
}

#[test]
fn what_is_silent_and_gone_is_lost_and_not_given_up() {
    let mut lab = silent(Document::default());
    let own = lab.effect("1").expect("it runs");
    lab.desk.provider.instances.remove(&own);
    let before = lab.entries("1").len();
    lab.desk.settle();
    let happened: Vec<Event> = lab.entries("1")[before..]
        .iter()
        .flat_map(|entry| &entry.events)
        .filter_map(|event| Event::load(event).ok())
        .collect();
    assert!(happened.iter().any(|event| matches!(event, Event::InstanceLost { .. })), "{happened:?}");
    assert!(!happened.iter().any(|event| matches!(event, Event::GivenUp { .. })), "{happened:?}");
    assert_ne!(lab.effect("1"), Some(own), "another one is made in its place");
}

/// A machine whose agent was silent until its time was over, beside one that is well; nobody has looked at it yet.
pub(super) fn silent(policy: Document) -> Lab {
    let mut lab = Lab::new(policy);
    for machine in ["1", "2"] {
        lab.declare(machine, |_| ());
    }
    lab.desk.settle();
    for machine in ["1", "2"] {
        lab.desk.report_node(machine, true);
    }
    let seen = lab.desk.now;
    lab.desk.settle();
    lab.desk.now = seen.after(60_000);
    lab.desk.report_silent("1", seen);
    let until = lab.state("1").health.until().expect("its time runs");
    lab.desk.now = until;
    lab.desk.wake(&Lab::stream("1"), until);
    lab
}

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
