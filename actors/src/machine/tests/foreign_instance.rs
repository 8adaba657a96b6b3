//! What another control plane has started under an id of ours is not taken, not deleted and not harvested.

use super::{
    NOW, State, dead, declared, effect, instance, lost, name, removed, running, spec, stream, waiting, with_nonce,
};
use crate::{
    contract::{
        Decider, NoView,
        given::{Case, JOURNAL, after, answer, case},
    },
    machine::{Command, Effect, Event, Leaving, Reason as R, Removal, Report},
    policy::Document,
    vocab::{EffectId, Fault, FaultCode, InstanceId, Nonce, Timestamp},
};

const THEIRS: &str = "supervisor/machines:theirs";

fn told(effect: EffectId) -> Command {
    Command::Report(Report::StartedByOther { effect, instance: InstanceId("i-9".into()), nonce: THEIRS.into() })
}

fn seen(effect: EffectId) -> Event {
    Event::StartedByOther { effect, instance: InstanceId("i-9".into()), nonce: THEIRS.into(), at: NOW }
}

fn refused() -> Event {
    let text = format!("another control plane started instance i-9: it reports nonce {THEIRS}");
    Event::CreateGivenUp { fault: Fault::new(FaultCode::PermissionDenied, text), again: None }
}

fn then(past: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    past.into_iter().chain(more).collect()
}

/// Somebody else's instance stands where its own was to be made.
fn taken() -> Vec<Event> {
    then(declared(), [seen(effect(2)), refused()])
}

fn stray() -> Event {
    let (effect, at) = (effect(90), Timestamp(7));
    Event::StrayFound { effect, provider: name("local"), instance: Some(InstanceId("i-9".into())), at }
}

/// Its removal was asked for while it was made.
fn going() -> Vec<Event> {
    then(declared(), [Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: Timestamp(5) }])
}

pub(super) fn table() -> Vec<Case<State>> {
    let left = Event::InstanceLeft { effect: effect(2), why: Leaving::OfOther };
    let gone = || vec![Event::RemovalBegan { at: NOW }, Event::Died, left.clone(), Event::Removed];
    let forced = || Command::RemoveWith(Removal { force: true, ..Removal::default() });
    let remove_stray = Command::RemoveStray { provider: name("local"), instance: with_nonce(instance(2), THEIRS) };
    vec![
        case(declared(), told(effect(2)), Ok((R::StartedByOther, vec![seen(effect(2)), refused()]))),
        case(waiting(200_000), told(effect(2)), Ok((R::StaleReport, vec![]))),
        case(running(), told(effect(2)), Ok((R::StaleReport, vec![]))),
        case(lost(), told(effect(2)), Ok((R::StaleReport, vec![]))),
        case(declared(), told(effect(9)), Ok((R::StaleReport, vec![]))),
        // It goes without anything being deleted.
        case(taken(), Command::Remove, Ok((R::InstanceSpared, gone()))),
        case(taken(), forced(), Ok((R::InstanceSpared, gone()))),
        // That it is somebody else's shows only when it is to be deleted.
        case(going(), told(effect(2)), Ok((R::StartedByOther, vec![seen(effect(2)), Event::Deleted, Event::Removed]))),
        case(then(running(), [stray()]), told(effect(90)), Ok((R::StartedByOther, vec![seen(effect(90))]))),
        case(
            then(taken(), [Event::RemovalBegan { at: NOW }, Event::Died, left.clone(), Event::Removed]),
            remove_stray,
            Ok((R::StartedByOther, vec![])),
        ),
    ]
}

#[test]
fn what_somebody_else_has_started_under_the_same_id_is_not_taken_for_its_own() {
    let created = |nonce: &Nonce| {
        let given = after::<State>(&declared());
        let instance = with_nonce(instance(2), nonce.as_str());
        let command = Command::Report(Report::Created { attempt: 1, instance });
        answer(&stream(), &given, &command, NOW, &Document::default()).expect("an answer").reason
    };
    let journal = JOURNAL;
    assert_eq!(created(&Nonce::of(journal, effect(2))), R::InstanceMade);
    assert_eq!(created(&Nonce::of(journal, effect(3))), R::NotRetryable);
    assert_eq!(created(&Nonce::of(uuid::Uuid::from_u128(2), effect(2))), R::NotRetryable);
}

#[test]
fn a_nonce_of_ours_is_nobody_elses() {
    let nonce = Nonce::of(JOURNAL, effect(2)).0;
    let instance = InstanceId("i-1".into());
    let command = Command::Report(Report::StartedByOther { effect: effect(2), instance, nonce });
    let given = after::<State>(&declared());
    let decision = answer(&stream(), &given, &command, NOW, &Document::default()).expect("an answer");
    assert_eq!(decision.reason, R::StaleReport);
}

#[test]
fn nothing_of_somebody_elses_is_wanted_and_it_is_no_orphan() {
    let (state, _) = after::<State>(&taken());
    assert_eq!(state.pending(&NoView), [].into());
    let left = Event::InstanceLeft { effect: effect(2), why: Leaving::OfOther };
    let gone = then(taken(), [Event::RemovalBegan { at: NOW }, Event::Died, left, Event::Removed]);
    let again = then(gone.clone(), [Event::Declared { spec: spec("local") }]);
    for past in [gone, again, then(running(), [stray(), seen(effect(90))])] {
        let (state, _) = after::<State>(&past);
        assert_eq!(state.pending(&NoView), [].into());
        assert_eq!(state.of_others.len(), 1);
        assert!(state.claims(JOURNAL, &stream()).is_superset(&state.of_others), "nobody harvests it");
    }
}

#[test]
fn what_was_in_the_way_and_is_not_any_more_is_forgotten() {
    let made = Event::Created { instance: instance(2), at: NOW };
    let (state, _) = after::<State>(&then(taken(), [Event::AttemptBegun, made]));
    assert_eq!(state.of_others, [].into());
}

#[test]
fn only_what_was_seen_to_be_ours_is_deleted_without_another_look() {
    let is_proven = |past: &[Event]| {
        let (state, _) = after::<State>(past);
        let wanted = state.pending(&NoView).into_iter().find_map(|effect| match effect {
            Effect::Delete { of, .. } => Some(of),
            _ => None,
        });
        state.has_proof_of(wanted.expect("its deletion is wanted"))
    };
    assert!(is_proven(&dead()));
    assert!(!is_proven(&going()));
    // What is made anew under the same name proves nothing for what came before, and the other way round.
    let removed = removed();
    let anew = then(removed, declared());
    let going = then(anew, [Event::RemovalBegan { at: NOW }, Event::Died, Event::DeleteRequested { at: NOW }]);
    assert!(!is_proven(&going));
}
