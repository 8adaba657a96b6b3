//! What the executed cases do not reach.

use super::{
    ConditionStatus, NodeCondition,
    budget::{BudgetView, PermitSeen, Permits, Refusal, room},
    is_healthy,
    token::TokenId,
};
use crate::{
    policy::{ReadinessReading, Throttle, UndeployedReading},
    vocab::{MachinePhase, Timestamp},
};

#[test]
fn a_machine_that_goes_takes_the_room_of_two() {
    let throttle = Throttle { replacements_max: 2, ..Throttle::default() };
    let view = |phase| BudgetView::of("d", [("d", phase)], PermitSeen::Free, UndeployedReading::Everyone);
    assert_eq!(room(&view(MachinePhase::Failed), &throttle), Ok(()));
    assert_eq!(room(&view(MachinePhase::Terminating), &throttle), Err(Refusal::Spent));
}

#[test]
fn a_permit_that_is_used_is_not_stale() {
    let mut permits = Permits::default();
    permits.register("d", 1, Timestamp(0));
    assert!(permits.take("d", Timestamp(50)));
    permits.forget_stale(100, Timestamp(120));
    assert!(!permits.take("d", Timestamp(120)), "known, and taken");
    permits.forget_stale(100, Timestamp(500));
    permits.register("d", 1, Timestamp(500));
    assert!(permits.take("d", Timestamp(500)), "forgotten with its permits");
}

#[test]
fn a_permit_is_taken_once_until_it_is_given_back() {
    let (mut permits, now) = (Permits::default(), Timestamp(0));
    permits.register("d", 1, now);
    permits.release("d", now);
    assert_eq!([permits.take("d", now), permits.take("d", now)], [true, false]);
    permits.register("d", 5, now);
    assert!(!permits.take("d", now), "a key that is known gets no more");
    permits.release("d", now);
    assert!(permits.take("d", now));
    assert!(!permits.take("other", now));
}

#[test]
fn a_node_that_tells_nothing_about_being_ready_is_not() {
    let told = |kind: &str, status| NodeCondition {
        kind: kind.to_owned(),
        status,
        since: Timestamp(0),
        reason: String::new(),
        message: String::new(),
    };
    let pressure = told("DiskPressure", ConditionStatus::False);
    let ready = told(NodeCondition::READY, ConditionStatus::True);
    let watched = ["DiskPressure".to_owned()].into();
    assert!(is_healthy(std::slice::from_ref(&pressure), &watched, ReadinessReading::IfTold));
    assert!(!is_healthy(std::slice::from_ref(&pressure), &watched, ReadinessReading::Required));
    assert!(is_healthy(&[pressure, ready], &watched, ReadinessReading::Required));
    assert!(!is_healthy(&[], &watched, ReadinessReading::IfTold));
}

#[test]
fn ids_from_names_may_collide_and_never_panic() {
    assert_eq!(TokenId::of_name("m-pool-z1-abcde"), TokenId::of_name("m-pool-z1-abcxy"));
    assert_eq!(TokenId::of_name("abcde"), TokenId("616263".to_owned()));
    assert_eq!(TokenId::of_name("ab"), TokenId("616200".to_owned()));
    assert_eq!(TokenId::of_name(""), TokenId("000000".to_owned()));
    assert_eq!(TokenId::of_name("schön").0.len(), 6);
}
