//! What operators may do to a machine, beside declaring and removing it; and what happens to instances of its name.

use bailiwick_journal::Version;

use super::{
    NOW, State, dead, declared, dying, effect, failed, fault, given_up, instance, joining, lost, name, removed,
    replacing, running, spec, stream, waiting, with_nonce, with_volume,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, after, answer, case},
    },
    machine::{Command, Effect, Event, Instance, Leaving, Reason as R, Rejection, Removal, Report, Skipped, Step},
    policy::Document,
    ports::{InstanceStatus, MachineInstance},
    vocab::{EffectId, FaultCode, HarvestMode, InstanceId, Life, Timestamp},
};

fn hold_until(until: Option<u64>) -> Command {
    Command::Hold { reason: "wait".into(), until: until.map(Timestamp) }
}

fn held(until: Option<u64>) -> Event {
    Event::Held { reason: "wait".into(), until: until.map(Timestamp), at: NOW }
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

fn withheld(step: Step) -> Event {
    Event::Withheld { step, at: NOW }
}

fn with(force: bool, keep_instance: bool) -> Command {
    Command::RemoveWith(Removal { force, keep_instance, ..Removal::default() })
}

/// An instance of this name that was made under an id of nobody's.
fn foreign() -> MachineInstance {
    MachineInstance { instance: InstanceId("i-9".into()), ..instance(90) }
}

fn adopt(instance: MachineInstance) -> Command {
    Command::Adopt { provider: name("local"), instance }
}

fn adopted() -> Event {
    Event::Adopted { instance: foreign(), at: NOW }
}

fn remove_stray(instance: MachineInstance) -> Command {
    Command::RemoveStray { provider: name("local"), instance }
}

fn stray(of: EffectId, instance: Option<&str>) -> Event {
    let instance = instance.map(|text| InstanceId(text.into()));
    Event::StrayFound { effect: of, provider: name("local"), instance, at: NOW }
}

fn left(of: u64, why: Leaving) -> Event {
    Event::InstanceLeft { effect: effect(of), why }
}

fn disowned() -> Vec<Event> {
    then(running(), [left(2, Leaving::OperatorKeeps)])
}

fn with_stray() -> Vec<Event> {
    then(running(), [stray(effect(90), Some("i-9"))])
}

pub(super) fn table() -> Vec<Case<State>> {
    [holds(), removals(), strangers()].into_iter().flatten().collect()
}

fn holds() -> Vec<Case<State>> {
    let lost_now = || Command::Report(Report::Lost { effect: effect(2) });
    let deleted = || Command::Report(Report::Deleted { attempt: 1 });
    let wake = || Command::Wake { due: NOW };
    vec![
        case(running(), hold_until(None), Ok((R::OperatorHolds, vec![held(None)]))),
        case(then(running(), [held(None)]), hold_until(None), Ok((R::HeldAlready, vec![]))),
        case(
            then(running(), [held(None)]),
            hold_until(Some(100_001)),
            Ok((R::OperatorHolds, vec![held(Some(100_001))])),
        ),
        case(running(), hold_until(Some(100_000)), Err(Rejection::HoldOver)),
        case(running(), Command::Hold { reason: String::new(), until: None }, Err(Rejection::BadHold)),
        case([], hold_until(None), Err(Rejection::NotDeclared)),
        case(running(), Command::Unhold, Ok((R::NotHeld, vec![]))),
        // What would have happened is noted, once, and happens when the hold ends.
        case(
            then(running(), [held(None)]),
            lost_now(),
            Ok((R::OnHold, vec![Event::InstanceLost { at: NOW }, withheld(Step::Replace)])),
        ),
        case(
            then(lost(), [held(None), withheld(Step::Replace)]),
            Command::Unhold,
            Ok((R::OperatorReleases, vec![Event::HoldEnded, Event::DeleteRequested { at: NOW }])),
        ),
        case(then(replacing(), [held(None)]), deleted(), Ok((R::OnHold, vec![Event::Deleted, withheld(Step::Create)]))),
        case(
            then(replacing(), [held(None), Event::Deleted, withheld(Step::Create)]),
            Command::Unhold,
            Ok((R::OperatorReleases, vec![Event::HoldEnded, Event::CreateRequested { at: NOW }])),
        ),
        case(then(waiting(5), [held(None)]), wake(), Ok((R::OnHold, vec![withheld(Step::Attempt)]))),
        case(then(waiting(5), [held(None), withheld(Step::Attempt)]), wake(), Ok((R::NotDueYet, vec![]))),
        case(
            then(waiting(5), [held(Some(99_999)), withheld(Step::Attempt)]),
            wake(),
            Ok((R::HoldOver, vec![Event::HoldEnded, Event::AttemptBegun])),
        ),
    ]
}

fn mounted() -> Vec<Event> {
    then(running(), [Event::MountReserved { filesystem: name("files") }])
}

fn unmounted() -> Event {
    Event::MountReleased { filesystem: name("files") }
}

fn removals() -> Vec<Case<State>> {
    let skipped = || Event::Skipped { what: Skipped::Attachment { volume: name("data") } };
    let going = |until| {
        let fault = fault(FaultCode::Internal);
        then(dead(), [Event::DeleteRetryScheduled { until: Timestamp(until), fault }])
    };
    vec![
        case(then(running(), [held(None)]), Command::Remove, Err(Rejection::Held { reason: "wait".into() })),
        case(
            then(running(), [held(None)]),
            with(true, false),
            Ok((
                R::RemovalAsked,
                vec![Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }],
            )),
        ),
        case(
            with_volume(),
            with(true, false),
            Ok((
                R::RemovalForced,
                vec![Event::RemovalBegan { at: NOW }, skipped(), Event::Died, Event::DeleteRequested { at: NOW }],
            )),
        ),
        case(
            dying(),
            with(true, false),
            Ok((R::RemovalForced, vec![skipped(), Event::Died, Event::DeleteRequested { at: NOW }])),
        ),
        // A filesystem that is mounted holds a machine as an attached volume does.
        case(mounted(), Command::Remove, Ok((R::RemovalBlocked, vec![Event::RemovalBegan { at: NOW }]))),
        case(
            then(mounted(), [Event::RemovalBegan { at: NOW }]),
            Command::ReleaseMount { filesystem: name("files") },
            Ok((R::LastAttachmentGone, vec![unmounted(), Event::Died, Event::DeleteRequested { at: NOW }])),
        ),
        case(
            then(mounted(), [Event::AttachmentReserved { volume: name("data") }, Event::RemovalBegan { at: NOW }]),
            Command::ReleaseMount { filesystem: name("files") },
            Ok((R::AttachmentGone, vec![unmounted()])),
        ),
        case(mounted(), Command::ReserveMount { filesystem: name("files") }, Err(Rejection::StillReserved)),
        case(
            then(mounted(), [Event::RemovalBegan { at: NOW }]),
            with(true, false),
            Ok((
                R::RemovalForced,
                vec![
                    Event::Skipped { what: Skipped::Mount { filesystem: name("files") } },
                    Event::Died,
                    Event::DeleteRequested { at: NOW },
                ],
            )),
        ),
        case(dead(), with(true, false), Ok((R::DeletionUnderWay, vec![]))),
        case(dead(), with(false, false), Ok((R::AlreadyGoing, vec![]))),
        case(
            going(200_000),
            with(true, false),
            Ok((
                R::RemovalForced,
                vec![
                    Event::Skipped { what: Skipped::DeletionOf { effect: effect(2) } },
                    left(2, Leaving::Forced),
                    Event::Removed,
                ],
            )),
        ),
        case(
            running(),
            with(false, true),
            Ok((
                R::InstanceSpared,
                vec![
                    Event::InstanceToStay,
                    Event::RemovalBegan { at: NOW },
                    Event::Died,
                    left(2, Leaving::OperatorKeeps),
                    Event::Removed,
                ],
            )),
        ),
        // What was never finished does not stay.
        case(
            declared(),
            with(false, true),
            Ok((
                R::RemovalAsked,
                vec![
                    Event::InstanceToStay,
                    Event::RemovalBegan { at: NOW },
                    Event::Died,
                    Event::DeleteRequested { at: NOW },
                ],
            )),
        ),
    ]
}

fn strangers() -> Vec<Case<State>> {
    let deleted = |attempt| Command::Report(Report::StrayDeleted { effect: effect(90), attempt });
    let not_deleted =
        |code| Command::Report(Report::StrayDeleteFailed { effect: effect(90), attempt: 1, fault: fault(code) });
    let stray_again = Event::StrayRetryScheduled {
        effect: effect(90),
        until: NOW.after(10_000),
        fault: fault(FaultCode::PermissionDenied),
    };
    // As a journal of before has it: what is to go was given up then.
    let given_up_stray = Event::StrayGivenUp { effect: effect(90), fault: fault(FaultCode::PermissionDenied) };
    vec![
        case(running(), Command::Disown, Ok((R::OperatorDisowns, vec![left(2, Leaving::OperatorKeeps)]))),
        case(declared(), Command::Disown, Err(Rejection::NoInstance)),
        case(dying(), Command::Disown, Err(Rejection::Leaving { life: Life::Dying })),
        case(disowned(), adopt(foreign()), Ok((R::OperatorAdopts, vec![adopted(), joining()]))),
        case(
            disowned(),
            adopt(instance(2)),
            Ok((R::OperatorAdopts, vec![Event::Adopted { instance: instance(2), at: NOW }, joining()])),
        ),
        case(
            disowned(),
            Command::RetryProvisioning,
            Ok((R::OperatorRetries, vec![Event::CreateRequested { at: NOW }])),
        ),
        // What may have been made for the present intent goes.
        case(given_up(), adopt(foreign()), Ok((R::OperatorAdopts, vec![adopted(), joining(), stray(effect(2), None)]))),
        case(lost(), adopt(foreign()), Ok((R::OperatorAdopts, vec![adopted(), joining(), stray(effect(2), None)]))),
        case(running(), adopt(instance(2)), Ok((R::AlreadyItsOwn, vec![]))),
        case(running(), adopt(foreign()), Err(Rejection::HasInstance { instance: InstanceId("i-1".into()) })),
        case(declared(), adopt(foreign()), Err(Rejection::Busy)),
        case(replacing(), adopt(foreign()), Err(Rejection::Busy)),
        case(
            disowned(),
            adopt(MachineInstance { machine: name("db"), ..foreign() }),
            Err(Rejection::NotItsName { machine: name("db") }),
        ),
        case(
            disowned(),
            adopt(MachineInstance { status: InstanceStatus::Stopped, ..foreign() }),
            Err(Rejection::NotRunning),
        ),
        case(
            disowned(),
            adopt(with_nonce(foreign(), "supervisor/machines:another")),
            Err(Rejection::OtherNonce { nonce: "supervisor/machines:another".into() }),
        ),
        case(
            disowned(),
            Command::Adopt { provider: name("other"), instance: foreign() },
            Err(Rejection::OtherProvider { provider: name("other") }),
        ),
        case(then(lost(), [stray(effect(90), None)]), adopt(foreign()), Err(Rejection::BeingRemoved)),
        case(running(), remove_stray(foreign()), Ok((R::StrayUnknown, vec![stray(effect(90), Some("i-9"))]))),
        case(removed(), remove_stray(foreign()), Ok((R::StrayUnknown, vec![stray(effect(90), Some("i-9"))]))),
        case(
            removed(),
            Command::RemoveReturned { provider: name("local"), instance: foreign() },
            Ok((R::StrayReturned, vec![stray(effect(90), Some("i-9"))])),
        ),
        case([], remove_stray(foreign()), Ok((R::StrayUnknown, vec![stray(effect(90), Some("i-9"))]))),
        case(
            then(running(), [held(None)]),
            remove_stray(foreign()),
            Ok((R::StrayUnknown, vec![stray(effect(90), Some("i-9")), withheld(Step::RemoveStray)])),
        ),
        case(running(), remove_stray(instance(2)), Ok((R::AlreadyItsOwn, vec![]))),
        case(declared(), remove_stray(instance(2)), Ok((R::AlreadyItsOwn, vec![]))),
        case(disowned(), remove_stray(instance(2)), Ok((R::StrayKept, vec![]))),
        case(with_stray(), remove_stray(foreign()), Ok((R::StrayGoing, vec![]))),
        case(with_stray(), deleted(1), Ok((R::StrayAbsent, vec![Event::StrayGone { effect: effect(90) }]))),
        case(with_stray(), deleted(2), Err(Rejection::UnknownAttempt { attempt: 2 })),
        case(running(), deleted(1), Ok((R::StaleReport, vec![]))),
        case(
            with_stray(),
            not_deleted(FaultCode::Unavailable),
            Ok((
                R::WorthRetrying,
                vec![Event::StrayRetryScheduled {
                    effect: effect(90),
                    until: Timestamp(110_000),
                    fault: fault(FaultCode::Unavailable),
                }],
            )),
        ),
        case(with_stray(), not_deleted(FaultCode::PermissionDenied), Ok((R::WorthRetrying, vec![stray_again]))),
        case(
            then(with_stray(), [given_up_stray]),
            Command::RetryProvisioning,
            Ok((R::OperatorRetries, vec![Event::StrayAttemptBegun { effect: effect(90) }])),
        ),
    ]
}

#[test]
fn the_policy_may_leave_the_instances_of_dead_machines_alone() {
    let mut policy = Document::default();
    for mode in HarvestMode::ALL_MODES {
        policy.harvest.mode = mode;
        let verdict =
            answer(&stream(), &after::<State>(&running()), &Command::Remove, NOW, &policy).expect("an answer");
        let is_left = verdict.events.contains(&left(2, Leaving::PolicySpares));
        assert_eq!(is_left, !mode.stops_dead(), "{mode}");
        // In every mode the machine itself goes.
        assert_eq!(is_left, verdict.events.contains(&Event::Removed), "{mode}");
    }
}

#[test]
fn an_adopted_instance_is_deleted_by_the_id_that_it_was_made_under() {
    let given = after::<State>(&then(disowned(), [adopted()]));
    assert_eq!(given.0.own(JOURNAL, &stream()), Some(effect(90)));
    let going =
        then(disowned(), [adopted(), Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }]);
    let (state, _) = after::<State>(&going);
    let Instance::Deleting { of, .. } = state.instance else { panic!("{:?}", state.instance) };
    assert_eq!(state.effect_of(JOURNAL, &stream(), of), effect(90));
    // The next one is made under an id of its own.
    let again = then(disowned(), [adopted(), Event::InstanceLost { at: NOW }, Event::DeleteRequested { at: NOW }]);
    let replaced = then(again, [Event::Deleted, Event::CreateRequested { at: NOW }]);
    assert_eq!(after::<State>(&replaced).0.own(JOURNAL, &stream()), Some(effect(9)));
}

#[test]
fn what_an_operator_kept_stays_kept_when_the_name_is_declared_again() {
    let gone = then(
        running(),
        [Event::RemovalBegan { at: NOW }, Event::Died, left(2, Leaving::OperatorKeeps), Event::Removed],
    );
    let anew = then(gone, [Event::Declared { spec: spec("local") }, Event::CreateRequested { at: NOW }]);
    let (state, _) = after::<State>(&anew);
    assert!(state.claims(JOURNAL, &stream()).is_superset(&[effect(2), effect(9)].into()));
}

#[test]
fn a_stray_is_removed_when_nothing_else_is_to_be_called_and_nobody_holds_the_machine() {
    let wanted = |events: &[Event]| after::<State>(events).0.pending(&NoView);
    let delete = Effect::DeleteStray { effect: effect(90), attempt: 1 };
    assert_eq!(wanted(&with_stray()), [delete.clone()].into());
    let busy = then(declared(), [stray(effect(90), None)]);
    assert_eq!(wanted(&busy), [Effect::Create { intent: Version(2), attempt: 1 }].into());
    assert_eq!(wanted(&then(with_stray(), [held(None)])), [].into());
    assert_eq!(wanted(&then(with_stray(), [held(None), Event::HoldEnded])), [delete].into());
    let until = then(with_stray(), [held(Some(7))]);
    assert_eq!(wanted(&until), [Effect::WakeAt(Timestamp(7))].into());
}

#[test]
fn an_operator_who_says_again_gets_all_attempts_anew() {
    let mut policy = Document::default();
    policy.machines.attempts_max = 2;
    let mut past = declared();
    let mut attempt = 1;
    let step = |past: &mut Vec<Event>, command: Command| {
        let decision = answer(&stream(), &after::<State>(past), &command, NOW, &policy).expect("an answer");
        past.extend(decision.events);
        decision.reason
    };
    for series in 1..=3 {
        assert_eq!(step(&mut past, failed(attempt, FaultCode::Unavailable)), R::WorthRetrying, "series {series}");
        past.push(Event::AttemptBegun);
        assert_eq!(step(&mut past, failed(attempt + 1, FaultCode::Unavailable)), R::RetriesExhausted);
        assert_eq!(step(&mut past, Command::RetryProvisioning), R::OperatorRetries);
        attempt += 2;
    }
}
