//! When a deployment may replace machines that work, and what it still makes when it may not any more.

use std::collections::BTreeSet;

use bailiwick::actors::{
    machine::Spec,
    machine_deployment,
    machine_deployment::{Amount, Command, RollingUpdate, Strategy},
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

/// Declares a deployment of two machines that exchanges them one by one, on Fridays between two and three.
fn declare(lab: &mut Lab, image: &str) {
    let tags = [("image".to_owned(), image.to_owned())].into();
    let one_less = RollingUpdate { max_surge: Amount::Machines(0), max_unavailable: Amount::Machines(1) };
    let spec = machine_deployment::Spec::of(2, Spec { tags, ..Spec::with_provider(name("desk")) });
    let windows = Windows(vec![Window { days: [Day::Fri].into(), from_minute: 120, for_ms: HOUR }]);
    let strategy = Strategy::RollingUpdate(one_less);
    let spec = machine_deployment::Spec { strategy, windows: Some(windows), ..spec };
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
