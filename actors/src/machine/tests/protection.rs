//! What protection keeps from being deleted, by people and by the node; and what happens once it ends.

use super::{NOW, State, dead, effect, lost, running};
use crate::{
    contract::given::{Case, case},
    machine::{Cause, Command, Event, Reason as R, Rejection, Removal, Report, Step},
    vocab::{Life, Timestamp},
};

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn on() -> Event {
    Event::Protected { on: true }
}

/// Its instance runs and its time is over.
pub(super) fn overdue() -> Vec<Event> {
    let well = Event::BecameWell { at: Timestamp(3) };
    let suspect = Event::BecameSuspect { cause: Cause::Silent, at: Timestamp(4), until: Timestamp(5) };
    let over = Event::BecameOverdue { cause: Cause::Silent, until: Timestamp(5), at: Timestamp(5) };
    then(running(), [well, suspect, over])
}

pub(super) fn table() -> Vec<Case<State>> {
    let protect = |on| Command::Protect { on };
    let remove = |force, keep_instance| Command::RemoveWith(Removal { force, keep_instance, ..Removal::default() });
    let off = || Event::Protected { on: false };
    let held = || Event::Held { reason: "wait".into(), until: None, at: NOW };
    let withheld = || Event::Withheld { step: Step::Replace, at: NOW };
    let gone = || Event::InstanceLost { at: NOW };
    let lost_now = || Command::Report(Report::Lost { effect: effect(2) });
    let give_up = || Command::GiveUp { effect: effect(2) };
    vec![
        case(running(), protect(true), Ok((R::ProtectionAsked, vec![on()]))),
        case(then(running(), [on()]), protect(true), Ok((R::ProtectionKnown, vec![]))),
        case(running(), protect(false), Ok((R::ProtectionKnown, vec![]))),
        case(then(running(), [on()]), protect(false), Ok((R::ProtectionAsked, vec![off()]))),
        case([], protect(true), Err(Rejection::NotDeclared)),
        case(dead(), protect(true), Err(Rejection::Leaving { life: Life::Dead })),
        // Nobody removes it, not even by force, nor takes its machine from around its instance.
        case(then(running(), [on()]), Command::Remove, Err(Rejection::Protected)),
        case(then(running(), [on()]), remove(true, false), Err(Rejection::Protected)),
        case(then(running(), [on()]), remove(false, true), Err(Rejection::Protected)),
        // Nor does the node: it stays as it is until somebody says otherwise.
        case(then(running(), [on()]), lost_now(), Ok((R::InstanceGoneProtected, vec![gone()]))),
        case(then(overdue(), [on()]), give_up(), Ok((R::GivenUpProtected, vec![]))),
        case(then(lost(), [on()]), Command::RetryProvisioning, Err(Rejection::Protected)),
        case(then(overdue(), [on()]), Command::RetryProvisioning, Err(Rejection::Protected)),
        // What was left undone is done when it ends, or when the hold does that is on it beside.
        case(
            then(lost(), [on()]),
            protect(false),
            Ok((R::ProtectionAsked, vec![off(), Event::DeleteRequested { at: NOW }])),
        ),
        case(then(lost(), [on(), held()]), protect(false), Ok((R::ProtectionAsked, vec![off(), withheld()]))),
        case(
            then(lost(), [held(), withheld(), on()]),
            Command::Unhold,
            Ok((R::OperatorReleases, vec![Event::HoldEnded])),
        ),
    ]
}
