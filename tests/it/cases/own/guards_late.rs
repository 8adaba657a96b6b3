//! Orders and reports that come too late, or a second time: a machine does not follow them.

use bailiwick::actors::{
    machine::{Command, Report},
    policy::Document,
    ports::{InstanceStatus, MachineInstance},
    testing::{Answer, name},
    vocab::{EffectId, Zone},
};
use bailiwick_journal::Outcome;

use super::{
    super::lab::{Lab, stranger},
    lab, orphan,
};

/// A machine whose instance an operator keeps: it has none now.
fn disowned() -> (Lab, EffectId) {
    let mut lab = lab();
    lab.declare("999", |_| ());
    lab.desk.settle();
    let kept = lab.effect("999").expect("it runs");
    lab.desk.machine("999", Command::Disown);
    lab.desk.settle();
    assert_eq!(lab.state("999").running_effect(), None);
    (lab, kept)
}

/// In which zones the provider has instances of a machine.
fn made_in(lab: &Lab, machine: &str) -> Vec<Option<Zone>> {
    let instances = lab.desk.provider.instances.values().filter(|instance| instance.machine == name(machine));
    instances.map(MachineInstance::zone).collect()
}

#[test]
fn the_loss_of_an_earlier_instance_is_not_the_loss_of_this_one() {
    // Given that the provider lost an instance, and before the machine is told its operator has another one made
    let mut lab = Lab::new(Document::default());
    lab.declare("1", |_| ());
    lab.desk.settle();
    let earlier = lab.effect("1");
    lab.desk.lose("1");
    lab.desk.machine("1", Command::Disown);
    lab.desk.machine("1", Command::RetryProvisioning);
    lab.desk.perform();
    let present = lab.state("1").running_effect();
    assert!(present.is_some() && present != earlier, "{present:?}");
    // When it is told of the loss
    assert!(lab.desk.carry_out(), "the order was under way");
    lab.desk.settle();
    // Then it keeps what it has
    assert_eq!(lab.state("1").running_effect(), present);
}

#[test]
fn an_instance_that_an_operator_keeps_is_not_removed() {
    // Given an instance that is nobody's, whose removal is ordered
    let (mut lab, _) = disowned();
    let unknown = orphan(&mut lab);
    let instance = lab.desk.provider.instances[&unknown].clone();
    lab.desk.list();
    lab.desk.list();
    // When an operator has the machine take it over and let go of it before the order arrives
    lab.desk.machine("999", Command::Adopt { provider: name("desk"), instance });
    assert_eq!(lab.state("999").running_effect(), Some(unknown));
    lab.desk.machine("999", Command::Disown);
    assert!(lab.desk.carry_out(), "the order was under way");
    lab.search();
    // Then it stays
    assert!(lab.desk.provider.instances.contains_key(&unknown));
    assert!(lab.state("999").strays.is_empty());
}

#[test]
fn what_does_not_run_is_not_adopted() {
    // Given a machine without an instance, and one of its name that was stopped since an operator saw it
    let (mut lab, _) = disowned();
    let instance = MachineInstance { status: InstanceStatus::Stopped, ..stranger("999", "i-999") };
    // When it is to be taken over
    let adopt = Command::Adopt { provider: name("desk"), instance };
    let entry = lab.desk.machine("999", adopt);
    // Then that is refused, and the machine has none
    assert_eq!(entry.header.meta.outcome, Outcome::Refused);
    assert_eq!(lab.state("999").running_effect(), None);
}

#[test]
fn a_zone_is_chosen_once_for_an_intent() {
    // Given a machine that is being made in the zone that was chosen for it
    let mut lab = lab();
    let zones = ["a", "b"].map(|zone| Zone(zone.to_owned()));
    lab.desk.provider.zones = zones.clone().into();
    lab.creates("1", [Answer::Late]);
    lab.declare("1", |spec| spec.constraints.zones = zones.clone().into());
    lab.search();
    let chosen = lab.state("1").zone().expect("it was chosen");
    let other = zones.into_iter().find(|zone| *zone != chosen);
    // When another one is chosen
    let effect = lab.effect("1").expect("it is being made");
    lab.desk.machine("1", Command::Site { effect, zone: other, round_is_new: false });
    // Then it is still the first, and its instance is made there
    assert_eq!(lab.state("1").zone(), Some(chosen.clone()));
    lab.creates("1", [Answer::Done]);
    lab.desk.settle();
    assert_eq!(made_in(&lab, "1"), [Some(chosen)]);
}

#[test]
fn what_was_told_already_is_not_noted_again() {
    // Given a machine that is being made, whose provider has told how far it is
    let mut lab = lab();
    lab.creates("1", [Answer::Late]);
    lab.declare("1", |_| ());
    lab.desk.settle();
    let effect = lab.effect("1").expect("it is being made");
    let tell = |lab: &mut Lab| {
        let told = Report::Progress { effect, text: "copying its image".to_owned(), percent: Some(40) };
        lab.desk.machine("1", Command::Report(told)).header.events
    };
    assert_eq!(tell(&mut lab), 1);
    let since = lab.state("1").progress.map(|progress| progress.since);
    // When it tells the same a minute later
    lab.desk.now = lab.desk.now.after(60_000);
    // Then nothing is noted, and it is still known since when it stands there
    assert_eq!(tell(&mut lab), 0);
    assert_eq!(lab.state("1").progress.map(|progress| progress.since), since);
}
