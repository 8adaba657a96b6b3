//! What is told of sets that make no machines, and of machines that nobody replaces.

use std::sync::Arc;

use bailiwick_actors::{machine, machine_set, testing::name};

use super::*;

fn set(replicas: u32) -> machine_set::Command {
    let template = Arc::new(machine::Spec::with_provider(name("desk")));
    machine_set::Command::Declare(machine_set::Spec { replicas, template, priorities: [].into(), deployment: None })
}

fn troubles(fleet: &Fleet) -> Vec<(String, &'static str, String)> {
    status(fleet).trouble.into_iter().map(|it| (it.entity, it.status, it.why)).collect()
}

fn missing(fleet: &Fleet, entity: &str, wanted: &str) -> Unmet {
    why_not(fleet, &stream(entity), wanted).expect("it can be asked").unmet.expect("something is missing")
}

/// A set of two, whose provider cannot be reached since a while; the agent of one says nothing any more, and its time is over.
fn out() -> (Arc<dyn Journal>, Desk) {
    let (journal, mut desk) = desk();
    desk.machine_set("web", set(2));
    desk.settle();
    desk.list();
    desk.settle();
    for machine in ["web-1", "web-2"] {
        desk.report_node(machine, true);
    }
    desk.provider.list_fails = Some(Fault::new(FaultCode::Unavailable, "no route"));
    desk.list();
    let last_seen = desk.now;
    desk.now = desk.now.after(60_000);
    desk.list();
    desk.report_silent("web-1", last_seen);
    while desk.machine_state("web-1").is_some_and(|state| !machine::is_overdue(state)) {
        assert!(desk.wake_next(), "its time ends: {:?}", desk.machine_state("web-1"));
    }
    desk.settle();
    (journal, desk)
}

#[test]
fn a_provider_that_is_out_is_told_with_whom_it_keeps_from_being_replaced() {
    let (journal, mut desk) = out();
    let fleet = Fleet::at_head(&*journal).unwrap();
    let all = troubles(&fleet);
    let of = |entity: &str| all.iter().find(|(it, ..)| it == entity).unwrap_or_else(|| panic!("{all:?}"));
    let (_, word, why) = of("provider/desk");
    assert_eq!(
        (*word, why.as_str()),
        ("out", "it does not answer (unavailable: no route): none of its machines is replaced until it does")
    );
    assert!(of("machine/web-1").2.contains("provider desk does not answer"), "{all:?}");
    let unmet = missing(&fleet, "machine/web-1", "replaced");
    assert_eq!(unmet.because, "provider desk does not answer");
    assert!(unmet.satisfied_by.starts_with("an answer from provider desk"), "{unmet:?}");
    // A set that wants more is told the same.
    desk.machine_set("web", set(3));
    desk.settle();
    let fleet = Fleet::at_head(&*journal).unwrap();
    let unmet = missing(&fleet, "machine-set/web", "at-its-number");
    assert_eq!((unmet.precondition, unmet.blocked_by), ("an answer from its provider", None));
    // When it answers the trouble is over, and the machine gets all of its time again.
    desk.provider.list_fails = None;
    desk.list();
    desk.settle();
    let fleet = Fleet::at_head(&*journal).unwrap();
    assert!(troubles(&fleet).iter().all(|(entity, ..)| entity != "provider/desk"));
    let unmet = missing(&fleet, "machine/web-1", "replaced");
    assert!(unmet.because.contains("(in 9m59s) to recover"), "{unmet:?}");
    assert_eq!(machines(&fleet).len(), 3);
}

#[test]
fn a_set_that_is_frozen_or_held_says_so_and_what_helps() {
    let (journal, mut desk) = desk();
    desk.machine_set("web", set(1));
    for machine in ["a", "b", "c", "d"] {
        let spec = machine::Spec { set: Some(name("web")), ..machine::Spec::with_provider(name("desk")) };
        desk.machine(machine, machine::Command::Declare(Arc::new(spec)));
    }
    desk.look();
    desk.carry_out();
    let fleet = Fleet::at_head(&*journal).unwrap();
    let told = troubles(&fleet);
    let frozen = "frozen with 4 machines; its limit is 4";
    assert_eq!(told, [("machine-set/web".to_owned(), "frozen", frozen.to_owned())]);
    desk.machine_set("web", machine_set::Command::Thaw);
    desk.machine_set("web", machine_set::Command::Hold { reason: "audit".into(), until: None });
    let fleet = Fleet::at_head(&*journal).unwrap();
    let [row] = &machine_sets(&fleet)[..] else { panic!("one set") };
    assert_eq!((row.status, row.frozen.as_deref(), row.held.as_deref()), ("held", None, Some("audit")));
    let unmet = missing(&fleet, "machine-set/web", "at-its-number");
    assert_eq!(
        (unmet.because.as_str(), unmet.satisfied_by.as_str()),
        ("it is held: audit", "`bailiwick unhold machine-set/web`")
    );
}

#[test]
fn what_a_set_has_to_declare_is_no_operators_turn() {
    // given a set, and a machine that nobody declared
    let (journal, mut desk) = lab();
    desk.machine_set("pool", set(0));
    let fleet = Fleet::at_head(&*journal).unwrap();
    // when something waits for a machine of that set, or for that machine
    let command = |machine: &str| why_not_sets::unmet_of(&fleet, machine, "ready", "its machine").command;
    // then only the second one is for somebody to apply
    assert_eq!(command("machine/pool-3"), None);
    for machine in ["machine/alone", "machine/pool-x", "machine/other-3"] {
        assert!(command(machine).is_some(), "{machine}");
    }
}
