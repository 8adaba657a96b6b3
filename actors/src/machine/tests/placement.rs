//! In which zone an instance is made: who waits for a choice, and what a zone that fails costs.

use std::sync::Arc;

use bailiwick_journal::Version;

use super::{NOW, State, effect, failed, fault, name, spec, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, answer, case},
    },
    machine::{Command, Constraints, Effect, Event, Job, Placement, Reason as R, Rejection, Spec, ZoneRule},
    policy::Document,
    vocab::{Fault, FaultCode, Timestamp, Zone},
};

fn zone(name: &str) -> Zone {
    Zone(name.into())
}

/// It may be in `a` or `b`, and the machines supervisor chooses.
fn awaited() -> Vec<Event> {
    let constraints = Constraints { zones: [zone("a"), zone("b")].into(), ..Constraints::default() };
    let spec = Arc::new(Spec { constraints, ..(*spec("local")).clone() });
    vec![Event::Declared { spec }, Event::CreateRequested { at: Timestamp(1) }]
}

fn sited(name: &str) -> Event {
    Event::Sited { zone: Some(zone(name)), at: NOW }
}

fn blamed(name: &str) -> Event {
    Event::ZoneBlamed { zone: zone(name), fault: fault(FaultCode::ResourceExhausted), until: None }
}

fn site(name: &str, round_is_new: bool) -> Command {
    Command::Site { effect: effect(2), zone: Some(zone(name)), round_is_new }
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

pub(super) fn table() -> Vec<Case<State>> {
    let exhausted = |attempt| failed(attempt, FaultCode::ResourceExhausted);
    let all_failed = || then(awaited(), [sited("a"), blamed("a"), sited("b"), blamed("b")]);
    // The first attempt of a series that failed is the one round of both zones.
    let later = Event::CreateRetryScheduled {
        until: NOW.after(Document::default().machines.retry_first_ms),
        fault: fault(FaultCode::ResourceExhausted),
    };
    vec![
        case(awaited(), site("a", false), Ok((R::SiteChosen, vec![sited("a")]))),
        case(then(awaited(), [sited("a")]), site("b", false), Ok((R::SiteNotAwaited, vec![]))),
        case(then(awaited(), [sited("a")]), exhausted(1), Ok((R::ZoneFailed, vec![blamed("a")]))),
        case(all_failed(), site("a", true), Ok((R::AllZonesFailed, vec![sited("a"), later]))),
        case(awaited(), Command::RefuseSite { effect: effect(2) }, Ok((R::NoZoneAllowed, vec![no_zone()]))),
        case(then(awaited(), [Event::RemovalBegan { at: NOW }]), site("a", false), Ok((R::SiteNotAwaited, vec![]))),
        case(
            awaited(),
            Command::Remove,
            Ok((R::RemovalAsked, vec![Event::RemovalBegan { at: NOW }, Event::Died, Event::Removed])),
        ),
    ]
}

fn no_zone() -> Event {
    Event::CreateGivenUp {
        fault: Fault::new(FaultCode::FailedPrecondition, "none of its allowed zones exists"),
        again: None,
    }
}

#[test]
fn under_another_policy_the_next_zone_is_waited_for_and_the_last_attempt_has_one_zone() {
    let mut policy = Document::named("juju-2016").expect("a policy of ours");
    policy.machines.attempts_max = 2;
    let fails = |past: &[Event]| {
        let attempt = after::<State>(past).0.effort().expect("it is being made").attempt;
        let command = failed(attempt, FaultCode::Internal);
        answer(&stream(), &after::<State>(past), &command, NOW, &policy).expect("an answer")
    };
    let until = NOW.after(policy.machines.retry_first_ms);
    let blamed =
        |name: &str| Event::ZoneBlamed { zone: zone(name), fault: fault(FaultCode::Internal), until: Some(until) };
    let first = then(awaited(), [sited("a")]);
    assert_eq!(fails(&first).events, [blamed("a")]);
    let round = then(first, [blamed("a"), Event::AttemptBegun, sited("b"), blamed("b"), Event::AttemptBegun]);
    let again = answer(&stream(), &after::<State>(&round), &site("a", true), NOW, &policy).expect("an answer");
    // Every zone was waited after: the new round begins now.
    let next = Event::CreateRetryScheduled { until: NOW, fault: fault(FaultCode::Internal) };
    assert_eq!(again.events, [sited("a"), next.clone()]);
    let last = fails(&then(round, [sited("a"), next, Event::AttemptBegun]));
    assert!(matches!(last.events[..], [Event::CreateGivenUp { .. }]), "{last:?}");
    assert_eq!(last.reason, R::RetriesExhausted);
}

#[test]
fn nothing_is_begun_for_a_machine_that_goes() {
    let going = then(awaited(), [sited("a"), Event::RemovalBegan { at: NOW }]);
    assert_eq!(after::<State>(&going).0.pending(&NoView), [].into());
}

#[test]
fn nothing_is_made_before_the_zone_is_chosen() {
    let owed = |events: &[Event]| after::<State>(events).0.pending(&NoView);
    assert_eq!(owed(&awaited()), [].into());
    assert_eq!(owed(&then(awaited(), [sited("a")])), [Effect::Create { intent: Version(2), attempt: 1 }].into());
    assert_eq!(after::<State>(&then(awaited(), [sited("a")])).0.zone(), Some(zone("a")));
}

#[test]
fn another_zone_is_tried_at_once_and_uses_up_no_attempt() {
    let (state, _) = after::<State>(&then(awaited(), [sited("a"), blamed("a")]));
    assert!(state.awaits_site());
    assert_eq!(state.effort().map(|effort| (effort.attempt, effort.in_series())), Some((2, 1)));
    // What is reported about the attempt in the zone that failed is over.
    let late = answer(
        &stream(),
        &after::<State>(&then(awaited(), [sited("a"), blamed("a")])),
        &failed(1, FaultCode::ResourceExhausted),
        NOW,
        &Document::default(),
    );
    assert_eq!(late.expect("an answer").reason, R::StaleReport);
}

#[test]
fn a_fault_that_no_zone_is_to_blame_for_is_tried_again_where_it_was() {
    let given = after::<State>(&then(awaited(), [sited("a")]));
    for code in [FaultCode::Internal, FaultCode::DeadlineExceeded] {
        let decision = answer(&stream(), &given, &failed(1, code), NOW, &Document::default()).expect("an answer");
        assert!(matches!(decision.events[..], [Event::CreateRetryScheduled { .. }]), "{code}");
    }
}

#[test]
fn the_last_attempt_in_the_last_zone_gives_up() {
    let mut policy = Document::default();
    policy.machines.attempts_max = 1;
    let given = after::<State>(&then(awaited(), [sited("a"), blamed("a"), sited("b"), blamed("b")]));
    let decision = answer(&stream(), &given, &site("a", true), NOW, &policy).expect("an answer");
    assert!(matches!(decision.events[..], [Event::Sited { .. }, Event::CreateGivenUp { .. }]));
}

#[test]
fn who_says_where_an_instance_is_made() {
    let declared = |spec: Spec| spec.zone_rule() == ZoneRule::Declared(zone("b"));
    assert_eq!(spec("local").zone_rule(), ZoneRule::Provider);
    assert!(declared(Spec { zone: Some(zone("b")), ..(*spec("local")).clone() }));
    let placement = Some(Placement { key: "zone".into(), value: "b".into() });
    assert!(declared(Spec { placement, set: Some(name("fleet")), ..(*spec("local")).clone() }));
    let labels = [("tier".to_owned(), "front".to_owned())].into();
    let by_label = Spec { labels, spread: Some("tier".into()), ..(*spec("local")).clone() };
    assert_eq!(by_label.zone_rule(), ZoneRule::Spread { allowed: None, group: "tier=front".into() });
    let of_set = Spec { set: Some(name("fleet")), ..by_label };
    assert_eq!(of_set.zone_rule(), ZoneRule::Spread { allowed: None, group: "machine-set/fleet".into() });
}

#[test]
fn nobody_becomes_a_sets_machine_or_stops_being_one() {
    let of_set = Arc::new(Spec { set: Some(name("fleet")), ..(*spec("local")).clone() });
    for (was, is) in [(spec("local"), of_set.clone()), (of_set, spec("local"))] {
        let given = after::<State>(&[Event::Declared { spec: was }]);
        let refused = answer(&stream(), &given, &Command::Declare(is), NOW, &Document::default());
        assert_eq!(refused.expect_err("refused"), Rejection::Immutable { field: "spec.set".into() });
    }
}

#[test]
fn jobs_that_are_given_replace_the_default() {
    assert_eq!(spec("local").jobs_in_force(), [Job::HostUnits].into());
    let manager = Spec { jobs: [Job::ManageModel].into(), ..(*spec("local")).clone() };
    assert_eq!(manager.jobs_in_force(), [Job::ManageModel].into());
}
