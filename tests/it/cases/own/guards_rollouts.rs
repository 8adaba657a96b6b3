//! When a deployment may replace machines that work, and how many; and what it still makes when it may not any more.

use std::collections::BTreeSet;

use bailiwick::actors::{
    machine::Spec,
    machine_deployment,
    machine_deployment::{Amount, Command, RollingUpdate, Strategy},
    machine_set,
    policy::Document,
    ports::Operation,
    testing::{Answer, Asked, name},
    vocab::{Day, EffectId, Timestamp, Window, Windows},
};
use bailiwick_journal::StreamId;

use super::super::lab::Lab;

const HOUR: u64 = 3_600_000;

/// The first Friday after the day on which cases begin, at two o'clock, and an hour later.
const OPENS: Timestamp = Timestamp((15 * 24 + 2) * HOUR);
const CLOSES: Timestamp = Timestamp((15 * 24 + 3) * HOUR);

/// A deployment of so many machines, which are exchanged with so many more, and one less.
fn exchanging(replicas: u32, image: &str, surge: u32) -> machine_deployment::Spec {
    let tags = [("image".to_owned(), image.to_owned())].into();
    let (max_surge, max_unavailable) = (Amount::Machines(surge), Amount::Machines(1));
    let strategy = Strategy::RollingUpdate(RollingUpdate { max_surge, max_unavailable });
    let spec = machine_deployment::Spec::of(replicas, Spec { tags, ..Spec::with_provider(name("desk")) });
    machine_deployment::Spec { strategy, ..spec }
}

/// Declares a deployment of two machines that exchanges them one by one, on Fridays between two and three.
fn declare(lab: &mut Lab, image: &str) {
    let windows = Windows(vec![Window { days: [Day::Fri].into(), from_minute: 120, for_ms: HOUR }]);
    let spec = machine_deployment::Spec { windows: Some(windows), ..exchanging(2, image, 0) };
    lab.desk.machine_deployment("shop", Command::Declare(spec));
}

/// Everything is done that follows, and all machines run well.
fn go_on(lab: &mut Lab) {
    for _ in 0..4 {
        lab.search();
        for machine in machines(lab) {
            lab.desk.report_node(&machine, true);
        }
    }
}

/// The machines that the provider has instances of.
fn machines(lab: &Lab) -> BTreeSet<String> {
    lab.desk.provider.instances.values().map(|instance| instance.machine.to_string()).collect()
}

fn instances(lab: &Lab) -> BTreeSet<EffectId> {
    lab.desk.provider.instances.keys().copied().collect()
}

/// A deployment whose machines run, which is to have other ones. The window is not open.
fn waiting() -> (Lab, BTreeSet<EffectId>) {
    let mut lab = Lab::new(Document::default());
    declare(&mut lab, "first");
    go_on(&mut lab);
    let before = instances(&lab);
    assert_eq!(before.len(), 2);
    declare(&mut lab, "second");
    go_on(&mut lab);
    (lab, before)
}

/// The window opens.
fn open(lab: &mut Lab) {
    let deployment = StreamId::new("machine-deployment", "shop").expect("a valid name");
    assert!(lab.desk.due().contains(&(OPENS, deployment.clone())), "it waits for that");
    lab.desk.now = OPENS;
    lab.desk.wake(&deployment, OPENS);
}

#[test]
fn nobody_who_works_is_replaced_outside_its_windows() {
    // Given a deployment that is to have other machines
    let (mut lab, before) = waiting();
    // Then it keeps those that it has until its window opens
    assert_eq!(instances(&lab), before);
    open(&mut lab);
    go_on(&mut lab);
    assert!(instances(&lab).is_disjoint(&before));
    assert_eq!(instances(&lab).len(), 2);
}

#[test]
fn what_went_in_the_last_window_is_made_when_that_has_closed() {
    // Given a deployment one of whose machines is being deleted in its window, to make room for another one
    let (mut lab, before) = waiting();
    let delete = Asked::Operation(Operation::DeleteMachine);
    let old = machines(&lab).into_iter().map(|machine| Lab::stream(&machine)).collect::<Vec<_>>();
    for machine in &old {
        lab.desk.provider.answers(machine.clone(), delete, Answer::Late);
    }
    open(&mut lab);
    go_on(&mut lab);
    assert_eq!(instances(&lab), before, "nothing is made before that one is gone");
    // When that is done after the window has closed
    lab.desk.now = CLOSES;
    for machine in &old {
        lab.desk.provider.answers(machine.clone(), delete, Answer::Done);
    }
    go_on(&mut lab);
    // Then one is made in its place, and the other one stays
    assert_eq!((instances(&lab).len(), instances(&lab).intersection(&before).count()), (2, 1));
}

#[test]
fn a_rollout_does_not_rely_on_machines_that_a_set_is_yet_to_remove() {
    // Given a deployment of four machines, three of which have to run, whose set is held
    let mut lab = Lab::new(Document::default());
    lab.desk.machine_deployment("shop", Command::Declare(exchanging(4, "first", 2)));
    go_on(&mut lab);
    let old = machines(&lab);
    let set = lab.state(old.first().expect("it has machines")).spec.and_then(|spec| spec.set.clone());
    let set = set.expect("its machines are a set's");
    let hold = machine_set::Command::Hold { reason: "a look at it".to_owned(), until: None };
    lab.desk.machine_set(set.as_str(), hold);
    // When it is to have other machines, one of which comes to run well
    lab.desk.machine_deployment("shop", Command::Declare(exchanging(4, "second", 2)));
    lab.search();
    let new: Vec<String> = machines(&lab).difference(&old).cloned().collect();
    assert_eq!((old.len(), new.len()), (4, 2));
    lab.desk.report_node(&new[0], true).expect("it runs");
    lab.search();
    assert_eq!(machines(&lab).intersection(&old).count(), 4, "none goes while their set is held");
    // Then three run well when the set is not held any more, and does all that was asked of it
    lab.desk.machine_set(set.as_str(), machine_set::Command::Unhold);
    lab.search();
    assert_eq!(machines(&lab).intersection(&old).count() + 1, 3);
}
