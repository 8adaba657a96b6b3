//! What keeps a list from being believed too far, many machines from being replaced at once, and what stands in a machine
//! from being forgotten.

use bailiwick::actors::{
    machine::{Command, Instance},
    policy::{AskReading, Document},
    ports::Operation,
    testing::{Answer, Asked, name},
    vocab::{EffectId, HarvestMode, Life, Zone},
};

use super::{
    super::lab::{Lab, done_for},
    guards::silent,
    orphan,
};

/// A lab where unknown instances are removed that were seen so often and for so long.
fn harvesting(sightings_min: u32, grace_ms: u64) -> (Lab, EffectId) {
    let mut policy = Document::default();
    policy.harvest.mode = HarvestMode::All;
    (policy.harvest.sightings_min, policy.harvest.grace_ms) = (sightings_min, grace_ms);
    let mut lab = Lab::new(policy);
    let unknown = orphan(&mut lab);
    (lab, unknown)
}

/// The provider is asked what it has, once; whether it still has this when everything is done that follows.
fn has(lab: &mut Lab, instance: EffectId) -> bool {
    lab.desk.list();
    lab.desk.settle();
    lab.desk.provider.instances.contains_key(&instance)
}

#[test]
fn an_unknown_instance_is_seen_as_often_as_the_policy_says_before_it_goes() {
    // Given that it has to be seen unknown three times, after the list in which it appears
    let (mut lab, unknown) = harvesting(3, 0);
    // When it is listed again and again
    let is_there: Vec<bool> = (0..4).map(|_| has(&mut lab, unknown)).collect();
    // Then it goes with the third time
    assert_eq!(is_there, [true, true, true, false]);
}

#[test]
fn an_unknown_instance_has_its_grace_period() {
    // Given an instance that is nobody's, which was listed often enough
    let (mut lab, unknown) = harvesting(2, 300_000);
    // When its time is not over
    let is_there: Vec<bool> = (0..4).map(|_| has(&mut lab, unknown)).collect();
    // Then it stays, and goes after that
    assert_eq!(is_there, [true; 4]);
    lab.desk.now = lab.desk.now.after(300_000);
    assert!(!has(&mut lab, unknown));
}

#[test]
fn an_instance_that_is_newer_than_the_list_is_not_missed_in_it() {
    // Given a list that was begun before a machine was made, and arrives after that
    let mut lab = Lab::new(Document::default());
    lab.desk.provider.lists_as_of = Some(lab.desk.now);
    lab.declare("1", |_| ());
    lab.desk.settle();
    let own = lab.state("1").running_effect().expect("it runs");
    let hidden = lab.desk.provider.instances.remove(&own).expect("it is there");
    // When the node reads it
    lab.desk.list();
    lab.desk.provider.instances.insert(own, hidden);
    lab.desk.settle();
    // Then the machine is not missed, but is if a newer one lacks it
    assert_eq!(lab.state("1").running_effect(), Some(own));
    lab.desk.provider.lists_as_of = None;
    lab.desk.provider.instances.remove(&own);
    lab.search();
    assert_ne!(lab.state("1").running_effect(), Some(own));
}

#[test]
fn only_the_instance_that_is_overdue_is_given_up() {
    // Given a machine whose instance was replaced, and whose present one is overdue as well but kept back
    let mut policy = Document::default();
    policy.reconciliation.readings.ask_provider = AskReading::Decides;
    let mut lab = silent(policy);
    lab.desk.settle();
    let own = lab.state("1").running_effect().expect("its provider says that it runs");
    let earlier = lab.state("2").running_effect().expect("some other instance");
    // When the order arrives to give up another one
    lab.desk.machine("1", Command::GiveUp { effect: earlier });
    lab.desk.settle();
    // Then the present one stays
    assert_eq!(lab.state("1").running_effect(), Some(own));
}

/// Machines in these zones, whose agents were all silent until their time was over; nobody has looked at them yet.
fn all_silent(zones: [Option<&str>; 3]) -> Lab {
    let mut policy = Document::default();
    policy.reconciliation.readings.ask_provider = AskReading::Never;
    let mut lab = Lab::new(policy);
    let machines = ["1", "2", "3"];
    for (machine, zone) in machines.iter().zip(zones) {
        lab.declare(machine, |spec| spec.zone = zone.map(|zone| Zone(zone.to_owned())));
    }
    lab.declare("well", |spec| spec.zone = Some(Zone("elsewhere".to_owned())));
    lab.desk.settle();
    for machine in machines.iter().chain(&["well"]) {
        lab.desk.report_node(machine, true).expect("it runs");
    }
    lab.desk.settle();
    let seen = lab.desk.now;
    lab.desk.now = seen.after(60_000);
    for machine in machines {
        lab.desk.report_silent(machine, seen);
    }
    lab
}

/// Their time is over, and everything is done that follows. Which of them have another instance then.
fn replaced(lab: &mut Lab) -> Vec<&'static str> {
    let machines = ["1", "2", "3"];
    let before = machines.map(|machine| lab.state(machine).running_effect());
    for machine in machines {
        let until = lab.state(machine).health.until().expect("its time runs");
        lab.desk.now = lab.desk.now.max(until);
        lab.desk.wake(&Lab::stream(machine), until);
    }
    lab.desk.settle();
    let is_replaced = |(machine, effect): (&'static str, Option<EffectId>)| {
        (lab.state(machine).running_effect() != effect).then_some(machine)
    };
    machines.into_iter().zip(before).filter_map(is_replaced).collect()
}

#[test]
fn nobody_is_replaced_while_a_whole_zone_is_silent() {
    // Given three machines in one zone, all of which are silent
    let mut lab = all_silent([Some("a"); 3]);
    // When their time is over
    // Then none of them is replaced
    assert_eq!(replaced(&mut lab), [""; 0]);
    // But one is of as many in two zones.
    assert_eq!(replaced(&mut all_silent([Some("a"), Some("b"), Some("b")])), ["1"]);
}

#[test]
fn nobody_is_replaced_while_the_whole_fleet_is_silent() {
    // Given three machines in several zones, and that the only other one is silent as well
    let mut lab = all_silent([Some("a"), Some("b"), Some("b")]);
    let seen = lab.desk.now;
    lab.desk.now = seen.after(60_000);
    lab.desk.report_silent("well", seen);
    // When their time is over
    // Then none of them is replaced
    assert_eq!(replaced(&mut lab), [""; 0]);
}

/// A machine that stands in another one, which is called `host`.
fn contained() -> (Lab, EffectId, EffectId) {
    let mut lab = Lab::new(Document::default());
    lab.declare("host", |_| ());
    lab.declare("1", |spec| spec.parent = Some(name("host")));
    lab.search();
    lab.desk.report_node("host", true).expect("it runs");
    lab.search();
    let effect = |machine: &str| lab.state(machine).running_effect().expect("it runs");
    let (host, own) = (effect("host"), effect("1"));
    (lab, host, own)
}

#[test]
fn a_machine_does_not_go_before_what_stands_in_it() {
    // Given a machine in which another one stands, whose deletion takes a while
    let (mut lab, host, own) = contained();
    let delete = Asked::Operation(Operation::DeleteMachine);
    lab.desk.provider.answers(Lab::stream("1"), delete, Answer::Late);
    // When the outer one is removed
    lab.desk.machine("host", Command::Remove);
    lab.desk.settle();
    // Then the inner one goes first
    assert_eq!(done_for(&lab, Operation::DeleteMachine, 0), ["1"]);
    assert!(lab.desk.provider.instances.contains_key(&host) && lab.desk.provider.instances.contains_key(&own));
    lab.desk.provider.answers(Lab::stream("1"), delete, Answer::Done);
    lab.desk.settle();
    assert_eq!(["1", "host"].map(|machine| lab.state(machine).life), [Life::Removed; 2]);
}

#[test]
fn a_container_is_lost_with_the_instance_that_it_was_made_in() {
    // Given a machine in which another one stands
    let (mut lab, host, own) = contained();
    // When the instance of the outer one is lost
    lab.desk.lose("host");
    lab.desk.settle();
    // Then the inner one's is, too, and it is made anew in the next one
    assert!(!matches!(lab.state("1").instance, Instance::Running { .. }));
    lab.desk.report_node("host", true).expect("it has another one");
    lab.search();
    let made_in = lab.state("1").parameters().and_then(|started| started.host.clone()).map(|host| host.effect);
    assert!(made_in.is_some() && made_in != Some(host) && made_in == lab.state("host").running_effect());
    assert!(lab.state("1").running_effect().is_some_and(|effect| effect != own));
}
