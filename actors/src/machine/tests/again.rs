//! What was given up for a fault that may pass is tried again by itself, in a slow series.

use super::{NOW, declared, failed, fault, stream};
use crate::{
    contract::{
        Decider, NoView,
        given::{after, answer},
    },
    machine::{Command, Effect, Event, Reason as R, State},
    policy::Document,
    vocab::{FaultCode, Timestamp},
};

/// Given up after the first attempt of a series.
fn given_up(again: Option<Timestamp>) -> Vec<Event> {
    [declared(), vec![Event::CreateGivenUp { fault: fault(FaultCode::Unavailable), again }]].concat()
}

fn at(past: &[Event], now: Timestamp, command: &Command) -> (R, Vec<Event>) {
    let verdict = answer(&stream(), &after::<State>(past), command, now, &Document::default());
    verdict.map(|decision| (decision.reason, decision.events)).expect("done")
}

#[test]
fn a_new_series_begins_when_it_is_due_and_not_before() {
    let again = NOW.after(60_000);
    let past = given_up(Some(again));
    assert_eq!(after::<State>(&past).0.pending(&NoView), [Effect::WakeAt(again)].into());
    let woken = |now| at(&past, now, &Command::Wake { due: again });
    assert_eq!(woken(NOW.after(59_999)), (R::NotDueYet, vec![]));
    assert_eq!(woken(again), (R::RetryDue, vec![Event::AttemptBegun]));
    assert_eq!(after::<State>(&given_up(None)).0.pending(&NoView), [].into(), "nothing is due where it is for good");
}

#[test]
fn the_new_series_has_all_attempts_and_ends_as_the_first_one_did() {
    let again = NOW.after(60_000);
    let mut past = [given_up(Some(again)), vec![Event::AttemptBegun]].concat();
    let effort = after::<State>(&past).0.effort().cloned().expect("it is tried");
    assert_eq!((effort.attempt, effort.in_series()), (2, 1));
    for _ in 1..Document::default().machines.attempts_max {
        let attempt = after::<State>(&past).0.effort().expect("it is tried").attempt;
        let (reason, events) = at(&past, again, &failed(attempt, FaultCode::Unavailable));
        assert_eq!(reason, R::WorthRetrying);
        past.extend(events.into_iter().chain([Event::AttemptBegun]));
    }
    let attempt = after::<State>(&past).0.effort().expect("it is tried").attempt;
    let next = Some(again.after(Document::default().retries.again_ms));
    let over = Event::CreateGivenUp { fault: fault(FaultCode::Unavailable), again: next };
    assert_eq!(at(&past, again, &failed(attempt, FaultCode::Unavailable)), (R::RetriesExhausted, vec![over]));
}

#[test]
fn an_operator_does_not_wait_for_it_and_a_hold_puts_it_off() {
    let again = NOW.after(60_000);
    let past = given_up(Some(again));
    assert_eq!(at(&past, NOW, &Command::RetryProvisioning), (R::OperatorRetries, vec![Event::AttemptBegun]));
    let held = [past, vec![Event::Held { reason: "x".into(), until: None, at: NOW }]].concat();
    assert_eq!(at(&held, again, &Command::Wake { due: again }).0, R::OnHold);
    assert_eq!(at(&held, again, &Command::Unhold).1, [Event::HoldEnded, Event::AttemptBegun]);
}
