//! A machine that failed, or that somebody wants to look at, is kept as it is for a while.

use std::sync::Arc;

use super::{NOW, State, dead, declared, effect, protection::overdue, running, spec};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, after, case},
    },
    machine::{Aside, Command, Effect, Event, Reason as R, Rejection, Report, Spec, phase},
    vocab::{Life, MachinePhase, Name, Overrides, Timestamp},
};

const UNTIL: Timestamp = Timestamp(NOW.0 + 50_000);

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn laid(until: Timestamp) -> Event {
    Event::LaidAside { until, at: NOW }
}

/// The same machine, which says something else of itself.
fn like(set: Option<Name>, keep_failed_ms: Option<u64>) -> Event {
    let patience = Overrides { keep_failed_ms, ..Overrides::default() };
    Event::SpecChanged { spec: Arc::new(Spec { set, patience, ..(*spec("local")).clone() }) }
}

pub(super) fn table() -> Vec<Case<State>> {
    let keep_failed = || Command::KeepFailed { effect: effect(2) };
    let keep = |until| Command::Keep { until };
    let kept = || then(running(), [laid(UNTIL)]);
    let nothing = |reason| Ok((reason, vec![]));
    let lost = || Command::Report(Report::Lost { effect: effect(2) });
    vec![
        case(overdue(), keep_failed(), Ok((R::FailedKept, vec![laid(NOW.after(7_200_000))]))),
        case(then(overdue(), [like(None, Some(5))]), keep_failed(), Ok((R::FailedKept, vec![laid(NOW.after(5))]))),
        case(then(overdue(), [like(None, Some(0))]), keep_failed(), nothing(R::KeepingNotWanted)),
        case(running(), keep_failed(), nothing(R::Recovered)),
        case(then(overdue(), [Event::Protected { on: true }]), keep_failed(), nothing(R::GivenUpProtected)),
        case(then(overdue(), [laid(UNTIL)]), Command::GiveUp { effect: effect(2) }, nothing(R::Recovered)),
        case(then(overdue(), [laid(UNTIL)]), Command::RetryProvisioning, nothing(R::NothingToRetry)),
        case(running(), keep(UNTIL), Ok((R::OperatorKeeps, vec![laid(UNTIL)]))),
        case(kept(), keep(UNTIL), nothing(R::KeptAlready)),
        case(kept(), keep(UNTIL.after(1)), Ok((R::OperatorKeeps, vec![laid(UNTIL.after(1))]))),
        case(running(), keep(NOW), Err(Rejection::KeepOver)),
        case(declared(), keep(UNTIL), Err(Rejection::NothingToKeep)),
        case([], keep(UNTIL), Err(Rejection::NotDeclared)),
        case(dead(), keep(UNTIL), Err(Rejection::Leaving { life: Life::Dead })),
        case(kept(), Command::Unkeep, Ok((R::OperatorLetsGo, vec![Event::AsideEnded]))),
        case(running(), Command::Unkeep, nothing(R::NotKept)),
        case([], Command::Unkeep, Err(Rejection::NotDeclared)),
        case(kept(), Command::Wake { due: UNTIL }, nothing(R::NotDueYet)),
        case(kept(), Command::Wake { due: UNTIL }, Ok((R::AsideOver, vec![Event::AsideEnded]))).at(UNTIL),
        // What is left of a stopped instance is kept as well.
        case(kept(), lost(), Ok((R::InstanceGoneAside, vec![Event::InstanceLost { at: NOW }]))),
    ]
}

#[test]
fn it_is_out_of_service_until_its_time_is_over_however_well_it_becomes() {
    let set = "fleet".parse().ok();
    let past = then(running(), [like(set, None), laid(UNTIL), Event::BecameWell { at: NOW }]);
    let state = after::<State>(&past).0;
    assert_eq!((state.status(), phase(&state), state.is_ready()), ("kept", MachinePhase::Failed, false));
    assert_eq!(state.pending(&NoView), [Effect::WakeAt(UNTIL)].into());
    // One of a set does not come back: its set tells it to go.
    let state = after::<State>(&then(past, [Event::AsideEnded])).0;
    assert_eq!(state.aside, Some(Aside { since: NOW, until: UNTIL, is_over: true }));
    assert_eq!((phase(&state), state.is_aside(), state.pending(&NoView)), (MachinePhase::Failed, false, [].into()));
}

#[test]
fn a_machine_of_no_set_is_as_before_when_its_time_is_over() {
    let past = then(running(), [laid(UNTIL), Event::BecameWell { at: NOW }, Event::AsideEnded]);
    let state = after::<State>(&past).0;
    assert_eq!((state.aside, phase(&state)), (None, MachinePhase::Running));
}
