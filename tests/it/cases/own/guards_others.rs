//! What keeps hands off what another control plane has started, and what keeps an attempt from being made that must not be.

use bailiwick::actors::{
    machine::{Command, Report},
    policy::Document,
    ports::{MachineInstance, Operation},
    testing::{Answer, Asked, Call, name},
    vocab::{EffectId, FaultCode, Life, Outlook, Zone},
};

use super::{
    super::lab::{Lab, Making, done_for, fails, making, stranger},
    guards_starts::unmet_of,
    lab,
};

/// A machine that cannot be made: under the id that it asks for is what another control plane has started.
fn displaced() -> (Lab, MachineInstance) {
    let mut lab = lab();
    lab.declare("1", |_| ());
    let effect = lab.effect("1").expect("it is to be made");
    let there = unmet_of(MachineInstance { effect, ..stranger("1", "i-other") });
    lab.desk.provider.instances.insert(effect, there.clone());
    (lab, there)
}

/// The machine is told so.
fn tell(lab: &mut Lab, there: &MachineInstance) {
    let (effect, instance) = (there.effect, there.instance.clone());
    let nonce = there.nonce().expect("it tells one").to_owned();
    lab.desk.machine("1", Command::Report(Report::StartedByOther { effect, instance, nonce }));
    assert_eq!(making(&lab.state("1")), Making::Error);
}

#[test]
fn what_is_known_to_be_another_control_planes_is_not_deleted_with_the_machine() {
    // Given a machine that knows that nothing of its own is there
    let (mut lab, there) = displaced();
    tell(&mut lab, &there);
    let calls = lab.desk.provider.calls.len();
    // When it is removed
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // Then it is gone without a call to its provider, who still has the other's
    assert_eq!((lab.state("1").life, lab.desk.provider.calls.len()), (Life::Removed, calls));
    assert_eq!(lab.desk.provider.instances.get(&there.effect), Some(&there));
}

#[test]
fn what_was_not_seen_to_be_ours_is_looked_at_before_it_is_deleted() {
    // Given a machine whose creates have all failed, so that nobody knows what is there
    let (mut lab, there) = displaced();
    lab.creates("1", [0; 3].map(|_| fails(FaultCode::InvalidArgument, "no")));
    lab.desk.provider.answers(Lab::stream("1"), Asked::Lookup, Answer::Absent);
    lab.desk.provider.answers(Lab::stream("1"), Asked::Lookup, Answer::Absent);
    lab.run_attempts();
    assert_eq!(making(&lab.state("1")), Making::Error);
    // When it is removed
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // Then what another control plane has started under its id stays, and the machine goes
    assert_eq!(lab.desk.provider.instances.get(&there.effect), Some(&there));
    assert_eq!(lab.state("1").life, Life::Removed);
}

#[test]
fn what_is_known_to_be_another_control_planes_is_no_stray() {
    // Given a machine that has its own by now, and knows that what it asked for before is another control plane's
    let (mut lab, there) = displaced();
    tell(&mut lab, &there);
    let own = stranger("1", "own");
    lab.desk.machine("1", Command::Adopt { provider: name("desk"), instance: own });
    // When its removal as a stray was ordered before that was known
    let order = Command::RemoveStray { provider: name("desk"), instance: there.clone() };
    lab.desk.machine("1", order);
    // Then nothing is begun
    assert!(lab.state("1").strays.is_empty());
    lab.desk.settle();
    assert!(lab.desk.provider.instances.contains_key(&there.effect));
}

#[test]
fn another_control_planes_instance_is_nobodys_orphan() {
    // Given a machine that has its own by now, where unknown ones are removed as soon as they are seen
    let (mut lab, there) = displaced();
    tell(&mut lab, &there);
    let own = stranger("1", "own");
    lab.desk.provider.instances.insert(own.effect, own.clone());
    lab.desk.machine("1", Command::Adopt { provider: name("desk"), instance: own });
    let told = lab.entries("1").len();
    // When its provider lists both
    lab.search();
    // Then nobody is told to remove the other's
    assert_eq!(lab.entries("1").len(), told);
    assert!(lab.desk.provider.instances.contains_key(&there.effect));
}

#[test]
fn what_cannot_be_done_is_not_tried_again_by_itself() {
    for (code, again) in [(FaultCode::InvalidArgument, false), (FaultCode::Unavailable, true)] {
        // Given that series of two attempts follow one another, and no answer is believed to be the last word
        let mut policy = Document::default();
        policy.machines.attempts_max = 2;
        policy.retries.permanent_max = 0;
        let mut lab = Lab::new(policy);
        lab.creates("1", [0; 2].map(|_| fails(code, "no")));
        // When a machine's first series has ended
        lab.declare("1", |_| ());
        lab.desk.settle();
        let (due, stream) = lab.desk.due().into_iter().next().expect("the second attempt follows");
        lab.desk.now = due;
        lab.desk.wake(&stream, due);
        lab.desk.settle();
        assert_eq!(making(&lab.state("1")), Making::Error);
        // Then another one follows only where it may help
        assert_eq!(lab.desk.due().iter().any(|(_, stream)| *stream == Lab::stream("1")), again, "{code:?}");
    }
}

#[test]
fn nothing_is_begun_for_a_machine_that_goes() {
    // Given a machine that is to be made, and that a volume is kept ready for
    let mut lab = lab();
    lab.declare("1", |_| ());
    lab.desk.machine("1", Command::ReserveAttachment { volume: name("data") });
    // When it is removed before its provider was asked
    lab.desk.machine("1", Command::Remove);
    lab.desk.settle();
    // Then it waits for the volume, and its provider is not asked
    assert_eq!(lab.state("1").life, Life::Dying);
    assert_eq!(done_for(&lab, Operation::CreateMachine, 0), [""; 0]);
    lab.desk.machine("1", Command::ReleaseAttachment { volume: name("data") });
    lab.desk.settle();
    assert_eq!(lab.state("1").life, Life::Removed);
}

#[test]
fn a_failure_that_is_not_the_zones_uses_up_an_attempt() {
    for (code, is_the_zones) in [(FaultCode::Internal, false), (FaultCode::ResourceExhausted, true)] {
        // Given a machine that is to be made in one of two zones
        let mut lab = Lab::new(Document::default());
        let zones = ["a", "b"].map(|zone| Zone(zone.to_owned()));
        lab.desk.provider.zones = zones.clone().into();
        lab.creates("1", [fails(code, "no")]);
        // When its first create fails
        lab.declare("1", |spec| spec.constraints.zones = zones.into());
        lab.search();
        // Then it waits where it was if that was not the zone's, or else is made in the other one at once
        let asked = done_in(&lab);
        let waits = lab.state("1").effort().is_some_and(|effort| matches!(effort.outlook, Outlook::Waiting { .. }));
        assert_eq!((asked.len(), waits), if is_the_zones { (2, false) } else { (1, true) }, "{code:?}: {asked:?}");
        lab.run_attempts();
        let asked = done_in(&lab);
        assert_eq!(asked[0] == asked[1], !is_the_zones, "{code:?}: {asked:?}");
    }
}

/// In which zones the provider was asked to make a machine.
fn done_in(lab: &Lab) -> Vec<Option<Zone>> {
    let creates = Asked::Operation(Operation::CreateMachine);
    lab.desk.provider.calls.iter().filter(|call| call.asked == creates).map(|call| call.zone.clone()).collect()
}

#[test]
fn an_answer_about_an_instance_is_believed_for_a_while_only() {
    // Given two machines whose time is over, and whose provider was asked about both; one of them is being replaced
    let mut lab = Lab::new(Document::default());
    let all = ["1", "2", "3", "4"];
    for machine in all {
        lab.declare(machine, |_| ());
    }
    lab.desk.settle();
    for machine in all {
        lab.desk.report_node(machine, true);
    }
    lab.desk.settle();
    let seen = lab.desk.now;
    lab.desk.now = seen.after(60_000);
    for machine in ["1", "2"] {
        lab.desk.report_silent(machine, seen);
    }
    for machine in ["1", "2"] {
        let until = lab.state(machine).health.until().expect("its time runs");
        lab.desk.now = lab.desk.now.max(until);
        lab.desk.wake(&Lab::stream(machine), until);
    }
    lab.creates("1", [Answer::Late]);
    let own = lab.state("2").running_effect().expect("it runs");
    lab.desk.settle();
    assert_eq!((asked_about(&lab, own), lab.state("2").running_effect()), (1, Some(own)), "it waits for room");
    // When there is room for the other one after a long time
    lab.desk.now = lab.desk.now.after(3_600_000);
    lab.creates("1", [Answer::Done]);
    lab.desk.settle();
    lab.desk.report_node("1", true);
    lab.desk.settle();
    // Then its provider is asked about it once more before it is replaced
    assert_eq!(asked_about(&lab, own), 2);
    assert_ne!(lab.state("2").running_effect(), Some(own));
}

fn asked_about(lab: &Lab, instance: EffectId) -> usize {
    let about = |call: &&Call| call.asked == Asked::Lookup && call.effect == Some(instance);
    lab.desk.provider.calls.iter().filter(about).count()
}
